"""Floor plans with slanted walls: bays, hexagons, walls of 45 degrees and of no round angle."""

import json
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from house_samples import require_closed
from navarena.core.errors import SceneError
from navarena.scenes.houses.generator import build_plan, furnish_house
from navarena.scenes.houses.house_statistics import STRUCTURE, room_area
from navarena.scenes.houses.plan.polygons import (
    clean_polygon,
    columns_inside,
    columns_over,
    inset,
    triangles_of,
    twice_area,
)
from navarena.scenes.houses.plan.walls import doorway_polygon, outer_rings, wall_openings
from navarena.scenes.houses.plan_file.reader import read_plan
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.houses.structure.walkable_floors import house_floors
from navarena.scenes.houses.structure.wall_boxes import wall_boxes
from navarena.scenes.validation import validate_scene
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

EXAMPLES = Path(__file__).parents[4] / "examples"
BAY = EXAMPLES / "floor_plan_slanted.json"
AREAS = (11.5 / 2 * 1.5, 6.5 * 3.5 + (3.2 + 1.6) / 2 * 1.1, 2 * 3 + 2 * 1.5 * 1.5, 5 * 4)
"""Of the rooms of BAY between the middles of their walls, by hand: trapezium, bay, hexagon, rectangle."""


def perimeter(polygon):
    return shapely.Polygon(polygon).length


@cache
def bay_scene():
    return build_plan(BAY)


@cache
def bay_house():
    empty = read_plan(BAY)
    return furnish_house(Draws("floor plan", empty.digest()), empty, HouseSettings())


def test_floors_have_the_area_of_their_polygons():
    plan = read_plan(BAY).storeys[0].plan
    assert [twice_area(room.outline) / 2e6 for room in plan.rooms] == pytest.approx(AREAS)
    for room, built in zip(plan.rooms, bay_scene().rooms, strict=True):
        inner = shapely.buffer(shapely.Polygon(room.outline), -60, join_style="mitre")
        assert room_area(built) == pytest.approx(inner.area / 1e6, abs=perimeter(room.outline) / 1e6)
    assert sum(map(room_area, bay_scene().rooms)) == pytest.approx(read_plan(BAY).area_mm2 / 1e6, abs=1e-5)


@pytest.mark.parametrize(("category", "height"), [("floor", 0.0), ("ceiling", 2.7)])
def test_floor_and_ceiling_are_the_polygon_and_what_reaches_into_the_walls(category, height):
    scene, plan = bay_scene(), read_plan(BAY).storeys[0].plan
    for index, room in enumerate(plan.rooms):
        obj = next(t for t in scene.objects if t.category == category and t.room == index + 1)
        corners = scene.vertices[scene.triangles[scene.triangle_object == obj.object_id]].astype(float)
        corners = corners[(np.abs(corners[..., 1] - height) < 1e-6).all(1)]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1]
        assert (normal * (1 if category == "floor" else -1) > 0).all(), "turned to the room"
        wide = inset(room.outline, 40)
        assert np.abs(normal).sum() / 2 == pytest.approx(twice_area(wide) / 2e6, rel=1e-5)


def test_every_room_is_reached_and_closed():
    scene = bay_scene()
    validate_scene(scene)
    mesh = build_floor_navmesh(scene.walkable, NavMeshSettings(radius=0.18, height=0.88))
    assert mesh.island_areas[mesh.largest_island] >= 0.98 * mesh.navigable_area
    points = mesh.random_point(np.random.default_rng(3), 3000, mesh.largest_island)
    for room in scene.rooms:
        inside = shapely.contains_xy(shapely.Polygon(room.polygon), points[:, 0], points[:, 2])
        assert inside.sum() > 50, room.category
    rooms = read_plan(BAY).storeys[0].plan.rooms
    require_closed(scene, [p for r in rooms for p in r.floor_pieces if min(p.width, p.depth) > 120])


def test_furniture_stands_inside_and_leaves_doors_free():
    (storey,) = bay_house().storeys
    floors = [shapely.Polygon(inset(room.outline, 60)).buffer(1) for room in storey.plan.rooms]
    standing = [p for p in storey.placements if p.family not in ("curtains", "blinds")]
    assert all(sum(p.room == k for p in standing) >= 8 for k in range(4))
    ways = [
        shapely.Polygon(doorway_polygon(opening, 60 + 700))
        for opening in wall_openings(storey.plan)
        if opening.kind in ("door", "passage")
    ]
    assert len(ways) == 3
    for placed in standing:
        rect = shapely.box(placed.rect.x0, placed.rect.z0, placed.rect.x1, placed.rect.z1)
        assert floors[placed.room].contains(rect), placed.family
        if placed.low < 1900 and placed.high > 20 and placed.parent < 0:
            assert not any(way.intersects(rect) for way in ways), placed.family


