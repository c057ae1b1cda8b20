"""Houses of the published set stay within what homes are like, floor plans and ways alike.

A slow test looks at eight of the thousand houses, by turns: NAVARENA_TEST_SHARE, a whole number, says which;
CI counts commits, so that in a row of commits all are looked at.
"""

import os
from functools import cache

import numpy as np
import pytest

from navarena.scenes.houses import HouseSettings, house_seed
from navarena.scenes.houses.generator import draw_house
from navarena.scenes.houses.house_sets import house_settings
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.houses.structure.walkable_floors import house_floors
from navarena.simulation.navmesh.building.floor_navmesh import build_floor_navmesh
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings

HOUSES = [("val", 2), ("val", 4), ("val", 5), ("train", 8)]
SPLITS = {"train": 800, "val": 100, "test": 100}
LISTED = [(split, index) for split, count in SPLITS.items() for index in range(count)]
SHARES = 125
TURN = int(os.environ.get("NAVARENA_TEST_SHARE", "0"))
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


@pytest.mark.parametrize(("split", "index"), HOUSES)
def test_nearly_all_of_every_storey_can_be_reached(split, index):
    require_reach(house_of(split, index), mesh_of(split, index))


@pytest.mark.slow
@pytest.mark.parametrize(("split", "index"), LISTED[TURN % SHARES :: SHARES])
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
