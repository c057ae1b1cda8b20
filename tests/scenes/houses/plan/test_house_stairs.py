"""Houses of several storeys: stairs that stand above each other, can be seen, and can be walked."""

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError, SceneError
from navarena.scenes.houses import HouseSettings, build_house
from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan import empty_house
from navarena.scenes.houses.plan.empty_house import draw_empty_house
from navarena.scenes.houses.plan.floor_plan import (
    EAST,
    NORTH,
    SIDES,
    SLAB_MM,
    SOUTH,
    WEST,
    Rect,
    landing,
)
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.plan.stairs import DEEP_MM, HALF_LANDING_MM, RUN_MM, Stairs, stairs_room
from navarena.scenes.houses.random_draws import Draws
from navarena.scenes.scene import Scene
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import get_body
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

SMALL_BODY = NavMeshSettings(radius=0.18, height=0.88, max_climb=0.2)
FLOOR = Rect(1000, 2000, 3200, 2000 + DEEP_MM + 300)


def make_stairs(side: int, first_low: bool = True) -> Stairs:
    floor = FLOOR if side in (NORTH, SOUTH) else Rect(FLOOR.z0, FLOOR.x0, FLOOR.z1, FLOOR.x1)
    return Stairs(0, floor, side, first_low, 2800, True, True)


@cache
def storeyed_scene(count: int) -> Scene:
    return build_house(5, HouseSettings(storeys=count))


@cache
def storeyed_mesh(count: int) -> NavMesh:
    return build_floor_navmesh(storeyed_scene(count).walkable, SMALL_BODY)


@pytest.mark.parametrize(("side", "first_low"), list(itertools.product(SIDES, (True, False))))
def test_flights_and_half_landing_fill_the_well(side, first_low):
    stairs = make_stairs(side, first_low)
    first, second = stairs.flights
    assert not first.overlaps(second) and not first.overlaps(stairs.half_landing)
    for part in (first, second, stairs.half_landing):
        assert stairs.well.contains(part)
    assert first.area == second.area == RUN_MM * 1050
    assert stairs.half_landing.area == HALF_LANDING_MM * 2200
    ground = landing(stairs.floor, stairs.well)
    assert ground.area + stairs.well.area == stairs.floor.area
    assert ground.line(side) == stairs.floor.line(side)
    assert (first.span(side) < second.span(side)) == first_low


@pytest.mark.parametrize("side", SIDES)
def test_ramps_meet_floors_and_half_landing_exactly(side):
    stairs = make_stairs(side)
    up, middle, back = stairs.surfaces(600, 1)
    assert middle.plane == (0, 0, 2.0)
    inward = {NORTH: (1, 1), SOUTH: (1, -1), WEST: (0, 1), EAST: (0, -1)}[side]
    for ramp, low, high in ((up, 0.6, 2.0), (back, 3.4, 2.0)):
        outline = np.array(ramp.outline)
        heights = outline @ ramp.plane[:2] + ramp.plane[2]
        along = outline[:, inward[0]] * inward[1]
        near, far = along == along.min(), along == along.max()
        np.testing.assert_allclose(heights[near], low, atol=1e-9)
        np.testing.assert_allclose(heights[far], high, atol=1e-9)
        assert ramp.level == 1


def test_treads_lie_within_half_a_riser_of_the_ramp():
    stairs = make_stairs(NORTH)
    wood = Look("wood", "oak")
    up, _, back = stairs.surfaces(0, 0)
    riser = stairs.rise / 16
    parts = stairs.model(wood, Look("paint", "white")).parts
    for ramp, flight in ((up, stairs.flights[0]), (back, stairs.flights[1])):
        treads = [part for part in parts if flight.contains(part.plan_rect().grown(-1))]
        assert len(treads) == 7
        for part in treads:
            height = 1000 * (ramp.plane[1] * part.at[2] / 1000 + ramp.plane[2])
            assert abs(part.at[1] + part.size[1] - height) <= riser / 2 + 2
            assert part.at[1] == 0, "the space below the stairs of the ground floor is closed"


