"""Corruptions of motion are found by odometry, and headings are brought back, whoever asks for them."""

import math

import numpy as np
import pytest

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.compensation import FEWEST, CompensatingAgent, estimate_model
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError, UnknownNameError
from navarena.tasks.batch import NavigationBatch
from tasks.small import SMALL_BODY

from .test_adaptation import TASK, calibration, goals, make_cache

STOP, FORWARD, LEFT, RIGHT = range(4)
TURN = math.radians(30)


def motions(step=0.25, drift=0.0, left=TURN, right=-TURN, count=FEWEST):
    rows = {"move_forward": (step, 0, drift), "turn_left": (0, 0, left), "turn_right": (0, 0, right)}
    return {name: np.array([row] * count, float) for name, row in rows.items()}


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "none"),
        ({"step": 0.35}, "bias"),
        ({"left": math.radians(25), "right": -math.radians(25)}, "bias"),
        ({"drift": -math.radians(10)}, "drift"),
        ({"left": 0.0}, "failure"),
        ({"right": 0.0, "drift": math.radians(10)}, "failure"),
        ({"step": 0.35, "count": FEWEST - 1}, "none"),
    ],
)
def test_kinds_by_hand(changes, kind):
    model = estimate_model(motions(**changes), SMALL_BODY)
    assert model.kind == kind
    if changes.get("count", FEWEST) == FEWEST:
        assert model.step == pytest.approx(changes.get("step", 0.25))
        assert model.left == pytest.approx(changes.get("left", TURN))
        assert model.drift == pytest.approx(changes.get("drift", 0.0))


def test_walks_that_drift_into_walls_are_a_drift():
    """Six of eight walks are cut short, so that their lengths vary as under noise; all turn alike."""
    seen = motions(drift=math.radians(10))
    seen["move_forward"][:6, 0] = (0.0, 0.0, 0.05, 0.1, 0.15, 0.2)
    assert estimate_model(seen, SMALL_BODY).kind == "drift"
    seen["move_forward"][:, 2] = np.radians([-20, -10, 0, 5, 10, 15, 30, 40])
    assert estimate_model(seen, SMALL_BODY).kind == "noise"


class Scripted(Agent):
    """Asks for the same actions again and again."""

    sensors = ("depth",)

    def __init__(self, script):
        self.script, self.asked = script, 0

    def reset(self, starts):
        self.asked = 0

    def act(self, observations, active):
        action = self.script[self.asked % len(self.script)]
        self.asked += 1
        return np.full(len(active), action)


@pytest.mark.parametrize(
    ("corruption", "kind"),
    [
        ("native_noise", "none"),
        ("motion_bias_constant", "bias"),
        ("motion_bias_stochastic", "noise"),
        ("motion_drift", "drift"),
        ("motor_failure", "failure"),
    ],
)
def test_corruptions_are_told_apart_by_odometry(corruption, kind):
    agent = CompensatingAgent(Scripted((FORWARD,)), TASK, 0)
    env = calibration(agent, (corruption,), steps=600)
    agent.adapt(env)
    assert env.is_over and agent.models["hall"].kind == kind, agent.models


def headings(corruption, script, steps, compensates=True):
    """Radians by which the heading differs from the one asked for, after each action of the other agent."""
    inner = Scripted(script)
    agent = CompensatingAgent(inner, TASK, 0) if compensates else inner
    if compensates:
        agent.adapt(calibration(agent, (corruption,), steps=600))
    episode = goals(1, "evaluation")[0]
    batch = NavigationBatch(TASK, 1, None, ("depth",), make_cache(), (corruption,))
    batch.start([0], [episode])
    agent.attach(batch)
    agent.reset([Start(0, episode.episode_id, episode.scene_id)])
    wanted, found, before = episode.start_yaw, [], 0
    for _ in range(steps):
        action = agent.act(batch.observations, np.ones(1, bool))
        if inner.asked > before:
            if before:
                found.append((float(batch.simulator.yaws[0]) - wanted + math.pi) % (2 * math.pi) - math.pi)
            wanted += {LEFT: TURN, RIGHT: -TURN}.get(script[before % len(script)], 0.0)
            before = inner.asked
        batch.step(action)
    return np.array(found)


