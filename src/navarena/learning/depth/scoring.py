"""Scores of depth from colours in houses that it never saw."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from navarena.core.errors import InputError
from navarena.learning.depth.predictor import FARTHEST, NEAREST, DepthPredictor
from navarena.learning.inputs import resize_nearest
from navarena.learning.perception.houses import learned_scenes, require_unseen
from navarena.learning.perception.images import load_images
from navarena.learning.perception.settings import ImageSettings

CLOSE = 1.25
"""Ratio of predicted and true depth within which a pixel counts as close (Eigen et al. 2014)."""


@dataclass(frozen=True)
class DepthScore:
    """Errors of predicted depth, means over pixels that hit something within 10 m.

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
) -> DepthScore:
    """Errors in the images of `settings`.

    Args:
        predictor: that is scored.
        settings: of the images; they are drawn where the cache folder does not have them.
        split: of the houses.
        advance: called after each house.

    Raises InputError for a split that it learned from, and for images that show nothing.
    """
    require_unseen(split, "the network")
    sums, count = np.zeros(3), 0
    for number in range(settings.houses):
        one = load_images(settings, split, number)
        true = np.asarray(one.depth, np.float64)
        predicted = resize_nearest(predictor.predict(np.asarray(one.rgb)), true.shape[1:]).astype(float)
        counted = (true >= NEAREST) & (true <= FARTHEST)
        true, predicted = true[counted], predicted[counted]
        errors = np.abs(predicted - true)
        is_close = np.maximum(predicted / true, true / predicted) < CLOSE
        sums += (errors / true).sum(), is_close.sum(), errors.sum()
        count += len(true)
        advance()
    if not count:
        raise InputError(f"expected images in which something is near, got none in {settings.scenes}/{split}")
    relative, close, metres = (sums / count).tolist()
    return DepthScore(relative, close, metres, count)
