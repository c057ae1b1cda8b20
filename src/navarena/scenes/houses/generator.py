"""Generates a furnished, lit house from a seed."""

from dataclasses import replace
from math import atan2
from pathlib import Path

import numpy as np

from navarena.scenes.houses.appearance.finish_tiles import base_tile
from navarena.scenes.houses.appearance.finishes import COLORS, FINISHES, Look, Style
from navarena.scenes.houses.building import USUAL_SETTINGS
from navarena.scenes.houses.furnishing.furnish_rooms import (
    Habits,
    draw_clutter,
    draw_style,
    furnish,
)
from navarena.scenes.houses.plan.empty_house import draw_empty_house
from navarena.scenes.houses.plan.floor_plan import INNER_HALF_MM
from navarena.scenes.houses.plan.house_plan import HousePlan, Storey
from navarena.scenes.houses.plan.polygons import inset
from navarena.scenes.houses.plan.stairs import stairs_room
from navarena.scenes.houses.plan_file.reader import read_plan
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.houses.solids.mesh_builder import HouseMesh, HouseObject
from navarena.scenes.houses.structure.room_looks import draw_looks
from navarena.scenes.houses.structure.rooms import RoomLooks
from navarena.scenes.houses.structure.storey_mesh import join_storeys, light_storey, raised
from navarena.scenes.houses.structure.walkable_floors import house_floors
from navarena.scenes.scene import Material, Room, Scene, SceneObject

GENERATOR = "houses-v0"
"""First word of every stream's name, that of the first set; sets differ in seeds and settings."""

FLOOR_MATERIALS = {"wood": "wood", "carpet": "carpet"}
"""What the floor of a room is said to be, by the material of its finish; all others are tiles."""


def draw_house(seed: int, settings: HouseSettings) -> HousePlan:
    """Rooms, openings, stairs and furniture of the house with this seed."""
    draws = Draws(GENERATOR, seed)
    return furnish_house(draws, draw_empty_house(draws, settings), settings)


def furnish_house(draws: Draws, house: HousePlan, settings: HouseSettings) -> HousePlan:
    """The house with furniture on every storey, none of which blocks a path."""
    if not settings.furnished:
        return house
    habits = Habits(
        draw_style(draws.branch("style")),
        draw_clutter(draws.branch("clutter"), settings),
        settings.without,
        tuple(room.category for storey in house.storeys for room in storey.plan.rooms),
    )
    storeys = []
    for level, storey in enumerate(house.storeys):
        stream = draws.branch("furniture", level) if level else draws.branch("furniture")
        storeys.append(replace(storey, placements=tuple(furnish(stream, storey.plan, habits))))
    return replace(house, storeys=tuple(storeys))


def compile_seed(seed: int, settings: HouseSettings, scene_id: str) -> Scene:
    """The house with this seed as a scene; see building.build_house."""
    house = draw_house(seed, settings)
    return compile_house(house, Draws(GENERATOR, seed), settings.light_spacing_mm, scene_id)


def build_plan(path: Path, settings: HouseSettings = USUAL_SETTINGS, scene_id: str = "") -> Scene:
    """The house of a floor plan's file (see plan_file.reader), furnished and lit.

    What stands in it follows from the file's content alone.

    Args:
        path: of the JSON file.
        settings: clutter, density of the baked light; storeys, area and rooms are the file's.
        scene_id: stored in the scene; the path when empty.

    Raises FileError for another kind of file and SceneError for a plan that cannot be built.
    """
    empty = read_plan(path)
    draws = Draws("floor plan", empty.digest())
    house = furnish_house(draws, empty, settings)
    return compile_house(house, draws, settings.light_spacing_mm, scene_id or str(path))


