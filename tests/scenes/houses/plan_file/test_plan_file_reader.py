"""Floor plans from files: built and furnished, or refused with the file and the room."""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import shapely

from house_samples import require_closed
from navarena.core.errors import FileError, SceneError, UnknownNameError
from navarena.scenes.catalog import load_scene, scene_hash
from navarena.scenes.houses.generator import build_plan
from navarena.scenes.houses.house_statistics import STRUCTURE, room_area
from navarena.scenes.houses.plan.floor_plan import Rect
from navarena.scenes.houses.plan_file.reader import read_plan
from navarena.scenes.houses.structure.walkable_floors import house_floors
from navarena.scenes.validation import validate_scene
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

EXAMPLE = Path(__file__).parents[4] / "examples" / "floor_plan.json"

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
    categories = {obj.category for obj in scene.objects}
    assert {"wall", "floor", "door", "window"} <= categories and len(categories) > 15
    windows = [obj for obj in scene.objects if obj.category == "window"]
    assert sorted(round(obj.center[0], 1) for obj in windows) == [2.0, 7.1]
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


def test_polygons_may_be_closed(tmp_path):
    closed = deepcopy(FLAT)
    for room in closed["rooms"]:
        room["polygon"].append(room["polygon"][0])
    assert read_plan(write(tmp_path, closed)) == read_plan(write(tmp_path, FLAT))


def test_a_single_room_needs_a_door_too(tmp_path):
    hut = {**FLAT, "rooms": [FLAT["rooms"][1]], "doors": [], "windows": [FLAT["windows"][0]]}
    with pytest.raises(SceneError, match="door or passage to every room, got none to 'den'"):
        read_plan(write(tmp_path, hut))
    hut["doors"] = [{"between": ["den", "outside"], "at": [0, 4]}]
    assert len(read_plan(write(tmp_path, hut)).storeys[0].plan.openings) == 2


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
        (with_room(2, category="stairs"), SceneError, "expected several storeys with a room of the category"),
        (with_room(2, id="den"), SceneError, "ids that are unique.*'den'"),
        (
            with_room(1, polygon=[[0, 2], [4, 2], [4, 4], [2, 4], [2, 1], [0, 1]]),
            SceneError,
            "'den': expected walls that do not cross or touch",
        ),
        (
            with_room(1, polygon=[[0, 2], [4, 2], [2, 2]]),
            SceneError,
            "'den': expected at least three corners",
        ),
        (
            with_room(1, polygon=[[0, 2], [0, 2], [4, 2], [4, 6], [0, 6]]),
            SceneError,
            "'den': expected corners",
        ),
        (with_room(1, polygon=[[0, 2], [0.5, 2], [0.5, 6], [0, 6]]), SceneError, "narrower than 0.9 m"),
        (
            with_room(
                1,
                polygon=[
                    [0, 1.5],
                    [4, 1.5],
                    [4, 3],
                    [2.5, 3],
                    [2.5, 4.5],
                    [4, 4.5],
                    [4, 6],
                    [0, 6],
                    [0, 4.5],
                    [1.8, 4.5],
                    [1.8, 3],
                    [0, 3],
                ],
            ),
            SceneError,
            "'den' to be nowhere narrower",
        ),
        (without_doors(2), SceneError, "door or passage to every room, got none to 'den'"),
        (without_doors(1), SceneError, "a path from 'hall' to every room, got none to 'den'|got none to"),
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
    with pytest.raises(FileError, match="none.json does not exist"):
        read_plan(tmp_path / "none.json")


def test_the_example_of_the_documentation_is_built():
    house = read_plan(EXAMPLE)
    (storey,) = house.storeys
    living = storey.plan.rooms[1]
    assert living.notches == (Rect(6000, 5000, 8000, 8000),)
    assert sum(piece.area for piece in living.cell_pieces) == 8000 * 6000 - 2000 * 3000
    scene = build_plan(EXAMPLE)
    validate_scene(scene)
    room = scene.rooms[1]
    corners = [(0.06, 5.06), (5.94, 5.06), (5.94, 8.06), (7.94, 8.06), (7.94, 10.94), (0.06, 10.94)]
    np.testing.assert_allclose(room.polygon, corners)
    assert room_area(room) == pytest.approx(5.88 * 5.88 + 2 * 2.88)
    floor = next(obj for obj in scene.objects if obj.category == "floor" and obj.room == room.room_id)
    triangles = scene.triangles[scene.triangle_object == floor.object_id]
    corner = scene.vertices[triangles].astype(float)[..., [0, 2]]
    a, b = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    level = np.ptp(scene.vertices[triangles, 1], axis=1) == 0
    area = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])[level].sum() / 2
    assert area == pytest.approx(room_area(room), rel=0.05), "and what reaches below walls and doors"
    assert len([t for t in scene.objects if t.category == "wall" and t.room == room.room_id]) == 6
    mesh = build_floor_navmesh(scene.walkable, NavMeshSettings(radius=0.18, height=0.88))
    assert mesh.island_areas[mesh.largest_island] >= 0.98 * mesh.navigable_area


@pytest.mark.parametrize("shape", ["L", "T", "U", "S"])
def test_rooms_of_many_corners_are_closed_and_furnished(tmp_path, shape):
    path = write(tmp_path, single_room(SHAPES[shape]))
    (storey,) = read_plan(path).storeys
    outline = shapely.Polygon(SHAPES[shape]).buffer(-0.06, join_style="mitre")
    (floor,) = house_floors(read_plan(path))
    assert shapely.Polygon(floor.outline).symmetric_difference(outline).area == pytest.approx(0, abs=1e-9)
    scene = build_plan(path)
    validate_scene(scene)
    objects = [obj for obj in scene.objects if obj.category not in STRUCTURE]
    assert len(objects) >= 8
    for obj in objects:
        assert outline.buffer(1e-6).contains(shapely.Point(obj.center[0], obj.center[2])), obj.category
    assert sum(t.category == "wall" for t in scene.objects) == len(SHAPES[shape]) + 1
    require_closed(scene, storey.plan.rooms[0].floor_pieces)


def test_a_window_into_another_wall_is_refused(tmp_path):
    plan = single_room(SHAPES["U"])
    plan["windows"] = [{"room": "den", "at": [2, 3.2], "width": 0.5}]
    with pytest.raises(SceneError, match="window of 'den'.*inside one straight wall"):
        read_plan(write(tmp_path, plan))
    plan["windows"] = [{"room": "den", "at": [2, 2.0], "width": 0.5}]
    (storey,) = read_plan(write(tmp_path, plan)).storeys
    assert storey.plan.openings[-1].line == 1940


SHAPES = {
    "L": [[0, 0], [6, 0], [6, 3], [3, 3], [3, 6], [0, 6]],
    "T": [[0, 0], [7, 0], [7, 3], [5, 3], [5, 6], [2, 6], [2, 3], [0, 3]],
    "U": [[0, 0], [2, 0], [2, 3.5], [5, 3.5], [5, 0], [7, 0], [7, 6], [0, 6]],
    "S": [[0, 0], [4, 0], [4, 2], [7, 2], [7, 6], [3, 6], [3, 4], [0, 4]],
}


def single_room(polygon):
    x, z = polygon[-1][0], (polygon[-1][1] + polygon[0][1]) / 2
    return {
        "format": "navarena-floor-plan-1",
        "rooms": [{"id": "den", "category": "living room", "polygon": polygon}],
        "doors": [{"between": ["den", "outside"], "at": [x, z], "width": 0.95}],
    }
