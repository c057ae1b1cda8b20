"""MultiON's oracle maps against drawings made by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.mapping import MapGrid
from navarena.mapping.oracle_ego_map import (
    CODE_REVEAL,
    PAPER_REVEAL,
    RevealSettings,
    Uncovered,
    mark_ray,
    mark_sector,
)
from navarena.mapping.oracle_map import (
    choose_channels,
    crop_oracle,
    draw_occupancy,
    oracle_grid,
    paint_goals,
)
from navarena.simulation.body import Camera
from worlds import draw_navmesh

CELL = 0.80121334


def test_the_grid_is_the_code_s():
    """row = int((max - x) / cell), col = int((z - min) / cell), for 300 cells of 0.80121334 m."""
    grid = oracle_grid()
    assert grid.cell == pytest.approx(CELL, abs=1e-8)
    generator = np.random.default_rng(0)
    for x, z in generator.uniform(-119, 119, (50, 2)):
        row, column = int((120.0399 + 1e-6 - x) / grid.cell), int((z + 120.3241 + 1e-6) / grid.cell)
        assert grid.cells_of(np.array([x, 3.0, z])).tolist() == [row, column]
    assert oracle_grid(75).cell == pytest.approx(4 * CELL, abs=1e-7)


def test_occupancy_by_hand():
    """Cells of 1 m whose corner cell (0, 0) lies at x 6, z -2; x falls with the row."""
    navmesh = draw_navmesh(["..#.", "...."])  # x 0 to 4, z 0 to 2, but for x 2 to 3, z 0 to 1
    grid = MapGrid(9, 7, 1.0, (5.5, -1.5), "+x")
    drawn = draw_occupancy(navmesh, grid, 0.0)
    assert drawn.tolist() == [
        [0, 0, 0, 0, 0, 0, 0],
        [0, 1, 1, 1, 1, 0, 0],
        [0, 1, 2, 2, 1, 0, 0],  # x 3.5: z 0.5 and 1.5
        [0, 1, 1, 2, 1, 0, 0],  # x 2.5: the block
        [0, 1, 2, 2, 1, 0, 0],
        [0, 1, 2, 2, 1, 0, 0],  # x 0.5
        [0, 1, 1, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ]
    assert not draw_occupancy(navmesh, grid, 2.0).any(), "nothing is navigable two metres up"
    assert not draw_occupancy(navmesh, MapGrid(4, 4, 1.0, (90.0, 90.0), "+x"), 0.0).any()


SMALL = MapGrid(6, 6, 1.0, (6.0, 0.0), "+x")


def test_goals_by_hand():
    places = np.array([[4.5, 0, 1.5], [3.5, 0, 2.5], [0.2, 0, 5.9], [99.0, 0, 0.0]])
    painted = paint_goals(SMALL, places, np.array([0, 4, 7, 2]))
    assert painted.tolist() == [
        [1, 1, 1, 0, 0, 0],
        [1, 5, 5, 5, 0, 0],
        [1, 5, 5, 5, 0, 0],
        [0, 5, 5, 5, 0, 0],
        [0, 0, 0, 0, 8, 8],
        [0, 0, 0, 0, 8, 8],
    ]
    single = paint_goals(SMALL, places, np.array([0, 4, 7, 2]), block=1, first=2)
    assert single[1, 1] == 2 and single[2, 2] == 6 and single[5, 5] == 9 and (single > 0).sum() == 3
    with pytest.raises(InputError, match="odd number"):
        paint_goals(SMALL, places, np.array([0, 4, 7, 2]), block=2)


@pytest.mark.parametrize(
    ("yaw_deg", "ahead"), [(0, (0, 0, -1)), (90, (-1, 0, 0)), (180, (0, 0, 1)), (-90, (1, 0, 0))]
)
def test_in_the_window_the_body_looks_down_with_its_right_on_the_left(yaw_deg, ahead):
    grid = oracle_grid()
    place = np.array([3.3, 0.0, -7.1])
    right = np.cross(ahead, [0, 1, 0])
    maps = paint_goals(grid, np.stack([place + 8 * np.array(ahead), place + 8 * right]), np.array([0, 1]))
    window = crop_oracle(maps[None, :, :, None], grid, place[None], np.deg2rad([float(yaw_deg)]))[0, :, :, 0]
    assert window.shape == (50, 50)
    front, side = np.argwhere(window == 1).mean(0), np.argwhere(window == 2).mean(0)
    assert np.abs(front - [35, 25]).max() <= 1.0, "ten cells further down"
    assert np.abs(side - [25, 15]).max() <= 1.0, "ten cells further left"


def test_the_window_is_the_code_s():
    from scipy import ndimage

    grid = oracle_grid()
    generator = np.random.default_rng(2)
    maps = generator.integers(0, 9, (300, 300)).astype(np.uint8)
    for x, z, yaw in generator.uniform([-40, -40, -3], [40, 40, 3], (6, 3)):
        row, column = grid.cells_of(np.array([x, 0, z])).tolist()
        patch = maps[row - 40 : row + 40, column - 40 : column + 40]
        expected = ndimage.rotate(patch, -np.rad2deg(yaw) + 90, order=0, reshape=False)[15:65, 15:65]
        got = crop_oracle(maps[None, :, :, None], grid, np.array([[x, 0, z]]), np.array([yaw]))
        assert np.array_equal(got[0, :, :, 0], expected)


def plain_line(row, column, down, right):
    """The supercover line of the reference's fog of war, written out branch by branch."""
    x, y, dx, dy, xs, ys = row, column, abs(down), abs(right), math.copysign(1, down), math.copysign(1, right)
    cells, error, before = [(x, y)], dx, dx
    if 2 * dx > 2 * dy:
        for _ in range(int(dx)):
            x, error = x + xs, error + 2 * dy
            if error > 2 * dx:
                y, error = y + ys, error - 2 * dx
                if error + before < 2 * dx:
                    cells.append((x, y - ys))
                elif error + before > 2 * dx:
                    cells.append((x - xs, y))
                else:
                    cells += [(x, y - ys), (x - xs, y)]
            cells.append((x, y))
            before = error
    else:
        for _ in range(int(dy)):
            y, error = y + ys, error + 2 * dx
            if error > 2 * dy:
                x, error = x + xs, error - 2 * dy
                if error + before < 2 * dy:
                    cells.append((x - xs, y))
                elif error + before > 2 * dy:
                    cells.append((x, y - ys))
                else:
                    cells += [(x - xs, y), (x, y - ys)]
            cells.append((x, y))
            before = error
    return {(int(x), int(y)) for x, y in cells}


