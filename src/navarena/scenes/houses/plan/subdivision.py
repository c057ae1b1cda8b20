"""Recursive subdivision of a house into cells.

Three arrangements, drawn until every room has decent proportions:

* hub: the living room along one side, the other rooms along it (houses without corridor);
* spine: public rooms, a corridor, private rooms, as three long strips;
* wing: public rooms at one end; a corridor leads from them between two strips of private rooms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from navarena.scenes.houses.plan.floor_plan import INNER_HALF_MM, PlannedRoom, Rect
from navarena.scenes.houses.plan.programme import ROOM_KINDS, SQUARE_METRE, Wish
from navarena.scenes.houses.random_draws import Draws

GRID_MM = 50
ATTEMPTS = 200
PASSAGE_WALL_MM, DOOR_WALL_MM = 1500, 1300
"""Shared walls, measured between the middles of the walls at their ends, that hold a passage or a door."""

CONTACT_FAULT = 3000
OUTSIDE = "outside"
"""Category of a cell that is left open, such as a terrace cut out of a corner."""

BEHIND = ("toilet", "laundry room", "storage room", "bathroom")
"""Which of two small rooms lies behind the other: the later one."""


@dataclass(frozen=True)
class Zones:
    """The wishes of a house by where they belong."""

    public: list[Wish]
    private: list[Wish]
    has_corridor: bool

    def varied(self, draws: Draws) -> "Zones":
        """The rooms with areas varied by up to 15 %."""
        public, private = (
            [Wish(wish.category, wish.area * draws.integer(85, 115) // 100) for wish in wishes]
            for wishes in (self.public, self.private)
        )
        return Zones(public, private, self.has_corridor)


def draw_layout(draws: Draws, wishes: Sequence[Wish]) -> list[PlannedRoom]:
    """Cells for all `wishes`; the best of ATTEMPTS drawings, the first faultless one if any."""
    zones = Zones(
        [wish for wish in wishes if ROOM_KINDS[wish.category].public],
        [wish for wish in wishes if not ROOM_KINDS[wish.category].public and wish.category != "corridor"],
        any(wish.category == "corridor" for wish in wishes),
    )
    best: list[PlannedRoom] = []
    least = -1
    for _ in range(ATTEMPTS):
        rooms = _draw_arrangement(draws, zones.varied(draws))
        faults = sum(room_faults(room) for room in rooms)
        faults += missing_contacts(rooms)
        if least < 0 or faults < least:
            best, least = rooms, faults
        if faults == 0:
            break
    rooms = _placed_at_origin(turned(best, draws.integer(0, 7)))
    return [room for room in rooms if room.category != OUTSIDE]


def _draw_arrangement(draws: Draws, zones: Zones) -> list[PlannedRoom]:
    if not zones.private and len(zones.public) == 1:
        return _single_room(draws, zones.public[0])
    if not zones.has_corridor:
        return _hub(draws, zones)
    if len(zones.private) <= 4 and draws.chance(45):
        return _spine(draws, zones)
    return _wing(draws, zones)


def room_faults(room: PlannedRoom) -> int:
    """Millimetres by which a room misses its least width (four times) and its proportions."""
    if room.category == OUTSIDE:
        return 0
    kind, floor = ROOM_KINDS[room.category], room.floor
    short, long = min(floor.width, floor.depth), max(floor.width, floor.depth)
    return 4 * max(0, kind.min_width_mm - short) + max(0, long - short * kind.longest_percent // 100)


def snapped(length: int) -> int:
    """The nearest multiple of GRID_MM, at least one."""
    return max(GRID_MM, (length + GRID_MM // 2) // GRID_MM * GRID_MM)


def total_area(wishes: Sequence[Wish]) -> int:
    """Total wished area, square millimetres."""
    return sum(wish.area for wish in wishes)


def _cut(rect: Rect, along_x: bool, share: int, whole: int) -> tuple[Rect, Rect]:
    """Cut `rect` across x (or z) so that the first piece has `share` of `whole`."""
    if along_x:
        at = rect.x0 + min(rect.width - GRID_MM, snapped(rect.width * share // whole))
        return Rect(rect.x0, rect.z0, at, rect.z1), Rect(at, rect.z0, rect.x1, rect.z1)
    at = rect.z0 + min(rect.depth - GRID_MM, snapped(rect.depth * share // whole))
    return Rect(rect.x0, rect.z0, rect.x1, at), Rect(rect.x0, at, rect.x1, rect.z1)


def _divide(draws: Draws, rect: Rect, wishes: Sequence[Wish]) -> list[PlannedRoom]:
    """Halve the wishes by area and cut the rectangle across its longer side, down to single rooms."""
    if len(wishes) == 1:
        return [PlannedRoom(wishes[0].category, rect)]
    whole = total_area(wishes)
    splits = sorted(range(1, len(wishes)), key=lambda k: abs(2 * total_area(wishes[:k]) - whole))
    k = splits[0] if len(splits) == 1 or draws.chance(70) else splits[1]
    first, second = _cut(rect, rect.width >= rect.depth, total_area(wishes[:k]), whole)
    return _divide(draws, first, wishes[:k]) + _divide(draws, second, wishes[k:])


def _strip(rect: Rect, wishes: Sequence[Wish], along_x: bool) -> list[PlannedRoom]:
    """Rooms side by side along one direction."""
    rooms, rest = [], rect
    for k, wish in enumerate(wishes[:-1]):
        first, rest = _cut(rest, along_x, wish.area, total_area(wishes[k:]))
        rooms.append(PlannedRoom(wish.category, first))
    return [*rooms, PlannedRoom(wishes[-1].category, rest)]


def stacked_strip(
    draws: Draws, rect: Rect, wishes: Sequence[Wish], corridor_is_low: bool
) -> list[PlannedRoom]:
    """Private rooms side by side along x; two small ones share a slice, one of them behind the other.

    The one behind is reached through a neighbour, as the bathroom of a bedroom is.
    """
    slices: list[list[Wish]] = []
    waiting: list[Wish] = []
    for wish in wishes:
        if wish.area // rect.depth < ROOM_KINDS[wish.category].min_width_mm + 2 * INNER_HALF_MM:
            waiting.append(wish)
        else:
            slices.append([wish])
    while len(waiting) >= 2:
        slices.insert(draws.integer(0, len(slices)), [waiting.pop(0), waiting.pop(0)])
    slices += [[wish] for wish in waiting]
    rooms, rest = [], rect
    for k, members in enumerate(slices):
        left = sum(total_area(later) for later in slices[k:])
        first, rest = _cut(rest, True, total_area(members), left) if k + 1 < len(slices) else (rest, rest)
        ordered = sorted(
            members, key=lambda wish: BEHIND.index(wish.category) if wish.category in BEHIND else -1
        )
        rooms += _strip(first, ordered if corridor_is_low else ordered[::-1], along_x=False)
    return rooms


def _single_room(draws: Draws, wish: Wish) -> list[PlannedRoom]:
    width = snapped(isqrt(wish.area * draws.integer(100, 170, 5) // 100))
    return [PlannedRoom(wish.category, Rect(0, 0, width, snapped(wish.area // width)))]


def _hub(draws: Draws, zones: Zones) -> list[PlannedRoom]:
    """The living room (with the kitchen beside it, now and then) along one side, the rest behind."""
    hub, others = zones.public[0], draws.shuffled(zones.public[1:] + zones.private)
    beside: list[Wish] = []
    if len(others) > 2 and draws.chance(60):
        beside, others = zones.public[1:], draws.shuffled(zones.private)
    small = all(wish.area < 9 * SQUARE_METRE for wish in others)
    deep = draws.integer(1950, 2600, GRID_MM) if small else draws.integer(2800, 4000, GRID_MM)
    front_area = hub.area + total_area(beside)
    wanted = snapped(isqrt(front_area * draws.integer(90, 190, 5) // 100))
    needed = snapped(total_area(others) // deep)
    width = needed if needed > wanted - 900 else wanted
    front = Rect(0, 0, width, snapped(front_area // width))
    back = Rect(0, front.z1, needed, front.z1 + deep)
    rooms = [*_strip(front, [hub, *beside], along_x=True), *_strip(back, others, along_x=True)]
    if needed < width:
        rooms.append(PlannedRoom(OUTSIDE, Rect(needed, front.z1, width, back.z1)))
    return rooms


def corridor_width(draws: Draws) -> int:
    """Width of a corridor's cell, millimetres."""
    return draws.integer(1150, 1600, GRID_MM) + 2 * INNER_HALF_MM


