"""Scores of depth from colours in houses that it never saw."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.learning.depth.network import FARTHEST, NEAREST
from navarena.learning.depth.predictor import CERTAIN, DepthPredictor
from navarena.learning.inputs import resize_nearest
from navarena.learning.perception.houses import learned_scenes, require_unseen
from navarena.learning.perception.images import camera_body, load_images
from navarena.learning.perception.settings import ImageSettings

CLOSE = 1.25
"""Ratio of predicted and true depth within which a pixel counts as close (Eigen et al. 2014)."""


@dataclass(frozen=True)
class DepthScore:
    """Errors of predicted depth, means over pixels that hit something within 10 m; NaN where there are none.

    Attributes:
        relative: |predicted - true| / true.
        close: share of pixels within a ratio of CLOSE.
        metres: |predicted - true|.
        pixels: number of them.
    """

    relative: float
    close: float
    metres: float
    pixels: int


def score_settings(predictor: DepthPredictor, houses: int = 40, images: int = 25) -> ImageSettings:
    """Settings of a score: images of the scenes of training. Raises InputError for numbers below 1."""
    info = predictor.info
    return ImageSettings(
        cameras=(info.protocol,),
        size=info.size,
        scenes=learned_scenes(info.recipe),
        houses=houses,
        images=images,
        tilts=(0.0,),
    )


def score_depth(
    predictor: DepthPredictor,
    settings: ImageSettings,
    split: str,
    advance: Callable[[], object] = lambda: None,
) -> tuple[DepthScore, DepthScore]:
    """Errors in the images of `settings`: of all pixels, and of those that the network holds for certain.

    Args:
        predictor: that is scored.
        settings: of the images; they are drawn where the cache folder does not have them.
        split: of the houses.
        advance: called after each house.

    Raises InputError for a split that it learned from, and for images that show nothing.
    """
    require_unseen(split, "the network")
    camera = camera_body(predictor.info.protocol, settings.size).cameras[0]
    sums = np.zeros((2, 4))
    for number in range(settings.houses):
        one = load_images(settings, split, number)
        true = np.asarray(one.depth, np.float64)
        predicted = predictor.predict(np.asarray(one.rgb), camera)
        metres, told = (resize_nearest(each, true.shape[1:]) for each in predicted)
        counted = (true >= NEAREST) & (true <= FARTHEST)
        for row, chosen in zip(sums, (counted, counted & (told <= CERTAIN))):
            row += _sum_errors(metres[chosen].astype(np.float64), true[chosen])
        advance()
    if not sums[0, 3]:
        raise InputError(f"expected images in which something is near, got none in {settings.scenes}/{split}")
    every, certain = (_divide(row) for row in sums)
    return every, certain


def _sum_errors(
    predicted: Float[np.ndarray, "p"], true: Float[np.ndarray, "p"]
) -> tuple[float, float, float, int]:
    """Sums over pixels of what `DepthScore` has means of, and their number."""
    errors = np.abs(predicted - true)
    is_close = np.maximum(predicted / true, true / predicted) < CLOSE
    return float((errors / true).sum()), int(is_close.sum()), float(errors.sum()), len(true)


def _divide(sums: Float[np.ndarray, "4"]) -> DepthScore:
    *means, count = sums.tolist()
    relative, close, metres = (one / count if count else math.nan for one in means)
    return DepthScore(relative, close, metres, int(count))