@given(down=st.floats(-9, 9), right=st.floats(-9, 9))
@settings(max_examples=80, deadline=None)
def test_rays_are_those_of_the_reference(down, right):
    seen = np.zeros((21, 21), bool)
    mark_ray(seen, 10, 10, down, right)
    assert {tuple(cell) for cell in np.argwhere(seen).tolist()} == plain_line(10, 10, down, right)


def test_the_code_uncovers_eleven_rays_through_everything():
    grid = oracle_grid()
    uncovered = Uncovered(1, grid)
    place, yaw = np.array([[0.0, 0.0, 0.0]]), np.array([0.7])
    uncovered.reveal_sectors(place, yaw)
    row, column = grid.cells_of(place[0]).tolist()
    length, expected = 6.0 / grid.cell, set()
    angles = np.arange(-math.radians(40), math.radians(40), 1 / length)
    assert len(angles) == 11
    for angle in 0.7 - math.pi / 2 + angles:  # the code's heading: 0 looks along growing rows
        expected |= plain_line(row, column, length * math.cos(angle), length * math.sin(angle))
    assert {tuple(cell) for cell in np.argwhere(uncovered.seen[0]).tolist()} == expected


def test_sectors_end_at_the_border_of_the_map():
    seen = np.zeros((5, 5), bool)
    mark_sector(seen, 2, 2, 0.0, 1.4, 9.0)
    assert seen[:3, 2].all() and not seen[3:].any()
    mark_sector(seen, -3, 2, 0.0, 1.4, 9.0)


