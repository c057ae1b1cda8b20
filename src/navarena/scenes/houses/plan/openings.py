"""Doors, passages and windows: where the walls of a plan open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from navarena.core.errors import SceneError
from navarena.scenes.houses.plan.floor_plan import (
    DOOR_HIGH_MM,
    INNER_HALF_MM,
    SIDES,
    STAIRS,
    Opening,
    PlannedRoom,
    Rect,
    landing,
)
from navarena.scenes.houses.plan.programme import ROOM_KINDS
from navarena.scenes.houses.random_draws import Draws

CORNER_MM = 180
"""Wall that stays between a door and the nearest corner."""

APART_MM = 240
"""Wall that stays between two openings."""

LEAF_MM = 40

DOOR_WALK_MM = 750
"""Floor before a door that no leaf of another door may stand on."""

DOOR_COSTS: Mapping[frozenset[str], int] = {
    frozenset(pair): cost
    for pair, cost in {
        (STAIRS, "corridor"): 0,
        ("living room", "corridor"): 1,
        ("kitchen", "living room"): 1,
        ("kitchen", "dining room"): 1,
        ("dining room", "living room"): 1,
        ("kitchen", "corridor"): 3,
        ("dining room", "corridor"): 3,
        ("kitchen", "laundry room"): 3,
        ("kitchen", "storage room"): 3,
        ("living room", "office"): 4,
        ("living room", "bedroom"): 5,
        ("living room", "bathroom"): 6,
        ("living room", "toilet"): 6,
        ("kitchen", "bathroom"): 14,
        ("dining room", "bathroom"): 12,
    }.items()
}
"""How unwilling people are to connect two kinds of room; anything else costs OTHER_COST."""

BEHIND_COSTS: Mapping[frozenset[str], int] = {
    frozenset(("bedroom", "bathroom")): 7,
    frozenset(("bedroom", "storage room")): 8,
    frozenset(("bedroom", "toilet")): 10,
    frozenset(("bathroom", "laundry room")): 10,
    frozenset(("office", "storage room")): 12,
    frozenset(("office", "bathroom")): 14,
    frozenset(("gym", "bathroom")): 10,
}
"""The same for rooms that nobody walks through, where one lies behind the other."""

CORRIDOR_COST = 1
OTHER_COST = 9
DEAD_END_COST = 40
STAIRS_COST = 30
"""Of doors between the stairs and any room but the corridor."""

WIDEST_PASSAGE_MM = 2600


@dataclass(frozen=True)
class WindowStyle:
    """Windows of a kind of room, millimetres: sill height, head height, narrowest, widest."""

    sill: int
    head: int
    narrow: int
    wide: int


WINDOW_STYLES: Mapping[str, WindowStyle] = {
    "living room": WindowStyle(500, 2250, 1400, 2600),
    "dining room": WindowStyle(700, 2200, 1200, 2000),
    "kitchen": WindowStyle(1100, 2150, 900, 1500),
    "bedroom": WindowStyle(850, 2200, 1000, 1800),
    "bathroom": WindowStyle(1500, 2150, 500, 800),
    "toilet": WindowStyle(1550, 2150, 400, 600),
    "laundry room": WindowStyle(1400, 2150, 500, 900),
    "storage room": WindowStyle(1600, 2100, 400, 600),
}
USUAL_WINDOW = WindowStyle(850, 2200, 900, 1700)


@dataclass(frozen=True)
class Contact:
    """Shared wall of two rooms, or of a room and the outside.

    Attributes:
        room, side: one of the rooms, and the side of it.
        other: the other room, or None for the outside.
        start, end: interval of the inner outlines along the wall.
    """

    room: int
    side: int
    other: int | None
    start: int
    end: int


def find_contacts(rooms: Sequence[PlannedRoom]) -> tuple[list[Contact], list[Contact]]:
    """(contacts between rooms, contacts with the outside) of rectangular rooms."""
    inner, outer = [], []
    for i, room in enumerate(rooms):
        for side in SIDES:
            first, last = room.cell.span(side)
            low, high = room.floor.span(side)
            taken = []
            for j, other in enumerate(rooms):
                if j == i or other.level != room.level:
                    continue
                a, b = other.cell.span(side)
                if other.cell.line((side + 2) % 4) != room.cell.line(side) or min(b, last) <= max(a, first):
                    continue
                taken.append((a - INNER_HALF_MM, b + INNER_HALF_MM))
                start, end = max(low, a + INNER_HALF_MM), min(high, b - INNER_HALF_MM)
                if i < j and end > start:
                    inner.append(Contact(i, side, j, start, end))
            outer += [Contact(i, side, None, a, b) for a, b in subtract_intervals((low, high), taken)]
    return inner, outer


def subtract_intervals(whole: tuple[int, int], taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of `whole` without the `taken` intervals, ascending."""
    left, at = [], whole[0]
    for start, end in sorted(taken):
        if start > at:
            left.append((at, min(start, whole[1])))
        at = max(at, end)
        if at >= whole[1]:
            break
    if at < whole[1]:
        left.append((at, whole[1]))
    return [(a, b) for a, b in left if b > a]


