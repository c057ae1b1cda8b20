"""MultiON's learned maps: projection, registration and writing on hand-made images."""

import math

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.mapping.feature_map import (
    FeatureMaps,
    feature_grid,
    nearest_seen_class,
    project_features,
    write_recognised,
)
from navarena.mapping.oracle_map import oracle_grid
from navarena.simulation.body import Camera

CAMERA = Camera(width_px=8, height_px=8, hfov=math.pi / 2)


def test_projection_by_hand():
    """One pixel just right of and under the middle, 2.4 m away: three cells ahead, none aside (0.3 m)."""
    depth, features = np.zeros((8, 8), np.float32), np.zeros((1, 4, 4), np.float32)
    depth[4, 4] = 2.4
    features[0, 2, 2] = 5.0
    projected = project_features(features, depth, CAMERA)
    assert projected.shape == (13, 13, 1)
    assert np.argwhere(projected[..., 0]).tolist() == [[3, 6]] and projected.max() == 5.0
    assert np.array_equal(project_features(features, depth, CAMERA, "forward"), projected[:7])
    depth[4, 7] = 2.4  # 2.1 m to the right: 2.6 cells; its feature is that of pixel (2, 3)
    features[0, 2, 3] = -1.0
    assert project_features(features, depth, CAMERA)[3, 9, 0] == -1.0


def test_projection_takes_the_greatest_and_leaves_out_what_is_too_high_low_or_unknown():
    depth, features = np.full((8, 8), np.nan, np.float32), np.ones((1, 8, 8), np.float32)
    depth[0, 4], depth[7, 4], depth[3, 3] = 2.4, 2.4, np.inf  # 2.1 m up, 2.1 m down
    assert not project_features(features, depth, CAMERA).any()
    depth[4, 4], depth[3, 4] = 2.4, 2.4
    features[0, 3, 4] = 7.0
    assert project_features(features, depth, CAMERA).max() == 7.0


def test_cells_are_the_code_s():
    grid = feature_grid()
    for ahead, right in np.random.default_rng(0).uniform(-100, 100, (40, 2)):
        cell = [round((110 - ahead) / 0.8), round((right + 110) / 0.8)]
        assert grid.cells_of(np.array([right, 0.0, -ahead])).tolist() == cell


def thing_ahead():
    projection = np.zeros((1, 13, 13, 1), np.float32)
    projection[0, 2, 6] = 1.0  # four cells ahead
    return projection


@pytest.mark.parametrize("compass_deg", [0, 90, 180, -90])
def test_registered_once_a_thing_is_read_where_it_was_seen(compass_deg):
    compass, gps = np.deg2rad([float(compass_deg)]), np.array([[8.0, -4.0]])
    maps = FeatureMaps(1, 1)
    maps.register(thing_ahead(), gps, compass)
    window = maps.read(gps, compass)[0, :, :, 0]
    assert np.unravel_index(window.argmax(), window.shape) == (25 - 4, 25) and window.max() > 0.99
    row, column = np.unravel_index(maps.maps[0, :, :, 0].argmax(), (275, 275))
    angle = compass[0]
    own = feature_grid().cells_of(np.array([-4.0, 0, -8.0]))
    assert np.allclose([row, column], own - 4 * np.array([math.cos(angle), math.sin(angle)]), atol=1e-6)


def test_registered_twice_it_is_misplaced_unless_the_heading_is_zero():
    for compass_deg, is_right in ((0, True), (90, False)):
        compass, gps = np.deg2rad([float(compass_deg)]), np.zeros((1, 2))
        maps = FeatureMaps(1, 1, turns=2)
        maps.register(thing_ahead(), gps, compass)
        window = maps.read(gps, compass)[0, :, :, 0]
        assert (np.unravel_index(window.argmax(), window.shape) == (21, 25)) == is_right


def test_maps_keep_the_greatest_and_forget_at_resets():
    maps = FeatureMaps(2, 1)
    gps, compass = np.zeros((2, 2)), np.zeros(2)
    for strength in (1.0, 3.0, 2.0):
        maps.register(np.tile(thing_ahead(), (2, 1, 1, 1)) * np.float32(strength), gps, compass)
    assert maps.maps.max() == 3.0
    maps.reset(np.array([1]))
    assert maps.maps[0].any() and not maps.maps[1].any()


def test_off_the_map_nothing_is_written_and_nonsense_is_refused():
    maps = FeatureMaps(1, 1)
    for gps in ([[500.0, 0.0]], [[0.0, -117.0]], [[0.0, 117.0]], [[-500.0, 500.0]]):
        maps.register(thing_ahead(), np.array(gps), np.zeros(1))
        assert not maps.read(np.array([[500.0, 0.0]]), np.zeros(1)).any()
    with pytest.raises(InputError, match="finite"):
        maps.register(thing_ahead(), np.array([[np.nan, 0.0]]), np.zeros(1))
    with pytest.raises(InputError, match="at most 10 bytes"):
        FeatureMaps(1, 1, limit_bytes=10)


def test_the_nearest_goal_in_view_is_recognised():
    distances, bearings = np.array([2.0, 1.0, 0.5, 0.8]), np.array([0.1, 0.2, 1.0, -0.3])
    visible, classes = np.array([True, True, True, False]), np.array([3, 5, 6, 7])
    assert nearest_seen_class(distances, bearings, visible, classes) == 5
    assert nearest_seen_class(distances, bearings, visible, classes, fov=math.pi) == 6
    assert nearest_seen_class(distances + 2.4, bearings, visible, classes) == -1
    assert nearest_seen_class(distances + 2.4, bearings, visible, classes, reach=5.0) == 5


def test_a_recognised_class_is_written_into_the_own_cell():
    maps, place = np.zeros((300, 300, 2), np.float32), np.array([3.0, 0.0, -7.0])
    write_recognised(maps, place, np.array([1.0, 2.0], np.float32))
    row, column = oracle_grid().cells_of(place)
    assert maps[row, column].tolist() == [1.0, 2.0] and np.count_nonzero(maps) == 2
    write_recognised(maps, np.array([900.0, 0, 0]), np.array([1.0, 2.0], np.float32))
    assert np.count_nonzero(maps) == 2
