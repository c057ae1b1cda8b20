"""Memory of the topological agent within an episode."""

from dataclasses import dataclass, field

from navarena.mapping.place_graph import PlaceGraph, PlaceSettings

PLACES = PlaceSettings()


@dataclass(eq=False)
class Memory:
    """The agent's memory in one slot.

    Attributes:
        graph: the places.
        walked: metres since the start.
        last_seen: label -> `walked` when such an object was last in view.
        target: place with frontiers that the body goes to; None while it explores where it is.
        waits: steps on the way there.
        level: how many sizes of frontiers were given up everywhere.
        stale: steps since a view was new.
        has_aim: whether there is something to go to.
        narrow: steps for which the map of the place alone counts.
    """

    graph: PlaceGraph = field(default_factory=lambda: PlaceGraph(PLACES))
    walked: float = 0.0
    last_seen: dict[int, float] = field(default_factory=dict)
    target: int | None = None
    waits: int = 0
    level: int = 0
    stale: int = 0
    has_aim: bool = False
    narrow: int = 0