@dataclass(frozen=True)
class WallHabits:
    """Settings of the openings in the walls of a storey.

    Attributes:
        well: where flights of stairs are, so that no opening leads there; None without stairs.
        entrance: whether the storey has a door to the outside.
        widest_passage: millimetres; open plans have wide ones.
    """

    well: Rect | None = None
    entrance: bool = True
    widest_passage: int = WIDEST_PASSAGE_MM


USUAL_WALLS = WallHabits()


def draw_openings(
    draws: Draws, rooms: Sequence[PlannedRoom], habits: WallHabits = USUAL_WALLS
) -> tuple[Opening, ...]:
    """Doors that join all rooms, some more for comfort, an entrance, and windows.

    Raises SceneError when the rooms cannot all be joined.
    """
    inner, outer = find_contacts(rooms)
    if habits.well is not None:
        inner, outer = _away_from_well(rooms, habits.well, inner, outer)
    usable = [c for c in inner if c.end - c.start >= 800 + 2 * CORNER_MM]
    joined, spare = _spanning_doors(draws, rooms, usable)
    openings: list[Opening] = []
    for contact in joined + _comfort_doors(draws, rooms, spare):
        openings += _make_door(draws, rooms, contact, openings, habits.widest_passage)
    if habits.entrance:
        openings += _make_entrance(draws, rooms, outer)
    openings = _hang_leaves(draws, rooms, openings)
    for contact in outer:
        openings += _make_windows(draws, rooms, contact, openings)
    return tuple(openings)


def _away_from_well(
    rooms: Sequence[PlannedRoom], well: Rect, inner: Sequence[Contact], outer: Sequence[Contact]
) -> tuple[list[Contact], list[Contact]]:
    """The contacts of which those of the stairs' room lie at its landing; none of them outside."""
    stairs = next(k for k, room in enumerate(rooms) if room.floor.contains(well))
    ground = landing(rooms[stairs].floor, well)
    kept = []
    for contact in inner:
        if stairs not in (contact.room, contact.other):
            kept.append(contact)
            continue
        side = contact.side if contact.room == stairs else (contact.side + 2) % 4
        low, high = ground.span(side)
        start, end = max(low, contact.start), min(high, contact.end)
        if ground.line(side) == rooms[stairs].floor.line(side) and end > start:
            kept.append(replace(contact, start=start, end=end))
    return kept, [contact for contact in outer if contact.room != stairs]


def _door_cost(rooms: Sequence[PlannedRoom], contact: Contact) -> int:
    a, b = rooms[contact.room].category, rooms[contact.other or 0].category
    if STAIRS in (a, b):
        return DOOR_COSTS.get(frozenset((a, b)), STAIRS_COST)
    if ROOM_KINDS[a].dead_end and ROOM_KINDS[b].dead_end:
        return BEHIND_COSTS.get(frozenset((a, b)), DEAD_END_COST)
    if "corridor" in (a, b):
        return DOOR_COSTS.get(frozenset((a, b)), CORRIDOR_COST)
    return DOOR_COSTS.get(frozenset((a, b)), OTHER_COST)


