"""Furnishing a whole house, room by room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from navarena.core.errors import require_name
from navarena.scenes.houses.appearance.finishes import STYLES, Look, Style
from navarena.scenes.houses.furnishing.arranger import Arranger, Description
from navarena.scenes.houses.furnishing.free_space import (
    Placement,
    RoomSpace,
    against_wall,
    join_rooms,
    make_spaces,
    placements_of_room,
)
from navarena.scenes.houses.furnishing.group_placement import add_group, add_missing, order_groups
from navarena.scenes.houses.furnishing.kitchen_run import place_kitchen_run
from navarena.scenes.houses.furnishing.reachability import remove_blockers
from navarena.scenes.houses.furnishing.room_groups import (
    FLOOR_CLUTTER,
    KITCHEN_RUN,
    MISSING_ROOM,
    RECIPES,
    Group,
)
from navarena.scenes.houses.furniture.catalog import CATEGORIES, WINDOW_DRESS
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.furniture.window_dressing import draw_curtain_look, make_blinds, make_curtains
from navarena.scenes.houses.plan.floor_plan import FloorPlan, Rect
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.room_needs import lacks_furniture
from navarena.scenes.houses.settings import CLUTTER_LEVELS, CLUTTER_WEIGHTS, USUAL_CLUTTER, HouseSettings
from navarena.scenes.houses.solids.models import STRAIGHT

ROOM_TRIES = 3
"""Times that a room which lacks what its use needs is furnished."""
FLOOR_PER_OBJECT_MM2 = 4_000_000
"""Floor for each small object that may be left lying on it."""
BLINDS_PERCENT: Mapping[str, int] = {"office": 45, "kitchen": 35, "bathroom": 40, "bedroom": 20, "gym": 30}
CURTAIN_PERCENT: Mapping[str, int] = {"living room": 75, "bedroom": 85, "dining room": 65, "office": 40}


@dataclass(frozen=True)
class Habits:
    """Settings that the rooms of a house share.

    Attributes:
        style: palette.
        clutter: percent of small objects.
        without: categories that the house does without.
        present: kinds of rooms of the house, so that a house with an office has no desk in its living room.
        known: descriptions of what stands in the house so far, so that further objects get other ones.
    """

    style: Style
    clutter: int
    without: tuple[str, ...]
    present: tuple[str, ...]
    known: set[Description] = field(default_factory=set)


def draw_style(draws: Draws) -> Style:
    """The palette of a house."""
    return STYLES[draws.choose(tuple(STYLES))]


def draw_clutter(draws: Draws, settings: HouseSettings) -> int:
    """The clutter of a house, percent."""
    if settings.clutter_percent is not None:
        return settings.clutter_percent
    return CLUTTER_LEVELS[draws.weighted(tuple(CLUTTER_WEIGHTS), tuple(CLUTTER_WEIGHTS.values()))]


def furnish(draws: Draws, plan: FloorPlan, habits: Habits) -> list[Placement]:
    """All placements of a storey, parents before the objects on them; none blocks a path.

    Rooms that then lack what their use needs are furnished again, ROOM_TRIES times in all.
    `habits.known` grows.

    Raises UnknownNameError for a category to do without that is not in the catalogue.
    """
    for category in habits.without:
        require_name("category (HouseSettings.without)", category, CATEGORIES)
    standing: list[Placement] = []
    lacking = list(range(len(plan.rooms)))
    for attempt in range(ROOM_TRIES):
        spaces = make_spaces(plan)
        rooms = [placements_of_room(standing, room) for room in range(len(spaces))]
        for room in lacking:
            stream = draws.branch("room", room, *([attempt] if attempt else []))
            rooms[room] = _furnish_room(stream, spaces[room], habits)
        standing = remove_blockers(plan, join_rooms(rooms))
        lacking = lacking_rooms(plan, standing)
        if not lacking:
            break
    return standing


def lacking_rooms(plan: FloorPlan, placements: Sequence[Placement]) -> list[int]:
    """Rooms that lack furniture that their use needs."""
    categories: list[set[str]] = [set() for _ in plan.rooms]
    for placed in placements:
        categories[placed.room].add(placed.category)
    return [
        number
        for number, (room, found) in enumerate(zip(plan.rooms, categories, strict=True))
        if lacks_furniture(room.category, found)
    ]


def _draw_room_style(draws: Draws, style: Style, floor: Rect) -> RoomStyle:
    return RoomStyle(
        draws,
        style,
        wood=draws.choose(style.woods),
        textile=draws.choose(style.textiles),
        accent=draws.choose(style.accents),
        metal=draws.choose(style.metals),
        room_mm=min(floor.width, floor.depth),
    )


def _furnish_room(draws: Draws, space: RoomSpace, habits: Habits) -> list[Placement]:
    arranger = Arranger(
        space,
        draws,
        _draw_room_style(draws, habits.style, space.floor),
        habits.clutter,
        without=frozenset(habits.without),
        known=habits.known,
    )
    groups: list[Group] = []
    if space.category == "living room":
        for missing, extra in MISSING_ROOM.items():
            if missing not in habits.present:
                groups += extra
    groups += RECIPES.get(space.category, ())
    for group in order_groups(groups, habits.present, space.area):
        for _ in range(group.max_count):
            if not arranger.draws.chance(group.percent) or arranger.has_any(group.unless):
                continue
            if group.families == (KITCHEN_RUN,):
                place_kitchen_run(arranger)
            else:
                add_group(arranger, group)
    add_missing(arranger)
    _hang_ceiling_lamp(arranger)
    _dress_windows(arranger)
    _strew_floor(arranger)
    return arranger.placed


def _hang_ceiling_lamp(arranger: Arranger) -> None:
    """A lamp in the middle of the ceiling; two or more in long rooms."""
    space, model = arranger.space, arranger.build("ceiling_lamp")
    floor = max(space.pieces, key=lambda piece: piece.area)
    x, z = floor.center
    number = max(1, max(floor.width, floor.depth) // 5000)
    for k in range(number):
        shift = (2 * k + 1 - number) * max(floor.width, floor.depth) // (2 * number)
        at = (x + shift, z) if floor.width >= floor.depth else (x, z + shift)
        pose = ((at[0], space.ceiling - model.high, at[1]), STRAIGHT)
        rect = Placement("ceiling_lamp", "", model, *pose, space.room).rect
        if space.is_clear(rect, pose[0][1] + model.low, space.ceiling):
            arranger.commit("ceiling_lamp", model, pose)


def _dress_windows(arranger: Arranger) -> None:
    """Curtains or blinds, of one cloth for all windows of the room."""
    space = arranger.space
    blinds = arranger.draws.chance(BLINDS_PERCENT.get(space.category, 0)) and "blinds" not in arranger.without
    if not blinds and not arranger.draws.chance(CURTAIN_PERCENT.get(space.category, 0)):
        return
    long, cloth = arranger.draws.chance(65), draw_curtain_look(arranger.style)
    slats = Look(arranger.draws.choose(("plastic", "wood")), arranger.draws.choose(("white", "ivory", "oak")))
    family = "blinds" if blinds else "curtains"
    for side, start, end, sill, head in space.windows:
        if blinds:
            share = arranger.draws.integer(30, 90, 20)
            low = head + 60 - (head - sill) * share // 100
            model = make_blinds(slats, end - start, head + 110 - low)
        else:
            low = 30 if long else sill - 150
            model = make_curtains(cloth, arranger.style.metal_look, end - start, head + 110 - low)
        first = (start + end) // 2 - model.rect.width // 2
        span = space.floor.span(side)
        if first < span[0] + 20 or first + model.rect.width > span[1] - 20:
            continue
        pose = against_wall(space.floor, side, first, model, low)
        rect = Placement(family, "", model, *pose, space.room).rect
        if low + model.high < space.ceiling and space.is_clear(rect, low, low + model.high):
            arranger.commit(family, model, pose, side, category=WINDOW_DRESS[family])


def _strew_floor(arranger: Arranger) -> None:
    """Small objects left lying on the floor, where the house is more cluttered than usual."""
    choices = FLOOR_CLUTTER.get(arranger.space.category, ())
    chance = max(0, arranger.clutter - USUAL_CLUTTER) * 2
    for _ in range(arranger.space.area // FLOOR_PER_OBJECT_MM2 if choices else 0):
        if arranger.draws.chance(chance):
            arranger.strew(arranger.draws.choose(choices))
