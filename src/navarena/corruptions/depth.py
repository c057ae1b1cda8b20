"""Holes in depth images, and depths out of range."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float32

from navarena.corruptions.normals import draw_normals
from navarena.corruptions.one_by_one import EachDepth
from navarena.corruptions.opencv import blur_gaussian, widen

LOST = (0.02, 0.05, 0.10, 0.20, 0.35)
"""Share of the pixels that lie in holes, by severity. No benchmark corrupts depth; the table is ours."""

HOLE_SIZE = 0.02
"""How far the noise that places holes runs together, standard deviation in lengths of the longer side."""

JUMP = 0.1
"""Neighbours whose depths differ by more than this share of the nearer one lie on an edge."""

RIM = (1, 1, 2, 2, 3)
"""Pixels lost on both sides of an edge, by severity, in images 320 pixels wide: a projector beside the
camera leaves a shadow there."""

RIM_WIDTH = 320

RANGES = ((0.2, 8.0), (0.3, 6.0), (0.4, 5.0), (0.6, 4.0), (0.8, 3.0))
"""Nearest and farthest metres that are measured, by severity: from long-range stereo cameras down to a
structured-light camera (0.8 to 3.0 or 4.0 m)."""


class DepthHoles(EachDepth):
    """Pixels without depth: patches anywhere, and rims along edges. Their depth is 0."""

    def spoil(
        self, depth: Float32[np.ndarray, "h w"], generator: np.random.Generator
    ) -> Float32[np.ndarray, "h w"]:
        """(H, W) float32 metres, 0 in holes."""
        noise = draw_normals(generator, *depth.shape)
        rim = max(1, round(self.of_severity(RIM) * depth.shape[1] / RIM_WIDTH))
        holes = place_patches(noise, self.of_severity(LOST)) | widen(find_jumps(depth), rim)
        return np.where(holes, np.float32(0), depth)


class DepthRange(EachDepth):
    """A camera that measures neither very near nor far.

    Depths outside become the nearest or farthest one ("clipped"), or 0 ("lost").
    """

    words: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({"beyond": ("clipped", "lost")})

    def spoil(
        self, depth: Float32[np.ndarray, "h w"], generator: np.random.Generator
    ) -> Float32[np.ndarray, "h w"]:
        """(H, W) float32 metres; where nothing was hit it stays 0. Draws nothing."""
        near, far = self.of_severity(RANGES)
        clipped = np.clip(depth, np.float32(near), np.float32(far))
        if self.choices["beyond"] == "lost":
            return np.where(clipped == depth, depth, np.float32(0))
        return np.where(depth > 0, clipped, np.float32(0))


def place_patches(noise: Float32[np.ndarray, "h w"], share: float) -> Bool[np.ndarray, "h w"]:
    """(H, W) bool: patches that cover `share` of all pixels, where `noise` that ran together is largest.

    noise: (H, W) float32, independent numbers of standard deviation 1.
    """
    level = blur_gaussian(noise, max(1.0, HOLE_SIZE * max(noise.shape)))
    count = round(share * level.size)
    if count == 0:
        return np.zeros(level.shape, np.bool_)
    return np.asarray(level >= np.partition(level.ravel(), -count)[-count])


def find_jumps(depth: Float32[np.ndarray, "h w"]) -> Bool[np.ndarray, "h w"]:
    """(H, W) bool: both pixels of neighbours beside or above each other that differ by more than JUMP.

    depth: (H, W) float32 metres; pixels where nothing was hit (0) make no edge.
    """
    edges = np.zeros(depth.shape, np.bool_)
    for first, second in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
        nearer, farther = np.minimum(depth[first], depth[second]), np.maximum(depth[first], depth[second])
        jump = (nearer > 0) & (farther - nearer > JUMP * nearer)
        edges[first] |= jump
        edges[second] |= jump
    return edges
