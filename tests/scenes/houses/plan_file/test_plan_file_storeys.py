"""Floor plans of several storeys: joined by stairs wherever these lie, or refused with the reason."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from house_samples import require_closed
from navarena.core.errors import FileError, SceneError
from navarena.scenes.houses.generator import build_plan
from navarena.scenes.houses.plan_file.reader import read_plan
from navarena.scenes.houses.structure.walkable_floors import house_floors
from navarena.scenes.validation import validate_scene
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

EXAMPLE = Path(__file__).parents[4] / "examples" / "floor_plan_storeys.json"
STRETCH = NavMeshSettings(radius=0.18, height=0.88)

STAIRS = [[0, 0], [2.4, 0], [2.4, 4.2], [0, 4.2]]
HALL = [[0, 4.2], [5, 4.2], [5, 6], [0, 6]]
TURNS = {
    "south": lambda x, z: [x, z],
    "west": lambda x, z: [-z, x],
    "north": lambda x, z: [-x, -z],
    "east": lambda x, z: [z, x],
}
SIDES = ("north", "east", "south", "west")


def storey(turn=TURNS["south"], stairs=STAIRS, hall=HALL, door=(1.2, 4.2)):
    """A hall and the stairs, turned."""
    return {
        "rooms": [
            {"id": "hall", "category": "corridor", "polygon": [turn(*corner) for corner in hall]},
            {"id": "up", "category": "stairs", "polygon": [turn(*corner) for corner in stairs]},
        ],
        "doors": [{"between": ["hall", "up"], "at": turn(*door), "width": 1.2, "kind": "passage"}],
    }


def plan(*storeys, **more):
    return {"format": "navarena-floor-plan-1", "storeys": list(storeys), **more}


def write(folder, content):
    path = folder / "house.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("side", sorted(TURNS))
def test_stairs_lead_up_from_the_side_where_the_doors_are(tmp_path, side):
    turn = TURNS[side]
    house = read_plan(write(tmp_path, plan(storey(turn), storey(turn), storey(turn), ceiling=2.5)))
    assert [s.base for s in house.storeys] == [0, 2760, 5520]  # ceilings and slabs of 0.26 m
    assert [room.level for s in house.storeys for room in s.plan.rooms] == [0, 0, 1, 1, 2, 2]
    assert {SIDES[stairs.side] for stairs in house.stairs} == {side}
    assert [(s.closed, s.is_last) for s in house.stairs] == [(True, False), (False, True)]
    mesh = build_floor_navmesh(house_floors(house), STRETCH)
    assert mesh.island_count == 1
    low, high = mesh.bounds
    assert low[1] == pytest.approx(0, abs=0.05) and high[1] == pytest.approx(5.52, abs=0.05)


def test_doors_beside_the_landing_are_enough(tmp_path):
    hall = [[2.4, 0], [5, 0], [5, 4.2], [2.4, 4.2]]
    beside = storey(hall=hall, door=(2.4, 3.5))
    beside["doors"][0]["width"] = 0.8
    house = read_plan(write(tmp_path, plan(storey(), beside)))
    assert build_floor_navmesh(house_floors(house), STRETCH).island_count == 1


def test_the_example_is_closed_furnished_and_walkable():
    scene = build_plan(EXAMPLE)
    validate_scene(scene)
    house = read_plan(EXAMPLE)
    pieces = [piece for room in house.storeys[0].plan.rooms for piece in room.floor_pieces]
    require_closed(scene, pieces)
    assert sorted({room.level for room in scene.rooms}) == [0, 1]
    assert {obj.level for obj in scene.objects if obj.category == "bed"} == {1}
    assert sum(obj.category == "stairs" for obj in scene.objects) == 1
    mesh = build_floor_navmesh(scene.walkable, STRETCH)
    assert mesh.island_areas.max() >= 0.98 * mesh.navigable_area


def with_stairs(polygon):
    return storey(stairs=polygon, hall=[[0, 4.2], [9, 4.2], [9, 6], [0, 6]])


def changed(entry, **changes):
    return deepcopy(entry) | changes


SLANTED = storey(hall=[[0, 4.2], [5, 4.2], [6, 5], [5, 6], [0, 6]])
NO_STAIRS = changed(
    storey(), rooms=storey()["rooms"][:1], doors=[{"between": ["hall", "outside"], "at": [5, 5]}]
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (plan(storey()), "expected several storeys with a room of the category 'stairs', got one"),
        (plan(storey(), NO_STAIRS), r"one room of the category 'stairs' .* got 0 in storeys\[1\]"),
        (plan(storey(), SLANTED), r"got slanted ones in storeys\[1\]"),
        (
            plan(storey(), with_stairs([[0, 0], [3, 0], [3, 4.2], [0, 4.2]])),
            r"above each other, got 2.28 x 4.08 m at \[0.06, 0.06\] in storeys\[0\] and 2.88 x 4.08",
        ),
        (
            plan(*[with_stairs([[0, 1], [2.4, 1], [2.4, 4.2], [0, 4.2]])] * 2),
            r"at least 2.22 by 4.01 m between .* got 2.28 x 3.08 m at \[0.06, 1.06\] inside them",
        ),
        (
            plan(storey(), storey(hall=[[2.4, 0], [5, 0], [5, 4.2], [2.4, 4.2]], door=(2.4, 2))),
            "expected the doors of the room of the stairs, on all storeys, near one end",
        ),
        (plan(storey(), storey(), ceiling=3.2), "a ceiling of at most 2.94 m .* 16 steps, got 3.2 m"),
        (plan(storey(), changed(storey(), doors=[])), r"storeys\[1\]: expected a door or passage"),
        (plan(storey(), storey(), rooms=storey()["rooms"]), "inside storeys, got some beside them"),
        (
            plan(storey(), storey(stairs=[*STAIRS[:2], [2.4, 2], [4, 2], [4, 4.2], [0, 4.2]])),
            r"expected a rectangle as the room of the stairs, got another one in storeys\[1\]",
        ),
    ],
)
def test_houses_that_cannot_be_built_are_refused(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(SceneError, match=message) as error:
        read_plan(path)
    assert str(error.value).startswith(f"{path}: ")


def test_mistakes_inside_a_storey_say_which(tmp_path):
    bad = changed(storey(), windows=[{"room": "hall"}])
    with pytest.raises(FileError, match=r"missing required field `at` - at `\$.storeys\[1\].windows\[0\]`"):
        read_plan(write(tmp_path, plan(storey(), bad)))
