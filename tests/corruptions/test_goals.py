"""Noise on the images of goals, against its formula."""

import numpy as np
import pytest

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions import GoalCorruption, find_corruption, write_corruption

from .images import draw_image

GREY = np.full((300, 300, 3), 128, np.uint8)


def corrupt(text: str, image: np.ndarray, *name: str) -> np.ndarray:
    return find_corruption(text).corrupt(image, make_generator("goal", *name))


@pytest.mark.parametrize(("severity", "sigma"), [(1, 0.08 * 255), (3, 0.18 * 255)])
def test_severities_have_the_spread_of_gaussian_noise(severity: int, sigma: float) -> None:
    noise = corrupt(f"goal_image_noise:{severity}", GREY).astype(float) - 128
    assert noise.mean() == pytest.approx(-0.5, abs=0.3), "truncation takes half a byte"
    assert noise.std() == pytest.approx(sigma, rel=0.03)


def test_the_papers_noise_is_drawn_for_each_image_and_not_to_be_seen() -> None:
    spreads = [(corrupt("goal_image_noise", GREY, str(k)).astype(float) - 128).std() for k in range(40)]
    # truncated to bytes a spread of 0.1 to 2 shows as 0.5 to 2.1
    assert 0.4 < min(spreads) < 0.8 < 1.6 < max(spreads) < 2.2


def test_overflow_by_the_words_meaning() -> None:
    dark = np.zeros((50, 50, 3), np.uint8)
    clipped, wrapped = corrupt("goal_image_noise:2", dark), corrupt("goal_image_noise:2:wrapped", dark)
    assert (clipped == 0).mean() == pytest.approx(0.5, abs=0.05)
    below = clipped == 0
    np.testing.assert_array_equal(wrapped[~below], clipped[~below])
    assert (wrapped[below] > 128).mean() > 0.9, "what falls below 0 comes back from above"
    assert write_corruption("goal_image_noise:2:clipped") == "goal_image_noise:2"


def test_equal_generators_give_equal_images_and_the_input_stays() -> None:
    image = draw_image(40, 60, 1)
    kept = image.copy()
    first = corrupt("goal_image_noise:4", image, "a")
    assert np.array_equal(first, corrupt("goal_image_noise:4", image, "a"))
    assert not np.array_equal(first, corrupt("goal_image_noise:4", image, "b"))
    assert np.array_equal(image, kept)


def test_each_declares_how_the_goals_are_told_that_it_corrupts() -> None:
    modalities = {"goal_image_noise": "image", "goal_synonyms": "object", "goal_paraphrase": "description"}
    for name, modality in modalities.items():
        corruption = find_corruption(name)
        assert isinstance(corruption, GoalCorruption)
        assert corruption.modality == modality
    with pytest.raises(InputError, match="expected no severity"):
        find_corruption("goal_synonyms:3")
    with pytest.raises(InputError, match=r"severity among \(1, 2, 3, 4, 5\), got 6"):
        find_corruption("goal_image_noise:6")
