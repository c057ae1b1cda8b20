"""The shortest path of an episode, against the navmesh's own paths."""

import numpy as np
import pytest

from navarena.simulation.body_catalog import get_body
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.world import open_world
from navarena.tasks.shortest_path import chain_paths
from worlds import draw_navmesh

WALLED = ["....", ".##.", ".##.", "...."]
"""A ring of squares around a pillar."""


def length(points):
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def test_a_field_leads_along_the_shortest_path():
    navmesh = draw_navmesh(WALLED)
    fields = GoalFields(1)
    goals = np.array([[3.5, 0.0, 3.5], [3.5, 0.0, 0.5]])
    start = np.array([0.5, 0.0, 3.5])
    fields.set_goals(0, navmesh, goals[:1])
    way = fields.shortest_path(0, start)
    assert way[0] == pytest.approx(start) and way[-1] == pytest.approx(goals[0])
    assert length(way) == pytest.approx(3.0)
    fields.set_goals(0, navmesh, goals[1:])
    way = fields.shortest_path(0, start)
    assert len(way) == 3  # around one corner of the pillar
    assert length(way) == pytest.approx(length(navmesh.shortest_path(start, goals[1])))
    fields.set_goals(0, navmesh, goals)
    assert fields.shortest_path(0, start)[-1] == pytest.approx(goals[0])  # the nearer one


def test_paths_are_as_long_as_the_distance_in_a_house():
    """Around many corners, some of which two triangles reach with no step between them."""
    world = open_world("houses-v1/val/00003", get_body("locobot"))
    navmesh, generator, fields = world.navmesh, np.random.Generator(np.random.PCG64(5)), GoalFields(1)
    starts = navmesh.random_point(generator, 60, island=navmesh.largest_island)
    goals = navmesh.random_point(generator, 3, island=navmesh.largest_island)
    turns = 0
    for chosen in (goals[:1], goals):
        fields.set_goals(0, navmesh, chosen)
        for start, metres in zip(starts, fields.distance([0] * len(starts), starts), strict=True):
            path = fields.shortest_path(0, start)
            assert length(path) == pytest.approx(metres, rel=1e-6)
            assert np.abs(chosen - path[-1]).sum(1).min() < 1e-3
            turns += len(path) - 2
    assert turns > 200


def test_edges():
    navmesh = draw_navmesh(["..#..", "..#.."])
    fields = GoalFields(1)
    there = np.array([4.5, 0.0, 0.5])
    fields.set_goals(0, navmesh, there[None])
    assert fields.shortest_path(0, np.array([0.5, 0.0, 0.5])).shape == (0, 3)
    assert length(fields.shortest_path(0, there)) == 0.0
    stations = np.array([[0.5, 0.0, 0.5], [1.5, 0.0, 0.5], [1.5, 0.0, 1.5]])
    assert length(chain_paths(navmesh, stations)) == pytest.approx(2.0)
    assert chain_paths(navmesh, np.array([stations[0], there])).shape == (0, 3)
