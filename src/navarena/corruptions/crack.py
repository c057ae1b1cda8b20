"""Cracked glass: random fractures, and the image seen through them.

A stone hits the glass in one point. Fractures run outwards from there and fork; shorter ones join them
around the point; between them lie shards, each turned a little and hence showing a displaced part of
the scene. The source draws one of several images of cracks whose number and looks are unknown
(Chattopadhyay et al. 2021, camera crack), so that all constants here are ours.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Float32, Int32, UInt8

from navarena.core.elementary import exp, power
from navarena.core.seeding import make_generator
from navarena.corruptions.opencv import draw_lines, label_regions

RAYS = (10, 16)
"""Fewest and most fractures that run outwards."""

INNERMOST, GROWTH, LEVELS = 0.014, 1.42, 14
"""Rays bend, fork and are joined at these distances from the impact: INNERMOST times powers of GROWTH,
in lengths of the image's longer side."""

WANDER = 0.055
"""Standard deviation by which a ray turns around the impact from level to level, radians."""

FORKS = 0.16
"""Chance that a ray forks at a level."""

JOINED = (0.75, 0.15)
"""Chance that neighbouring rays are joined, at the innermost and at the outermost level."""

LARGEST_SHIFT = 0.035
"""How far shards near the impact displace what is seen through them, in lengths of the longer side."""

FADE = 0.4
"""Distance from the impact at which displacement and darkening have fallen to a third, in the same unit."""

DARKEST_SHARD, DARKEST_LINE, BRIGHTEST_LINE = 0.3, 0.75, 150.0
"""Shares of light that the darkest shard and a fracture take, and bytes of light that its edge throws."""

LINE_WIDTH = 0.0045
"""Of the widest fracture, in lengths of the longer side; its bright edge lies half as far beside it."""

SPLINTERS = 40
"""Short fractures around the impact."""


@dataclass(frozen=True)
class Fracture:
    """A fracture of the glass.

    Attributes:
        points: (P, 2) pixels right and down, along it.
        weight: how wide and dark it is, from 0 to 1.
    """

    points: Float[np.ndarray, "p 2"]
    weight: float


@dataclass(frozen=True)
class CrackedGlass:
    """Displacement and light of an image of H x W pixels behind cracked glass.

    Attributes:
        source: (H W,) int32 index of the pixel that is seen in each pixel.
        gain: (H W,) float32 share of its light that arrives.
        glow: (H W,) float32 bytes of light that the fractures add.
    """

    source: Int32[np.ndarray, "hw"]
    gain: Float32[np.ndarray, "hw"]
    glow: Float32[np.ndarray, "hw"]


@lru_cache(maxsize=64)
def crack_glass(seed: int, height: int, width: int) -> CrackedGlass:
    """The cracked glass of `seed` for images of `height` x `width` pixels."""
    generator = make_generator("cracked glass", seed)
    size = float(max(height, width))
    impact = generator.uniform(0.15, 0.85, 2) * (width, height)
    fractures = draw_fractures(generator, impact, size)
    return _look_through(generator, fractures, impact, height, width)


def draw_fractures(
    generator: np.random.Generator, impact: Float[np.ndarray, "2"], size: float
) -> list[Fracture]:
    """Fractures around `impact`, (2,) pixels right and down, for an image of `size` pixels.

    size: of its longer side.
    """
    count = int(generator.integers(RAYS[0], RAYS[1] + 1))
    angles = (
        2 * np.pi * (np.arange(count) + generator.uniform(-0.35, 0.35, count) + generator.random()) / count
    )
    angles = angles[:, None] + np.cumsum(generator.normal(0, WANDER, (count, LEVELS)), 1)
    radii = (
        size * INNERMOST * power(GROWTH, np.arange(LEVELS) + generator.uniform(-0.3, 0.3, (count, LEVELS)))
    )
    knees = impact + radii[:, :, None] * np.stack([np.cos(angles), np.sin(angles)], 2)
    lengths = np.where(generator.random(count) < 0.5, LEVELS, generator.integers(6, LEVELS, count))
    fractures = []
    for ray in range(count):
        points = np.concatenate([impact[None], knees[ray, : lengths[ray]]])
        fractures += _taper(points)
        fractures += _forks(generator, knees[ray, : lengths[ray]])
    fractures += _joints(generator, knees, lengths)
    return fractures + _splinters(generator, impact, size)


def _taper(points: Float[np.ndarray, "p 2"]) -> list[Fracture]:
    """The pieces of a ray, wide at the impact and narrow at its end."""
    pieces = len(points) - 1
    return [Fracture(points[k : k + 2], 1 - 0.75 * k / max(pieces, 1)) for k in range(pieces)]


