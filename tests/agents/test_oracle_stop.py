"""An oracle that declares in another agent's place."""

import numpy as np
import pytest

from agents.test_habitat import run
from navarena.agents import Agent, Start, load_agent
from navarena.agents.compensation import CompensatingAgent
from navarena.agents.forwarding import ForwardingAgent
from navarena.agents.oracles import OracleStopAgent
from navarena.core.errors import InputError
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.protocols.multi_on import MultiOn2
from tasks.small import AHEAD, LEFT, SMALL_BODY, SmallPointNav, as_objects, make_cache

STOP, FORWARD, LEFT_TURN = 0, 1, 2


class Quitter:
    """Wants to stop at once, again and again."""

    def reset(self):
        pass

    def act(self, observations):
        return "STOP"


class Walker:
    """Walks straight on and never stops."""

    def reset(self):
        pass

    def act(self, observations):
        return "MOVE_FORWARD"


def test_it_stops_where_the_agent_would_walk_on():
    _, batch = run("oracle-stop:agents.test_oracle_stop:Walker", [AHEAD, LEFT])
    ahead, left = batch.trajectory(0), batch.trajectory(1)
    assert ahead.succeeded and ahead.actions.tolist() == [FORWARD] * 4 + [STOP]
    assert not left.stopped and len(left.actions) == 60


def test_it_turns_where_the_agent_would_stop():
    _, batch = run("oracle-stop:agents.test_oracle_stop:Quitter", [AHEAD])
    assert batch.trajectory(0).actions.tolist() == [LEFT_TURN] * 60


class ShortMultiOn(MultiOn2):
    embodiment = SMALL_BODY


def test_it_declares_every_goal():
    task = ShortMultiOn()
    episode = as_objects(AHEAD, (5.0, 0.0, 1.0))
    agent = load_agent("oracle-stop:forward", task)
    batch = NavigationBatch(task, 1, sensors=agent.sensors, worlds=make_cache())
    agent.attach(batch)
    batch.start([0], [episode])
    agent.reset([Start(0, "ahead", "hall")])
    while batch.running.any():
        batch.step(agent.act(batch.observations, batch.running))
    track = batch.trajectory(0)
    assert track.succeeded
    # the first is 1 m ahead, within 1.5 m from the start; the second 4 m ahead, at 1.5 m after 2.5 m
    assert track.actions.tolist() == [STOP, *[FORWARD] * 10, STOP]


def test_it_composes_and_must_be_attached():
    twice = load_agent("oracle-stop:oracle-stop:random", SmallPointNav())
    assert isinstance(twice, Agent) and twice.privileged
    assert load_agent("oracle-stop:expert", SmallPointNav()).privileged_inputs == (
        *("pose", "goal", "navmesh"),
        "distance to the goal",
    )
    with pytest.raises(InputError, match="before attach"):
        twice.act({}, np.ones(1, bool))


class Told(Agent):
    """Asks for a script of actions, one for each slot in turn, and notes which others are executed."""

    def __init__(self, script):
        self.script, self.told = list(script), []

    def reset(self, starts):
        pass

    def act(self, observations, active):
        return np.array(self.script.pop(0))

    def overrule(self, actions):
        self.told.append(actions.tolist())


def test_the_other_agent_is_told_what_is_done_in_place_of_its_actions():
    """A body that turns where its agent believes to have stopped is lost to poses from odometry."""
    task = SmallPointNav()
    inner = Told([(STOP, FORWARD), (FORWARD, FORWARD), (FORWARD, STOP)])
    agent = OracleStopAgent(inner, task)
    batch = NavigationBatch(task, 2, sensors=("depth",), worlds=make_cache())
    agent.attach(batch)
    batch.start([0, 1], [AHEAD, LEFT])
    both = np.ones(2, bool)
    assert agent.act({}, both).tolist() == [LEFT_TURN, FORWARD]
    assert agent.act({}, both).tolist() == [FORWARD, FORWARD]
    assert agent.act({}, np.array([True, False]))[0] == FORWARD
    assert inner.told == [[LEFT_TURN, FORWARD]], "not of its own actions, nor of slots that are idle"


class Wrapper(ForwardingAgent):
    """Changes nothing."""

    def act(self, observations, active):
        return self._inner.act(observations, active)


class Recorder(Agent):
    """Notes what it is told."""

    sensors, calibration_sensors = ("gps",), ("depth",)

    def __init__(self):
        self.told = []

    def attach(self, batch):
        self.told.append(("attach", batch))

    def adapt(self, env):
        self.told.append(("adapt", env))

    def reset(self, starts):
        self.told.append(("reset", starts))

    def act(self, observations, active):
        return np.zeros(len(active), np.int64)

    def forgo_declaration(self):
        self.told.append(("forgo",))

    def episode_costs(self, slot):
        return {"tokens": slot}

    def overrule(self, actions):
        self.told.append(("overrule", actions))


def test_agents_around_others_hand_everything_on():
    """So that oracle-stop:compensating:checkpoint:DIR masks STOP in the policy's distribution, too."""
    inner = Recorder()
    outer = Wrapper(inner)
    assert (outer.sensors, outer.calibration_sensors) == (("gps",), ("depth",))
    env, starts, actions = object.__new__(CalibrationEnv), [], np.ones(2, np.int64)
    outer.attach("batch"), outer.adapt(env), outer.reset(starts), outer.overrule(actions)
    assert outer.episode_costs(3) == {"tokens": 3}
    assert inner.told == [("attach", "batch"), ("adapt", env), ("reset", starts), ("overrule", actions)]
    task = SmallPointNav()
    OracleStopAgent(CompensatingAgent(inner, task, 0), task)
    assert inner.told[-1] == ("forgo",)
