"""The floor under a body is that of its room."""

from dataclasses import replace

import numpy as np
import pytest

from navarena.core.errors import SceneError
from navarena.scenes.scene import Room
from navarena.simulation.floor_materials import FloorMap
from worlds import HALL, draw_scene

MATERIALS = ("", "wood", "tiles")

L_SHAPE = ((0.0, 0.0), (4.0, 0.0), (4.0, 1.0), (1.0, 1.0), (1.0, 4.0), (0.0, 4.0))
SQUARE = ((1.0, 1.0), (1.0, 4.0), (4.0, 4.0), (4.0, 1.0))


def make_room(number, polygon, floor, height=0.0):
    return Room(number, "room", polygon, floor_height=height, attributes={"floor": floor} if floor else {})


def floor_map(*rooms):
    return FloorMap(replace(draw_scene(HALL), rooms=rooms), MATERIALS)


def test_rooms_of_any_shape_and_storey():
    found = floor_map(
        make_room(1, L_SHAPE, "wood"),
        make_room(2, SQUARE, "tiles"),
        make_room(3, SQUARE, "wood", height=3.0),
        make_room(4, ((5.0, 0.0), (6.0, 0.0), (6.0, 1.0), (5.0, 1.0)), "marble"),
    )
    cases = [
        ((0.5, 0.0, 3.9), "wood"),
        ((3.9, 0.1, 0.5), "wood"),
        ((2.0, 0.0, 2.0), "tiles"),
        ((2.0, 3.2, 2.0), "wood"),
        ((2.0, 1.5, 2.0), ""),  # between the storeys
        ((4.5, 0.0, 0.5), ""),  # in no room
        ((5.5, 0.0, 0.5), ""),  # a floor that the list does not name
    ]
    positions = np.array([position for position, _ in cases])
    assert [MATERIALS[k] for k in found.find(positions)] == [name for _, name in cases]


def test_scenes_without_floors_are_refused():
    with pytest.raises(SceneError, match="material of their floor"):
        floor_map(make_room(1, SQUARE, ""))
    with pytest.raises(SceneError, match="material of their floor"):
        floor_map()