def test_things_in_slanted_walls_look_along_their_normal():
    scene = bay_scene()
    windows = [t for t in scene.objects if t.category == "window" and t.room == 2]
    assert len(windows) == 4
    left = min(windows, key=lambda obj: obj.center[0])
    # The bay's left wall runs from (2.1, 10.1) to (1.3, 9); what looks along yaw sees (-sin, -cos).
    wall = np.array([-0.8, -1.1])
    assert np.dot(wall, (-np.sin(left.yaw), -np.cos(left.yaw))) == pytest.approx(0, abs=1e-5)
    middle = np.array([1.7, 9.55])
    inward = np.array([1.1, -0.8]) / np.hypot(1.1, 0.8)
    away = np.array(left.center)[[0, 2]] - middle
    assert abs(np.dot(away, wall)) < 0.01
    assert -0.24 < np.dot(away, inward) < 0.06
    assert np.dot(inward, (-np.sin(left.yaw), -np.cos(left.yaw))) > 0.99


def test_walls_that_shade_leave_the_doorways_open():
    (storey,) = read_plan(BAY).storeys
    boxes = wall_boxes(storey.plan)
    low = boxes[boxes[:, 1] < 1000]
    covered = shapely.union_all([shapely.box(b[0], b[2], b[3], b[5]) for b in low])
    rooms = shapely.union_all([shapely.Polygon(inset(room.outline, 60)) for room in storey.plan.rooms])
    assert covered.intersection(rooms).area == pytest.approx(0, abs=1e3)
    for opening in wall_openings(storey.plan):
        if opening.kind != "window":
            way = shapely.Polygon(doorway_polygon(opening, 55))
            assert covered.intersection(way).area == pytest.approx(0, abs=1e3)


SKEW = {
    "format": "navarena-floor-plan-1",
    "rooms": [
        {"id": "den", "category": "living room", "polygon": [[0, 0], [3, 0], [5, 4], [0, 4]]},
        {"id": "cook", "category": "kitchen", "polygon": [[3, 0], [8, 0], [8, 1.833], [3.917, 1.833]]},
        {"id": "bed", "category": "bedroom", "polygon": [[3.917, 1.833], [8, 1.833], [8, 4], [5, 4]]},
    ],
    "doors": [
        {"between": ["den", "cook"], "at": [3.5, 1.0]},
        {"between": ["bed", "den"], "at": [4.5, 3.0]},
        {"between": ["den", "outside"], "at": [0, 2]},
    ],
    "windows": [{"room": "bed", "at": [8, 3]}],
}
"""A wall that rises 2 m on 1 m; the corner in it misses the whole millimetre."""


def write(folder, plan):
    path = folder / "skew.json"
    path.write_text(json.dumps(plan))
    return path


def test_a_corner_may_miss_the_slanted_wall_it_lies_in(tmp_path):
    path = write(tmp_path, SKEW)
    (storey,) = read_plan(path).storeys
    assert [(o.room, o.other) for o in storey.plan.slanted] == [(0, 1), (2, 0)]
    (ring,) = outer_rings([room.outline for room in storey.plan.rooms])
    assert set(ring) == {(0, 0), (8000, 0), (8000, 4000), (0, 4000)}
    (floor,) = house_floors(read_plan(path))
    assert not floor.holes
    scene = build_plan(path)
    validate_scene(scene)
    assert len([t for t in scene.objects if t.category not in STRUCTURE]) > 15
    mesh = build_floor_navmesh(scene.walkable, NavMeshSettings(radius=0.18, height=0.88))
    assert mesh.island_areas[mesh.largest_island] >= 0.98 * mesh.navigable_area


