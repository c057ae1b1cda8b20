"""What a drawing shows, read back from its SVG."""

import dataclasses
import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from evaluation.corridor import CorridorBatch, make_benchmark
from navarena.episodes.goals import MultiGoal, ObjectInstance
from navarena.metrics import Trajectory
from navarena.reports import draw_episode
from reports.corridor_plan import make_plan


def walk(episode, actions):
    batch = CorridorBatch(1, ())
    batch.start([0], [episode])
    for action in actions:
        batch.step(np.array([action]), np.ones(1, bool))
    return batch.trajectory(0)


def parts(svg):
    root = ET.fromstring(str(svg))
    found = {}
    for element in root:
        found.setdefault(element.get("class").split()[0], []).append(element)
    return root, found


def points_of(element):
    return np.array([[float(x) for x in pair.split(",")] for pair in element.get("points").split()])


@pytest.fixture
def episode():
    return make_benchmark().episodes[4]


def test_the_walk_is_drawn_from_start_to_end(episode):
    start, goal = episode.start_position[0], episode.goal.position[0]
    toward = 1 if goal > start else 2
    steps = int(abs(goal - start))
    trajectory = walk(episode, [toward] * steps + [0])
    _, found = parts(draw_episode(make_plan("s"), episode, trajectory))
    pieces = [points_of(piece) for piece in found["walk"]]
    assert pieces[0][0].tolist() == [start, 0.0]
    assert pieces[-1][-1].tolist() == [goal, 0.0]
    for before, after in itertools.pairwise(pieces):
        assert before[-1].tolist() == after[0].tolist()
    classes = [piece.get("class").split()[1] for piece in found["walk"]]
    assert classes == sorted(classes)
    assert points_of(found["shortest"][0]).tolist() == [[start, 0.0], [goal, 0.0]]
    ring = found["goal-ring"][0]
    assert (float(ring.get("cx")), float(ring.get("r"))) == (goal, 0.5)
    assert len(found["start"]) == 1
    assert "hit" not in found


def test_a_body_that_never_moved(episode):
    _, found = parts(draw_episode(make_plan("s"), episode, walk(episode, [0])))
    assert "walk" not in found
    assert len(found["floor"]) == 1


def test_collisions_are_drawn_once_per_place(episode):
    trajectory = walk(episode, [1] * 14)
    hits = int(trajectory.collided.sum())
    assert hits > 1 or trajectory.positions[-1, 0] < 20
    again = Trajectory(
        positions=np.repeat(trajectory.positions[:1], 4, axis=0),
        yaws=np.zeros(4),
        actions=np.ones(3, np.int64),
        collided=np.ones(3, bool),
        distance_to_goal=np.ones(4),
        start_distance=1.0,
        stopped=False,
        success_distance=0.2,
    )
    _, found = parts(draw_episode(make_plan("s"), episode, again))
    assert len(found["hit"]) == 1


def test_the_view_holds_the_walk_and_its_surroundings(episode):
    start, goal = episode.start_position[0], episode.goal.position[0]
    root, _ = parts(draw_episode(make_plan("s"), episode, walk(episode, [0])))
    x, z, width, height = (float(number) for number in root.get("viewBox").split())
    assert x < min(start, goal)
    assert x + width > max(start, goal)
    assert z < -1.9
    assert z + height > 1.9
    assert width < 23


def test_another_storey_is_drawn_faintly(episode):
    plan = make_plan("s")
    above = plan.vertices + [0.0, 3.0, 0.0]
    storeys = type(plan)(
        np.concatenate([plan.vertices, above]),
        np.concatenate([plan.triangles, plan.triangles + np.int32(16)]),
        np.concatenate(
            [plan.neighbors, np.where(plan.neighbors < 0, -1, plan.neighbors + 8).astype(np.int32)]
        ),
        plan.rooms,
        plan.shortest_path,
    )
    _, found = parts(draw_episode(storeys, episode, walk(episode, [0])))
    assert [element.get("class") for element in found["floor"]] == ["floor other", "floor"]


def test_several_goals_are_numbered_in_their_order(episode):
    trajectory = walk(episode, [1, 1, 0])
    assert "goal-number" not in parts(draw_episode(make_plan("s"), episode, trajectory))[1]
    places = [(4.0, 0.0, 0.0), (15.0, 0.0, 0.0)]
    objects = tuple(ObjectInstance(str(k), "cylinder", place) for k, place in enumerate(places))
    several = dataclasses.replace(episode, goal=MultiGoal(objects))
    _, found = parts(draw_episode(make_plan("s"), several, trajectory))
    assert [text.text for text in found["goal-number"]] == ["1", "2"]
    beside = [float(text.get("x")) for text in found["goal-number"]]
    assert np.allclose(beside, [4.0, 15.0], atol=1.0)
