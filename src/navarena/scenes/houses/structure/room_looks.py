"""Draws the colours and materials of floors, walls and doors."""

from collections.abc import Iterator, Sequence

from navarena.scenes.houses.appearance.finishes import VIEWS, Look, Style
from navarena.scenes.houses.plan.floor_plan import FloorPlan
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.structure.rooms import RoomLooks

WET_ROOMS = frozenset({"bathroom", "toilet", "kitchen", "laundry room"})
TILED_PERCENT = 33
"""Of kitchens and laundry rooms; bathrooms and toilets always have tiled walls."""


def draw_looks(draws: Draws, plan: FloorPlan, style: Style, level: int) -> list[RoomLooks]:
    """Floors, walls and ceilings of the rooms of a storey; `draws` are those of the house.

    Every room has a wall and a floor of its own: looks of the style come again when all were used. Doors
    and what lies before the windows are the same in the whole house.
    """
    door = draws.choose((Look("lacquer", "white"), draws.choose(style.woods)))
    view = Look(draws.choose(VIEWS), "white")
    stream = draws.branch("rooms", level)
    floors, walls = _dealt(stream.branch("floors"), style.floors), _dealt(stream.branch("walls"), style.walls)
    wet_floors = _dealt(stream.branch("wet floors"), style.wet_floors)
    wet_walls = _dealt(stream.branch("wet walls"), style.wet_walls)
    looks = []
    for index, room in enumerate(plan.rooms):
        wet = room.category in WET_ROOMS
        tiled = wet and (
            room.category in ("bathroom", "toilet") or stream.branch(index).chance(TILED_PERCENT)
        )
        floor, wall = next(wet_floors if wet else floors), next(wet_walls if tiled else walls)
        looks.append(RoomLooks(floor, wall, Look("paint", "white"), Look("lacquer", "white"), door, view))
    return looks


def _dealt(draws: Draws, choices: Sequence[Look]) -> Iterator[Look]:
    """The different choices in random order, for ever: each comes again after all others."""
    while True:
        yield from draws.shuffled(tuple(dict.fromkeys(choices)))