def test_a_slanted_plan_is_the_same_each_time_and_told_from_others(tmp_path):
    path = write(tmp_path, SKEW)
    digest = read_plan(path).digest()
    assert read_plan(path).digest() == digest
    other = deepcopy(SKEW)
    other["doors"][0]["at"] = [3.55, 1.1]
    assert read_plan(write(tmp_path, other)).digest() != digest
    turned = deepcopy(SKEW)
    turned["rooms"][0]["polygon"] = turned["rooms"][0]["polygon"][::-1]
    assert read_plan(write(tmp_path, turned)).digest() == digest


def changed(**rooms):
    plan = deepcopy(SKEW)
    for entry in plan["rooms"]:
        entry["polygon"] = rooms.get(entry["id"], entry["polygon"])
    return plan


FAR = {"id": "far", "category": "gym", "polygon": [[8.4, 0], [12, 0], [12, 4], [8.4, 4]]}


def with_door(**door):
    return {**SKEW, "doors": [*SKEW["doors"], door]}


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (changed(cook=[[2, 0], [8, 0], [8, 1.8], [3.9, 1.8]]), "do not overlap, got 'den' over 'cook'"),
        (changed(cook=[[0, 0], [3, 0], [5, 4], [0, 4]]), "do not overlap, got 'den' over 'cook'"),
        (changed(cook=[[0.5, 1], [2, 1], [2.5, 3], [0.5, 3]]), "do not overlap, got 'den' over 'cook'"),
        (changed(cook=[[3, 0], [8, 1.8], [8, 0], [3.9, 1.8]]), "'cook': expected walls that do not cross"),
        (changed(cook=[[3, 0], [3, 0], [8, 0], [3.9, 1.8]]), "'cook': expected corners that differ"),
        (changed(cook=[[3, 0], [8, 0], [6, 0]]), "'cook': expected"),
        (changed(cook=[[3, 0], [8, 0], [8, 1.2]]), "'cook': expected corners of at least 30 degrees"),
        (changed(cook=[[3, 0], [8, 0], [8.3, 0.6], [3.3, 0.6]]), "'cook' to be nowhere narrower"),
        (with_door(between=["cook", "bed"], at=[3.5, 1.0]), "between 'cook' and 'bed'.*inside one straight"),
        (with_door(between=["den", "bed"], at=[3.95, 1.9]), "between 'den' and 'bed'.*inside one straight"),
        (with_door(between=["den", "cook"], at=[3.55, 1.1]), r"doors\[3\] too near to another door"),
        (with_door(between=["den", "outside"], at=[4.5, 3.0]), "'den' and 'outside'.*inside one straight"),
        ({**SKEW, "doors": SKEW["doors"][::2]}, "door or passage to every room, got none to 'bed'"),
        (
            {**SKEW, "rooms": [*SKEW["rooms"], FAR]},
            "0.5 m between the middles of outer walls",
        ),
    ],
)
def test_impossible_slanted_plans_are_refused_with_the_room(tmp_path, plan, message):
    with pytest.raises(SceneError, match=message) as caught:
        read_plan(write(tmp_path, plan))
    assert "skew.json" in str(caught.value)


DIRECTIONS = ((5, 0), (4, 3), (3, 4), (0, 5), (-3, 4), (-4, 3), (-5, 0), (-4, -3), (0, -5), (3, -4))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(150, 900), min_size=len(DIRECTIONS), max_size=len(DIRECTIONS)))
def test_polygons_are_cut_into_what_covers_them(radii):
    corners = [(x * r, z * r) for (x, z), r in zip(DIRECTIONS, radii, strict=True)]
    try:
        outline = clean_polygon(corners)
    except SceneError as error:
        assert "30 degrees" in str(error)
        return
    whole = shapely.Polygon(corners)
    assert twice_area(outline) == pytest.approx(2 * whole.area)
    assert sum(map(twice_area, triangles_of(outline))) == twice_area(outline)
    inside = shapely.union_all(
        [shapely.box(r.x0, r.z0, r.x1, r.z1) for c in columns_inside(outline, 100) for r in c]
    )
    over = shapely.union_all([shapely.box(r.x0, r.z0, r.x1, r.z1) for r in columns_over(outline, 100)])
    assert inside.difference(whole).area == pytest.approx(0, abs=1e-3)
    assert whole.difference(over).area == pytest.approx(0, abs=1e-3)
    assert inside.area >= whole.area - 400 * whole.length
    moved = shapely.Polygon(inset(outline, -240))
    expected = shapely.buffer(whole, 240, join_style="mitre", mitre_limit=20)
    assert moved.symmetric_difference(expected).area <= 1.5 * expected.length
