"""Agents of the field's standard interface, written as its users write them, run unchanged."""

from enum import IntEnum

import numpy as np
import pytest

from navarena.agents import Boundary, Start, declare_agent, load_agent, read_action
from navarena.agents.habitat import read_command
from navarena.core.errors import ActionError, InputError
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from tasks.small import AHEAD, EPISODES, SmallPointNav, make_cache

TASK = SmallPointNav()
ACTIONS = TASK.actions


class HabitatSimActions(IntEnum):
    STOP = 0
    MOVE_FORWARD = 1
    TURN_LEFT = 2


class GoalFollower:
    """The shape of habitat-baselines' simple agents: no base class, names as actions."""

    made = 0

    def __init__(self):
        type(self).made += 1
        self.is_reset = False

    def reset(self):
        self.is_reset = True
        self.steps = 0

    def act(self, observations):
        assert self.is_reset
        self.steps += 1
        distance, bearing = observations["pointgoal_with_gps_compass"]
        if distance < 0.2:
            return {"action": "STOP"}
        if abs(bearing) < 0.27:
            return {"action": HabitatSimActions.MOVE_FORWARD}
        return "turn_left" if bearing > 0 else 3


class Challenger:
    """A challenge entry: it takes settings, looks at everything, and keeps what it saw."""

    trained_with = ("color_jitter",)
    resizes = ("rgb=128x128", "depth=64x64")

    def __init__(self, config):
        self.config = config
        self.seen = []

    def reset(self):
        self.seen.clear()

    def act(self, observations):
        self.seen.append(observations)
        return {"action": np.array([0])}


def make_challenger():
    return Challenger({"seed": 7})


class Seer:
    """Looks at object ids under the field's name."""

    sensors = ("semantic", "rgb")
    seen = None

    def reset(self):
        pass

    def act(self, observations):
        type(self).seen = observations
        return 0


class Halfway:
    """Has no act."""

    def reset(self):
        pass


def run(name, episodes, steps=60):
    agent = load_agent(name, TASK)
    batch = NavigationBatch(TASK, len(episodes), sensors=agent.sensors, worlds=make_cache())
    agent.attach(batch)
    batch.start(range(len(episodes)), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id, Boundary.SCENE) for k, one in enumerate(episodes)])
    for _ in range(steps):
        active = batch.running
        if not active.any():
            break
        batch.step(agent.act(batch.observations, active), active)
    return agent, batch


def test_an_agent_of_the_standard_interface_runs_unchanged():
    GoalFollower.made = 0
    _, batch = run("agents.test_habitat:GoalFollower", EPISODES)
    assert GoalFollower.made == len(EPISODES)  # one mind for each slot, none for nothing
    assert batch.trajectory(0).succeeded and batch.trajectory(1).succeeded


def test_observations_have_the_fields_names_shapes_and_types():
    agent, _ = run("agents.test_habitat:make_challenger", [AHEAD], steps=1)
    assert agent.sensors == TASK.sensors
    (seen,) = agent._agents[0]._inner.seen
    assert {name: (value.shape, value.dtype.name) for name, value in seen.items()} == {
        "rgb": ((24, 32, 3), "uint8"),
        "depth": ((24, 32, 1), "float32"),
        "pointgoal_with_gps_compass": ((2,), "float32"),
    }
    assert seen["rgb"].base is None  # a copy: agents keep what they saw


def test_semantic_holds_object_ids():
    agent, _ = run("agents.test_habitat:Seer", [AHEAD], steps=1)
    assert agent.sensors == ("instance", "rgb")
    assert Seer.seen["semantic"].shape == (24, 32, 1) and Seer.seen["semantic"].dtype == np.int32
    assert set(np.unique(Seer.seen["semantic"])) <= {0, 1, 2}  # the hall's floor and walls, by object
    typed = load_agent("habitat:agents.test_habitat:Seer?sensors=semantic,left_semantic,depth", TASK)
    assert typed.sensors == ("instance", "left_instance", "depth")


@pytest.mark.parametrize(
    ("answer", "index"),
    [
        ({"action": "MOVE_FORWARD"}, 1),
        ({"action": 2, "action_args": None}, 2),
        ("turn_right", 3),
        (np.int64(3), 3),
        (np.array(1), 1),
        (np.array([[2]]), 2),
        (HabitatSimActions.TURN_LEFT, 2),
        (17, 17),  # whether it exists is checked by who carries it out
    ],
)
def test_answers(answer, index):
    assert read_action(answer, ACTIONS) == index


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("jump", r"unknown action 'jump'.*move_forward"),
        ({"act": 1}, r"\{'action': ...\}.*\['act'\]"),
        (1.0, "name or index.*1.0"),
        (None, "name or index.*None"),
        (True, "name or index.*True"),
        (np.array([1, 2]), "name or index"),
        ({"action": ("velocity_control", "velocity_stop")}, "name or index"),
    ],
)
def test_bad_answers(answer, message):
    with pytest.raises(ActionError, match=message):
        read_action(answer, ACTIONS)


