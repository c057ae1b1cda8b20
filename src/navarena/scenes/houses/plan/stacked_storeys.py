"""Plans of houses with several storeys.

All storeys share two strips of rooms with a corridor between them; the stairs stand at the
same place of the first strip on each. An upper storey may end short of the one below.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from navarena.scenes.houses.plan.floor_plan import INNER_HALF_MM, SIDES, STAIRS, PlannedRoom, Rect
from navarena.scenes.houses.plan.programme import ROOM_KINDS, SQUARE_METRE, Wish
from navarena.scenes.houses.plan.stairs import DEEP_MM, WIDE_MM
from navarena.scenes.houses.plan.subdivision import (
    GRID_MM,
    corridor_width,
    missing_contacts,
    room_faults,
    snapped,
    stacked_strip,
    turned,
)
from navarena.scenes.houses.random_draws import Draws

STOREY_DM2: Mapping[int, tuple[int, int]] = {2: (5200, 14000), 3: (5200, 12500)}
"""Outline of a storey, square decimetres, by the number of storeys."""

FRAMES, FILLINGS = 6, 25
"""Outlines tried, and rooms tried for each storey of an outline."""

GROUND_BEDROOMS, GROUND_OTHERS = 2, 1
"""How many bedrooms, and how many of any other kind, a ground floor may have."""

NARROWEST_SIDE_MM = 3000
"""Least length of strip left on either side of the stairs, unless nothing is left."""

GROUND_FLOOR = {
    "office": 12,
    "bedroom": 10,
    "laundry room": 14,
    "storage room": 12,
    "toilet": 10,
    "bathroom": 8,
    "gym": 6,
}
UPPER_FLOOR = {
    "bedroom": 40,
    "bathroom": 14,
    "office": 12,
    "gym": 6,
    "storage room": 8,
    "laundry room": 5,
    "toilet": 6,
}
"""How often a kind of room is chosen for what the necessary ones leave."""


@dataclass(frozen=True)
class Frame:
    """Frame that the storeys of a house share, millimetres.

    Attributes:
        length: along the corridor.
        north, hall, south: depths of the first strip, the corridor and the second strip.
        stairs: (start, end) of the stairs' cell along the first strip.
    """

    length: int
    north: int
    hall: int
    south: int
    stairs: tuple[int, int]

    @property
    def depth(self) -> int:
        """Across the corridor."""
        return self.north + self.hall + self.south


def draw_storeys(draws: Draws, count: int) -> list[list[PlannedRoom]]:
    """The rooms of `count` storeys, ground floor first; the stairs are the last room of each.

    The best of FRAMES drawings, the first faultless one if any.
    """
    best: list[list[PlannedRoom]] = []
    least = -1
    for _ in range(FRAMES):
        frame = _draw_frame(draws, count)
        spans = _draw_spans(draws, frame, count)
        drawn = [_draw_best_storey(draws, frame, span, level) for level, span in enumerate(spans)]
        faults = sum(found for found, _ in drawn)
        if least < 0 or faults < least:
            best, least = [rooms for _, rooms in drawn], faults
        if faults == 0:
            break
    return _placed(best, draws.integer(0, 7))


def _draw_best_storey(
    draws: Draws, frame: Frame, span: tuple[int, int], level: int
) -> tuple[int, list[PlannedRoom]]:
    """(faults, rooms) of the best of FILLINGS drawings of a storey, the first faultless one if any."""
    best: tuple[int, list[PlannedRoom]] | None = None
    for _ in range(FILLINGS):
        rooms = _draw_storey(draws, frame, span, level)
        faults = sum(map(room_faults, rooms)) + _missing_rooms(rooms, level)
        if best is None or faults < best[0]:
            best = faults, rooms
        if faults == 0:
            break
    assert best is not None
    return best


def landing_side(rooms: Sequence[PlannedRoom]) -> int:
    """The side of the stairs' room (the last one) that faces the corridor."""
    cell = rooms[-1].cell
    corridor = next(room.cell for room in rooms if room.category == "corridor")
    return next(side for side in SIDES if corridor.line((side + 2) % 4) == cell.line(side))


