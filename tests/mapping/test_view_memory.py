"""Memory of views: squares of images and the places they show, once for each place and heading."""

import math

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.mapping.view_memory import ViewMemory, ViewSettings, cut_tiles


def pose(x=0.0, z=0.0, yaw=0.0):
    out = np.eye(4)
    out[:3, :3] = rotation_from_yaw_pitch(yaw, 0.0)
    out[:3, 3] = x, 1.0, z
    return out


def test_tiles_are_squares_whose_middles_lie_where_they_show():
    depth = np.full((40, 20), 2.0, np.float32)
    depth[:15] = 9.0
    rgb = np.arange(40 * 20 * 3).reshape(40, 20, 3).astype(np.uint8)
    tiles = cut_tiles(rgb, depth, pose(), math.pi / 2, (0.5, 5.0), 3)
    assert [tile.image.shape for tile in tiles] == [(20, 20, 3)] * 2, "the top one is too far away"
    assert np.array_equal(tiles[1].image, rgb[20:])
    assert np.allclose(tiles[0].place, [0.0, 1.0, -2.0]) and np.allclose(tiles[1].place, [0.0, -1.0, -2.0])
    wide = cut_tiles(rgb.transpose(1, 0, 2), depth.T, pose(), math.pi / 2, (0.5, 5.0), 1)
    assert len(wide) == 0, "the only one lies at the left"


def test_views_are_kept_once_for_each_place_and_heading_and_the_oldest_go():
    memory = ViewMemory(ViewSettings(cell=1.0, headings=4, max_views=2))
    places = np.arange(6.0).reshape(2, 3)
    memory.add(pose(0.2, 0.2), np.array([[1, 0], [0, 1]], np.float32), places)
    assert not memory.is_new(pose(0.9, 0.4, 0.1))
    assert memory.is_new(pose(0.9, 0.4, 1.5)) and memory.is_new(pose(-0.1, 0.4))
    assert memory.scores(np.array([1, 0], np.float32)).tolist() == [1.0, 0.0]
    memory.add(pose(5.0), np.array([[0.6, 0.8]], np.float32), np.full((1, 3), 9.0))
    assert len(memory) == 2 and memory.places.tolist() == [[3.0, 4.0, 5.0], [9.0] * 3]
    assert len(ViewMemory(ViewSettings()).scores(np.zeros(2, np.float32))) == 0
    with pytest.raises(InputError, match="positive cell"):
        ViewSettings(cell=0.0)
