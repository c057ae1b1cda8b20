"""Unit solids from which every part is scaled.

A shape is a convex section polygon moved up a profile of rings, and capped: boxes, tapered
legs, cylinders, lathe work, cushions. Coordinates are whole numbers in thousandths, so that
nothing here depends on a machine's trigonometry.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

SECTIONS: dict[str, tuple[tuple[int, int], ...]] = {
    "square": ((500, 500), (500, -500), (-500, -500), (-500, 500)),
    "chamfered": (
        (500, 360), (500, -360), (430, -500), (-430, -500),
        (-500, -360), (-500, 360), (-430, 500), (430, 500),
    ),
    "triangle": ((500, 500), (0, -500), (-500, 500)),
    "round6": ((500, 0), (250, -433), (-250, -433), (-500, 0), (-250, 433), (250, 433)),
    "round8": (
        (500, 0), (354, -354), (0, -500), (-354, -354), (-500, 0), (-354, 354), (0, 500), (354, 354),
    ),
    "round10": (
        (500, 0), (405, -294), (155, -476), (-155, -476), (-405, -294),
        (-500, 0), (-405, 294), (-155, 476), (155, 476), (405, 294),
    ),
    "round12": (
        (500, 0), (433, -250), (250, -433), (0, -500), (-250, -433), (-433, -250),
        (-500, 0), (-433, 250), (-250, 433), (0, 500), (250, 433), (433, 250),
    ),
}  # fmt: skip
"""Section outlines (x, z) in thousandths of the part's width and depth, counter-clockwise from above."""

Ring = tuple[int, int, int, int, int]
"""(height, width, depth, shift x, shift z) in thousandths of the part's size."""


@dataclass(frozen=True)
class Shape:
    """A section, the rings it passes through, and whether its sides look rounded.

    Attributes:
        section: name in SECTIONS.
        rings: from the bottom (height 0) to the top (height 1000).
        smooth: neighbouring sides share vertices, so baked light runs across their edge.
        bottom: whether the lowest ring is capped; False for what rests on something.
        lying: laid on its back, so that the top looks towards -z.
    """

    section: str
    rings: tuple[Ring, ...]
    smooth: bool = True
    bottom: bool = True
    lying: bool = False


@dataclass(frozen=True)
class Template:
    """A shape's mesh in the unit cube centred on x and z, with y from 0 to 1.

    Attributes:
        vertices: (V, 3) float64.
        triangles: (T, 3) int64, counter-clockwise seen from outside.
    """

    vertices: Float[np.ndarray, "v 3"]
    triangles: Int[np.ndarray, "t 3"]


def straight(section: str, smooth: bool = True) -> Shape:
    """A prism."""
    return Shape(section, ((0, 1000, 1000, 0, 0), (1000, 1000, 1000, 0, 0)), smooth)


BOX = straight("square", smooth=False)
CYLINDER = straight("round10")
FINE_CYLINDER = straight("round12")
ROD = straight("round6")
DISC = replace(straight("round12"), lying=True)
"""A cylinder whose axis runs from front to back."""


@cache
def tapered(bottom: int, top: int, section: str = "square", shift_z: int = 0) -> Shape:
    """Straight sides between rings of `bottom` and `top` thousandths; the top moves by `shift_z`."""
    return Shape(
        section,
        ((0, bottom, bottom, 0, 0), (1000, top, top, 0, shift_z)),
        smooth=section != "square",
    )


@cache
def leaning(shift_z: int, thickness: int = 1000) -> Shape:
    """A slab whose top is moved by `shift_z` and whose depth is `thickness` thousandths of the part's."""
    low = -shift_z // 2
    return Shape(
        "square", ((0, 1000, thickness, 0, low), (1000, 1000, thickness, 0, low + shift_z)), smooth=False
    )


@cache
def lathe(*rings: tuple[int, int], section: str = "round10") -> Shape:
    """Turned work: (height, diameter) pairs in thousandths, from bottom to top."""
    return Shape(section, tuple((height, width, width, 0, 0) for height, width in rings))


CUSHION = Shape(
    "chamfered",
    ((0, 860, 820, 0, 0), (300, 1000, 1000, 0, 0), (700, 1000, 1000, 0, 0), (1000, 840, 800, 0, 0)),
)
"""A soft slab, rounded at all edges."""

PILLOW = Shape(
    "chamfered",
    ((0, 500, 400, 0, 0), (350, 960, 940, 0, 0), (600, 1000, 1000, 0, 0), (1000, 420, 340, 0, 0)),
)
"""A fat pillow lying flat."""

BALL = lathe((0, 260), (150, 714), (400, 980), (600, 980), (850, 714), (1000, 260))

SMALL_BALL = lathe((0, 440), (280, 980), (720, 980), (1000, 440), section="round8")
"""A ball in few triangles, for what is no larger than a fist."""

TINY_BALL = lathe((0, 400), (500, 1000), (1000, 400), section="round6")
"""A bead."""

CONE = tapered(1000, 120, "round8")


@cache
def template(shape: Shape) -> Template:
    """The mesh of a shape; sides first, then the caps. Pure and cached."""
    section = np.array(SECTIONS[shape.section], float) / 1000
    rings = [_ring(section, ring) for ring in shape.rings]
    vertices: list[np.ndarray] = []
    triangles: list[tuple[int, int, int]] = []
    if shape.smooth:
        _add_smooth_sides(vertices, triangles, rings)
    else:
        _add_flat_sides(vertices, triangles, rings)
    if shape.bottom:
        _add_cap(vertices, triangles, rings[0], upwards=False)
    _add_cap(vertices, triangles, rings[-1], upwards=True)
    points = np.concatenate(vertices)
    if shape.lying:
        points = np.stack([points[:, 0], points[:, 2] + 0.5, 0.5 - points[:, 1]], 1)
    return Template(points, np.array(triangles, np.int64))


def _ring(section: np.ndarray, ring: Ring) -> np.ndarray:
    height, width, depth, shift_x, shift_z = (value / 1000 for value in ring)
    return np.stack(
        [section[:, 0] * width + shift_x, np.full(len(section), height), section[:, 1] * depth + shift_z], 1
    )


def _count(vertices: list[np.ndarray]) -> int:
    return sum(map(len, vertices))


def _add_smooth_sides(
    vertices: list[np.ndarray], triangles: list[tuple[int, int, int]], rings: list[np.ndarray]
) -> None:
    sides = len(rings[0])
    for k in range(len(rings) - 1):
        for i in range(sides):
            a, b = k * sides + i, k * sides + (i + 1) % sides
            triangles += [(a, b, b + sides), (a, b + sides, a + sides)]
    vertices += rings


def _add_flat_sides(
    vertices: list[np.ndarray], triangles: list[tuple[int, int, int]], rings: list[np.ndarray]
) -> None:
    for low, high in pairwise(rings):
        for i in range(len(low)):
            j, first = (i + 1) % len(low), _count(vertices)
            vertices.append(np.stack([low[i], low[j], high[j], high[i]]))
            triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]


def _add_cap(
    vertices: list[np.ndarray], triangles: list[tuple[int, int, int]], ring: np.ndarray, upwards: bool
) -> None:
    first, sides = _count(vertices), len(ring)
    vertices.append(ring)
    for i in range(1, sides - 1):
        a, b = first + i, first + i + 1
        triangles.append((first, a, b) if upwards else (first, b, a))
