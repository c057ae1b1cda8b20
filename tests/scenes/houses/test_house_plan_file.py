"""Floor plans from files: built and furnished, or refused with the file and the room."""

import json
from copy import deepcopy

import numpy as np
import pytest

from navarena.core.errors import FileError, SceneError, UnknownNameError
from navarena.scenes.catalog import load_scene, scene_hash
from navarena.scenes.houses.footprints import house_floors
from navarena.scenes.houses.generator import build_plan
from navarena.scenes.houses.plan_file import read_plan
from navarena.scenes.validation import validate_scene
from navarena.simulation.navmesh.floors import build_floor_navmesh
from navarena.simulation.navmesh.settings import NavMeshSettings

FLAT = {
    "format": "navarena-floor-plan-1",
    "ceiling": 2.7,
    "rooms": [
        {"id": "hall", "category": "corridor", "polygon": [[0, 0], [7, 0], [7, 1.5], [0, 1.5]]},
        {"id": "den", "category": "living room", "polygon": [[0, 1.5], [4, 1.5], [4, 6], [0, 6]]},
        {"id": "cook", "category": "kitchen", "polygon": [[4, 6], [4, 1.5], [7, 1.5], [7, 6]]},
    ],
    "doors": [
        {"between": ["hall", "den"], "at": [2, 1.5], "width": 0.9},
        {"between": ["cook", "den"], "at": [4, 3.5], "width": 1.4, "kind": "passage"},
        {"between": ["outside", "hall"], "at": [0, 0.75], "width": 0.95},
    ],
    "windows": [
        {"room": "den", "at": [2, 6], "width": 1.8, "sill": 0.7, "head": 2.3},
        {"room": "cook", "at": [7, 4]},
    ],
}


def write(folder, plan):
    path = folder / "flat.json"
    path.write_text(plan if isinstance(plan, str) else json.dumps(plan))
    return path


def test_a_plan_becomes_a_furnished_house(tmp_path):
    path = write(tmp_path, FLAT)
    scene = build_plan(path)
    validate_scene(scene)
    assert [room.category for room in scene.rooms] == ["corridor", "living room", "kitchen"]
    np.testing.assert_allclose(
        scene.rooms[1].polygon, [(0.06, 1.56), (3.94, 1.56), (3.94, 5.94), (0.06, 5.94)]
    )
    assert scene.rooms[0].ceiling_height == 2.7
    categories = {thing.category for thing in scene.objects}
    assert {"wall", "floor", "door", "window"} <= categories and len(categories) > 15
    windows = [thing for thing in scene.objects if thing.category == "window"]
    assert sorted(round(thing.center[0], 1) for thing in windows) == [2.0, 7.1]
    mesh = build_floor_navmesh(scene.walkable, NavMeshSettings(radius=0.18, height=0.88))
    assert mesh.island_count == 1


def test_openings_lie_where_the_plan_says(tmp_path):
    (storey,) = read_plan(write(tmp_path, FLAT)).storeys
    kinds = [(o.kind, o.start, o.end, o.low, o.high) for o in storey.plan.openings]
    assert kinds == [
        ("door", 1550, 2450, 0, 2050),
        ("passage", 2800, 4200, 0, 2050),
        ("entrance", 275, 1225, 0, 2050),
        ("window", 1100, 2900, 700, 2300),
        ("window", 3400, 4600, 900, 2100),
    ]
    (floor,) = house_floors(read_plan(write(tmp_path, FLAT)))
    assert floor.outline[0] == (0.06, 0.06)


def test_a_plan_is_opened_like_any_scene(tmp_path, monkeypatch):
    monkeypatch.setenv("NAVARENA_CACHE", str(tmp_path / "cache"))
    path = write(tmp_path, FLAT)
    first = scene_hash(path)
    scene = load_scene(path)
    assert scene.scene_id == str(path)
    assert scene.rooms == build_plan(path).rooms
    changed = deepcopy(FLAT)
    changed["ceiling"] = 2.5
    write(tmp_path, changed)
    assert scene_hash(path) != first
    assert load_scene(path).rooms[0].ceiling_height == 2.5


def with_room(index, **changes):
    plan = deepcopy(FLAT)
    plan["rooms"][index] |= changes
    return plan


def with_opening(kind, **entry):
    plan = deepcopy(FLAT)
    plan[kind].append(entry)
    return plan


def without_doors(count):
    plan = deepcopy(FLAT)
    plan["doors"] = plan["doors"][count:]
    return plan


@pytest.mark.parametrize(
    ("plan", "error", "message"),
    [
        (with_room(2, polygon=[[3, 1], [7, 1], [7, 6], [3, 6]]), SceneError, "got 'hall' over 'cook'"),
        (with_room(2, category="kitchn"), UnknownNameError, "room 'cook' 'kitchn'. Did you mean 'kitchen'"),
        (with_room(2, category="stairs"), UnknownNameError, "unknown category"),
        (with_room(2, id="den"), SceneError, "ids that are unique.*'den'"),
        (with_room(1, polygon=[[0, 2], [4, 2], [4, 5], [1, 6]]), SceneError, "rectangle.*'den'.*cut it"),
        (with_room(1, polygon=[[0, 2], [4, 6], [4, 2], [0, 6]]), SceneError, "in order.*'den'"),
        (with_room(1, polygon=[[0, 2], [0.5, 2], [0.5, 6], [0, 6]]), SceneError, "sides of at least 0.9 m"),
        (without_doors(2), SceneError, "door or passage to every room, got none to 'den'"),
        (without_doors(1), SceneError, "a way from 'hall' to every room, got none to 'den'|got none to"),
        (
            with_opening("doors", between=["hall", "shed"], at=[1, 1]),
            UnknownNameError,
            "room of a door 'shed'",
        ),
        (
            with_opening("doors", between=["hall", "den"], at=[3.9, 1.5]),
            SceneError,
            "inside one straight wall",
        ),
        (with_opening("doors", between=["hall", "den"], at=[2.5, 1.5]), SceneError, r"doors\[3\] too near"),
        (with_opening("windows", room="den", at=[4, 5]), SceneError, "window of 'den'.*inside one straight"),
        (with_opening("windows", room="hall", at=[3, 0], sill=2.0, head=1.0), SceneError, "got sill 2.0"),
        ({**FLAT, "rooms": []}, SceneError, "at least one room"),
        ({**FLAT, "ceiling": 9}, FileError, "ceiling"),
        ({**FLAT, "storys": 2}, FileError, "storys"),
        ({**FLAT, "format": "plan"}, FileError, "format"),
        ('{"format": ', FileError, "flat.json"),
    ],
)
def test_impossible_plans_are_refused_with_file_and_room(tmp_path, plan, error, message):
    path = write(tmp_path, plan)
    with pytest.raises(error, match=message) as caught:
        read_plan(path)
    assert "flat.json" in str(caught.value)


def test_a_missing_plan_is_named(tmp_path):
    with pytest.raises(FileError, match="none.json: No such file"):
        read_plan(tmp_path / "none.json")
