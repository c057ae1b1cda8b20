"""Noise on goals (GOAT-Bench, section 5.3; spec ivln_goat 4.6): on their images, and other words."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from jaxtyping import UInt8

from navarena.corruptions.corruption import GoalImageCorruption, GoalWordsCorruption
from navarena.corruptions.noise import GAUSSIAN_SIGMA, spread_noise
from navarena.corruptions.normals import draw_normals

PAPER_SIGMA = (0.1, 2.0)
"""Bytes: limits of the standard deviation that GOAT-Bench draws for each image (spec 4.6). It is not to be
seen."""


class GoalImageNoise(GoalImageCorruption):
    """Adds N(0, sigma) to every channel of every pixel of goals' images.

    Without a severity sigma is drawn for each image as in the paper; severities are those of
    `gaussian_noise`, which can be seen. With the word "wrapped" bytes that leave 0 to 255 come back at the
    other end, as in the authors' code.
    """

    default_severity: ClassVar[int | None] = None
    words: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({"overflow": ("clipped", "wrapped")})

    def corrupt(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: x + N(0, sigma), clipped (or modulo 256), truncated towards 0."""
        if self.severity is None:
            sigma = generator.uniform(*PAPER_SIGMA)
        else:
            sigma = 255 * self.of_severity(GAUSSIAN_SIGMA)
        noise = draw_normals(generator, *image.shape)
        if self.choices["overflow"] == "clipped":
            return spread_noise(np.ascontiguousarray(image), noise, sigma, 0.0)
        return np.asarray((image + np.float32(sigma) * noise).astype(np.int64) % 256, np.uint8)


class GoalSynonyms(GoalWordsCorruption):
    """Replaces each goal's category by a synonym, where there is one."""

    severities = ()
    modality = "object"


class GoalParaphrase(GoalWordsCorruption):
    """Replaces each description by another wording of its facts."""

    severities = ()
    modality = "description"