def draw_storeyed(seed: int, count: int) -> HousePlan:
    return draw_empty_house(Draws("storeys", seed), HouseSettings(storeys=count, furnished=False))


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_storeys_stand_on_each_other_and_share_the_stairwell(seed, count):
    house = draw_storeyed(seed, count)
    assert len(house.storeys) == count and len(house.stairs) == count - 1
    assert 40e6 <= house.area_mm2 <= 400e6
    for level, storey in enumerate(house.storeys):
        plan = storey.plan
        assert storey.base == level * (plan.ceiling + SLAB_MM)
        assert {room.level for room in plan.rooms} == {level}
        room = stairs_room(plan)
        assert room is not None and plan.rooms[room].category == "stairs"
        assert plan.rooms[room].cell == house.storeys[0].plan.rooms[house.stairs[0].room].cell
        for a, b in itertools.combinations(plan.rooms, 2):
            assert not a.cell.overlaps(b.cell)
        below = house.storeys[max(0, level - 1)].plan.rooms
        bounds = Rect(
            min(r.cell.x0 for r in below), min(r.cell.z0 for r in below),
            max(r.cell.x1 for r in below), max(r.cell.z1 for r in below),
        )  # fmt: skip
        assert all(bounds.contains(room.cell) for room in plan.rooms)
        kinds = {opening.kind for opening in plan.openings}
        assert ("entrance" in kinds) == (level == 0)
        ground = plan.ground(room)
        for side, opening in plan.openings_of(room):
            low, high = ground.span(side)
            assert low <= opening.start < opening.end <= high, "nobody steps into the well"
            assert ground.line(side) == plan.rooms[room].floor.line(side)
            assert opening.kind != "window"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_rooms_lie_beside_the_rooms_people_expect(count):
    wet = []
    for seed in range(6):
        house = draw_storeyed(seed, count)
        for storey in house.storeys:
            names = [room.category for room in storey.plan.rooms]
            joined = {frozenset((o.room, o.other)) for o in storey.plan.openings if o.other is not None}
            for k, name in enumerate(names):
                neighbours = {names[other] for pair in joined if k in pair for other in pair - {k}}
                if name == "kitchen":
                    assert neighbours & {"living room", "dining room"}
                if name == "stairs":
                    assert "corridor" in neighbours
                if name in ("bathroom", "toilet"):
                    wet.append(bool(neighbours & {"corridor", "bedroom"}))
        assert "living room" in {room.category for room in house.storeys[0].plan.rooms}
    assert np.mean(wet) > 0.75


@pytest.mark.parametrize("count", [2, 3])
def test_all_storeys_are_one_island(count):
    mesh = storeyed_mesh(count)
    assert mesh.island_count == 1
    heights = mesh.vertices[mesh.triangles, 1].mean(1)
    for room in storeyed_scene(count).rooms:
        assert (np.abs(heights - room.floor_height) < 0.01).any()


@pytest.mark.parametrize("count", [2, 3])
def test_the_way_between_storeys_leads_over_the_stairs(count):
    scene, mesh = storeyed_scene(count), storeyed_mesh(count)
    flights = [s for s in scene.walkable if s.plane[0] or s.plane[1]]
    assert len(flights) == 2 * (count - 1)
    generator = np.random.default_rng(0)
    points = mesh.random_point(generator, 400)
    top = max(room.floor_height for room in scene.rooms)
    low, high = points[np.abs(points[:, 1]) < 0.01][:20], points[np.abs(points[:, 1] - top) < 0.01][:20]
    count_pairs = min(len(low), len(high))
    assert count_pairs >= 5
    distance = mesh.geodesic_distance(low[:count_pairs], high[:count_pairs])
    assert np.isfinite(distance).all()
    straight = np.linalg.norm(low[:count_pairs] - high[:count_pairs], axis=1)
    flight = np.hypot(RUN_MM / 1000, top / (count - 1) / 2)
    assert (distance >= straight - 1e-9).all()
    assert (distance >= 2 * (count - 1) * flight - 0.5).all()
    path = mesh.shortest_path(low[0], high[0])
    assert path[0, 1] == pytest.approx(0, abs=0.01) and path[-1, 1] == pytest.approx(top, abs=0.01)
    assert (np.diff(path[:, 1]) >= -1e-6).all(), "the way up never leads down"
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    assert length == pytest.approx(distance[0], abs=1e-6)