def test_headings_stay_what_was_asked_for():
    for corruption, script in (
        ("motion_drift", (FORWARD,)),
        ("motor_failure", (FORWARD, LEFT, FORWARD, RIGHT, RIGHT)),
    ):
        kept = headings(corruption, script, 100)
        lost = headings(corruption, script, 20, compensates=False)
        assert np.abs(kept).max() < math.radians(16), corruption
        assert np.abs(lost).max() > math.radians(60), corruption


def test_without_calibration_and_without_corruption_nothing_changes():
    script = (FORWARD, LEFT, RIGHT)
    agent = CompensatingAgent(Scripted(script), TASK, 0)
    agent.reset([Start(0, "1", "hall")])
    assert [int(agent.act({}, np.ones(1, bool))[0]) for _ in range(6)] == [*script, *script]


def test_any_agent_is_named_behind_the_prefix():
    agent = load_agent("compensating:forward", TASK, 0)
    assert isinstance(agent, CompensatingAgent) and agent.calibration_sensors == ("depth", "odometry")
    assert not declare_agent("compensating:forward", TASK).privileged
    assert declare_agent("compensating:expert", TASK).privileged
    with pytest.raises(UnknownNameError, match="unknown agent"):
        load_agent("compensating:forwards", TASK, 0)


def test_a_heading_that_is_owed_ends_with_its_episode():
    """The body of the next episode stands elsewhere, also where the memory of the agent lasts."""
    for episode, first in (("2", FORWARD), ("1", RIGHT)):
        agent = CompensatingAgent(Scripted((FORWARD,)), TASK, 0)
        agent.models = {"hall": estimate_model(motions(drift=TURN), SMALL_BODY)}
        agent.reset([Start(0, "1", "hall", Boundary.SCENE)])
        assert agent.act({}, np.ones(1, bool)).tolist() == [FORWARD]
        agent.reset([Start(0, episode, "hall", Boundary.SUBTASK)])
        assert agent.act({}, np.ones(1, bool)).tolist() == [first], episode


class Asked(Scripted):
    """Notes what is done in the place of its actions."""

    def __init__(self, script):
        super().__init__(script)
        self.told = []

    def overrule(self, actions):
        self.told.append(actions.tolist())


def test_what_others_put_in_place_of_its_actions_counts():
    """A turn to the left makes 50 degrees of 30: one to the right takes back most of it."""
    inner = Asked((STOP,))
    agent = CompensatingAgent(inner, TASK, 0)
    agent.models = {"hall": estimate_model(motions(left=math.radians(50)), SMALL_BODY)}
    agent.reset([Start(0, "1", "hall", Boundary.SCENE), Start(1, "2", "hall", Boundary.SCENE)])
    both = np.ones(2, bool)
    assert agent.act({}, both).tolist() == [STOP, STOP]
    agent.overrule(np.array([LEFT, STOP]))
    assert agent.act({}, both).tolist() == [RIGHT, STOP]
    agent.overrule(np.array([RIGHT, FORWARD]))
    assert inner.told == [[LEFT, STOP], [LEFT, FORWARD]], "of the turn to the right it is not told"
    assert agent.act({}, both).tolist() == [STOP, STOP]


def test_a_calibration_serves_one_agent():
    agent = load_agent("compensating:frontier-adaptive", TASK, 0)
    with pytest.raises(InputError, match="does not adapt itself behind compensating:, got AdaptiveFrontier"):
        agent.adapt(calibration(agent))


def test_it_is_privileged_as_the_agent_behind_it():
    agent = load_agent("compensating:expert", TASK, 0)
    assert agent.privileged and agent.privileged_inputs == ("pose", "goal", "navmesh")