def looking(depth):
    """A camera at x 0.5, z 0.5 of height 0.9 that looks along -z at a wall `depth` metres away."""
    pose = np.eye(4)
    pose[:3, 3] = 0.5, 0.9, 0.5
    camera = Camera(width_px=64, height_px=64)
    down = (np.arange(64) + 0.5 - 32) / (32 / math.tan(camera.hfov / 2))
    floor = np.where(down > 0, 0.9 / np.maximum(down, 1e-9), np.inf)
    return np.tile(np.minimum(floor, depth)[:, None], (1, 64)).astype(np.float32)[None], camera, pose[None]


def test_the_paper_uncovers_only_what_the_depth_image_shows():
    grid = MapGrid(12, 12, 1.0, (6.5, -8.0), "+x")  # along -z is to the left
    uncovered = Uncovered(1, grid, PAPER_REVEAL)
    uncovered.reveal_frames(*looking(2.9), stride=1)
    row, column = grid.cells_of(np.array([0.5, 0, 0.5])).tolist()
    assert uncovered.seen[0, row, column] and uncovered.seen[0, row, column - 3 : column].all()
    assert not uncovered.seen[0, :, : column - 3].any(), "nothing behind the wall"
    assert not uncovered.seen[0, :, column + 1 :].any()
    uncovered.reset(np.array([0]))
    uncovered.reveal_frames(*looking(20.0), stride=1)
    assert uncovered.seen[0, row, column - 5] and not uncovered.seen[0, :, : column - 5].any(), "5 m at most"


def test_images_uncover_the_same_in_a_batch_and_alone():
    poses, depths = [], []
    for k in range(4):
        depth, camera, pose = looking(1.0 + 0.9 * k)
        pose[0, [0, 2], 3] += 0.7 * k
        poses.append(pose[0]), depths.append(depth[0])
    active, grid = np.array([True, False, True, True]), MapGrid(12, 12, 1.0, (6.5, -8.0), "+x")
    together = Uncovered(4, grid, PAPER_REVEAL)
    together.reveal_frames(np.stack(depths), camera, np.stack(poses), active)
    for n in range(4):
        alone = Uncovered(1, grid, PAPER_REVEAL)
        alone.reveal_frames(depths[n][None], camera, poses[n][None], active[n : n + 1])
        assert np.array_equal(alone.seen[0], together.seen[n])
        assert (alone.seen.sum() > 1) == active[n]


def test_what_is_no_depth_uncovers_the_own_cell_only():
    uncovered = Uncovered(1, SMALL, PAPER_REVEAL)
    depth, camera, pose = looking(3.0)
    for nothing in (0.0, np.nan, np.inf):
        uncovered.reveal_frames(np.full_like(depth, nothing), camera, pose, stride=1)
    assert uncovered.seen.sum() == 1
    with pytest.raises(InputError, match="finite camera poses"):
        uncovered.reveal_frames(depth, camera, pose * np.nan)
    with pytest.raises(InputError, match="field of view"):
        RevealSettings(fov=0.0)


def test_covered_cells_are_zero_and_batched_equals_single():
    grid = oracle_grid()
    generator = np.random.default_rng(4)
    places, yaws = generator.uniform(-30, 30, (5, 3)), generator.uniform(-3, 3, 5)
    maps = generator.integers(1, 9, (5, 300, 300, 1)).astype(np.uint8)
    together = Uncovered(5, grid)
    for _ in range(2):
        together.reveal_sectors(places, yaws, np.array([True, True, False, True, True]))
    windows = together.crop(maps, places, yaws)
    assert not windows[2].any() and (windows > 0).any()
    for n in (0, 1, 3, 4):
        single = Uncovered(1, grid)
        single.reveal_sectors(places[n : n + 1], yaws[n : n + 1])
        assert np.array_equal(single.seen[0], together.seen[n])
        assert np.array_equal(single.crop(maps[n : n + 1], places[n : n + 1], yaws[n : n + 1])[0], windows[n])
    assert together.seen[0].sum() > 30 and replace(CODE_REVEAL) == CODE_REVEAL


def test_channels_are_stacked_in_order():
    occupancy, objects = np.full((2, 3), 2, np.uint8), np.full((2, 3), 7, np.uint8)
    assert choose_channels(occupancy, objects, "both").shape == (2, 3, 2)
    assert choose_channels(occupancy, objects, "both")[0, 0].tolist() == [2, 7]
    assert choose_channels(occupancy, objects, "objects")[0, 0].tolist() == [7]
