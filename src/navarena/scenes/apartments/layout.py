"""Apartments of one outer size, divided by movable panels.

The shell measures 8.8 m by 3.9 m inside, RoboTHOR's (Deitke et al. 2020, section 3.1). Panels are cut
into it by recursive subdivision, in steps of 0.2 m, and left out where one walks from room to room.

Each apartment has the first walls of one stream of drawings that no apartment before it has, so no two
(of one split or of two) have the same walls, not even mirrored.
"""

from collections.abc import Sequence
from functools import cache
from itertools import count

from navarena.scenes.apartments.apartment_sets import APARTMENTS
from navarena.scenes.houses.plan.floor_plan import (
    EAST,
    INNER_HALF_MM,
    WEST,
    FloorPlan,
    Opening,
    PlannedRoom,
    Rect,
)
from navarena.scenes.houses.plan.openings import CORNER_MM, Contact, find_contacts
from navarena.scenes.houses.random_draws import Draws

INSIDE_MM = (8800, 3900)
"""Floor of the empty shell along x and z."""

CEILING_MM = 2600
SHELL = Rect(0, 0, INSIDE_MM[0] + 2 * INNER_HALF_MM, INSIDE_MM[1] + 2 * INNER_HALF_MM)
"""Borders of the cells, in the outer walls; see plan.PlannedRoom."""

STEP_MM = 200
ROOM_COUNTS, ROOM_WEIGHTS = (3, 4, 5), (4, 4, 2)
MIN_SIDE_MM = 1800
MIN_AREA_MM2 = 5_000_000
"""Of a cell, between the middles of its walls."""

LONGEST_PERCENT = 280
"""Largest ratio of a cell's longer to its shorter side."""

PASSAGE_HIGH_MM = 2300
NARROW_MM = (900, 1200)
SPARE_PERCENT = 30
"""How often panels that need not open do."""

WIDE_PERCENT = 40
"""How often a passage is wider than NARROW_MM, where there is room."""

ENTRANCE_MM = 950

LARGEST, WIDEST, OTHERS = "living room", "bedroom", ("dining room", "office", "office")
"""Kinds of the largest room, of the one with the longest shorter side after it, of the others by area."""


@cache
def apartment_plans() -> tuple[FloorPlan, ...]:
    """The walls of all apartments, by number."""
    draws = Draws("robothor-like-v1", "layout")
    seen: set[tuple[tuple[int, int, int, int], ...]] = set()
    plans: list[FloorPlan] = []
    for drawing in count():
        stream = draws.branch(drawing)
        cells = _divide(stream, SHELL, stream.weighted(ROOM_COUNTS, ROOM_WEIGHTS))
        if not cells or wall_key(cells) in seen:
            continue
        rooms = _named(cells)
        openings = _draw_passages(stream, rooms)
        if openings:
            seen.add(wall_key(cells))
            plans.append(FloorPlan(tuple(rooms), (*openings, _entrance(stream, rooms)), CEILING_MM))
        if len(plans) == APARTMENTS:
            break
    return tuple(plans)


def wall_key(cells: Sequence[Rect]) -> tuple[tuple[int, int, int, int], ...]:
    """The walls of an apartment as the least of its four mirror images: equal for equal walls alone."""
    images = []
    for mirror_x in (False, True):
        for mirror_z in (False, True):
            image = []
            for cell in cells:
                x0, x1 = (SHELL.x1 - cell.x1, SHELL.x1 - cell.x0) if mirror_x else (cell.x0, cell.x1)
                z0, z1 = (SHELL.z1 - cell.z1, SHELL.z1 - cell.z0) if mirror_z else (cell.z0, cell.z1)
                image.append((x0, z0, x1, z1))
            images.append(tuple(sorted(image)))
    return min(images)


