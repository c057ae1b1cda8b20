"""The room programme of a house: its rooms and their target areas."""

from collections.abc import Mapping
from dataclasses import dataclass

from navarena.scenes.houses.plan.floor_plan import STAIRS
from navarena.scenes.houses.random_draws import Draws

SQUARE_METRE = 1_000_000


@dataclass(frozen=True)
class RoomKind:
    """Requirements of a kind of room.

    Attributes:
        area: smallest and largest wish, square decimetres (100 = 1 m2).
        min_width_mm: of its shorter inner side.
        public: whether it belongs with the living room rather than with the bedrooms.
        dead_end: nobody walks through it to another room.
        weight: how often it is chosen for a room beyond the necessary ones.
        max_count: how many a house may have.
        longest_percent: largest ratio of its longer to its shorter side, in percent.
    """

    area: tuple[int, int]
    min_width_mm: int
    public: bool = False
    dead_end: bool = False
    weight: int = 0
    max_count: int = 1
    longest_percent: int = 215


ROOM_KINDS: Mapping[str, RoomKind] = {
    "living room": RoomKind((2000, 3600), 3300, public=True),
    "kitchen": RoomKind((900, 1600), 2300, public=True, longest_percent=260),
    "dining room": RoomKind((1000, 1600), 2600, public=True, weight=14),
    "bedroom": RoomKind((1050, 1800), 2600, dead_end=True, weight=32, max_count=4),
    "bathroom": RoomKind((450, 850), 1800, dead_end=True, weight=16, max_count=3, longest_percent=260),
    "toilet": RoomKind((200, 320), 1050, dead_end=True, weight=10, longest_percent=300),
    "office": RoomKind((800, 1400), 2300, dead_end=True, weight=14, max_count=2),
    "laundry room": RoomKind((400, 750), 1650, dead_end=True, weight=10, longest_percent=260),
    "gym": RoomKind((1100, 2000), 2800, dead_end=True, weight=8),
    "storage room": RoomKind((250, 500), 1200, dead_end=True, weight=8, longest_percent=300),
    "corridor": RoomKind((500, 1500), 1080, longest_percent=2000),
    STAIRS: RoomKind((800, 1200), 2100, longest_percent=300),
}

NECESSARY: tuple[tuple[str, ...], ...] = (
    ("living room",),
    ("living room", "bathroom"),
    ("living room", "bathroom", "bedroom"),
    ("living room", "bathroom", "bedroom", "kitchen"),
    ("living room", "bathroom", "bedroom", "kitchen", "corridor"),
)
"""The rooms of houses with one, two, ... rooms; larger ones have the last and draw the rest."""

COUNT_WEIGHTS = (2, 2, 4, 10, 16, 20, 18, 13, 8, 4, 2, 1)
"""How often a house has one, two, ... twelve rooms."""


@dataclass(frozen=True)
class Wish:
    """A room to be placed: its kind and the area it wants, in square millimetres."""

    category: str
    area: int


def draw_programme(draws: Draws, rooms: int | None) -> list[Wish]:
    """The rooms of a house with `rooms` rooms (drawn when None); the corridor, if any, is last."""
    count = rooms or draws.weighted(range(1, len(COUNT_WEIGHTS) + 1), COUNT_WEIGHTS)
    names = list(NECESSARY[min(count, len(NECESSARY)) - 1])
    while len(names) < count:
        open_kinds = [
            name for name, kind in ROOM_KINDS.items() if kind.weight and names.count(name) < kind.max_count
        ]
        names.append(draws.weighted(open_kinds, [ROOM_KINDS[name].weight for name in open_kinds]))
    names.sort(key=lambda name: (name == "corridor", list(ROOM_KINDS).index(name)))
    scale = draws.integer(88, 120, 2)
    wishes = []
    for name in names:
        low, high = ROOM_KINDS[name].area
        wishes.append(Wish(name, draws.integer(low, high, 10) * SQUARE_METRE * scale // 10_000))
    return wishes