def _spanning_doors(
    draws: Draws, rooms: Sequence[PlannedRoom], contacts: Sequence[Contact]
) -> tuple[list[Contact], list[Contact]]:
    """Prim's tree over the contacts, cheapest first; (chosen, left over)."""
    reached, chosen = {0}, []
    ranked = sorted(draws.shuffled(contacts), key=lambda contact: _door_cost(rooms, contact))
    while len(reached) < len(rooms):
        border = [c for c in ranked if (c.room in reached) != (c.other in reached)]
        if not border:
            raise SceneError(
                f"expected {len(rooms)} rooms that touch, only {len(reached)} can be joined by doors"
            )
        chosen.append(border[0])
        reached |= {border[0].room, border[0].other or 0}
    return chosen, [c for c in ranked if c not in chosen]


def _comfort_doors(draws: Draws, rooms: Sequence[PlannedRoom], spare: Sequence[Contact]) -> list[Contact]:
    """Some of the spare contacts: second paths, and bathrooms of bedrooms."""
    extra = []
    for contact in spare:
        cost = _door_cost(rooms, contact)
        if (cost <= 3 and draws.chance(45)) or (cost == 7 and draws.chance(25)):
            extra.append(contact)
    return extra


def _free_stretches(
    rooms: Sequence[PlannedRoom], contact: Contact, openings: Sequence[Opening], corner: int
) -> list[tuple[int, int]]:
    """Parts of the contact's wall that no opening has taken yet."""
    line = rooms[contact.room].cell.line(contact.side)
    taken = [
        (o.start - APART_MM, o.end + APART_MM)
        for o in openings
        if o.side % 2 == contact.side % 2 and rooms[o.room].cell.line(o.side) == line
    ]
    return subtract_intervals((contact.start + corner, contact.end - corner), taken)


def _make_door(
    draws: Draws,
    rooms: Sequence[PlannedRoom],
    contact: Contact,
    openings: Sequence[Opening],
    widest_passage: int,
) -> list[Opening]:
    kinds = {rooms[contact.room].category, rooms[contact.other or 0].category}
    stretches = _free_stretches(rooms, contact, openings, CORNER_MM)
    start, end = max(stretches, key=lambda s: s[1] - s[0], default=(0, 0))
    if end - start < 780:
        return []
    public = all(ROOM_KINDS[kind].public or kind in ("corridor", STAIRS) for kind in kinds)
    if public and end - start >= 1300 and (STAIRS in kinds or draws.chance(65)):
        width = draws.integer(1200, min(widest_passage, end - start), 50)
        at = draws.integer(start, end - width, 10)
        high = draws.choose((2100, 2200, 2300))
        return [Opening("passage", contact.room, contact.side, contact.other, at, at + width, 0, high)]
    width = min(end - start, 800 if kinds & {"toilet", "storage room"} else draws.choose((820, 860, 900)))
    at = draws.weighted((start, end - width, draws.integer(start, end - width, 10)), (4, 4, 2))
    door = Opening("door", contact.room, contact.side, contact.other, at, at + width, 0, DOOR_HIGH_MM)
    return [door]


def _hang_leaves(draws: Draws, rooms: Sequence[PlannedRoom], openings: Sequence[Opening]) -> list[Opening]:
    """The openings, some doors with a leaf standing open, one in a room, where it bars no other."""
    result = list(openings)
    used: set[int] = set()
    for k, door in enumerate(openings):
        if door.kind != "door" or not draws.chance(60):
            continue
        hung = _with_leaf(rooms, door)
        if hung is None or hung.leaf_room in used:
            continue
        if not _bars_a_door(rooms, hung, result[:k] + result[k + 1 :]):
            result[k] = hung
            used.add(hung.leaf_room)
    return result


