"""Holes and ranges of depth images."""

import numpy as np
import pytest

from navarena.core.seeding import make_generator
from navarena.corruptions import find_corruption
from navarena.corruptions.depth import LOST, RANGES, find_jumps, place_patches
from navarena.corruptions.normals import draw_normals

from .images import draw_depth


@pytest.mark.parametrize("share", [*LOST, 0.0])
def test_patches_cover_the_share_in_pieces(share: float) -> None:
    holes = place_patches(draw_normals(make_generator("holes"), 120, 160), share)
    assert holes.mean() == pytest.approx(share, abs=1e-4)
    if share:
        beside = (holes[:, 1:] & holes[:, :-1]).sum() / holes[:, :-1].sum()
        assert beside > 0.6, "patches, not single pixels"


def test_jumps_are_both_sides_of_an_edge() -> None:
    depth = np.array([[1.0, 1.05, 2.0, 0.0, 2.0], [1.0, 1.05, 2.0, 0.0, 2.5]], np.float32)
    expected = np.array([[0, 1, 1, 0, 1], [0, 1, 1, 0, 1]], bool)
    assert np.array_equal(find_jumps(depth), expected)


@pytest.mark.parametrize("severity", [1, 5])
def test_holes_are_zero_and_the_rest_stays(severity: int) -> None:
    depth = draw_depth(90, 120)
    spoilt = find_corruption(f"depth_holes:{severity}").corrupt(
        depth[None, :, :, None], [make_generator("h", severity)]
    )[0, :, :, 0]
    lost = spoilt != depth
    assert not spoilt[lost].any()
    assert lost[find_jumps(depth)].all()
    assert LOST[severity - 1] * 0.8 < lost.mean() < LOST[severity - 1] + 0.25


def test_range_table_by_hand() -> None:
    assert RANGES[4] == (0.8, 3.0)
    depth = np.array([0.0, 0.1, 0.8, 2.0, 3.0, 7.0], np.float32).reshape(1, 2, 3, 1)
    for text, expected in (
        ("depth_range:5", [0.0, 0.8, 0.8, 2.0, 3.0, 3.0]),
        ("depth_range:5:lost", [0.0, 0.0, 0.8, 2.0, 3.0, 0.0]),
        ("depth_range:1", [0.0, 0.2, 0.8, 2.0, 3.0, 7.0]),
    ):
        spoilt = find_corruption(text).corrupt(depth, [make_generator("unused")])
        assert np.array_equal(spoilt.ravel(), np.array(expected, np.float32)), text
