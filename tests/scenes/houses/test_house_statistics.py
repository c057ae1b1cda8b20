"""Houses of the published set stay within what homes are like, floor plans and ways alike.

A slow test looks at eight of the thousand houses, by turns.
"""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from navarena.scenes.houses import HouseSettings, build_house, compute_statistics, house_seed
from navarena.scenes.houses.generator import draw_house
from navarena.scenes.houses.house_sets import house_settings
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.room_needs import lacks_furniture
from navarena.scenes.houses.structure.walkable_floors import house_floors
from navarena.scenes.scene import Room, SceneObject
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from turns import share_of

HOUSES = [("val", 2), ("val", 4), ("val", 5), ("train", 8)]
SPLITS = {"train": 800, "val": 100, "test": 100}
LISTED = [(split, index) for split, count in SPLITS.items() for index in range(count)]
BARE_LIVING_ROOMS = {("train", 228), ("train", 257)}
"""All houses of the thousand with a living room in which sofa or table found no place; 99 % are asked for."""
SHARES = 125
BODY = NavMeshSettings(radius=0.18, height=0.88, max_climb=0.2, region_min_size=0)


@cache
def house_of(split: str, index: int) -> HousePlan:
    return draw_house(house_seed(split, index), house_settings(split))


@cache
def mesh_of(split: str, index: int) -> NavMesh:
    return build_floor_navmesh(house_floors(house_of(split, index)), BODY)


def test_sizes_and_storeys():
    houses = [draw_empty(index) for index in range(9)]
    areas = np.array([house.area_mm2 / 1e6 for house in houses])
    storeys = np.array([len(house.storeys) for house in houses])
    rooms = np.array([sum(len(s.plan.rooms) for s in house.storeys) for house in houses])
    assert areas.min() >= 40 and areas.max() <= 400
    assert 80 <= np.median(areas) <= 180
    assert areas.max() > 180 and areas.min() < 90
    assert set(storeys) == {1, 2, 3}
    assert 0.2 <= (storeys == 1).mean() <= 0.85
    assert rooms.min() >= 3 and rooms.max() <= 36
    per_storey = rooms / storeys
    assert 5 <= np.median(per_storey) <= 11


def draw_empty(index: int) -> HousePlan:
    return draw_house(house_seed("train", index), HouseSettings(furnished=False))


def test_objects_per_room():
    counts, small = [], 0
    for split, index in HOUSES:
        for storey in house_of(split, index).storeys:
            rooms = [placed.room for placed in storey.placements]
            for k, room in enumerate(storey.plan.rooms):
                if room.category not in ("stairs", "corridor", "storage room", "toilet"):
                    counts.append(rooms.count(k))
                    small += rooms.count(k) < 4
    assert 8 <= np.median(counts) <= 40
    assert max(counts) <= 120
    assert small <= len(counts) // 20


def kinds_and_lacking(split: str, index: int) -> tuple[Counter[str], Counter[str]]:
    """Rooms by kind, and of these such as lack furniture that their use needs."""
    rooms, lacking = Counter(), Counter()
    for storey in house_of(split, index).storeys:
        for k, room in enumerate(storey.plan.rooms):
            rooms[room.category] += 1
            found = {placed.category for placed in storey.placements if placed.room == k}
            lacking[room.category] += lacks_furniture(room.category, found)
    return rooms, +lacking


def require_furnished(houses: list[tuple[str, int]]) -> None:
    """97 % of the rooms hold what their use needs; all living rooms but two have a sofa and a table."""
    found = {house: kinds_and_lacking(*house) for house in houses}
    rooms, lacking = (sum(counts, Counter()) for counts in zip(*found.values(), strict=True))
    assert lacking.total() <= 0.03 * rooms.total(), lacking
    bare = {house for house, (_, lacks) in found.items() if lacks["living room"]}
    assert bare == BARE_LIVING_ROOMS & found.keys()


def test_rooms_hold_what_their_use_needs():
    require_furnished(HOUSES)


@pytest.mark.slow
def test_rooms_hold_what_their_use_needs_by_turns():
    require_furnished(share_of(LISTED, SHARES))


@pytest.mark.parametrize(
    ("kind", "categories", "lacks"),
    [
        ("living room", {"sofa", "coffee_table"}, False),
        ("living room", {"sofa", "picture", "toy"}, True),
        ("living room", {"armchair", "table"}, True),
        ("dining room", {"table", "chair"}, False),
        ("dining room", {"table", "stool"}, True),
        ("toilet", {"washbasin"}, True),
        ("corridor", {"coat", "picture"}, False),
        ("corridor", {"ceiling_lamp"}, True),
        ("stairs", set(), False),
    ],
)
def test_needs_by_hand(kind, categories, lacks):
    assert lacks_furniture(kind, categories) is lacks


def test_statistics_count_rooms_that_lack_furniture():
    """A sofa in one living room of two, and no room of stairs counts."""
    rooms = tuple(
        Room(number, kind, ((0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (0.0, 3.0)), 0, 0.0, 2.5)
        for number, kind in enumerate(("living room", "living room", "stairs", "toilet"), 1)
    )
    things = (("sofa", 1), ("side_table", 1), ("sofa", 2), ("toilet", 4))
    objects = tuple(
        SceneObject(number, category, (1.0, 0.5, 1.0), (0.4, 0.4, 0.4), 0.0, room)
        for number, (category, room) in enumerate(things, 1)
    )
    found = compute_statistics(replace(build_house(3, HouseSettings(rooms=1)), rooms=rooms, objects=objects))
    assert found.unfurnished == {"living room": 1}
    assert found.furnished_share == 0.75


@pytest.mark.parametrize(("split", "index"), HOUSES)
def test_nearly_all_of_every_storey_can_be_reached(split, index):
    require_reach(house_of(split, index), mesh_of(split, index))


@pytest.mark.slow
@pytest.mark.parametrize(("split", "index"), share_of(LISTED, SHARES))
def test_nearly_all_of_every_storey_can_be_reached_by_turns(split, index):
    house = draw_house(house_seed(split, index), house_settings(split))
    require_reach(house, build_floor_navmesh(house_floors(house), BODY))


def require_reach(house: HousePlan, mesh: NavMesh) -> None:
    """98 % of each storey belong to the house's largest island; a plausible share of the rooms is free."""
    corners = mesh.vertices[mesh.triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    main = mesh.islands == mesh.largest_island
    heights = corners[..., 1]
    for storey in house.storeys:
        here = np.abs(heights - storey.base / 1000).max(1) < 0.02
        assert area[here & main].sum() >= 0.98 * area[here].sum()
    assert 0.2 <= mesh.navigable_area / (house.area_mm2 / 1e6) <= 0.75


@pytest.mark.slow
@pytest.mark.turns(6)
def test_ways_wind_as_in_homes():
    """Over an even sample of the val houses, small ones included; wide bounds, for there is no census."""
    ratios = []
    for index in range(0, 100, 12):
        mesh = mesh_of("val", index)
        points = mesh.random_point(np.random.default_rng(index), 120)
        start, goal = points[:60], points[60:]
        straight = np.linalg.norm(start - goal, axis=1)
        distance = mesh.geodesic_distance(start, goal)
        usable = np.isfinite(distance) & (straight > 1)
        ratios += (distance / np.maximum(straight, 1e-9))[usable].tolist()
    assert min(ratios) >= 1 - 1e-9
    assert 1.15 <= np.median(ratios) <= 1.6
    assert 1.3 <= np.percentile(ratios, 75) <= 2.4
    assert (np.array(ratios) > 1.1).mean() > 0.55
