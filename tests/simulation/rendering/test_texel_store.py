import numpy as np
import pytest

from navarena.core.errors import SceneError
from navarena.simulation.rendering.texel_store import TILE, build_mip_levels, pack_textures, pack_words


def test_words_hold_rounded_and_clipped_bytes():
    words = pack_words(np.array([[1.4, 2.6, 300.0], [-5.0, 0.0, 255.0]]))
    assert [hex(word) for word in words] == ["0xff0301", "0xff0000"]


def test_mip_levels_are_box_means_and_end_at_one_tile():
    texture = np.zeros((8, 16, 3), np.uint8)
    texture[0, 0] = 200
    levels = build_mip_levels(texture)
    assert [level.shape[:2] for level in levels] == [(8, 16), (4, 8)]
    assert levels[1][0, 0, 0] == 50
    assert levels[1].sum() == 150


def test_texels_lie_in_tiles_behind_the_white_texture():
    generator = np.random.default_rng(0)
    texture = generator.integers(0, 255, (16, 8, 3)).astype(np.uint8)
    store = pack_textures([texture])
    assert store.texels[: TILE * TILE].tolist() == [0xFFFFFF] * 16
    assert store.offset.tolist() == [0, 16]
    assert store.log_stored[1].tolist() == [3, 4]
    for row, column in ((0, 0), (5, 6), (15, 7)):
        place = (row // 4 * 2 + column // 4) * 16 + row % 4 * 4 + column % 4
        assert store.texels[16 + place] == pack_words(texture[row, column])
    assert store.mean[1] == pytest.approx(texture.mean((0, 1)))


def test_small_textures_are_stored_as_repeats():
    store = pack_textures([np.array([[[10, 20, 30], [40, 50, 60]]], np.uint8)])
    assert store.log_stored[1].tolist() == [2, 2]
    assert store.size[1].tolist() == [2, 1]
    assert store.texels[16:20].tolist() == [0x1E140A, 0x3C3228] * 2


def test_sides_must_be_powers_of_two():
    with pytest.raises(SceneError, match="powers of two, got 24 x 32"):
        pack_textures([np.zeros((32, 24, 3), np.uint8)])