def _draw_frame(draws: Draws, count: int) -> Frame:
    low, high = STOREY_DM2[count]
    area = draws.integer(low, high, 50) * SQUARE_METRE // 100
    hall = corridor_width(draws)
    shallowest = snapped(DEEP_MM + 2 * INNER_HALF_MM + GRID_MM)
    north, south = draws.integer(shallowest, 4900, GRID_MM), draws.integer(3100, 5000, GRID_MM)
    length = max(snapped(area // (north + hall + south)), 6000)
    wide = snapped(WIDE_MM + 2 * INNER_HALF_MM + draws.integer(50, 250, GRID_MM))
    last = length - wide
    starts = [0, last]
    if last - NARROWEST_SIDE_MM >= NARROWEST_SIDE_MM:
        starts += [snapped(draws.integer(NARROWEST_SIDE_MM, last - NARROWEST_SIDE_MM, GRID_MM))] * 3
    start = draws.choose(starts)
    return Frame(length, north, hall, south, (start, start + wide))


def _draw_spans(draws: Draws, frame: Frame, count: int) -> list[tuple[int, int]]:
    """(start, end) of each storey along the corridor, none longer than the one below."""
    spans = [(0, frame.length)]
    for _ in range(1, count):
        start, end = spans[-1]
        cut = snapped((end - start) * draws.integer(12, 30) // 100)
        if draws.chance(35) and end - start - cut >= 6500:
            if frame.stairs[0] - start > end - frame.stairs[1]:
                room = frame.stairs[0] - start - cut
                start += cut if room >= NARROWEST_SIDE_MM else 0
            else:
                room = end - cut - frame.stairs[1]
                end -= cut if room >= NARROWEST_SIDE_MM else 0
        spans.append((start, end))
    return spans


def _draw_storey(draws: Draws, frame: Frame, span: tuple[int, int], level: int) -> list[PlannedRoom]:
    """Corridor, rooms of all strips, stairs."""
    start, end = span
    low, high = frame.stairs
    south_z = frame.north + frame.hall
    strips = [(Rect(start, south_z, end, frame.depth), True)]
    strips += [
        (Rect(a, 0, b, frame.north), False)
        for a, b in ((start, low), (high, end))
        if b - a >= NARROWEST_SIDE_MM // 2
    ]
    strips.sort(key=lambda strip: -strip[0].area)
    rooms = [PlannedRoom("corridor", Rect(start, frame.north, end, south_z))]
    counts: Counter[str] = Counter()
    for number, (rect, corridor_is_low) in enumerate(strips):
        wishes = _draw_wishes(draws, rect, level, number, counts)
        rooms += stacked_strip(draws, rect, wishes, corridor_is_low)
    rooms.append(PlannedRoom(STAIRS, Rect(low, 0, high, frame.north)))
    return [PlannedRoom(room.category, room.cell, level) for room in rooms]


def _draw_wishes(draws: Draws, rect: Rect, level: int, number: int, counts: Counter[str]) -> list[Wish]:
    """Rooms that together fill the strip `rect`; `number` 0 is the largest strip of its storey."""
    wishes: list[Wish] = []
    left = rect.area
    for category in _first_rooms(draws, level, number):
        low, high = _area_range(category)
        if low <= left:
            wishes.append(Wish(category, draws.integer(low, min(high, left), SQUARE_METRE // 10)))
            left -= wishes[-1].area
            counts[category] += 1
    weights = UPPER_FLOOR if level else GROUND_FLOOR
    while True:
        fitting = [
            name for name in weights if _area_range(name)[0] <= left and counts[name] < _most(name, level)
        ]
        if not fitting:
            break
        category = draws.weighted(fitting, [weights[name] for name in fitting])
        low, high = _area_range(category)
        wishes.append(Wish(category, draws.integer(low, min(high, left), SQUARE_METRE // 10)))
        left -= wishes[-1].area
        counts[category] += 1
    if not wishes:
        category = "storage room"
        wishes.append(Wish(category, rect.area))
        counts[category] += 1
    public = [wish for wish in wishes if ROOM_KINDS[wish.category].public]
    private = [wish for wish in wishes if not ROOM_KINDS[wish.category].public]
    ordered = public + draws.shuffled(private)
    return ordered if draws.chance(50) else ordered[::-1]


def _first_rooms(draws: Draws, level: int, number: int) -> Sequence[str]:
    """Mandatory rooms of a strip, if there is space."""
    if level == 0 and number == 0:
        return ("living room", "kitchen", "dining room") if draws.chance(50) else ("living room", "kitchen")
    if level == 0 and number == 1:
        return ("toilet",) if draws.chance(50) else ("bathroom",)
    if level > 0 and number == 0:
        return ("bedroom", "bathroom")
    return ()


def _most(category: str, level: int) -> int:
    """Greatest number of rooms of a kind on a storey."""
    if level:
        return ROOM_KINDS[category].max_count
    return GROUND_BEDROOMS if category == "bedroom" else GROUND_OTHERS


def _area_range(category: str) -> tuple[int, int]:
    """Smallest and largest wish in square millimetres."""
    low, high = ROOM_KINDS[category].area
    return low * SQUARE_METRE // 100, high * SQUARE_METRE // 100


def _missing_rooms(rooms: Sequence[PlannedRoom], level: int) -> int:
    """Faults of a storey as a whole: rooms it lacks, a kitchen far from where people eat."""
    present = {room.category for room in rooms}
    missing = sum(name not in present for name in ("living room", "kitchen")) if level == 0 else 0
    missing += not present & {"bathroom", "toilet"}
    return 10_000 * missing + missing_contacts(rooms)


def _placed(storeys: Sequence[Sequence[PlannedRoom]], symmetry: int) -> list[list[PlannedRoom]]:
    """All storeys mirrored and turned alike, with the lowest cell border of the ground floor at 0."""
    turned_storeys = [turned(rooms, symmetry) for rooms in storeys]
    x = min(room.cell.x0 for room in turned_storeys[0])
    z = min(room.cell.z0 for room in turned_storeys[0])
    return [
        [PlannedRoom(room.category, room.cell.moved(-x, -z), room.level) for room in rooms]
        for rooms in turned_storeys
    ]
