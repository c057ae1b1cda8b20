"""Furnishing a whole house, room by room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from navarena.core.errors import require_name
from navarena.scenes.houses.appearance.finishes import STYLES, VIEWS, Look, Style
from navarena.scenes.houses.furnishing.arranger import Arranger, Description
from navarena.scenes.houses.furnishing.free_space import Placement, against_wall, make_spaces
from navarena.scenes.houses.furnishing.group_placement import add_group, order_groups
from navarena.scenes.houses.furnishing.kitchen_run import place_kitchen_run
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
from navarena.scenes.houses.settings import CLUTTER_LEVELS, CLUTTER_WEIGHTS, USUAL_CLUTTER, HouseSettings
from navarena.scenes.houses.solids.models import STRAIGHT
from navarena.scenes.houses.structure.rooms import RoomLooks

WET_ROOMS = frozenset({"bathroom", "toilet", "kitchen", "laundry room"})
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


def draw_looks(draws: Draws, plan: FloorPlan, style: Style) -> list[RoomLooks]:
    """Floors, walls and ceilings; dry rooms share one or two floors, wet rooms have tiles."""
    main, second = draws.choose(style.floors), draws.choose(style.floors)
    wet_floor, wet_wall = draws.choose(style.wet_floors), draws.choose(style.wet_walls)
    paint, view = draws.choose(style.walls), draws.choose(VIEWS)
    door = draws.choose((Look("lacquer", "white"), draws.choose(style.woods)))
    looks = []
    for room in plan.rooms:
        if room.category in WET_ROOMS:
            floor = wet_floor
            wall = (
                wet_wall
                if room.category in ("bathroom", "toilet")
                else draws.choose((wet_wall, paint, paint))
            )
        else:
            floor = second if room.category in ("bedroom", "office", "gym") else main
            wall = paint if draws.chance(50) else draws.choose(style.walls)
        looks.append(
            RoomLooks(
                floor, wall, Look("paint", "white"), Look("lacquer", "white"), door, Look(view, "white")
            )
        )
    return looks


def draw_clutter(draws: Draws, settings: HouseSettings) -> int:
    """The clutter of a house, percent."""
    if settings.clutter_percent is not None:
        return settings.clutter_percent
    return CLUTTER_LEVELS[draws.weighted(tuple(CLUTTER_WEIGHTS), tuple(CLUTTER_WEIGHTS.values()))]


def furnish(draws: Draws, plan: FloorPlan, habits: Habits) -> list[Placement]:
    """All placements of a storey, parents before what they carry; `habits.known` grows.

    Raises UnknownNameError for a category to do without that is not in the catalogue.
    """
    for category in habits.without:
        require_name("category (HouseSettings.without)", category, CATEGORIES)
    placements: list[Placement] = []
    for space in make_spaces(plan):
        stream = draws.branch("room", space.room)
        arranger = Arranger(
            space,
            stream,
            _draw_room_style(stream, habits.style, space.floor),
            habits.clutter,
            without=frozenset(habits.without),
            known=habits.known,
        )
        _furnish_room(arranger, habits.present)
        first = len(placements)
        placements += [
            replace(placed, parent=placed.parent + first if placed.parent >= 0 else -1)
            for placed in arranger.placed
        ]
    return placements


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


def _furnish_room(arranger: Arranger, present: Sequence[str]) -> None:
    space = arranger.space
    groups: list[Group] = []
    if space.category == "living room":
        for missing, extra in MISSING_ROOM.items():
            if missing not in present:
                groups += extra
    groups += RECIPES.get(space.category, ())
    for group in order_groups(groups, present, space.area):
        for _ in range(group.max_count):
            if not arranger.draws.chance(group.percent) or arranger.has_any(group.unless):
                continue
            if group.families == (KITCHEN_RUN,):
                place_kitchen_run(arranger)
            else:
                add_group(arranger, group)
    _hang_ceiling_lamp(arranger)
    _dress_windows(arranger)
    _strew_floor(arranger)


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