def _spine(draws: Draws, zones: Zones) -> list[PlannedRoom]:
    """Public strip, corridor, private strip; the corridor runs the whole length."""
    width = snapped(total_area(zones.public) // draws.integer(3600, 5200, GRID_MM))
    public_depth = snapped(total_area(zones.public) // width)
    private_depth = snapped(total_area(zones.private) // width)
    hall = corridor_width(draws)
    public = Rect(0, 0, width, public_depth)
    corridor = Rect(0, public_depth, width, public_depth + hall)
    private = Rect(0, corridor.z1, width, corridor.z1 + private_depth)
    return [
        *_strip(public, draws.shuffled(zones.public), along_x=True),
        PlannedRoom("corridor", corridor),
        *stacked_strip(draws, private, draws.shuffled(zones.private), corridor_is_low=True),
    ]


def _wing(draws: Draws, zones: Zones) -> list[PlannedRoom]:
    """Public rooms at the low-x end, then strips of private rooms on both sides of a corridor."""
    public, private = total_area(zones.public), total_area(zones.private)
    hall = corridor_width(draws)
    depth = snapped(isqrt((public + private) * draws.integer(50, 100, 5) // 100)) + hall
    length = snapped(private // (depth - hall))
    upper, lower = _balanced(draws, zones.private)
    upper_depth = snapped((depth - hall) * total_area(upper) // private) if lower else depth - hall
    public_length = snapped(public // depth)
    x0, x1 = public_length, public_length + length
    rooms = [
        *stacked_strip(draws, Rect(x0, 0, x1, upper_depth), upper, corridor_is_low=False),
        PlannedRoom("corridor", Rect(x0, upper_depth, x1, upper_depth + hall)),
    ]
    if lower:
        rooms += stacked_strip(draws, Rect(x0, upper_depth + hall, x1, depth), lower, corridor_is_low=True)
    return _public_zone(draws, Rect(0, 0, public_length, depth), zones.public) + rooms


def _public_zone(draws: Draws, rect: Rect, wishes: Sequence[Wish]) -> list[PlannedRoom]:
    """Public rooms in `rect`, sometimes with a terrace cut out of a corner."""
    if len(wishes) == 1 or not draws.chance(40):
        return _divide(draws, rect, wishes if draws.chance(50) else wishes[::-1])
    at_end, full = draws.shuffled(wishes[1:]), wishes[0]
    terrace = draws.integer(25, 40, 5) * rect.depth // 100
    end_length = snapped(total_area(at_end) // (rect.depth - terrace))
    full_part = Rect(rect.x1 - snapped(full.area // rect.depth), rect.z0, rect.x1, rect.z1)
    end = Rect(full_part.x0 - end_length, rect.z0, full_part.x0, rect.z1 - snapped(terrace))
    corner = Rect(end.x0, end.z1, end.x1, rect.z1)
    return [
        PlannedRoom(full.category, full_part),
        *_divide(draws, end, at_end),
        PlannedRoom(OUTSIDE, corner),
    ]


def _balanced(draws: Draws, wishes: Sequence[Wish]) -> tuple[list[Wish], list[Wish]]:
    """Two strips of about equal area, in random order; a single wish has one strip for itself."""
    upper: list[Wish] = []
    lower: list[Wish] = []
    for wish in sorted(draws.shuffled(wishes), key=lambda wish: -wish.area):
        (upper if total_area(upper) <= total_area(lower) else lower).append(wish)
    return draws.shuffled(upper), draws.shuffled(lower)


def turned(rooms: Sequence[PlannedRoom], symmetry: int) -> list[PlannedRoom]:
    """A plan mirrored and rotated into one of eight orientations."""
    mirror_x, mirror_z, swap = symmetry & 1, symmetry & 2, symmetry & 4
    turned = []
    for room in rooms:
        x0, z0, x1, z1 = room.cell.x0, room.cell.z0, room.cell.x1, room.cell.z1
        if mirror_x:
            x0, x1 = -x1, -x0
        if mirror_z:
            z0, z1 = -z1, -z0
        cell = Rect(z0, x0, z1, x1) if swap else Rect(x0, z0, x1, z1)
        turned.append(PlannedRoom(room.category, cell, room.level))
    return turned


def _placed_at_origin(rooms: Sequence[PlannedRoom]) -> list[PlannedRoom]:
    """The plan moved so that its lowest cell borders are 0."""
    x, z = min(room.cell.x0 for room in rooms), min(room.cell.z0 for room in rooms)
    return [PlannedRoom(room.category, room.cell.moved(-x, -z), room.level) for room in rooms]


def missing_contacts(rooms: Sequence[PlannedRoom]) -> int:
    """Faults of rooms far from where people want them.

    Kitchens share a wall with a room to eat or live in; where there is a corridor, bathrooms share
    one with it or with a bedroom.
    """
    cells: dict[str, list[Rect]] = {}
    for room in rooms:
        cells.setdefault(room.category, []).append(room.cell)
    eating = cells.get("living room", []) + cells.get("dining room", [])
    faults = sum(not _touch(cell, eating, PASSAGE_WALL_MM) for cell in cells.get("kitchen", []))
    if "corridor" in cells:
        access = cells["corridor"] + cells.get("bedroom", [])
        wet = cells.get("bathroom", []) + cells.get("toilet", [])
        faults += sum(not _touch(cell, access, DOOR_WALL_MM) for cell in wet)
    return CONTACT_FAULT * faults


def _touch(cell: Rect, others: Sequence[Rect], length: int) -> bool:
    """Whether a cell shares a wall at least `length` millimetres long with one of `others`."""
    for other in others:
        wide = min(cell.x1, other.x1) - max(cell.x0, other.x0)
        deep = min(cell.z1, other.z1) - max(cell.z0, other.z0)
        if (wide == 0 and deep >= length) or (deep == 0 and wide >= length):
            return True
    return False
