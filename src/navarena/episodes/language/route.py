"""Facts of a route, step by step, from which instructions are worded."""

from dataclasses import dataclass
from typing import Literal

from navarena.episodes.language.landmarks import Landmark

Turn = Literal["straight", "left", "right", "around"]
"""From the direction in which a room was entered to that in which it is left."""

Side = Literal["left", "right"]


@dataclass(frozen=True)
class Enter:
    """Go on into the next room.

    Attributes:
        room: its category, such as "kitchen".
        turn: made before.
        same: whether the room that is left has the same category.
    """

    room: str
    turn: Turn
    same: bool = False


@dataclass(frozen=True)
class Climb:
    """Take the stairs, from their foot to their head or back; `turn` is made before."""

    up: bool
    turn: Turn


@dataclass(frozen=True)
class Pass:
    """Walk past an object that is then on that side."""

    landmark: Landmark
    side: Side


@dataclass(frozen=True)
class Stop:
    """The end, by an object.

    Attributes:
        landmark: the object.
        ahead: whether one then looks at it.
    """

    landmark: Landmark
    ahead: bool


RouteStep = Enter | Climb | Pass | Stop


@dataclass(frozen=True)
class Route:
    """All facts that an instruction states.

    Attributes:
        start_room: category of the room in which it begins.
        steps: in order; the last is a Stop.
    """

    start_room: str
    steps: tuple[RouteStep, ...]
