"""Carving, many rays at once, against a plain walk over pixels and cells."""

import math

import numpy as np
import pytest

from navarena.core.geometry import focal_length
from navarena.mapping.occupancy import OccupancyMaps, OccupancySettings
from navarena.mapping.occupancy_kernels import BORDER, bottom_slope, fan_layout, passes_over
from navarena.simulation.body import Camera


def plain_carve(scores, depth, camera, pose, foot, one, corner):
    """One image (H, W) metres on scores (R, C): ray by ray, then cell by cell.

    Returns (R, C) bool, cells beside the fan or beyond its range, of which nothing is promised.
    """
    focal = focal_length(camera.width_px, camera.hfov)
    bins, per_tangent, widest = fan_layout(pose, focal, *depth.shape, one.stride)
    level = math.hypot(pose[0, 2], pose[2, 2])
    ahead_axis, right_axis = -pose[[0, 2], 2] / level, pose[[0, 2], 0]
    limit, reach, marks = np.full(bins, np.inf), np.zeros(bins), {}

    def cell_of(point):
        return math.floor((point[2] - corner[1]) / one.cell), math.floor((point[0] - corner[0]) / one.cell)

    def mark(cell, value):
        marks[cell] = max(marks.get(cell, 0), value)

    for i in range(one.stride // 2, depth.shape[0], one.stride):
        for j in range(one.stride // 2, depth.shape[1], one.stride):
            metres = float(depth[i, j])
            if not 0 < metres < math.inf:
                continue
            across, up = (j + 0.5 - camera.width_px / 2) / focal, (camera.height_px / 2 - i - 0.5) / focal
            ray = pose[:3, :3] @ (across, up, -1.0)  # per metre of depth
            ahead = ray[[0, 2]] @ ahead_axis
            over = pose[1, 3] + metres * ray[1] - foot
            if ahead <= 1e-3 or over >= one.obstacle_top:
                continue
            side = math.floor(across / ahead * per_tangent + BORDER) + bins // 2
            stops, sees = math.inf, 0.0
            if metres <= one.min_range:
                stops = 0.0 if over > one.obstacle_bottom else math.inf
            else:
                if over < -one.obstacle_bottom:
                    crossing = (foot - pose[1, 3]) / ray[1]
                    stops = crossing * ahead
                    mark(cell_of(pose[:3, 3] + crossing * ray), 2)
                else:
                    sees = min(metres, one.max_range) * ahead
                if metres < one.max_range:
                    if over > one.obstacle_bottom:
                        stops = metres * ahead
                    mark(cell_of(pose[:3, 3] + metres * ray), 2 if abs(over) > one.obstacle_bottom else 1)
            if 0 <= side < bins:
                limit[side], reach[side] = min(limit[side], stops), max(reach[side], sees)
    falling = bottom_slope(pose, focal, depth.shape[0])
    blind = (one.obstacle_bottom - pose[1, 3] + foot) / falling if falling < 0 else math.inf
    beside = np.zeros(scores.shape, bool)
    for cell in np.ndindex(scores.shape):
        offset = (np.array(cell[::-1]) + 0.5) * one.cell + corner - pose[[0, 2], 3]
        ahead, across = offset @ ahead_axis, offset @ right_axis
        is_open = False
        beside[cell] = not (0 < ahead < one.max_range and abs(across) < widest * ahead)
        if 1e-3 < ahead < one.max_range and abs(across) < bins // 2 / per_tangent * ahead:
            side = math.floor(across / ahead * per_tangent) + bins // 2
            is_open = ahead + one.cell / 2 <= min(limit[side], reach[side])
        mark_here, score = marks.get(cell, 0), int(scores[cell])
        if mark_here == 2:
            scores[cell] = min(score + one.hit, one.max_evidence) or 1
        elif mark_here == 1 or (is_open and ahead > blind):
            scores[cell] = max(score - one.miss, -one.max_evidence) or -1
        elif is_open and score == 0:
            scores[cell] = -1
    return beside


def draw_depths(generator, shape, farthest):
    """Walls of some columns each, floor and ceiling pierced at random, and every kind of bad value."""
    walls = generator.uniform(0.3, 1.3 * farthest, shape[1] // 4 + 1).repeat(4)[: shape[1]]
    depth = np.tile(walls, (shape[0], 1)) * generator.uniform(0.9, 1.1, shape)
    for value in (0.0, -1.0, np.nan, np.inf, -np.inf, 1e30, 0.4, farthest):
        depth[generator.random(shape) < 0.03] = value
    return depth.astype(np.float32)


@pytest.mark.parametrize("seed", range(12))
def test_an_image_changes_what_a_plain_walk_changes(seed):
    generator = np.random.default_rng([seed, 5])
    width, height = (int(size) for size in generator.integers(5, 40, 2))
    camera = Camera(width_px=width, height_px=height, hfov=float(generator.uniform(0.7, 2.2)))
    one = OccupancySettings(
        cell=0.1, size=7.0, min_range=float(generator.choice([0.0, 0.5])), max_range=3.0, obstacle_top=1.2,
        stride=int(generator.integers(1, 4)),
    )  # fmt: skip
    maps, expected = OccupancyMaps(1, one), np.zeros((one.side, one.side), np.int8)
    maps.reset([0], np.array([[0.0123, 0.0077]]))
    doubtful = np.zeros_like(expected, bool)
    for _ in range(3):
        yaw, pitch = generator.uniform(-3, 3), generator.choice([0.0, generator.uniform(-1.2, 0.6)])
        turn = np.array([[math.cos(yaw), 0, math.sin(yaw)], [0, 1, 0], [-math.sin(yaw), 0, math.cos(yaw)]])
        tilt = np.eye(3)
        tilt[1:, 1:] = [[math.cos(pitch), -math.sin(pitch)], [math.sin(pitch), math.cos(pitch)]]
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn @ tilt, generator.uniform(-2.5, 2.5, 3)
        pose[1, 3] = 0.9
        depth = draw_depths(generator, (height, width), one.max_range)
        maps.update(depth[None], camera, pose[None], np.zeros(1))
        before = expected.copy()
        beside = plain_carve(expected, depth, camera, pose, 0.0, one, maps.corners[0])
        doubtful |= beside & (expected != before)
    np.testing.assert_array_equal(maps.scores[0, 0][~doubtful], expected[~doubtful])
    top, bottom, left, right = maps.boxes[0, 0].tolist()
    outside = maps.scores[0, 0].copy()
    outside[top:bottom, left:right] = 0
    assert not outside.any()
    assert {-1, 4} <= set(np.unique(expected[~doubtful]).tolist())  # the images do show walls and open floor


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_pass_over_are_those_without_a_low_ray(seed):
    generator = np.random.default_rng([seed, 6])
    found = set()
    for slope in generator.uniform(0.01, 1.5, 40):
        row = draw_depths(generator, (1, 9), 2.0)[0] + np.float32(generator.choice([0.0, 1.0]))
        known = row[(row > 0) & (row < np.inf)].astype(float)
        expected = bool((0.9 + known * slope >= 1.5).all())
        assert passes_over(row, 0.9, slope, 1.5) == expected
        found.add(expected)
    assert found == {False, True}


@pytest.mark.parametrize("stride", [1, 3])
def test_level_and_tilted_cameras_carve_alike_in_one_batch_and_alone(stride):
    camera, generator = Camera(width_px=40, height_px=30), np.random.default_rng(7)
    one = OccupancySettings(cell=0.1, size=7.0, max_range=3.0, stride=stride)
    depths = draw_depths(generator, (4 * 30, 40), 3.0).reshape(4, 30, 40)
    poses = np.tile(np.eye(4), (4, 1, 1))
    poses[:, 1, 3] = 0.9
    for n, pitch in enumerate((0.0, -0.4, 0.3, 0.0)):
        poses[n, 1:3, 1:3] = [[math.cos(pitch), -math.sin(pitch)], [math.sin(pitch), math.cos(pitch)]]
    together = OccupancyMaps(4, one, threads=1)
    together.update(depths, camera, poses, np.zeros(4))
    for n in range(4):
        alone = OccupancyMaps(1, one, threads=1)
        alone.update(depths[n : n + 1], camera, poses[n : n + 1], np.zeros(1))
        np.testing.assert_array_equal(together.scores[n], alone.scores[0])
        assert (alone.scores != 0).sum() > 30
