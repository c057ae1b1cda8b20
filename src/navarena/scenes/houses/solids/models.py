"""Objects as collections of scaled solids: parts, models, and the assembly that makes them.

A model's own frame: millimetres, x to the right, y up from what it stands on, and its front
towards -z, so that an object at yaw 0 faces where a body at yaw 0 looks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from navarena.scenes.houses.appearance.finishes import FINISHES, Look
from navarena.scenes.houses.plan.floor_plan import Rect
from navarena.scenes.houses.solids.shapes import BOX, CYLINDER, Shape

Point = tuple[int, int, int]


@dataclass(frozen=True)
class Turn:
    """An exact rotation about +y: cosine and sine are `cosine`/`whole` and `sine`/`whole`."""

    cosine: int = 1
    sine: int = 0
    whole: int = 1

    def then_quarter(self, quarters: int) -> "Turn":
        """The turn that this one followed by quarter turns to the left makes."""
        cosine, sine = self.cosine, self.sine
        for _ in range(quarters % 4):
            cosine, sine = -sine, cosine
        return Turn(cosine, sine, self.whole)

    def then(self, other: "Turn") -> "Turn":
        """The turn that this one followed by another makes."""
        return Turn(
            self.cosine * other.cosine - self.sine * other.sine,
            self.sine * other.cosine + self.cosine * other.sine,
            self.whole * other.whole,
        )

    def inverse(self) -> "Turn":
        """The turn back."""
        return Turn(self.cosine, -self.sine, self.whole)

    def apply(self, x: int, z: int) -> tuple[int, int]:
        """The point (x, z), rotated and rounded to whole millimetres."""
        return (
            _rounded(self.cosine * x + self.sine * z, self.whole),
            _rounded(self.cosine * z - self.sine * x, self.whole),
        )


STRAIGHT = Turn()
QUARTERS = tuple(STRAIGHT.then_quarter(k) for k in range(4))
SLIGHT_TURNS = tuple(
    Turn(cosine, sign * sine, whole)
    for cosine, sine, whole in ((84, 13, 85), (60, 11, 61), (40, 9, 41), (24, 7, 25), (12, 5, 13))
    for sign in (1, -1)
)
"""Exact turns (Pythagorean triples) of 9 to 23 degrees to either side."""


@cache
def _without_bottom(shape: Shape) -> Shape:
    return replace(shape, bottom=False)


def _rounded(value: int, whole: int) -> int:
    return (2 * value + whole) // (2 * whole)


@dataclass(frozen=True)
class Part:
    """One solid of a model.

    Attributes:
        shape: unit solid.
        look: finish and colour.
        size: (width x, height y, depth z) millimetres.
        at: centre of its base (x, y, z) in the model's frame.
        turn: about its own axis.
        fit: the texture covers each face once instead of repeating.
        thin: too flat to throw a shadow or to be an obstacle (rugs, sheets).
    """

    shape: Shape
    look: Look
    size: Point
    at: Point
    turn: Turn = STRAIGHT
    fit: bool = False
    thin: bool = False

    def plan_rect(self) -> Rect:
        """Its outline seen from above, as the smallest rectangle."""
        wide = abs(self.turn.cosine) * self.size[0] + abs(self.turn.sine) * self.size[2]
        deep = abs(self.turn.sine) * self.size[0] + abs(self.turn.cosine) * self.size[2]
        half_x, half_z = -(-wide // (2 * self.turn.whole)), -(-deep // (2 * self.turn.whole))
        x, _, z = self.at
        return Rect(x - half_x, z - half_z, x + half_x, z + half_z)


@dataclass(frozen=True)
class Surface:
    """A place on a model where small objects stand: centre (x, y, z), width, depth, headroom."""

    at: Point
    width: int
    depth: int
    headroom: int = 600


@dataclass(frozen=True)
class Model:
    """A finished object in its own frame.

    Attributes:
        parts: at least one.
        surfaces: where it carries objects.
        attributes: what a person would say of it.
    """

    parts: tuple[Part, ...]
    surfaces: tuple[Surface, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rect(self) -> Rect:
        """Outline seen from above, millimetres."""
        rects = [part.plan_rect() for part in self.parts]
        return Rect(
            min(r.x0 for r in rects),
            min(r.z0 for r in rects),
            max(r.x1 for r in rects),
            max(r.z1 for r in rects),
        )

    @cached_property
    def low(self) -> int:
        """Height of the lowest point, millimetres."""
        return min(part.at[1] for part in self.parts)

    @cached_property
    def high(self) -> int:
        """Height of the highest point, millimetres."""
        return max(part.at[1] + part.size[1] for part in self.parts)


class Assembly:
    """Collects the parts of one model. Positions are (x, bottom y, z) of a part's base centre.

    Args:
        hangs: the model is seen from below, so parts at y = 0 keep their bottom faces.
    """

    def __init__(self, hangs: bool = False) -> None:
        self._hangs = hangs
        self._parts: list[Part] = []
        self._surfaces: list[Surface] = []

    def add(
        self,
        shape: Shape,
        look: Look,
        size: Point,
        at: Point,
        turn: Turn = STRAIGHT,
        fit: bool = False,
        thin: bool = False,
    ) -> None:
        """Add a solid; one that stands on y = 0 gets no bottom face."""
        if at[1] == 0 and shape.bottom and not shape.lying and not self._hangs:
            shape = _without_bottom(shape)
        self._parts.append(Part(shape, look, size, at, turn, fit, thin))

    def box(self, look: Look, size: Point, at: Point, fit: bool = False, thin: bool = False) -> None:
        """Add a cuboid."""
        self.add(BOX, look, size, at, STRAIGHT, fit, thin)

    def cylinder(self, look: Look, diameter: int, height: int, at: Point) -> None:
        """Add an upright cylinder."""
        self.add(CYLINDER, look, (diameter, height, diameter), at)

    def legs(
        self, look: Look, shape: Shape, thickness: int, height: int, width: int, depth: int, low: int = 0
    ) -> None:
        """Add four legs whose outer faces span `width` by `depth`."""
        x, z = (width - thickness) // 2, (depth - thickness) // 2
        for sx in (-1, 1):
            for sz in (-1, 1):
                self.add(shape, look, (thickness, height, thickness), (sx * x, low, sz * z))

    def surface(self, at: Point, width: int, depth: int, headroom: int = 600) -> None:
        """Declare a place where small objects can stand."""
        self._surfaces.append(Surface(at, width, depth, headroom))

    def model(self, look: Look, shape: str = "", **attributes: str) -> Model:
        """The finished model; `look` is the one that names its colour and material."""
        described = {"color": look.color, "material": look.material, **attributes}
        if shape:
            described["shape"] = shape
        described.setdefault("pattern", FINISHES[look.finish].pattern or "plain")
        model = Model(tuple(self._parts), tuple(self._surfaces), described)
        rect = model.rect
        longest = max(rect.width, rect.depth, model.high - model.low)
        described.setdefault("size", "small" if longest < 400 else "medium" if longest < 1200 else "large")
        return model
