"""What a row of the catalogue says."""

from collections.abc import Callable
from dataclasses import dataclass

from navarena.scenes.houses.furniture.taste import Taste
from navarena.scenes.houses.solids.models import Model


@dataclass(frozen=True)
class Carry:
    """Small things that stand on a family's surfaces.

    Attributes:
        families: what may stand there.
        most: on one surface.
        percent: chance of each.
    """

    families: tuple[str, ...]
    most: int = 2
    percent: int = 50


@dataclass(frozen=True)
class Family:
    """A parametric kind of thing.

    Attributes:
        category: its name in scenes; several families may share one.
        build: draws one instance.
        stands: "wall" (its back to a wall), "corner" (the same, at a wall's end), "floor" (anywhere),
            "hung" (on a wall, its lowest point at `hung_at`), "top" (on another thing), "ceiling".
        clearance: millimetres in front that no other thing stands in.
        hung_at: millimetres above the floor.
        carries: what stands on its surfaces.
        upright: faces the front of what carries it instead of lying at an angle.
    """

    category: str
    build: Callable[[Taste], Model]
    stands: str
    clearance: int = 0
    hung_at: int = 0
    carries: Carry | None = None
    upright: bool = False