def compile_house(house: HousePlan, draws: Draws, light_spacing_mm: int, scene_id: str) -> Scene:
    """Triangles, looks and light of a planned house; `draws` choose style and looks of its surfaces."""
    style = draw_style(draws.branch("style"))
    # Every storey replays one stream, so that doors and views are those of one house.
    looks = [
        draw_looks(draws.branch("looks"), storey.plan, style, level)
        for level, storey in enumerate(house.storeys)
    ]
    if house.stairs:
        _match_stairwells(house, looks)
    tread = _tread_look(style)
    storeys = [
        light_storey(house, level, looks[level], tread, light_spacing_mm)
        for level in range(len(house.storeys))
    ]
    lit = join_storeys(storeys, [storey.base for storey in house.storeys])
    materials, textures = _materials(lit.looks)
    objects: list[SceneObject] = []
    rooms: list[Room] = []
    for level, (storey, built) in enumerate(zip(house.storeys, storeys, strict=True)):
        objects += _scene_objects(built.objects, built.mesh, storey, level, (len(objects), len(rooms)))
        rooms += _scene_rooms(storey, level, looks[level], len(rooms))
    return Scene(
        scene_id=scene_id,
        vertices=(lit.vertices / 1000).astype(np.float32),
        triangles=lit.triangles,
        triangle_object=lit.triangle_object,
        triangle_material=lit.triangle_look,
        materials=materials,
        triangle_uv=lit.uv,
        textures=textures,
        vertex_light=lit.light,
        objects=tuple(objects),
        rooms=tuple(rooms),
        walkable=house_floors(house),
    )


def _match_stairwells(house: HousePlan, looks: list[list[RoomLooks]]) -> None:
    """Give the rooms of the stairs on all storeys the walls of the lowest one."""
    rooms = [stairs_room(storey.plan) for storey in house.storeys]
    for room, storey_looks in zip(rooms, looks, strict=True):
        if room is not None and rooms[0] is not None:
            storey_looks[room] = replace(storey_looks[room], wall=looks[0][rooms[0]].wall)


def _tread_look(style: Style) -> Look:
    """The wood of stairs."""
    return next((look for look in style.woods if look.finish == "wood"), Look("wood", "oak"))


def _materials(looks: tuple[Look, ...]) -> tuple[tuple[Material, ...], tuple[np.ndarray, ...]]:
    """Materials of the looks in use, and the tiles they need."""
    names = sorted({tile for look in looks if (tile := FINISHES[look.finish].texture) is not None})
    number = {name: k for k, name in enumerate(names)}
    materials = tuple(
        Material(
            f"{look.color} {look.finish}",
            COLORS[look.color],
            None if (tile := FINISHES[look.finish].texture) is None else number[tile],
        )
        for look in looks
    )
    return materials, tuple(base_tile(name) for name in names)


def _scene_objects(
    built: tuple[HouseObject, ...], mesh: HouseMesh, storey: Storey, level: int, before: tuple[int, int]
) -> list[SceneObject]:
    """Boxes in the frame of each object, moved to the world; `before` objects and rooms have numbers."""
    objects = []
    for index, grounded in enumerate(built):
        one = raised(grounded, storey.base)
        middle = (mesh.object_low[index] + mesh.object_high[index]) / 2
        half = (mesh.object_high[index] - mesh.object_low[index]) / 2000
        cosine, sine = one.turn.cosine / one.turn.whole, one.turn.sine / one.turn.whole
        center = (
            (one.at[0] + cosine * middle[0] + sine * middle[2]) / 1000,
            (one.at[1] + middle[1]) / 1000,
            (one.at[2] + cosine * middle[2] - sine * middle[0]) / 1000,
        )
        objects.append(
            SceneObject(
                object_id=before[0] + index + 1,
                category=one.category,
                center=tuple(float(value) for value in center),  # type: ignore[arg-type]
                half_size=tuple(float(value) for value in half),  # type: ignore[arg-type]
                yaw=atan2(sine, cosine),
                room=None if one.room is None else before[1] + one.room + 1,
                level=level,
                attributes=one.attributes,
            )
        )
    return objects


def _scene_rooms(storey: Storey, level: int, looks: list[RoomLooks], before: int) -> list[Room]:
    """Rooms numbered after the `before` rooms of lower storeys."""
    plan, rooms = storey.plan, []
    low, high = storey.base / 1000, (storey.base + plan.ceiling) / 1000
    for index, room in enumerate(plan.rooms):
        polygon = tuple((x / 1000, z / 1000) for x, z in inset(room.corners, INNER_HALF_MM))
        attributes = {"floor": FLOOR_MATERIALS.get(looks[index].floor.material, "tiles")}
        rooms.append(Room(before + index + 1, room.category, polygon, level, low, high, attributes))
    return rooms
