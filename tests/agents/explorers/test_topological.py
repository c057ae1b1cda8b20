"""The topological agent in drawn rooms, its features of views, and poses filtered by the actions."""

import math

import numpy as np
import pytest

from agents.explorers.test_explorers import GOALS, WORLD, run
from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.pose_sources import FilteredPoses
from navarena.agents.explorers.view_features import describe_view
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.corruptions.localisation import LocalisationDrift, LocalisationNoise
from navarena.episodes.goals import MultiGoal, ObjectInstance
from navarena.mapping.scan_odometry import compose
from navarena.simulation.bodies import Bodies
from navarena.tasks.catalog import get_task

KINDS = ("cylinder_red", "cylinder_cyan")
GOAL = MultiGoal(tuple(ObjectInstance(kind, kind, place) for kind, place in zip(KINDS, GOALS, strict=True)))
MOTIONS = np.array([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, math.pi / 6], [0.0, 0.0, -math.pi / 6]])


def test_goals_are_found_in_order_and_each_way_leads_over_places():
    batch, agent = run("topological", "multion-2on-v1", GOAL)
    assert batch.state.stopped[0] and len(batch.state.found_after[0]) == 2
    graph = agent.memory(0).graph
    assert len(graph.places) > 3 and set(graph.routes()) == set(range(len(graph.places)))
    body = batch.simulator.positions[0] - np.array([2.5, 0.0, 2.2])
    back = graph.routes()[0].pose
    sine, cosine = math.sin(back[2]), math.cos(back[2])
    offset = graph.pose[:2] - back[:2]
    place = cosine * offset[0] - sine * offset[1], sine * offset[0] + cosine * offset[1]
    np.testing.assert_allclose(place, body[[0, 2]], atol=0.5, err_msg="scans move it by a little")


def test_a_goal_seen_before_is_remembered_at_the_place_where_it_was_seen():
    _, agent = run("topological", "multion-2on-v1", GOAL, steps=60)
    kept = [label for place in agent.memory(0).graph.places for label in place.objects]
    assert len(kept) == len(set(kept)), "each object is kept at one place, where it was seen last"


def test_it_knows_only_what_its_protocol_shows():
    task = get_task("multion-2on-v1")
    agent = load_agent("topological", task, 0)
    assert set(agent.sensors) == {"depth", "gps", "compass", "multiobjectgoal", "rgb"} <= set(task.sensors)
    assert not declare_agent("topological").privileged
    with pytest.raises(InputError, match="expected MultiON with cylinders"):
        load_agent("topological", get_task("multion-shapes-1on-v1"), 0)


def test_what_was_seen_is_gone_after_an_episode():
    _, agent = run("topological", "multion-2on-v1", GOAL, steps=40)
    assert agent.memory(0).graph.surroundings().any()
    task = agent.task
    agent.reset([Start(0, "two", WORLD.scene_id, Boundary.EPISODE, 0)])
    size = task.embodiment.cameras[0].height_px
    observations = {
        "depth": np.zeros((1, size, size, 1), np.float32),
        "rgb": np.zeros((1, size, size, 3), np.uint8),
        "gps": np.zeros((1, 2), np.float32),
        "compass": np.zeros((1, 1), np.float32),
        "multiobjectgoal": np.zeros((1, 1), np.int64),
    }
    agent.act(observations, np.ones(1, bool))
    memory = agent.memory(0)
    assert len(memory.graph.places) == 1 and memory.walked == 0 and not memory.graph.place.objects
    assert not (memory.graph.surroundings() < 0).any(), "an image of nothing shows no free floor far away"


def test_features_of_a_view_are_those_of_its_blocks():
    generator = np.random.default_rng(0)
    rgb = np.repeat(np.repeat(generator.integers(0, 255, (8, 8, 3)), 8, 0), 8, 1).astype(np.uint8)
    depth = generator.random((64, 64)).astype(np.float32)
    feature = describe_view(rgb, depth)
    assert feature.shape == (8 * 8 * 4,) and np.linalg.norm(feature) == pytest.approx(1)
    colors = rgb[::8, ::8].astype(float)
    colors -= colors.mean((0, 1))
    expected = colors.reshape(-1) / np.linalg.norm(colors) / math.sqrt(2)
    np.testing.assert_allclose(feature[:192], expected, atol=1e-6)
    brighter = describe_view((rgb // 2 + 60).astype(np.uint8), depth)
    assert feature @ brighter > 0.99 > 0.7 > feature @ describe_view(rgb[:, ::-1], depth[:, ::-1])
    assert np.isfinite(describe_view(np.zeros_like(rgb), np.full((64, 64), np.nan, np.float32))).all()


def follow(errors, blocked=()):
    """(T, 3) true and filtered poses of a walk whose sensors have `errors` (T, 3)."""
    source, generator = FilteredPoses(MOTIONS), np.random.default_rng(1)
    bodies, active, pose = Bodies(1), np.ones(1, bool), np.zeros(3)
    true, filtered = [], []
    depth = np.ones((1, 32, 32), np.float32)
    for step, error in enumerate(errors):
        seen = pose + error
        observations = {
            "gps": np.array([[-seen[1], seen[0]]], np.float32),
            "compass": np.array([[(seen[2] + math.pi) % (2 * math.pi) - math.pi]], np.float32),
        }
        source.update(observations, depth, [0] if step == 0 else [], active, bodies)
        true.append(pose)
        filtered.append([bodies.positions[0, 0], bodies.positions[0, 2], bodies.yaws[0]])
        action = 2 if step < 10 else int(generator.choice([1, 1, 1, 2, 3]))
        source.note(np.array([action]), active)
        if step not in blocked or action != 1:
            depth = depth + 0.1
            pose = compose(pose, MOTIONS[action])
    apart = np.array(filtered) - np.array(true)
    apart[:, 2] = (apart[:, 2] + math.pi) % (2 * math.pi) - math.pi
    return apart


def test_poses_without_errors_pass_unchanged_even_where_steps_are_blocked():
    assert np.abs(follow(np.zeros((80, 3)), blocked=range(30, 50))).max() < 1e-5


def test_errors_of_each_estimate_are_filtered_out():
    noise = LocalisationNoise(5).draw(np.random.default_rng(2), 200)
    apart = follow(noise)
    left = np.sqrt((apart[60:] ** 2).mean(0))
    assert (left < 0.45 * np.sqrt((noise[60:] ** 2).mean(0))).all(), left


def test_errors_that_grow_are_followed():
    drift = LocalisationDrift(5).draw(np.random.default_rng(2), 100)
    np.testing.assert_allclose(follow(drift), drift, atol=0.02)
