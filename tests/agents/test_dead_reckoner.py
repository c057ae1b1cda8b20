"""Calibration: observations only, a fixed number of steps; an agent that learns its own motions."""

import math

import numpy as np
import pytest

from navarena.agents.agent import Agent, Start
from navarena.agents.dead_reckoner import DeadReckonerAgent, add_motion
from navarena.core.errors import ActionError, InputError
from navarena.core.seeding import make_generator
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.calibration_env import SUPERVISION, CalibrationEnv
from navarena.tasks.point_nav_habitat2020 import PointNavHabitat2020, PointNavHabitat2020Options
from tasks.small import SMALL_BODY, make_episode
from worlds import draw_world

BIAS = ("motion_bias_constant",)

WALLED = ["#" * 12, *["#" + "." * 10 + "#"] * 10, "#" * 12]
"""A hall of 10 by 10 metres between walls."""


def make_cache():
    cache = WorldCache(SMALL_BODY)
    cache.add(draw_world(WALLED, scene_id="hall"))
    return cache


class SmallTask(PointNavHabitat2020):
    """The clean protocol with pictures of 32 x 24 pixels."""

    embodiment = SMALL_BODY

    def __init__(self):
        super().__init__(PointNavHabitat2020Options(False, False, False))


def goals(count, name):
    """Goals 3 to 4 m away in the hall, in all directions."""
    generator = make_generator("goals", name)
    episodes = []
    for k in range(count):
        angle, far = generator.uniform(-math.pi, math.pi), generator.uniform(3.0, 3.9)
        goal = (6.0 + far * math.cos(angle), 0.0, 6.0 + far * math.sin(angle))
        yaw = generator.uniform(-math.pi, math.pi)
        episodes.append(make_episode(f"{name} {k}", (6.0, 0.0, 6.0), goal, yaw=yaw, distance=far))
    return episodes


def calibration(agent, corruptions=BIAS, steps=400, slots=4):
    batch = NavigationBatch(
        SmallTask(), slots, None, agent.calibration_sensors or agent.sensors, make_cache(), corruptions
    )
    return CalibrationEnv(batch, goals(6, "calibration"), steps)


def success(agent, corruptions=BIAS, count=24):
    """Share of the goals at which the agent stops."""
    episodes = goals(count, "evaluation")
    batch = NavigationBatch(SmallTask(), count, None, agent.sensors, make_cache(), corruptions)
    batch.start(range(count), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id) for k, one in enumerate(episodes)])
    active = batch.running
    while active.any():
        batch.step(agent.act(batch.observations, active), active)
        active = batch.running
    return np.mean([batch.trajectory(k).succeeded for k in range(count)])


def test_adapting_recovers_what_a_constant_bias_costs():
    clean, biased = success(DeadReckonerAgent(SmallTask()), ()), success(DeadReckonerAgent(SmallTask()))
    agent = DeadReckonerAgent(SmallTask())
    agent.adapt(calibration(agent))
    adapted = success(agent)
    assert clean > 0.9 and biased < 0.4
    assert adapted > biased + 0.5 * (clean - biased)


def test_it_learns_exactly_what_its_actions_do():
    agent = DeadReckonerAgent(SmallTask())
    agent.adapt(calibration(agent))
    batch = NavigationBatch(SmallTask(), 1, None, ("odometry",), make_cache(), BIAS)
    batch.start([0], goals(1, "one"))
    for action in (1, 2, 3):
        batch.step(np.array([action]))
        assert np.allclose(agent._learned["hall"][action], batch.observations["odometry"][0], atol=1e-6)


def test_motions_add_up():
    pose = add_motion(np.array([1.0, 2.0, math.pi / 2]), np.array([0.5, 0.25, -0.1]))
    assert np.allclose(pose, [1.25, 1.5, math.pi / 2 - 0.1]), "facing left, ahead is to the left"


class Counter(Agent):
    """Counts its steps, and where episodes began."""

    sensors = ("gps",)

    def __init__(self):
        self.steps = self.begun = 0

    def adapt(self, env):
        while not env.is_over:
            assert set(env.observations) == {"gps"}
            self.begun += int(env.step(np.full(env.slots, 1)).sum())
            self.steps += env.slots

    def reset(self, starts):
        pass

    def act(self, observations, active):
        return np.zeros(len(active), np.int64)


def test_an_agent_that_only_counts_uses_its_budget():
    agent = Counter()
    env = calibration(agent, (), steps=4 * 501 + 3)
    agent.adapt(env)
    assert agent.steps == 4 * 501 and env.steps_left == 3
    assert agent.begun == 4, "every environment reached its step limit once"
    with pytest.raises(ActionError, match="with 3 left"):
        env.step(np.ones(4, np.int64))


@pytest.mark.parametrize("name", sorted(SUPERVISION))
def test_supervision_is_refused(name):
    env = calibration(Counter())
    with pytest.raises(InputError, match=f"observations alone, got a look at '{name}'"):
        getattr(env, name)


def test_what_is_told():
    env = calibration(Counter())
    assert env.actions == SmallTask.actions and set(env.specs) == {"gps"} and env.slots == 4
    assert env.scene_ids == ("hall",) * 4
    assert not hasattr(env, "anything_else")
    assert env.step(np.array([0, 1, 1, 1])).tolist() == [True, False, False, False], "a declaration ends it"


def test_agents_that_cannot_adapt_say_so():
    class Fixed(Counter):
        adapt = Agent.adapt

    with pytest.raises(InputError, match="expected an agent that adapts, got Fixed"):
        Fixed().adapt(calibration(Counter()))
    with pytest.raises(InputError, match="episodes and steps to adapt in, got 6 episodes and 0 steps"):
        calibration(Counter(), steps=0)
