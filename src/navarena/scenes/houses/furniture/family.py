"""Families of objects: what a row of the catalogue says, and how an instance is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.furniture.rows import Body
from navarena.scenes.houses.parts import Model


@dataclass(frozen=True)
class Carry:
    """Small objects that stand on a family's surfaces.

    Attributes:
        limit: on one surface.
        percent: chance of each.
        families: what may stand there.
    """

    limit: int
    percent: int
    families: Sequence[str]


@dataclass(frozen=True)
class Family:
    """A parametric kind of object.

    Attributes:
        category: its name in scenes; several families may share one.
        stands: "wall" (its back to a wall), "corner" (the same, at a wall's end), "floor" (anywhere),
            "hung" (on a wall, its lowest point at `hung_at`), "top" (on another object), "ceiling".
        size_limits: millimetres of the longest side: shorter is small, at least the second is large.
        body: the rows that draw an instance.
        clearance: millimetres in front that no other object stands in.
        hung_at: millimetres above the floor.
        carries: what stands on its surfaces.
        upright: faces the front of what carries it instead of lying at an angle.
    """

    category: str
    stands: str
    size_limits: tuple[int, int]
    body: Body
    clearance: int = 0
    hung_at: int = 0
    carries: Carry | None = None
    upright: bool = False

    def build(self, room: RoomStyle, **given: int) -> Model:
        """One instance; lengths in `given` (millimetres, by their name in the table) are not drawn."""
        return self.body.draw(room, self.stands in ("hung", "ceiling"), given)
