"""Scores of cross-view completion in houses that it never saw, beside those with a wrong other view."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.learning.checkpoints.fitted import load_fitted
from navarena.learning.cross_view.checkpoint import CrossViewInfo
from navarena.learning.cross_view.network import CompletionNetwork, draw_visible
from navarena.learning.cross_view.pairs import ViewPairs, load_view_pairs
from navarena.learning.perception.houses import require_unseen
from navarena.learning.tensors import torch

ROWS = 32
"""Pairs that are completed at once."""


class CompletionScore(NamedTuple):
    """How well masked patches of K views are completed.

    Attributes:
        own: (K,) float32 mean squared errors of centred colours, whose deviation is about 1.
        same_house: (K,) float32 the same where the other view is one of another pair of the house, which
            tells colours but hardly what is where.
        other_house: (K,) float32 the same where it is of another house.
    """

    own: Float32[np.ndarray, "k"]
    same_house: Float32[np.ndarray, "k"]
    other_house: Float32[np.ndarray, "k"]


def score_folder(
    folder: Path, split: str, houses: int, pairs: int, advance: Callable[[], object] = lambda: None
) -> tuple[CrossViewInfo, CompletionScore]:
    """Description and score of the checkpoint in `folder`.

    Args:
        folder: of the checkpoint.
        split: of the houses.
        houses: the first of the split.
        pairs: of each house; drawn where the cache folder does not have them.
        advance: called after each house.

    Raises FileError for a checkpoint that is missing or damaged, InputError for the split that it learned
    from, and for a single house or pair.
    """
    require_unseen(split, "the completion")
    if min(houses, pairs) < 2:
        raise InputError(f"expected at least 2 houses of 2 pairs, got {houses} of {pairs}")
    info, network = load_fitted(folder, CrossViewInfo)
    settings, found = replace(info.pairs, houses=houses, pairs=pairs), []
    for number in range(houses):
        found.append(load_view_pairs(settings, info.network.side, info.protocol, split, number))
        advance()
    return info, score_pairs(network, found, info)


def score_pairs(
    network: CompletionNetwork, pairs: Sequence[ViewPairs], info: CrossViewInfo
) -> CompletionScore:
    """The score of completing all first views of houses with as many `pairs`; the same masks every time."""
    first, second = (np.concatenate([getattr(one, name) for one in pairs]) for name in ("first", "second"))
    patches = info.network.grid**2
    visible = draw_visible(len(first), patches, info.masked, make_generator("completion", "score"))
    same = np.concatenate([np.roll(one.second, len(one) // 2, axis=0) for one in pairs])
    other = np.concatenate([one.second for one in (*pairs[1:], pairs[0])])
    return CompletionScore(*(_measure(network, first, visible, one) for one in (second, same, other)))


def _measure(
    network: CompletionNetwork, images: np.ndarray, visible: np.ndarray, others: np.ndarray
) -> Float32[np.ndarray, "k"]:
    errors = np.zeros(len(images), np.float32)
    with torch.inference_mode():
        for first in range(0, len(images), ROWS):
            rows = slice(first, first + ROWS)
            parts = (torch.from_numpy(one[rows]) for one in (images, visible, others))
            errors[rows] = network.measure_errors(*parts).numpy()
    return errors
