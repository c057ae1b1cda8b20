"""Labellers: predict the class of every pixel from colours and depth, such as a trained segmenter."""

import os
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int32, UInt8

from navarena.core.errors import InputError
from navarena.core.registry import Registry

SEGMENTER_VARIABLE = "NAVARENA_SEGMENTER"
"""Names the labeller of sensors that are asked for without one."""


@runtime_checkable
class Labeller(Protocol):
    """Interface of labellers.

    Attributes:
        classes: names by number; 0 is "void", everything that is none of the others.

    One with weights may have `model_sha256`, their hash, which results then name.
    """

    classes: Sequence[str]

    def label(
        self, rgb: UInt8[np.ndarray, "n h w 3"], depth: Float32[np.ndarray, "n h2 w2"]
    ) -> Int32[np.ndarray, "n h2 w2"]:
        """(N, H', W') int32 class numbers, of the size of the depth images.

        The labels of an image do not depend on the other images.

        Args:
            rgb: (N, H, W, 3) uint8 sRGB.
            depth: (N, H', W') float32 metres, of the same view.
        """
        ...


def hash_weights(labeller: Labeller) -> str:
    """The `model_sha256` of a labeller, 64 hex digits; empty where it names none."""
    return str(getattr(labeller, "model_sha256", ""))


SEGMENTER = "segmenter"

SHIPPED_SEGMENTERS = ("segmenter-habitat2020-small", "segmenter-small")
"""Names of the segmenters that the distribution navarena-checkpoints adds, for `semantic_predicted:NAME`."""

LABELLERS = Registry(
    "labeller", {SEGMENTER: "navarena.learning.perception.labelling:find_segmenter"}, "navarena.labellers"
)
"""Kind -> function of the text behind it that returns a Labeller. Packages add theirs in the group."""


def find_labeller(text: str) -> Labeller:
    """The labeller that `text` names: KIND:TEXT of a registered kind, or the folder of a segmenter.

    Without a text that of $NAVARENA_SEGMENTER. Raises InputError when that is not set either, FileError for a
    folder without a segmenter.
    """
    found = text or os.environ.get(SEGMENTER_VARIABLE, "")
    if not found:
        raise InputError(
            "expected a segmenter to predict classes by, got none; write its folder behind the name, as "
            "modular-goat?segmenter=DIR or semantic_predicted:DIR, or set "
            f"{SEGMENTER_VARIABLE} (navarena train segmenter-small makes one)"
        )
    kind, mark, rest = found.partition(":")
    made: Labeller = (
        LABELLERS.get(kind)(rest) if mark and kind in LABELLERS else LABELLERS.get(SEGMENTER)(found)
    )
    return made
