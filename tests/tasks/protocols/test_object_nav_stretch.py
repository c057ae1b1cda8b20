"""Continuous control by hand: velocities, waypoints, discrete actions, clocks, bad commands, replay."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.loading import load_agent
from navarena.core.errors import ActionError, CheckFailedError, InputError
from navarena.episodes.catalog import load_episodes
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import journal_paths, read_rows
from navarena.evaluation.running.expert_audit import find_expert_failures
from navarena.evaluation.running.replay import replay_run
from navarena.evaluation.running.runner import evaluate
from navarena.evaluation.settings import EvaluationSettings
from navarena.metrics import compute_metrics
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from tasks.small import AHEAD, EPISODES, as_object
from worlds import HALL, ROOMS, draw_world

ID = "objectnav-stretch2023-v1"
WORLDS = [draw_world(HALL, scene_id="hall"), draw_world(ROOMS, scene_id="rooms")]
CHAIRS = tuple(as_object(one, "chair") for one in EPISODES)


def make_batch(protocol_id=ID, slots=1, sensors=("gps",)):
    task = get_task(protocol_id)
    cache = WorldCache(task.embodiment)
    for world in WORLDS:
        cache.add(world)
    return NavigationBatch(task, slots, sensors=sensors, worlds=cache)


def begin(options="", episode=None):
    batch = make_batch(ID + options)
    batch.start([0], [episode or as_object(AHEAD, "chair")])
    return batch


def run_expert(batch):
    agent = load_agent("expert", batch.task, 0)
    agent.attach(batch)
    agent.reset([Start(k, str(k), "hall", Boundary.SCENE, 0) for k in range(batch.slots)])
    while batch.running.any():
        batch.step(agent.act(batch.observations, batch.running), batch.running)
    return [compute_metrics(batch.task.metrics, batch.trajectory(k)) for k in range(batch.slots)]


@pytest.mark.parametrize(
    ("command", "ahead", "turn", "tilt"),
    [
        ((1, 0, 0, -1), 0.03, 0.0, 0.0),
        ((0, 0, 0, -1), 0.015, 0.0, 0.0),  # the middle of 0 to 0.3 m/s
        ((-1, 1, 0, -1), 0.0, 0.045, 0.0),
        ((-1, -0.5, -1, -1), 0.0, -0.0225, -0.045),
        ((1, 1, 1, 0), 0.03, 0.045, 0.045),  # walks first; 0 is no stop
    ],
)
def test_velocities_hold_for_a_tenth_of_a_second(command, ahead, turn, tilt):
    batch = begin()
    batch.step(np.array([command], float))
    bodies = batch.simulator.bodies
    assert bodies.positions[0].tolist() == pytest.approx([5.0, 0.0, 5.0 - ahead], abs=1e-12)
    assert (bodies.yaws[0], bodies.tilts[0]) == pytest.approx((turn, tilt), abs=1e-12)
    assert batch.state.seconds[0] == pytest.approx(0.1)


def test_the_stop_ends_the_episode_where_the_body_is():
    batch = begin()
    result = batch.step(np.array([[1.0, 1.0, 0.0, 0.1]]))
    assert result.terminated[0] and batch.state.seconds[0] == 0
    assert batch.simulator.positions[0].tolist() == [5.0, 0.0, 5.0]


def test_the_camera_tilts_within_its_range():
    batch = begin()
    for _ in range(20):
        batch.step(np.array([[-1.0, 0.0, 1.0, -1.0]]))
    assert batch.simulator.tilts[0] == pytest.approx(0.43)
    ignoring = begin("+camera_pitch=ignored")
    ignoring.step(np.array([[-1.0, 0.0, 1.0, -1.0]]))
    assert ignoring.simulator.tilts[0] == 0


@pytest.mark.parametrize(
    ("ahead", "left", "yaw"), [(0.5, 0.0, 0.0), (0.3, 0.2, -1.0), (-0.3, 0.1, 2.8), (0.0, 0.0, 3.0)]
)
def test_waypoints_are_reached_within_their_tolerances(ahead, left, yaw):
    batch = begin("+control=waypoint")
    batch.step(np.array([[ahead / 0.5, left / 0.5, yaw / math.pi, 1.0, 0.5, -1.0]]))
    bodies = batch.simulator.bodies
    x, _, z = bodies.positions[0]
    assert math.hypot(x - (5.0 - left), z - (5.0 - ahead)) <= 0.011
    assert abs((bodies.yaws[0] - yaw + math.pi) % (2 * math.pi) - math.pi) <= 0.025
    assert bodies.tilts[0] == pytest.approx(math.pi / 12)
    assert bodies.moved[0] == bool(ahead or left)
    assert 0 < batch.state.seconds[0] <= 10


def test_a_waypoint_ends_with_its_duration():
    batch = begin("+control=waypoint")
    batch.step(np.array([[1.0, 0.0, 0.0, -0.9, 0.0, -1.0]]))  # half a second
    assert batch.state.seconds[0] == pytest.approx(0.5)
    assert 5.0 - batch.simulator.positions[0, 2] == pytest.approx(0.15)  # at 0.3 m/s


def test_a_body_that_rests_is_observed_anew():
    """Half a metre ahead in ten seconds, then as far in none."""
    batch = make_batch(ID + "+control=waypoint", sensors=("odometry",))
    batch.start([0], CHAIRS[:1])
    batch.step(np.array([[1.0, 0.0, 0.0, 1.0, 0.0, -1.0]]))
    assert batch.observations["odometry"][0, 0] == pytest.approx(0.5, abs=0.02)
    batch.step(np.array([[1.0, 0.0, 0.0, -1.0, 0.0, -1.0]]))
    assert batch.observations["odometry"][0].tolist() == [0.0, 0.0, 0.0]


def test_discrete_actions_are_driven():
    batch = begin("+control=discrete")
    batch.step(np.array([1]))
    assert 5.0 - batch.simulator.positions[0, 2] == pytest.approx(0.25, abs=0.0101)
    assert 1.0 < batch.state.seconds[0] < 2.0
    batch.step(np.array([2]))
    assert batch.simulator.yaws[0] == pytest.approx(math.radians(30), abs=0.025)
    with pytest.raises(ActionError, match=r"within 0\.\.5"):
        batch.step(np.array([6]))
    assert batch.step(np.array([0])).terminated[0]


def test_clocks_and_limits():
    turning = np.array([[-1.0, 1.0, 0.0, -1.0]])
    batch = begin("+seconds=0.3")
    assert [bool(batch.step(turning).truncated[0]) for _ in range(3)] == [False, False, True]
    batch = begin("+max_steps=2")
    assert [bool(batch.step(turning).truncated[0]) for _ in range(2)] == [False, True]
    slow = begin("+walk_speed=0.1+time_step=0.5")
    slow.step(np.array([[1.0, 0.0, 0.0, -1.0]]))
    assert 5.0 - slow.simulator.positions[0, 2] == pytest.approx(0.05)
    assert get_task(ID).max_steps == 1000 and get_task(ID).options.seconds == 500
    with pytest.raises(InputError, match="expected a positive time_step, got 0"):
        get_task(ID + "+time_step=0")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (np.zeros((1, 3)), r"expected \(1, 4\) numbers, one row for each slot"),
        (np.zeros(1, np.int64), r"expected \(1, 4\) numbers"),
        (np.array([[0, np.nan, 0, 0]]), r"expected angular_velocity within \[-1, 1\], got nan in slot 0"),
        (np.array([[0, 0, 0, 1.5]]), r"expected velocity_stop within"),
    ],
)
def test_bad_commands(command, message):
    with pytest.raises(ActionError, match=message):
        begin().step(command)


@pytest.mark.parametrize("options", ["", "+control=waypoint", "+control=discrete"])
def test_the_expert_arrives(options):
    batch = make_batch(ID + options, len(CHAIRS))
    batch.start(range(len(CHAIRS)), CHAIRS)
    scores = run_expert(batch)
    assert [one["success"] for one in scores] == [1.0] * len(CHAIRS)
    assert min(one["spl"] for one in scores) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "episode_id"),
    [
        ("velocity", "houses-v1/val/00008-0002"),  # a corner in which one step of 3 cm is blocked
        ("waypoint", "houses-v1/val/00008-0002"),
        ("waypoint", "houses-v1/val/00021-0004"),  # a wedge, 7 mm before a turning point
        ("discrete", "houses-v1/val/00003-0001"),  # a plan that grazes a door
    ],
)
def test_the_expert_leaves_corners(control, episode_id):
    task = get_task(f"{ID}+control={control}")
    episodes = [one for one in load_episodes(ID, "val").episodes if one.episode_id == episode_id]
    assert len(episodes) == 1
    assert not list(find_expert_failures(task, episodes, WorldCache(task.embodiment)))


def test_agents_that_know_only_discrete_actions_say_so():
    for name in ("forward", "random-oracle-found"):
        with pytest.raises(InputError, match="expected a protocol of discrete actions"):
            load_agent(name, get_task(ID))


@dataclass(frozen=True)
class DrawnSetup:
    """The protocol in drawn worlds, with random commands and an oracle that stops."""

    def make_batch(self, slots, sensors, threads):
        return make_batch(ID + "+max_steps=40", slots, sensors)

    def make_agent(self):
        return load_agent("oracle-stop:random", get_task(ID), 3)


def test_journals_keep_commands_exactly_and_replay_gives_the_same_bits(tmp_path: Path):
    task = get_task(ID)
    identity = Identity(task.protocol_id, "drawn", "test", "0" * 16)
    benchmark = Benchmark(
        identity, CHAIRS, task.actions, task.metrics, DrawnSetup(), is_continuous=task.is_continuous
    )
    settings = EvaluationSettings(ID, "oracle-stop:random", out=tmp_path / "run", batch_size=3)
    evaluate(settings, benchmark)
    rows = read_rows(tmp_path / "run")
    assert len(rows) == len(CHAIRS) and all(len(row.actions) == row.steps > 1 for row in rows)
    assert all(len(action) == 4 for row in rows for action in row.actions)
    assert replay_run(tmp_path / "run", benchmark).differences == ()
    (path,) = journal_paths(tmp_path / "run")
    text = path.read_text()
    first = repr(rows[0].actions[0][0])
    path.write_text(text.replace(first, "2.5", 1))
    with pytest.raises(CheckFailedError, match=r"expected logged actions to be numbers within \[-1, 1\]"):
        replay_run(tmp_path / "run", replace(benchmark))
