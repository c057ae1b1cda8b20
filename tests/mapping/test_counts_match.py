"""Kernels check nothing, so the functions before them refuse arrays that do not belong together."""

from inspect import unwrap

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.mapping import (
    InstanceMemory,
    MapGrid,
    SegmentedImage,
    TerrainSettings,
    build_terrain,
    crop_turned,
    turn_blended,
)
from navarena.mapping.binning import bin_highest, bin_last, bin_majority, bin_max
from navarena.mapping.oracle_ego_map import Uncovered
from navarena.mapping.oracle_map import oracle_grid, paint_goals

CELLS, ONE, LABEL = np.zeros((3, 2), np.int64), np.ones(1, np.float32), np.ones(1, np.int32)


@pytest.mark.parametrize(
    "bin_up",
    [
        lambda cells: unwrap(bin_last)(cells, LABEL, (3, 3)),
        lambda cells: unwrap(bin_max)(cells, ONE[:, None], (3, 3)),
        lambda cells: unwrap(bin_majority)(cells, LABEL, (3, 3), 2),
        lambda cells: unwrap(bin_highest)(cells, ONE, LABEL, (3, 3)),
        lambda cells: unwrap(bin_highest)(cells, ONE.repeat(len(cells)), LABEL, (3, 3)),
    ],
)
def test_every_point_has_a_cell_and_a_value(bin_up):
    bin_up(CELLS[:1])
    for wrong in (CELLS, CELLS[:, :1], CELLS[0], CELLS[:1].astype(float)):
        with pytest.raises(InputError, match="one value for each"):
            bin_up(wrong)


def test_every_map_has_a_center_and_a_turn():
    maps = np.zeros((2, 4, 4, 1))
    for centers, turns in (
        (np.zeros((1, 2)), np.zeros(2)),
        (np.zeros((2, 2)), np.zeros(3)),
        (np.zeros(2), np.zeros(2)),
    ):
        with pytest.raises(InputError, match="each of 2 maps"):
            unwrap(crop_turned)(maps, centers, turns, (2, 2))
    for turns in (np.zeros(1), np.array([0.0, np.nan])):
        with pytest.raises(InputError, match="each of 2 maps"):
            unwrap(turn_blended)(maps, turns)


def test_a_terrain_has_the_size_of_its_grid():
    with pytest.raises(InputError, match="scores of 7 x 9 cells"):
        build_terrain(np.zeros((9, 9), np.int8), MapGrid(7, 9, 0.1, (0.0, 0.0)), TerrainSettings(0.1))


@pytest.mark.parametrize("classes", [[255], [-2], [1, 2]])
def test_painted_classes_fit_into_a_byte(classes):
    with pytest.raises(InputError, match="class within -1..254 for each of 1 goals"):
        unwrap(paint_goals)(oracle_grid(), np.zeros((1, 3)), np.array(classes))


@pytest.mark.parametrize("yaws", [np.zeros(1), np.array([0.0, np.nan])])
def test_sectors_need_a_heading_for_each_body(yaws):
    with pytest.raises(InputError, match="2 finite headings"):
        unwrap(Uncovered.reveal_sectors)(Uncovered(2, oracle_grid()), np.zeros((2, 3)), yaws)


@pytest.mark.parametrize("depth_range", [(5.0, 0.5), (-1.0, 2.0), (0.5, np.nan)])
def test_the_range_of_a_segmented_image_grows(depth_range):
    segments, rgb = np.zeros((4, 4), np.int32), np.zeros((4, 4, 3), np.uint8)
    with pytest.raises(InputError, match="0 <= min_range < max_range"):
        SegmentedImage(segments, {}, rgb, np.ones((4, 4), np.float32), np.eye(4), 1.2, depth_range)


def test_numbers_of_segments_are_bounded():
    segments, rgb = np.full((4, 4), 1 << 24, np.int32), np.zeros((4, 4, 3), np.uint8)
    image = SegmentedImage(segments, {}, rgb, np.ones((4, 4), np.float32), np.eye(4), 1.2, (0.5, 5.0))
    with pytest.raises(InputError, match="below 16,777,216, got 16,777,216"):
        InstanceMemory(1).observe(0, image)
