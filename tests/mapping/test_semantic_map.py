"""Iterative VLN's semantic map on hand-made scenes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.mapping.semantic_map import CLASSES, SemanticMaps, SemanticMapSettings, label_table
from navarena.simulation.body import Camera

CAMERA = Camera(width_px=40, height_px=40, hfov=math.pi / 2, mount=(0.0, 1.25, 0.0))
SMALL = SemanticMapSettings(size=12.0)
CHAIR, TABLE = CLASSES.index("chair"), CLASSES.index("table")


def pose(x=0.0, z=0.0, y=1.25, yaw=0.0):
    out = np.eye(4)
    out[:3, :3] = rotation_from_yaw_pitch(yaw, 0.0)
    out[:3, 3] = x, y, z
    return out[None]


def image(depth, label):
    return np.full((1, 40, 40), depth, np.float32), np.full((1, 40, 40), label, np.int32)


def view(maps, at, yaw=0.0):
    return maps.views(at[:, :3, 3], np.array([yaw]))[0]


def test_a_wall_two_metres_ahead():
    """Of a wall of chairs at 2 m, what is 0.25 to 1.75 m high lies in row 32 - 20, columns 12 to 52."""
    maps = SemanticMaps(1, SMALL)
    maps.update(*image(2.0, CHAIR), CAMERA, pose(), np.zeros(1))
    seen = view(maps, pose())
    assert seen.shape == (14, 64, 64)
    assert set(np.argwhere(seen[0])[:, 0]) == {12} and set(np.argwhere(seen[0])[:, 1]) <= set(range(12, 53))
    assert seen[0, 12, 13:52].mean() > 0.7, "a ray for each cell or so"
    assert np.array_equal(seen[1 + CHAIR], seen[0]) and seen[1:].sum() == seen[0].sum()


@pytest.mark.parametrize(
    ("yaw", "cell"), [(0.0, (12, 32)), (math.pi / 2, (32, 52)), (math.pi, (52, 32)), (-math.pi / 2, (32, 12))]
)
def test_ahead_is_up_whichever_way_the_body_looks(yaw, cell):
    """What lay 2 m ahead lies to the right after a turn to the left."""
    maps = SemanticMaps(1, SMALL)
    depth, labels = image(np.nan, TABLE)
    depth[0, 18:22, 19:21] = 2.0
    maps.update(depth, labels, CAMERA, pose(), np.zeros(1))
    cells = np.argwhere(view(maps, pose(), yaw)[1 + TABLE])
    assert len(cells) and np.abs(cells - cell).max() <= 1


def two_heights(first, second):
    """The same column seen at two heights: a lower point with one label, a higher one with another."""
    depth, labels = image(np.nan, first)
    depth[0, 26, 20] = depth[0, 16, 20] = 2.01
    labels[0, 16, 20] = second
    return depth, labels


def test_the_highest_point_counts():
    maps = SemanticMaps(1, SMALL)
    maps.update(*two_heights(CHAIR, TABLE), CAMERA, pose(), np.zeros(1))
    seen = view(maps, pose())
    assert seen[1 + TABLE].sum() == 1 and not seen[1 + CHAIR].any()


def test_void_hides_what_is_under_it_or_not():
    """The reading of the code, and that of the paper."""
    for settings, labelled in ((SMALL, 0), (replace(SMALL, highest="labelled"), 1)):
        maps = SemanticMaps(1, settings)
        maps.update(*two_heights(CHAIR, 0), CAMERA, pose(), np.zeros(1))
        seen = view(maps, pose())
        assert seen[0].sum() == 1 and seen[1 + CHAIR].sum() == labelled and not seen[1].any()


def test_what_is_too_high_or_too_low_is_left_out():
    maps = SemanticMaps(1, SMALL)
    depth, labels = image(np.nan, CHAIR)
    depth[0, 39, 20] = 2.0  # 1.95 m under the camera
    depth[0, 0, 20] = 2.0  # 1.95 m over it
    maps.update(depth, labels, CAMERA, pose(), np.zeros(1))
    assert not view(maps, pose()).any()


@pytest.mark.parametrize("nothing", [0.0, 0.05, 9.95, np.nan, np.inf, -1.0])
def test_what_is_no_depth_is_no_point(nothing):
    maps = SemanticMaps(1, SMALL)
    maps.update(*image(nothing, CHAIR), CAMERA, pose(), np.zeros(1))
    assert not view(maps, pose()).any()


def test_later_images_add_and_storeys_replace_or_stay():
    for layers, both in ((1, False), (2, True)):
        maps = SemanticMaps(1, replace(SMALL, layers=layers))
        maps.update(*image(2.0, CHAIR), CAMERA, pose(), np.zeros(1))
        below = view(maps, pose())
        maps.update(*image(2.0, TABLE), CAMERA, pose(y=4.25), np.array([3.0]))
        assert view(maps, pose(y=4.25))[1 + TABLE].any()
        maps.storeys.enter(np.ones(1, bool), np.zeros(1))
        assert np.array_equal(view(maps, pose()), below) == both


def test_a_batch_equals_single_maps_and_a_tour_the_union_of_its_images():
    generator = np.random.default_rng(0)
    depths = generator.uniform(0.5, 4, (4, 40, 40)).astype(np.float32)
    labels = generator.integers(0, len(CLASSES), (4, 40, 40)).astype(np.int32)
    poses = np.concatenate(
        [pose(*generator.uniform(-1, 1, 2), yaw=yaw) for yaw in generator.uniform(-3, 3, 4)]
    )
    batch = SemanticMaps(4, SMALL, threads=2)
    batch.update(depths, labels, CAMERA, poses, np.zeros(4))
    tour = SemanticMaps(1, SMALL)
    for n in range(4):
        single = SemanticMaps(1, SMALL)
        one = (depths[n : n + 1], labels[n : n + 1], CAMERA, poses[n : n + 1], np.zeros(1))
        single.update(*one)
        tour.update(*one)
        assert np.array_equal(single.labels[0], batch.labels[n])
        assert np.array_equal(single.cloud[0], batch.cloud[n])
    heights, order = batch.cloud[:, 0, :, :, 1], np.argmax(batch.cloud[:, 0, :, :, 1], 0)
    assert np.array_equal(tour.cloud[0, 0, :, :, 1], heights.max(0))
    kept = np.take_along_axis(batch.labels[:, 0], order[None], 0)[0]
    assert (tour.labels[0, 0] == kept)[np.isfinite(heights.max(0))].mean() > 0.999


def test_resets_and_places_off_the_map():
    maps = SemanticMaps(2, SMALL)
    both = tuple(np.concatenate([one, one]) for one in image(2.0, CHAIR))
    maps.update(*both, CAMERA, np.concatenate([pose(), pose(x=50.0)]), np.zeros(2))
    assert np.isfinite(maps.cloud[0, ..., 1]).any() and not np.isfinite(maps.cloud[1, ..., 1]).any()
    maps.reset([0, 1], np.array([[0.0, 0.0], [50.0, 0.0]]))
    assert not np.isfinite(maps.cloud[..., 1]).any() and not maps.labels.any()
    poses = np.concatenate([pose(0.013, 0.007), pose(50.013, 0.007)])  # not between two columns
    maps.update(*both, CAMERA, poses, np.zeros(2))
    assert np.array_equal(maps.labels[0], maps.labels[1])


def draw_all_columns(cloud, labels, x, y, z, yaw):
    """The view, slowly: every column of the map, row by row; the last label of a cell counts."""
    out = np.zeros((len(CLASSES) + 1, 64, 64), np.uint8)
    for r, c in np.ndindex(labels.shape):
        east, over, south = cloud[r, c].astype(float) - (x, y, z)
        i = math.floor((math.sin(yaw) * east + math.cos(yaw) * south + 3.2) / 0.1 + 0.5)
        j = math.floor((math.cos(yaw) * east - math.sin(yaw) * south + 3.2) / 0.1 + 0.5)
        if -1.25 < over < 0.75 and 0 <= i < 64 and 0 <= j < 64:
            out[0, i, j] = 1
            if labels[r, c]:
                out[1:, i, j] = 0
                out[1 + labels[r, c], i, j] = 1
    return out


@pytest.mark.parametrize("column", [0.07, 0.31])
@pytest.mark.parametrize("yaw", [0.0, math.pi / 2, math.pi, -2.5, -0.6, 0.01, 0.8, 1.9, 1e-7])
def test_views_show_the_columns_that_any_loop_over_all_of_them_finds(column, yaw):
    generator = np.random.default_rng(round(1000 * abs(yaw)))
    maps = SemanticMaps(1, replace(SMALL, column=column))
    rows, columns = np.indices(maps.labels[0, 0].shape)
    within = generator.uniform(0, 1, (*rows.shape, 2))
    points = (np.stack((columns, rows), 2) + within) * column + maps.corners[0]
    heights = generator.choice([-np.inf, 0.3, 1.1, 2.5], rows.shape, p=[0.5, 0.2, 0.2, 0.1])
    maps.cloud[0, 0] = np.stack((points[..., 0], heights, points[..., 1]), 2)
    maps.labels[0, 0] = generator.integers(0, len(CLASSES), rows.shape)
    for x, z in ((0.0, 0.0), (*generator.uniform(-6, 6, 2),), (8.5, -1.0)):
        slow = draw_all_columns(maps.cloud[0, 0], maps.labels[0, 0], x, 1.25, z, yaw)
        assert np.array_equal(view(maps, pose(x, z), yaw), slow)
    assert slow.any(), "the last place is off the map, but near it"


def test_bad_input_is_refused():
    maps = SemanticMaps(1, SMALL)
    with pytest.raises(InputError, match="expected labels within 0..12, got 13"):
        maps.update(*image(2.0, 13), CAMERA, pose(), np.zeros(1))
    with pytest.raises(InputError, match="finite camera poses"):
        maps.update(*image(2.0, 1), CAMERA, pose(np.nan), np.zeros(1))
    with pytest.raises(InputError, match="at most 99 bytes"):
        SemanticMaps(1, replace(SMALL, limit_bytes=99))
    with pytest.raises(InputError, match="'any' or 'labelled'"):
        replace(SMALL, highest="first")


def test_categories_become_classes_by_name():
    assert label_table(["bed", "lamp", "sink"]).tolist() == [0, 3, 0, 12]


def test_classes_of_categories_of_houses_and_scans():
    houses = {
        "armchair": "chair", "coffee_table": "table", "kitchen_cabinet": "cabinet", "bookshelf": "shelving",
        "nightstand": "chest_of_drawers", "washbasin": "sink", "crib": "bed", "bar": "counter",
        "blanket": "void", "toilet": "void",
    }  # fmt: skip
    scans = {"couch": "sofa", "Kitchen Cabinet": "cabinet", "dining_table": "table", "ceiling": "void"}
    for category, label in (houses | scans).items():
        assert CLASSES[label_table([category])[1]] == label, category


def test_columns_end_at_multiples_of_their_side_in_the_world():
    """Maps begun at two places have their columns at the same places of the world."""
    depth = np.random.default_rng(1).uniform(1, 3, (1, 40, 40)).astype(np.float32)
    labels = np.full((1, 40, 40), CHAIR, np.int32)
    found = []
    for middle in (0.0, 0.0307):
        maps = SemanticMaps(1, replace(SMALL, is_world_aligned=True))
        maps.reset([0], np.full((1, 2), middle))
        columns = maps.corners / maps.settings.column
        assert np.allclose(columns, np.round(columns), atol=1e-9)
        maps.update(depth, labels, CAMERA, pose(), np.zeros(1))
        found.append(maps.cloud[0, 0][maps.labels[0, 0] > 0])
    assert len(found[0]) > 100 and np.array_equal(found[0], found[1])


def test_void_of_the_reference_is_wherever_no_label_is():
    maps = SemanticMaps(1, replace(SMALL, void_reference=True))
    maps.update(*image(2.0, CHAIR), CAMERA, pose(), np.zeros(1))
    seen = view(maps, pose())
    assert seen[1 + CHAIR].any() and (seen[1:].sum(0) == 1).all()
    assert np.array_equal(seen[1] == 0, seen[1 + CHAIR] == 1)