VELOCITY = ("linear_velocity", "angular_velocity", "camera_pitch_velocity", "velocity_stop")
WAYPOINT = (
    "waypoint_x",
    "waypoint_y",
    "waypoint_yaw",
    "max_duration",
    "delta_camera_pitch",
    "velocity_stop",
)


@pytest.mark.parametrize(
    ("arguments", "names", "row"),
    [
        (
            {"angular_velocity": np.array([0.5]), "linear_velocity": [1.0], "velocity_stop": np.array([-1])},
            VELOCITY,
            [1, 0.5, 0, -1],
        ),
        ({"velocity_stop": 1.0}, VELOCITY, [0, 0, 0, 1]),
        (
            {
                "xyt_waypoint": np.array([0.1, 0.2, 0.3]),
                "max_duration": np.array([0.5]),
                "delta_camera_pitch_angle": np.array([-0.25]),
                "velocity_stop": np.array([-1.0]),
            },
            WAYPOINT,
            [0.1, 0.2, 0.3, 0.5, -0.25, -1],
        ),
    ],
)
def test_agents_of_the_challenge_of_2023_drive(arguments, names, row):
    """The answers of that challenge's own random agent, for either controller."""
    answer = {"action": ("velocity_control", "velocity_stop"), "action_args": arguments}
    np.testing.assert_allclose(read_command(answer, names), row)
    np.testing.assert_allclose(read_command(row, names), row)
    np.testing.assert_allclose(read_command({"action": np.array([row])}, names), row)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (1, r"expected 4 numbers \(linear_velocity, .* or 'action_args', from the agent, got 1"),
        ({"action": "stop"}, "expected 4 numbers"),
        ({"action": None, "action_args": {"linear_velocity": 1}}, "expected angular_velocity in the agent's"),
        ({"action_args": {"lin": 1}}, "unknown argument 'lin'.*known columns: angular_velocity"),
        ({"action_args": {"linear_velocity": [1, 2]}}, "expected 1 numbers as linear_velocity"),
    ],
)
def test_bad_commands(answer, message):
    with pytest.raises(ActionError, match=message):
        read_command(answer, VELOCITY)


class Driver:
    """As the challenge of 2023 shows it."""

    def reset(self):
        pass

    def act(self, observations):
        arguments = {"angular_velocity": np.array([0.5]), "linear_velocity": np.array([-1.0])}
        return {"action": ("velocity_control", "velocity_stop"), "action_args": arguments}


def test_continuous_protocols_get_rows():
    agent = load_agent("agents.test_habitat:Driver", get_task("objectnav-stretch2023-v1"))
    agent.reset([Start(0, "a", "b")])
    observations = {name: np.zeros((1, 1)) for name in agent.sensors}
    np.testing.assert_allclose(agent.act(observations, np.array([True])), [[-1, 0.5, 0, 0]])


def test_what_is_no_agent():
    with pytest.raises(InputError, match=r"methods reset\(\) and act\(observations\)"):
        load_agent("agents.test_habitat:Halfway", TASK)
    with pytest.raises(InputError, match="name a function without arguments that makes it"):
        load_agent("agents.test_habitat:Challenger", TASK).reset([Start(0, "a", "b")])
    with pytest.raises(InputError, match=r"expected \?sensors=rgb"):
        load_agent("habitat:agents.test_habitat:Seer?images=rgb", TASK)


class Blurred(Challenger):
    resizes = ("depth=64",)


class Weighed(Challenger):
    model_sha256 = "abc"


def test_declarations():
    assert declare_agent("agents.test_habitat:Challenger").resizes == ("rgb=128x128", "depth=64x64")
    with pytest.raises(
        InputError, match="expected resizes of the agent as in \"depth=64x64\", got 'depth=64'"
    ):
        declare_agent("agents.test_habitat:Blurred")
    assert declare_agent("agents.test_habitat:Challenger").trained_with == ("color_jitter",)
    with pytest.raises(InputError, match="expected model_sha256 of the agent as 64 hex digits, got 'abc'"):
        declare_agent("agents.test_habitat:Weighed")
    assert not declare_agent("habitat:agents.test_habitat:Seer").privileged
    assert declare_agent("expert").privileged_inputs == ("pose", "goal", "navmesh")
    helped = declare_agent("oracle-stop:agents.test_habitat:Seer")
    assert helped.privileged and helped.privileged_inputs == ("distance to the goal",)
