"""Coverage against hand-made maps, and storeys of hand-made floors."""

import numpy as np
import pytest

from navarena.core.errors import InputError, SceneError
from navarena.mapping.coverage import Coverage, ReachableFloor, find_reachable_floor
from navarena.mapping.occupancy import OccupancyMaps, OccupancySettings
from navarena.mapping.storeys import find_storeys, sample_floor
from worlds import ROOMS, draw_navmesh

SETTINGS = OccupancySettings(cell=0.5, size=4.0, layers=2)


def two_storeys():
    """Four points on the ground, two of them off the map or beside it, and two upstairs."""
    points = [(-1.2, 0, -1.2), (1.2, 0, 1.2), (0.3, 0, 0.3), (9, 0, 0), (-1.2, 2.8, -1.2), (1.2, 2.8, 1.2)]
    return ReachableFloor(np.array([0.0, 2.8]), np.array(points, float), np.array([0, 0, 0, 0, 1, 1]), 0.25)


def test_what_is_free_on_the_own_storey_counts_and_stays():
    maps, coverage = OccupancyMaps(1, SETTINGS), Coverage([two_storeys()])
    coverage.note(maps)
    assert coverage.shares(0).tolist() == [0, 0], "no floor was found yet"
    maps.floors[0] = 0.1, 2.75
    maps.scores[0, 0, 1, 1] = -3  # the cell from (-1.5, -1.5) to (-1, -1)
    maps.scores[0, 0, 4, 4] = 5  # occupied
    maps.scores[0, 1, 6, 6] = -1  # upstairs, where the body is not
    coverage.note(maps)
    assert coverage.shares(0).tolist() == [0.25, 0]
    assert coverage.areas(0).tolist() == [0.25, 0]
    maps.layer[0] = 1
    maps.scores[0, 0] = 0
    coverage.note(maps)
    assert coverage.shares(0).tolist() == [0.25, 0.5]
    coverage.restart(0, two_storeys())
    assert coverage.shares(0).tolist() == [0, 0]


def test_another_number_of_bodies_is_refused():
    with pytest.raises(InputError, match="maps of 1 bodies, got 2"):
        Coverage([two_storeys()]).note(OccupancyMaps(2, SETTINGS))


def test_stairs_are_no_storey():
    ground, stairs, upper = np.zeros(600), np.linspace(0.1, 2.6, 60), np.full(340, 2.7)
    heights = np.concatenate([ground, stairs, upper])
    assert find_storeys(np.stack([heights] * 3, 1)).tolist() == [0.0, 2.7]
    with pytest.raises(SceneError, match="make|made while walking"):
        find_storeys(np.linspace(0, 9, 200)[:, None] * np.ones(3))


def test_only_what_can_be_reached_counts():
    """The last room of the drawing is cut off: of its 20 square metres none counts."""
    navmesh = draw_navmesh(ROOMS)
    floor = find_reachable_floor(navmesh, np.array([1.5, 0.0, 1.5]))
    assert floor.heights.tolist() == [0.0] and floor.points[:, 2].max() < 7.5
    area = len(floor.points) * floor.area
    drawn = sum(row.count(".") for row in ROOMS[:7])
    assert area == pytest.approx(drawn, rel=0.12)
    assert len(sample_floor(navmesh)) * floor.area == pytest.approx(drawn + 20, rel=0.12)
    turned = floor.seen_from(np.array([1.5, 0.0, 1.5]), np.pi / 2)
    place = np.array([1.5, 0.0, 1.5]) + [-2.0, 0.0, 0.0]  # 2 m ahead of a body that looks along -x
    moved = ReachableFloor(np.zeros(1), place[None], np.zeros(1, np.int64)).seen_from(
        np.array([1.5, 0.0, 1.5]), np.pi / 2
    )
    assert np.allclose(moved.points, [[0, 0, -2]]) and len(turned.points) == len(floor.points)
    with pytest.raises(InputError, match="start on the floor"):
        find_reachable_floor(navmesh, np.array([50.0, 0.0, 50.0]))
