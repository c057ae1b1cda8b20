"""Unprojection, grids, binning and crops against hand-made scenes and plain references."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from navarena.core.errors import InputError, UnknownNameError
from navarena.core.geometry import forward_from_yaw, intrinsic_matrix, rotation_from_yaw_pitch
from navarena.mapping import (
    MapGrid,
    bin_highest,
    bin_last,
    bin_majority,
    bin_max,
    crop_turned,
    turn_blended,
    unproject,
)
from navarena.mapping.map_grid import UP_YAWS
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.simulator import Simulator
from worlds import ROOMS, draw_world


def pose(x=0.0, y=0.0, z=0.0, yaw=0.0, pitch=0.0):
    out = np.eye(4)
    out[:3, :3] = rotation_from_yaw_pitch(yaw, pitch)
    out[:3, 3] = x, y, z
    return out[None]


# 4 pixels wide, 90 degrees: focal length 2, pixel centres at -0.75, -0.25, 0.25, 0.75 per metre of depth
K = intrinsic_matrix(4, 2, math.pi / 2)


def test_unprojects_by_hand():
    depths = np.full((1, 2, 4), 2.0, np.float32)
    points = unproject(depths, K, pose(10, 1, 5)).points[0]
    assert np.allclose(points[0, :, 0], [8.5, 9.5, 10.5, 11.5])  # left to right is +x at yaw 0
    assert np.allclose(points[:, 0, 1], [1.5, 0.5])  # row 0 is the top
    assert np.allclose(points[..., 2], 3.0)  # two metres ahead along -z


def test_unprojects_turned_and_pitched():
    depths = np.full((1, 2, 4), 2.0, np.float32)
    left = unproject(depths, K, pose(yaw=math.pi / 2)).points[0]
    assert np.allclose(left[0, :, 2], [1.5, 0.5, -0.5, -1.5], atol=1e-6)  # looking along -x, right is -z
    assert np.allclose(left[..., 0], -2.0)
    down = unproject(depths, K, pose(pitch=-math.pi / 2)).points[0]
    assert np.allclose(down[..., 1], -2.0) and np.allclose(down[0, 0], [-1.5, -2.0, -0.5], atol=1e-6)


def test_what_is_no_depth_is_no_point():
    depths = np.array([[[0.0, np.nan, 0.5, 5.0], [np.inf, -1.0, 4.9, 0.6]]], np.float32)
    cloud = unproject(depths, K, pose(1, 2, 3), 0.5, 5.0)
    assert cloud.valid[0].tolist() == [[False] * 4, [False, False, True, True]]
    assert np.array_equal(cloud.points[~cloud.valid], np.tile(np.float32([1, 2, 3]), (6, 1)))
    with pytest.raises(InputError, match="finite camera poses"):
        unproject(depths, K, pose(np.nan))


def test_points_of_rendered_images_lie_on_the_geometry():
    camera = Camera(width_px=40, height_px=24, pitch=-0.3, yaw=0.4, channels=("depth", "instance"))
    body = Embodiment("looker", 1.0, 0.1, cameras=(camera,))
    world = draw_world(ROOMS)
    simulator = Simulator(body, 3, ("depth", "instance"), own_sensor=metric_depth)
    starts = np.array([[5.0, 0, 1.0], [1.5, 0, 5.5], [8.5, 0, 2.5]])
    simulator.place([0, 1, 2], [world] * 3, starts, np.array([0.3, 2.0, -2.5]))
    seen = simulator.observations
    cloud = unproject(seen["depth"][..., 0], simulator.intrinsics(), simulator.world_from_camera(), 0, 19.0)
    floor, wall = seen["instance"][..., 0] == 1, seen["instance"][..., 0] == 2
    assert (floor & cloud.valid).sum() > 300 and (wall & cloud.valid).sum() > 300
    assert np.abs(cloud.points[floor & cloud.valid][:, 1]).max() < 1e-4
    x, z = cloud.points[wall & cloud.valid][:, 0], cloud.points[wall & cloud.valid][:, 2]
    to_lines = np.minimum(np.abs(x - np.round(x)), np.abs(z - np.round(z)))
    top = np.abs(cloud.points[wall & cloud.valid][:, 1] - 2.0) < 1e-3
    assert (to_lines[~top] < 1e-4).all()


def metric_depth(name):
    from navarena.simulation.sensors.images import Depth

    return Depth(0, 20, normalize=False) if name == "depth" else None


@pytest.mark.parametrize(
    ("up", "cell"),
    [("-z", (1, 3)), ("-x", (0, 0)), ("+z", (1, 0)), ("+x", (0, 2))],
)
def test_grids_run_as_drawn(up, cell):
    """A point at x 1.8, z 0.4 of a 2 m square centred on x 1, z 0 (4 x 4 or 2 x 4 cells of 0.5 m)."""
    grid = MapGrid.centered(2, 4, 0.5, (1.0, 0.0), up)
    point = {"-z": [1.8, 0, 0.4], "-x": [0.6, 0, 0.9], "+z": [1.8, 0, -0.4], "+x": [1.3, 0, 0.4]}[up]
    assert tuple(grid.cells_of(np.array(point))) == cell
    assert grid.contains(np.array(cell))


@given(
    up=st.sampled_from(sorted(UP_YAWS)),
    row=st.integers(-3, 12),
    column=st.integers(-3, 12),
    yaw=st.floats(-3, 3),
)
@settings(max_examples=60, deadline=None)
def test_cells_and_headings_agree(up, row, column, yaw):
    grid = MapGrid.centered(7, 9, 0.25, (3.0, -2.0), up)
    cell = np.array([row, column])
    middle = grid.centers_of(cell)
    assert np.array_equal(grid.cells_of(middle), cell)
    assert grid.contains(cell) == (0 <= row < 7 and 0 <= column < 9)
    heading = float(grid.heading_of(yaw))
    moved = grid.coordinates_of(middle + forward_from_yaw(yaw)) - grid.coordinates_of(middle)
    assert np.allclose(moved, np.array([-math.cos(heading), -math.sin(heading)]) / 0.25, atol=1e-9)


def test_grids_refuse_nonsense():
    with pytest.raises(UnknownNameError, match="up direction"):
        MapGrid.centered(2, 2, 1.0, up="z")
    with pytest.raises(InputError, match="positive cell"):
        MapGrid(2, 2, 0.0, (0, 0))
    with pytest.raises(InputError, match="finite points"):
        MapGrid(2, 2, 1.0, (0, 0)).cells_of(np.array([np.nan, 0, 0]))


def test_binning_by_hand():
    cells = np.array([[0, 0], [0, 0], [1, 1], [0, 0], [5, 0], [-1, 0]])
    labels = np.array([4, 2, 3, 2, 1, 1], np.int32)
    heights = np.array([0.5, 0.9, -1.0, 0.2, 3, 3], np.float32)
    assert bin_last(cells, labels, (2, 2), empty=-1).tolist() == [[2, -1], [-1, 3]]
    assert bin_majority(cells, labels, (2, 2), 5).tolist() == [[2, 0], [0, 3]]
    highest, tops = bin_highest(cells, heights, labels, (2, 2))
    assert highest.tolist() == [[2, 0], [0, 3]]
    assert tops.tolist() == [[np.float32(0.9), -np.inf], [-np.inf, -1]]
    features = np.array([[1, -5], [0, -4], [-2, 7], [0.5, -9], [9, 9], [9, 9]], np.float32)
    assert bin_max(cells, features, (2, 2)).tolist() == [[[1, -4], [0, 0]], [[0, 0], [-2, 7]]]


def test_binning_refuses_what_has_no_cell_value():
    cells = np.zeros((1, 2), np.int64)
    with pytest.raises(InputError, match="labels within"):
        bin_majority(cells, np.array([7], np.int32), (1, 1), 5)
    with pytest.raises(InputError, match="finite features"):
        bin_max(cells, np.array([[np.nan]], np.float32), (1, 1))
    with pytest.raises(InputError, match="finite heights"):
        bin_highest(cells, np.array([np.nan], np.float32), np.array([1], np.int32), (1, 1))


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_binning_does_not_depend_on_the_order(seed):
    generator = np.random.default_rng(seed)
    cells = generator.integers(-1, 4, (40, 2))
    labels = generator.integers(0, 5, 40).astype(np.int32)
    heights = generator.integers(0, 6, 40).astype(np.float32)
    order = generator.permutation(40)
    assert np.array_equal(
        bin_majority(cells, labels, (3, 3), 5), bin_majority(cells[order], labels[order], (3, 3), 5)
    )
    first, again = (bin_highest(cells[o], heights[o], labels[o], (3, 3)) for o in (np.arange(40), order))
    assert np.array_equal(first[0], again[0]) and np.array_equal(first[1], again[1])


FLAG = np.array([[1, 2, 0], [3, 0, 0], [0, 0, 0]])


def test_crops_turn_counter_clockwise():
    maps = FLAG[None, :, :, None]
    quarter = crop_turned(maps, np.array([[1.0, 1.0]]), np.array([math.pi / 2]), (3, 3))[0, :, :, 0]
    assert quarter.tolist() == [[0, 0, 0], [2, 0, 0], [1, 3, 0]] == np.rot90(FLAG).tolist()
    moved = crop_turned(maps, np.array([[0.0, 0.0]]), np.zeros(1), (3, 3), fill=9)[0, :, :, 0]
    assert moved.tolist() == [[9, 9, 9], [9, 1, 2], [9, 3, 0]]
    with pytest.raises(InputError, match="finite centers"):
        crop_turned(maps, np.array([[np.nan, 0.0]]), np.zeros(1), (3, 3))


@pytest.mark.parametrize("degrees", [0, 30, 60, 90, 130, 180, 222, 270, 300])
def test_crops_equal_scipy(degrees):
    maps = np.random.default_rng(degrees).integers(1, 99, (80, 80))
    expected = ndimage.rotate(maps, degrees, order=0, reshape=False)[15:65, 15:65]
    got = crop_turned(
        maps[None, :, :, None], np.array([[39.5, 39.5]]), np.deg2rad([float(degrees)]), (50, 50)
    )
    assert (got[0, :, :, 0] != expected).mean() < 0.002


@pytest.mark.parametrize("degrees", [0, 17, 90, 200])
def test_blended_turns_equal_scipy(degrees):
    maps = np.random.default_rng(1).random((2, 13, 13, 3))
    expected = ndimage.rotate(maps, degrees, (2, 1), order=1, reshape=False, mode="grid-constant")
    assert np.allclose(turn_blended(maps, np.deg2rad([float(degrees)] * 2)), expected, atol=1e-9)
