"""Scores of segmentation: confusions, and the intersection over union of each class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64, Integer

from navarena.core.errors import InputError


@dataclass(frozen=True)
class ClassScore:
    """Scores of one class.

    Attributes:
        name: of the class.
        iou: pixels that are of the class and are called so, over those that are either; None where nothing
            is either.
        recall: share of its pixels that are called so; None where it has none.
        share: of all pixels that are of the class.
    """

    name: str
    iou: float | None
    recall: float | None
    share: float


def count_confusions(
    true: Integer[np.ndarray, "..."], predicted: Integer[np.ndarray, "..."], classes: int
) -> Int64[np.ndarray, "c c"]:
    """(C, C) int64: number of pixels of class i (row) that are called j (column).

    Args:
        true: (...) class numbers.
        predicted: (...) class numbers.
        classes: C.

    Raises InputError for other shapes and numbers.
    """
    if true.shape != predicted.shape:
        raise InputError(f"expected predictions of shape {true.shape}, got {predicted.shape}")
    both = np.stack((true.reshape(-1), predicted.reshape(-1))).astype(np.int64)
    if both.size and not (both.min() >= 0 and both.max() < classes):
        raise InputError(f"expected classes 0 to {classes - 1}, got {both.min()} to {both.max()}")
    counts: np.ndarray = np.bincount(both[0] * classes + both[1], minlength=classes * classes)
    return counts.reshape(classes, classes)


def score_classes(confusions: Int64[np.ndarray, "c c"], names: Sequence[str]) -> list[ClassScore]:
    """The score of every class of `names` (C), from `confusions` (C, C), pixel counts."""
    scores = []
    total = max(int(confusions.sum()), 1)
    for number, name in enumerate(names):
        found = int(confusions[number, number])
        own, called = int(confusions[number].sum()), int(confusions[:, number].sum())
        either = own + called - found
        iou = found / either if either else None
        scores.append(ClassScore(name, iou, found / own if own else None, own / total))
    return scores


def mean_iou(scores: Sequence[ClassScore]) -> float:
    """Mean over the classes that occur; one that is called somewhere but never occurs counts 0, as its iou.

    Raises InputError when there is none.
    """
    known = [one.iou for one in scores if one.iou is not None]
    if not known:
        raise InputError("expected at least one class that occurs, got none")
    return float(np.mean(known))
