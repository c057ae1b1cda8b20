"""Drawing the storeys of a house: rooms, openings, stairs."""

from collections.abc import Sequence
from itertools import pairwise

from navarena.core.errors import SceneError
from navarena.scenes.houses.plan.floor_plan import SLAB_MM, FloorPlan, PlannedRoom
from navarena.scenes.houses.plan.house_plan import HousePlan, Storey
from navarena.scenes.houses.plan.openings import WallHabits, draw_openings
from navarena.scenes.houses.plan.programme import ROOM_KINDS, SQUARE_METRE, draw_programme
from navarena.scenes.houses.plan.stacked_storeys import draw_storeys, landing_side
from navarena.scenes.houses.plan.stairs import Stairs
from navarena.scenes.houses.plan.subdivision import draw_layout
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.settings import HouseSettings

STOREY_WEIGHTS = (55, 32, 13)
"""How often a house has one, two, three storeys."""

PASSAGES_MM = (1800, 2600, 4200)
"""Widest passages between living rooms: closed, usual and open plans."""

TRIES = 25


def draw_empty_house(draws: Draws, settings: HouseSettings) -> HousePlan:
    """A house without furniture, its floor and the width of its rooms as asked for.

    Raises SceneError if none is found.
    """
    low, high = settings.area_m2
    for attempt in range(TRIES):
        branch = draws if attempt == 0 else draws.branch("attempt", attempt)
        house = _draw_once(branch, settings)
        fits = settings.rooms is not None or low * SQUARE_METRE <= house.area_mm2 <= high * SQUARE_METRE
        if fits and narrowest_percent(house) >= settings.narrowest_percent:
            return house
    raise SceneError(
        f"expected a house of {low} to {high} m2 with storeys={settings.storeys} and no room narrower than "
        f"{settings.narrowest_percent} % of what its kind wants, got none in {TRIES} drawings; widen "
        "area_m2, leave storeys out or lower narrowest_percent"
    )


def narrowest_percent(house: HousePlan) -> int:
    """Width of the room that falls shortest of the width its kind wants, in percent of it."""
    rooms = [room for storey in house.storeys for room in storey.plan.rooms]
    return min(
        100 * min(room.floor.width, room.floor.depth) // ROOM_KINDS[room.category].min_width_mm
        for room in rooms
    )


def _draw_once(draws: Draws, settings: HouseSettings) -> HousePlan:
    count = settings.storeys or (
        1 if settings.rooms else draws.branch("storeys").weighted((1, 2, 3), STOREY_WEIGHTS)
    )
    ceiling = draws.branch("height").integer(2480, 2800, 20)
    if count == 1:
        return HousePlan((Storey(_draw_single(draws, settings.rooms, ceiling), 0),))
    widest = draws.branch("passages").choose(PASSAGES_MM)
    storeys = draw_storeys(draws.branch("layout"), count)
    stairs = _stack_stairs(storeys, ceiling + SLAB_MM, draws.branch("stairs").chance(50))
    plans = []
    for level, rooms in enumerate(storeys):
        well = stairs[min(level, len(stairs) - 1)].well
        habits = WallHabits(well, level == 0, widest)
        openings = draw_openings(draws.branch("openings", level), rooms, habits)
        rise = ceiling + SLAB_MM if level + 1 < count else 0
        plans.append(FloorPlan(tuple(rooms), openings, ceiling, well, level > 0, rise))
    bases = [level * (ceiling + SLAB_MM) for level in range(count)]
    return HousePlan(tuple(Storey(plan, base) for plan, base in zip(plans, bases, strict=True)), stairs)


def _draw_single(draws: Draws, rooms: int | None, ceiling: int) -> FloorPlan:
    wishes = draw_programme(draws.branch("programme"), rooms)
    planned = draw_layout(draws.branch("layout"), wishes)
    widest = draws.branch("passages").choose(PASSAGES_MM)
    openings = draw_openings(draws.branch("openings"), planned, WallHabits(widest_passage=widest))
    return FloorPlan(tuple(planned), openings, ceiling)


def _stack_stairs(storeys: Sequence[Sequence[PlannedRoom]], rise: int, first_low: bool) -> tuple[Stairs, ...]:
    """Stack the switchback stairs above each other."""
    stairs = []
    for level, (rooms, _) in enumerate(pairwise(storeys)):
        side, is_last = landing_side(rooms), level + 2 == len(storeys)
        stairs.append(Stairs(len(rooms) - 1, rooms[-1].floor, side, first_low, rise, level == 0, is_last))
    return tuple(stairs)
