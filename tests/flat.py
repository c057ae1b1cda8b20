"""A flat of three rooms, drawn by hand, for tests of instructions.

kitchen      | living room        x to the right, z downwards, walls of 0.2 m
0..4 x 0..4  = 4.2..9.2 x 0..4    "=" and "||" are doorways, 1 m wide
               -------||---
               bedroom
               4.2..9.2 x 4.2..8.2
"""

from dataclasses import replace

from navarena.scenes.scene import Room, SceneObject
from navarena.simulation.world import World
from worlds import draw_navmesh, draw_scene

CELL = 0.2
COLUMNS, ROWS = 46, 41


def _is_floor(row: int, column: int) -> bool:
    kitchen, east = column < 20, column >= 21
    north, south = row < 20, row >= 21
    in_room = (kitchen and north) or (east and (north or south))
    door_west = column == 20 and 7 <= row < 12
    door_south = row == 20 and 30 <= column < 35
    return in_room or door_west or door_south


DRAWN = ["".join(".#"[not _is_floor(row, column)] for column in range(COLUMNS)) for row in range(ROWS)]


def rectangle(x0, z0, x1, z1):
    return ((x0, z0), (x1, z0), (x1, z1), (x0, z1))


ROOMS = (
    Room(1, "kitchen", rectangle(0.0, 0.0, 4.0, 4.0)),
    Room(2, "living room", rectangle(4.2, 0.0, 9.2, 4.0)),
    Room(3, "bedroom", rectangle(4.2, 4.2, 9.2, 8.2)),
)


def obj(object_id, category, x, z, room, **attributes):
    return SceneObject(object_id, category, (x, 0.5, z), (0.4, 0.5, 0.4), room=room, attributes=attributes)


OBJECTS = (
    obj(11, "refrigerator", 0.5, 0.5, 1, color="white"),
    obj(12, "sofa", 8.7, 0.5, 2, color="red", material="leather", size="large"),
    obj(13, "sofa", 8.7, 3.5, 2, color="blue", material="leather", size="large"),
    obj(14, "bed", 8.5, 7.7, 3, color="red"),
    SceneObject(15, "mug", (5.0, 1.0, 5.0), (0.04, 0.05, 0.04), room=3),
)


def draw_flat() -> World:
    scene = draw_scene(DRAWN, CELL, "flat")
    return World.of(
        replace(scene, rooms=ROOMS, objects=(*scene.objects, *OBJECTS)), draw_navmesh(DRAWN, CELL)
    )