def _divide(draws: Draws, rect: Rect, count: int) -> list[Rect]:
    """`rect` cut into `count` cells; none when a piece has no place left for its cuts."""
    if count == 1:
        short, long = sorted((rect.width, rect.depth))
        return [rect] if 100 * long <= LONGEST_PERCENT * short else []
    first = draws.integer(1, count - 1)
    cuts = []
    for along_x, length, across in ((True, rect.width, rect.depth), (False, rect.depth, rect.width)):
        for at in range(STEP_MM * -(-MIN_SIDE_MM // STEP_MM), length - MIN_SIDE_MM + 1, STEP_MM):
            areas = (at * across, (length - at) * across)
            if areas[0] >= first * MIN_AREA_MM2 and areas[1] >= (count - first) * MIN_AREA_MM2:
                cuts.append((along_x, at))
    if not cuts:
        return []
    along_x, at = draws.choose(cuts)
    if along_x:
        low = Rect(rect.x0, rect.z0, rect.x0 + at, rect.z1)
        high = Rect(low.x1, rect.z0, rect.x1, rect.z1)
    else:
        low = Rect(rect.x0, rect.z0, rect.x1, rect.z0 + at)
        high = Rect(rect.x0, low.z1, rect.x1, rect.z1)
    pieces = _divide(draws, low, first), _divide(draws, high, count - first)
    return [*pieces[0], *pieces[1]] if all(pieces) else []


def _named(cells: Sequence[Rect]) -> list[PlannedRoom]:
    """The rooms with their kinds; beds need the widest place after sofas."""
    ranked = sorted(cells, key=lambda cell: (-cell.area, cell.x0, cell.z0))
    widest = max(ranked[1:], key=lambda cell: min(cell.width, cell.depth))
    others = [cell for cell in ranked[1:] if cell != widest]
    named = [PlannedRoom(LARGEST, ranked[0]), PlannedRoom(WIDEST, widest)]
    return named + [PlannedRoom(kind, cell) for kind, cell in zip(OTHERS, others, strict=False)]


def _draw_passages(draws: Draws, rooms: Sequence[PlannedRoom]) -> list[Opening]:
    """Passages through the panels that join all rooms, and some more; none when rooms cannot be joined."""
    inner, _ = find_contacts(rooms)
    usable = draws.shuffled([c for c in inner if c.end - c.start >= NARROW_MM[0] + 2 * CORNER_MM])
    group = list(range(len(rooms)))
    openings = []
    for contact in usable:
        one, other = group[contact.room], group[contact.other or 0]
        if one == other and not draws.chance(SPARE_PERCENT):
            continue
        group = [one if member == other else member for member in group]
        openings.append(_passage(draws, contact))
    return openings if len(set(group)) == 1 else []


def _passage(draws: Draws, contact: Contact) -> Opening:
    """A narrow passage at one end or anywhere, or a wide one that leaves a panel or two standing."""
    start, end = contact.start + CORNER_MM, contact.end - CORNER_MM
    widest = min(NARROW_MM[1], end - start)
    if end - start > NARROW_MM[1] and draws.chance(WIDE_PERCENT):
        width = draws.integer(NARROW_MM[1], end - start, 50)
    else:
        width = draws.integer(NARROW_MM[0], widest, 50)
    at = draws.weighted((start, end - width, draws.integer(start, end - width, 10)), (4, 4, 2))
    return Opening("passage", contact.room, contact.side, contact.other, at, at + width, 0, PASSAGE_HIGH_MM)


def _entrance(draws: Draws, rooms: Sequence[PlannedRoom]) -> Opening:
    """The closed door in one of the short outer walls."""
    _, outer = find_contacts(rooms)
    wide = [c for c in outer if c.side in (EAST, WEST) and c.end - c.start >= ENTRANCE_MM + 2 * CORNER_MM]
    contact = draws.choose(wide)
    at = draws.integer(contact.start + CORNER_MM, contact.end - CORNER_MM - ENTRANCE_MM, 10)
    return Opening("entrance", contact.room, contact.side, None, at, at + ENTRANCE_MM, 0, 2100)
