"""Storeys of a floor plan's file, one on the other, with the stairs that join them.

Each storey has one room of the category "stairs", the same rectangle on all of them. A switchback fills its
end away from the doors; where these are decides on which side of the room the landing lies.
"""

from collections.abc import Sequence
from dataclasses import replace

from navarena.core.errors import SceneError
from navarena.scenes.houses.plan.floor_plan import (
    INNER_HALF_MM,
    NORTH,
    SIDES,
    SLAB_MM,
    SOUTH,
    STAIRS,
    FloorPlan,
    Rect,
    band_at,
    landing,
)
from navarena.scenes.houses.plan.house_plan import HousePlan, Storey
from navarena.scenes.houses.plan.stairs import DEEP_MM, RISERS, WIDE_MM, Stairs

HIGHEST_STEP_MM = 200
"""Steps are no higher; the navigation meshes of the field's bodies climb 200 mm."""


def stack_storeys(plans: Sequence[FloorPlan]) -> HousePlan:
    """The empty house of these storeys, ground floor first.

    Raises SceneError when stairs cannot join them: each needs one room for them,
    a large enough rectangle that is the same on all storeys and has its doors at one end.
    """
    if len(plans) == 1:
        if any(room.category == STAIRS for room in plans[0].rooms):
            raise SceneError("expected several storeys with a room of the category 'stairs', got one")
        return HousePlan((Storey(plans[0], 0),))
    rooms = [_require_stairs(plan, level) for level, plan in enumerate(plans)]
    floors = [plan.rooms[room].floor for plan, room in zip(plans, rooms, strict=True)]
    for level, floor in enumerate(floors):
        if floor != floors[0]:
            raise SceneError(
                f"expected the stairs of all storeys above each other, got {_metres(floors[0])} in "
                f"storeys[0] and {_metres(floor)} in storeys[{level}]"
            )
    side, rise = _landing_side(plans, rooms), plans[0].ceiling + SLAB_MM
    if rise > 2 * RISERS * HIGHEST_STEP_MM:
        highest = (2 * RISERS * HIGHEST_STEP_MM - SLAB_MM) / 1000
        raise SceneError(
            f"expected a ceiling of at most {highest} m in a house with stairs of {2 * RISERS} steps, got "
            f"{plans[0].ceiling / 1000} m"
        )
    top = len(plans) - 1
    stairs = tuple(
        Stairs(rooms[level], floors[0], side, True, rise, level == 0, level + 1 == top)
        for level in range(top)
    )
    storeys = []
    for level, plan in enumerate(plans):
        raised = replace(
            plan,
            rooms=tuple(replace(room, level=level) for room in plan.rooms),
            well=stairs[0].well,
            opens_down=level > 0,
            rise=rise if level < top else 0,
        )
        storeys.append(Storey(raised, level * rise))
    return HousePlan(tuple(storeys), stairs)


def _require_stairs(plan: FloorPlan, level: int) -> int:
    """Index of the room of the stairs: a rectangle, the only one of its kind, in a storey without slants."""
    found = [index for index, room in enumerate(plan.rooms) if room.category == STAIRS]
    if len(found) != 1:
        raise SceneError(
            f"expected one room of the category 'stairs' in every storey of a plan of several, got "
            f"{len(found)} in storeys[{level}]"
        )
    if plan.is_slanted:
        raise SceneError(
            f"expected walls along x and z in plans of several storeys, got slanted ones in storeys[{level}]"
        )
    if plan.rooms[found[0]].notches:
        raise SceneError(
            f"expected a rectangle as the room of the stairs, got another one in storeys[{level}]"
        )
    return found[0]


def _landing_side(plans: Sequence[FloorPlan], rooms: Sequence[int]) -> int:
    """The side of the stairs' room where the landing is: all doors and passages of the room open onto it."""
    floor = plans[0].rooms[rooms[0]].floor
    fitting = [
        side
        for side in SIDES
        if _extent(floor, side) >= WIDE_MM and _extent(floor, (side + 1) % 4) >= DEEP_MM
    ]
    for side in fitting:
        well = Stairs(0, floor, side, True, 0, True, True).well
        free = landing(floor, well)
        if all(_opens_onto(plan, room, free) for plan, room in zip(plans, rooms, strict=True)):
            return side
    if not fitting:
        wide, deep = (extent + 2 * INNER_HALF_MM for extent in (WIDE_MM, DEEP_MM))
        raise SceneError(
            f"expected at least {wide / 1000} by {deep / 1000} m between the middles of the walls of the "
            f"room of the stairs, got {_metres(floor)} inside them"
        )
    raise SceneError(
        "expected the doors of the room of the stairs, on all storeys, near one end of it, where the landing "
        f"is; the flights take {(DEEP_MM - 1000) / 1000} m from the other end"
    )


def _extent(floor: Rect, side: int) -> int:
    """Length of a side of the room."""
    return floor.width if side in (NORTH, SOUTH) else floor.depth


def _opens_onto(plan: FloorPlan, room: int, free: Rect) -> bool:
    """Whether an opening leads onto a room's walkable floor."""
    return all(
        free.contains(band_at(side, plan.face_line(opening, room), opening.start, opening.end, 0, 1))
        for side, opening in plan.openings_of(room)
        if opening.kind != "window"
    )


def _metres(floor: Rect) -> str:
    return f"{floor.width / 1000} x {floor.depth / 1000} m at {[floor.x0 / 1000, floor.z0 / 1000]}"