def _with_leaf(rooms: Sequence[PlannedRoom], door: Opening) -> Opening | None:
    """The door with a leaf in the room that is not the corridor, at the nearer corner."""
    names = [rooms[door.room].category, rooms[door.other or 0].category]
    leaf_room = door.room if ROOM_KINDS[names[0]].dead_end or names[1] == "corridor" else door.other or 0
    floor = rooms[leaf_room].floor
    deep = floor.depth if door.side % 2 == 0 else floor.width
    if rooms[leaf_room].category in ("toilet", "corridor", "storage room") or deep < 2 * DOOR_WALK_MM + 300:
        return None
    low, high = floor.span(door.side)
    return replace(door, leaf=1 if high - door.end < door.start - low else -1, leaf_room=leaf_room)


def _bars_a_door(rooms: Sequence[PlannedRoom], door: Opening, others: Sequence[Opening]) -> bool:
    """Whether the leaf of `door` blocks another door of its room, or hits its leaf."""
    leaf = leaf_rect(rooms, door)
    if leaf is None:
        return False
    for other in others:
        side = other.side if other.room == door.leaf_room else (other.side + 2) % 4
        if other.kind == "window" or door.leaf_room not in (other.room, other.other):
            continue
        path = rooms[door.leaf_room].floor.band(side, other.start, other.end, 0, DOOR_WALK_MM)
        other_leaf = leaf_rect(rooms, other) if other.leaf_room == door.leaf_room else None
        if path.overlaps(leaf) or (other_leaf is not None and other_leaf.overlaps(leaf)):
            return True
    return False


def _make_entrance(draws: Draws, rooms: Sequence[PlannedRoom], outer: Sequence[Contact]) -> list[Opening]:
    """The closed door to the outside, off the corridor if it can be."""
    order = ("corridor", "living room", "dining room", "kitchen")
    wide = [c for c in outer if c.end - c.start >= 1080]
    ranked = sorted(
        draws.shuffled(wide),
        key=lambda c: order.index(rooms[c.room].category) if rooms[c.room].category in order else len(order),
    )
    if not ranked:
        raise SceneError("expected a room with 1.1 m of outer wall for the entrance, found none")
    contact = ranked[0]
    width = min(950, contact.end - contact.start - 120)
    room_left = contact.end - contact.start - width
    at = contact.start + (room_left // 2 if room_left < 800 else draws.integer(300, room_left - 300, 10))
    return [Opening("entrance", contact.room, contact.side, None, at, at + width, 0, 2100)]


def _make_windows(
    draws: Draws, rooms: Sequence[PlannedRoom], contact: Contact, openings: Sequence[Opening]
) -> list[Opening]:
    """Windows in one stretch of outer wall."""
    category = rooms[contact.room].category
    if category == "storage room" or (category == "corridor" and draws.chance(50)):
        return []
    style = WINDOW_STYLES.get(category, USUAL_WINDOW)
    windows: list[Opening] = []
    for start, end in _free_stretches(rooms, contact, openings, 300):
        number = max(1, (end - start) // 3400)
        share = (end - start) // number
        for k in range(number):
            widest = min(style.wide, share - (400 if number > 1 else 0))
            if widest < style.narrow or (windows and draws.chance(15)):
                continue
            width = draws.integer(style.narrow, widest, 50)
            middle = start + share * k + share // 2
            slack = max(0, (share - width) // 2 - 200)
            at = middle - width // 2 + draws.integer(-slack, slack, 10)
            windows.append(
                Opening("window", contact.room, contact.side, None, at, at + width, style.sill, style.head)
            )
    return windows


def leaf_rect(rooms: Sequence[PlannedRoom], door: Opening) -> Rect | None:
    """Rectangle of the open leaf of `door`, or None if it has none."""
    if not door.leaf:
        return None
    side = door.side if door.leaf_room == door.room else (door.side + 2) % 4
    floor = rooms[door.leaf_room].floor
    start = door.end - LEAF_MM if door.leaf > 0 else door.start
    return floor.band(side, start, start + LEAF_MM, 20, 20 + door.end - door.start - 10)
