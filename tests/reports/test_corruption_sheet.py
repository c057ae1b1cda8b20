"""The sheet of corruptions: what stands where, and that its images are those of the corruptions."""

from pathlib import Path

import numpy as np
import pytest

from navarena.core.errors import InputError, UnknownNameError
from navarena.corruptions import CORRUPTIONS, CameraCorruption, DepthCorruption, ImageCorruption
from navarena.reports.corruption_sheet import (
    CAMERA,
    COLUMNS,
    GAP,
    LABEL_HEIGHT,
    draw_corruption_sheet,
    paint_depth,
    sight_corruptions,
)
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.world import World, open_world


@pytest.fixture(scope="module")
def world(dungeon_folder: Path) -> World:
    return open_world(str(dungeon_folder / "dungeon.obj"), LOCOBOT)


def cell(image: np.ndarray, row: int, column: int, width: int) -> np.ndarray:
    height = width * 3 // 4
    top = GAP + row * (height + LABEL_HEIGHT + GAP) + LABEL_HEIGHT
    left = GAP + column * (width + GAP)
    return image[top : top + height, left : left + width].astype(int)


def test_rows_and_columns(world: World) -> None:
    names = ("lighting", "lower_fov", "camera_crack", "depth_range")
    sheet = draw_corruption_sheet(world, names, cell_width_px=40)
    cracks = tuple(f"camera_crack, scene {k}" for k in range(1, COLUMNS))
    graded = {name: tuple(f"{name}:{severity}" for severity in range(1, 6)) for name in names}
    assert sheet.corruptions == (*graded["lighting"], "lower_fov", *cracks, *graded["depth_range"])
    clean = cell(sheet.image, 0, 0, 40)
    brightness = [cell(sheet.image, 0, column, 40).mean() for column in range(COLUMNS)]
    assert brightness == sorted(brightness, reverse=True) and brightness[5] < 0.6 * brightness[0]
    for row, column in ((1, 1), (2, 1), (2, 2)):
        assert np.abs(cell(sheet.image, row, column, 40) - clean).mean() > 2
    assert np.array_equal(cell(sheet.image, 1, 0, 40), clean)
    empty = cell(sheet.image, 1, 2, 40)
    assert np.ptp(empty.reshape(-1, 3), axis=0).max() == 0, "without severities there is one image"


def test_everything_that_images_show_has_a_row() -> None:
    kinds = (ImageCorruption, CameraCorruption, DepthCorruption)
    expected = {name for name in CORRUPTIONS.names() if issubclass(CORRUPTIONS.get(name), kinds)}
    assert set(sight_corruptions()) == expected and len(sight_corruptions()) == len(expected)


def test_colours_of_depth() -> None:
    painted = paint_depth(np.array([[0.0, 0.01, 7.0, 30.0]], np.float32))[0].tolist()
    assert painted == [[170, 30, 40], [254, 235, 169], [24, 30, 92], [24, 30, 92]]


def test_bad_input(world: World) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'spatter'"):
        draw_corruption_sheet(world, ("spater",))
    with pytest.raises(InputError, match="images show, got 'motion_drift'; these are camera_crack"):
        draw_corruption_sheet(world, ("motion_drift",))
    with pytest.raises(InputError, match="expected a view from 0 to"):
        draw_corruption_sheet(world, view=9)
    with pytest.raises(InputError, match=f"40 to {CAMERA.width_px} pixels, got 500"):
        draw_corruption_sheet(world, cell_width_px=500)