def _forks(generator: np.random.Generator, knees: Float[np.ndarray, "p 2"]) -> list[Fracture]:
    """Fractures of two pieces that leave a ray to one side."""
    forks = []
    for level in range(3, len(knees) - 1):
        chance, side, turn, length = generator.random(4)
        if chance < FORKS:
            angle = np.copysign(0.3 + 0.5 * turn, side - 0.5)
            rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            along = rotation @ (knees[level + 1] - knees[level])
            across = np.array([-along[1], along[0]])
            bend = knees[level] + 0.9 * along
            end = bend + (0.3 + 0.9 * length) * along + 0.2 * (side - 0.5) * across
            forks.append(Fracture(np.stack([knees[level], bend, end]), 0.45))
    return forks


def _joints(
    generator: np.random.Generator, knees: Float[np.ndarray, "r l 2"], lengths: np.ndarray
) -> list[Fracture]:
    """Fractures around the impact: straight or bent pieces from ray to ray."""
    joints = []
    chances = np.linspace(*JOINED, LEVELS)
    for ray in range(len(knees)):
        after = (ray + 1) % len(knees)
        for level in range(1, min(lengths[ray], lengths[after])):
            chance, bend = generator.random(2)
            other = min(level + int(generator.random() < 0.2), lengths[after] - 1)
            if chance < chances[level]:
                ends = knees[ray, level], knees[after, other]
                middle = (ends[0] + ends[1]) / 2
                middle = middle + (middle - knees[ray, 0]) * 0.12 * (bend - 0.3)
                joints.append(Fracture(np.stack([ends[0], middle, ends[1]]), 0.7 - 0.5 * level / LEVELS))
    return joints


def _splinters(generator: np.random.Generator, impact: np.ndarray, size: float) -> list[Fracture]:
    places = impact + generator.normal(0, 1.6 * INNERMOST * size, (SPLINTERS, 2))
    ends = places + generator.normal(0, 0.9 * INNERMOST * size, (SPLINTERS, 2))
    return [Fracture(np.stack(pair), 0.5) for pair in zip(places, ends, strict=True)]


def _look_through(
    generator: np.random.Generator, fractures: list[Fracture], impact: np.ndarray, height: int, width: int
) -> CrackedGlass:
    size = float(max(height, width))
    walls = np.zeros((height, width), np.uint8)
    dark, bright = np.zeros((height, width), np.uint8), np.zeros((height, width), np.uint8)
    offset = LINE_WIDTH * size / 2
    for fracture in sorted(fractures, key=lambda one: one.weight):
        thickness = max(1, round(LINE_WIDTH * size * fracture.weight))
        draw_lines(walls, fracture.points, 255, 1, smooth=False)
        draw_lines(bright, fracture.points + offset, round(255 * fracture.weight), thickness)
        draw_lines(dark, fracture.points, round(255 * (0.35 + 0.65 * fracture.weight)), thickness)
    shards = label_regions(255 - walls)
    return _shift_shards(generator, shards, dark, bright, impact)


def _shift_shards(
    generator: np.random.Generator,
    shards: Int32[np.ndarray, "h w"],
    dark: UInt8[np.ndarray, "h w"],
    bright: UInt8[np.ndarray, "h w"],
    impact: Float[np.ndarray, "2"],
) -> CrackedGlass:
    height, width = shards.shape
    size, count = float(max(height, width)), int(shards.max()) + 1
    down, right = np.mgrid[:height, :width]
    area = np.maximum(np.bincount(shards.ravel(), minlength=count), 1)
    middle = [np.bincount(shards.ravel(), axis.ravel(), count) / area for axis in (right, down)]
    near = exp(-np.hypot(middle[0] - impact[0], middle[1] - impact[1]) / (FADE * size))
    angle, far = generator.uniform(0, 2 * np.pi, count), generator.uniform(0.2, 1, count)
    moved = LARGEST_SHIFT * size * near * far
    dimmed = DARKEST_SHARD * near * generator.random(count)
    right = np.clip(np.rint(right + (moved * np.cos(angle))[shards]), 0, width - 1)
    down = np.clip(np.rint(down + (moved * np.sin(angle))[shards]), 0, height - 1)
    line = dark / np.float32(255)
    gain = (1 - dimmed[shards]) * (1 - DARKEST_LINE * line)
    glow = BRIGHTEST_LINE * (bright / 255.0) * (1 - line)
    return CrackedGlass(
        (down * width + right).astype(np.int32).ravel(),
        gain.astype(np.float32).ravel(),
        glow.astype(np.float32).ravel(),
    )
