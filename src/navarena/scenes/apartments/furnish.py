"""Furnishing an apartment: furniture in groups, then small objects at places drawn among all legal ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from navarena.core.errors import SceneError
from navarena.scenes.apartments.instances import Instance, split_instances
from navarena.scenes.apartments.inventory import (
    ALSO_GUARANTEED,
    FIXTURES,
    FURNITURE,
    GUARANTEED,
    OTHERS,
    SMALL,
    TARGETS,
)
from navarena.scenes.apartments.places import NearFloor, find_near_floor, legal_places
from navarena.scenes.apartments.recipes import NEEDS, RECIPES
from navarena.scenes.apartments.sight import is_seen
from navarena.scenes.houses.appearance.finishes import Style
from navarena.scenes.houses.furnishing.arranger import Arranger
from navarena.scenes.houses.furnishing.free_space import Placement, join_rooms, make_spaces
from navarena.scenes.houses.furnishing.group_placement import add_group, add_missing
from navarena.scenes.houses.furnishing.reachability import remove_blockers
from navarena.scenes.houses.furniture.catalog import FAMILIES
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.plan.floor_plan import FloorPlan
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.solids.models import QUARTERS, SLIGHT_TURNS, STRAIGHT, Model

ATTEMPTS = 40
PATIENCE = 10
"""Attempts after which a room may lack what its use needs, such as a bedroom without a bed."""

PLACE_TRIES = 8
"""Places drawn for an object until one leaves the paths free."""

PLAIN_ROOM = "corridor"
PASSAGE_MM = 450
"""Floor before a passage on which nothing stands: less than in houses, for the rooms are small."""

SMALL_OBJECTS = (14, 22)
"""Fewest and most small objects on top of the guaranteed ones."""

LAMP_SHIFT_MM = 400
LONG_ROOM_MM = 4200


def furnish_apartment(draws: Draws, plan: FloorPlan, style: Style, split: str) -> tuple[Placement, ...]:
    """All placements in an apartment, parents before the objects on them.

    Exactly one instance of each target is there, at a place drawn uniformly among all where it may be
    and which a body comes near; apartments in which one is hidden are drawn again.
    """
    for attempt in range(ATTEMPTS):
        stream = draws.branch("attempt", attempt)
        placements = _furnish_once(stream, plan, style, split, strict=attempt < PATIENCE)
        if placements and _all_targets_seen(plan, placements):
            return (*placements, *draw_lamps(draws.branch("lamps"), plan, style))
    raise SceneError(f"expected an apartment with places for all targets in {ATTEMPTS} attempts, got none")


def _all_targets_seen(plan: FloorPlan, placements: Sequence[Placement]) -> bool:
    """Whether nothing hides a target from all who come near."""
    near = find_near_floor(plan, placements)
    return all(
        is_seen(plan, placements, index, near)
        for index, placed in enumerate(placements)
        if placed.category in TARGETS
    )


def called_by_furniture(plan: FloorPlan, placements: Sequence[Placement]) -> FloorPlan:
    """The plan with rooms that lack their defining furniture renamed to corridors."""
    rooms = []
    for number, room in enumerate(plan.rooms):
        found = {placed.category for placed in placements if placed.room == number}
        is_named = not NEEDS[room.category][0].categories.isdisjoint(found)
        rooms.append(room if is_named else replace(room, category=PLAIN_ROOM))
    return replace(plan, rooms=tuple(rooms))


def draw_lamps(draws: Draws, plan: FloorPlan, style: Style) -> tuple[Placement, ...]:
    """Lamps of one kind at the ceilings, near the middle of each room; two in long ones."""
    (family,) = FIXTURES
    model = FAMILIES[family].build(_room_style(draws, style))
    lamps = []
    for room in range(len(plan.rooms)):
        floor = plan.rooms[room].floor
        x, z = floor.center
        number = 1 + (max(floor.width, floor.depth) > LONG_ROOM_MM)
        across = draws.integer(-LAMP_SHIFT_MM, LAMP_SHIFT_MM, 10)
        for k in range(number):
            along = (2 * k + 1 - number) * max(floor.width, floor.depth) // (2 * number)
            along += draws.integer(-LAMP_SHIFT_MM, LAMP_SHIFT_MM, 10)
            dx, dz = (along, across) if floor.width >= floor.depth else (across, along)
            at = (x + dx, plan.ceiling - model.high, z + dz)
            lamps.append(Placement(family, FAMILIES[family].category, model, at, STRAIGHT, room))
    return tuple(lamps)


def _furnish_once(draws: Draws, plan: FloorPlan, style: Style, split: str, strict: bool) -> list[Placement]:
    """Furniture and small objects; nothing when a guaranteed object finds no place.

    Nothing either, where `strict`, when a room lacks what its use needs.
    """
    by_family = _instances_by_family(split)
    arrangers = _place_furniture(draws.branch("furniture"), plan, style, by_family)
    standing = remove_blockers(plan, join_rooms([arranger.placed for arranger in arrangers]))
    arrangers = _arrangers_with(plan, standing, style, draws.branch("small"))
    if strict and any(arranger.missing_needs() for arranger in arrangers):
        return []
    near = find_near_floor(plan, standing)
    for category in GUARANTEED:
        if not _put_one(draws.branch(category), plan, arrangers, near, category, split):
            return []
    stream = draws.branch("others")
    free = [name for name in OTHERS if OTHERS[name].supports and name not in ALSO_GUARANTEED]
    for number in range(stream.integer(*SMALL_OBJECTS)):
        _put_one(stream.branch(number), plan, arrangers, near, stream.choose(free), split)
    return join_rooms([arranger.placed for arranger in arrangers])


def _instances_by_family(split: str) -> Mapping[str, tuple[Model, ...]]:
    """Models of the furniture, and of the small objects that are placed with it, by family."""
    hung = [name for name, kind in SMALL.items() if not kind.supports and name not in TARGETS]
    instances = [
        instance for category in (*FURNITURE, *hung) for instance in split_instances(category, split)
    ]
    families = dict.fromkeys(instance.family for instance in instances)
    return {
        family: tuple(instance.model for instance in instances if instance.family == family)
        for family in families
    }


def _place_furniture(
    draws: Draws, plan: FloorPlan, style: Style, by_family: Mapping[str, Sequence[Model]]
) -> list[Arranger]:
    """Furniture in every room, as its recipe says."""
    arrangers = _arrangers_with(plan, (), style, draws)
    for arranger in arrangers:
        stream = arranger.draws

        def pick(family: str, stream: Draws = stream) -> Model:
            return stream.choose(by_family[family])

        arranger.pick_model = pick
        area_dm2 = arranger.space.floor.area // 10_000
        for group in RECIPES[arranger.space.category]:
            for _ in range(group.max_count if area_dm2 >= group.min_dm2 else 0):
                if stream.chance(group.percent) and not arranger.has_any(group.unless):
                    add_group(arranger, group)
        add_missing(arranger)
    return arrangers


def _arrangers_with(
    plan: FloorPlan, placements: Sequence[Placement], style: Style, draws: Draws
) -> list[Arranger]:
    """An arranger for each room, with its present placements."""
    arrangers = []
    for space in make_spaces(plan):
        space.doors = [
            space.floor.band(side, opening.start, opening.end, 0, PASSAGE_MM)
            for side, opening in plan.openings_of(space.room)
        ]
        stream = draws.branch("room", space.room)
        arranger = Arranger(space, stream, _room_style(stream, style), clutter=0, needs=NEEDS)
        for placed in placements:
            if placed.room == space.room:
                arranger.commit(placed.family, placed.model, (placed.at, placed.turn))
        arrangers.append(arranger)
    return arrangers


def _put_one(
    draws: Draws,
    plan: FloorPlan,
    arrangers: Sequence[Arranger],
    near: NearFloor,
    category: str,
    split: str,
) -> bool:
    """Put an instance of `category` in a random legal place; False if there is none.

    What lies on the floor leaves the paths free.
    """
    slight = draws.choose(SLIGHT_TURNS if draws.chance(60) else QUARTERS)
    candidates: list[Instance] = draws.shuffled(split_instances(category, split))
    for instance in candidates:
        places = legal_places(arrangers, near, SMALL[category], instance.family, instance.model, slight)
        for _ in range(PLACE_TRIES if places else 0):
            place = draws.choose(places)
            placed = Placement(
                instance.family, category, instance.model, place.at, place.turn, place.room, place.parent
            )
            if place.parent < 0 and not _leaves_paths_free(plan, arrangers, placed):
                continue
            arrangers[place.room].commit(
                instance.family, instance.model, (place.at, place.turn), parent=place.parent
            )
            return True
    return False


def _leaves_paths_free(plan: FloorPlan, arrangers: Sequence[Arranger], placed: Placement) -> bool:
    """Whether every room and nearly all of the floor can still be reached with one more object on it."""
    placements = [*join_rooms([arranger.placed for arranger in arrangers]), placed]
    return remove_blockers(plan, placements) == placements


def _room_style(draws: Draws, style: Style) -> RoomStyle:
    return RoomStyle(
        draws,
        style,
        draws.choose(style.woods),
        draws.choose(style.textiles),
        draws.choose(style.accents),
        draws.choose(style.metals),
    )