@pytest.mark.parametrize("name", ["locobot"])
def test_a_body_walks_up_step_by_step(name):
    scene = storeyed_scene(2)
    body: Embodiment = get_body(name)
    mesh = build_floor_navmesh(scene.walkable, NavMeshSettings.for_body(body))
    rooms = {room.level: room for room in scene.rooms if room.category == "corridor"}
    start, goal = (
        mesh.snap_point(
            np.array([[*np.mean(rooms[k].polygon, 0)]])[:, [0, 0, 1]] * [1, 0, 1]
            + [0, rooms[k].floor_height, 0]
        )[0]
        for k in (0, 1)
    )
    at, steps = start, 0
    while np.linalg.norm(at - goal) > 0.15 and steps < 400:
        path = mesh.shortest_path(at, goal)
        ahead = path[1] - at
        flat = np.array([ahead[0], 0.0, ahead[2]])
        at = mesh.try_step(at[None], (at + 0.1 * flat / max(np.linalg.norm(flat), 1e-9))[None], True)[0]
        steps += 1
    assert np.linalg.norm(at - goal) <= 0.15


def test_the_well_is_open_between_storeys():
    embreex = pytest.importorskip("embreex.rtcore_scene")
    from embreex.mesh_construction import TriangleMesh

    scene = storeyed_scene(3)
    engine = embreex.EmbreeScene()
    TriangleMesh(engine, scene.vertices[scene.triangles])
    flights = [s for s in scene.walkable if s.plane[0] or s.plane[1]]
    for ramp in flights[:2]:  # under the flights of the first storey's stairs there is another storey's
        x, z = np.mean(ramp.outline, 0)
        height = ramp.plane[0] * x + ramp.plane[1] * z + ramp.plane[2] + 0.3
        up = engine.run(np.array([[x, height, z]], np.float32), np.array([[0, 1, 0]], np.float32))
        assert scene.objects[scene.triangle_object[up[0]] - 1].category in ("stairs", "ceiling")
        assert scene.objects[scene.triangle_object[up[0]] - 1].level >= 1


def test_objects_and_rooms_name_their_storey_and_floor():
    scene = storeyed_scene(3)
    rooms = {room.room_id: room for room in scene.rooms}
    assert {obj.level for obj in scene.objects} == {0, 1, 2}
    for obj in scene.objects:
        if obj.room is not None:
            room = rooms[obj.room]
            assert room.level == obj.level
            assert obj.center[1] >= room.floor_height - 0.1
    for room in scene.rooms:
        assert room.attributes["floor"] in ("tiles", "wood", "carpet")
        if room.category == "bathroom":
            assert room.attributes["floor"] == "tiles"
    assert sum(obj.category == "stairs" for obj in scene.objects) == 2


def test_impossible_wishes_are_refused(monkeypatch):
    with pytest.raises(InputError, match=r"storeys in \[1, 3\] or None, got storeys=4"):
        HouseSettings(storeys=4)
    with pytest.raises(InputError, match="leave rooms out"):
        HouseSettings(rooms=5, storeys=2)
    with pytest.raises(InputError, match="60 above it, got"):
        HouseSettings(area_m2=(100, 120))
    monkeypatch.setattr(empty_house, "TRIES", 1)
    with pytest.raises(SceneError, match="widen area_m2"):
        draw_empty_house(Draws("tiny"), HouseSettings(storeys=3, area_m2=(0, 120)))
