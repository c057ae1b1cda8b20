"""Scores of a segmenter in houses."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import InputError
from navarena.learning.perception.houses import learned_scenes, require_unseen
from navarena.learning.perception.images import load_images
from navarena.learning.perception.labelling import SegmenterLabeller
from navarena.learning.perception.scoring import count_confusions
from navarena.learning.perception.settings import ImageSettings
from navarena.mapping.vocabularies import class_names


def make_score_settings(
    labeller: SegmenterLabeller, protocol: str | None = None, houses: int = 40, images: int = 25
) -> ImageSettings:
    """Settings of a segmenter's score: images of the scenes of its training, with the camera of `protocol` or
    its own.

    Raises InputError for numbers below 1.
    """
    info = labeller.info
    chosen = info.protocol if protocol is None else protocol
    return ImageSettings(
        vocabulary=info.vocabulary,
        cameras=(chosen,),
        size=info.size,
        scenes=learned_scenes(info.recipe),
        houses=houses,
        images=images,
    )


def count_house_confusions(
    labeller: SegmenterLabeller,
    settings: ImageSettings,
    split: str,
    advance: Callable[[], object] = lambda: None,
) -> Int64[np.ndarray, "c c"]:
    """(C, C) int64 pixel counts, true by predicted class, over the images of `settings` in `split`.

    Args:
        labeller: the segmenter.
        settings: of the images; they are drawn where the cache folder does not have them.
        split: of the houses.
        advance: called after each house.

    Raises InputError for a split that the segmenter learned from, or of another vocabulary.
    """
    if class_names(settings.vocabulary) != tuple(labeller.classes):
        raise InputError(
            f"expected the classes of the vocabulary {settings.vocabulary!r}, got a segmenter of "
            f"{len(labeller.classes)} others; train it again"
        )
    require_unseen(split, "the segmenter")
    total = np.zeros((len(labeller.classes),) * 2, np.int64)
    for number in range(settings.houses):
        one = load_images(settings, split, number)
        predicted = labeller.label(np.asarray(one.rgb), np.asarray(one.depth, np.float32))
        total += count_confusions(np.asarray(one.classes), predicted, len(total))
        advance()
    return total
