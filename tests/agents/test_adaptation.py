"""Adapting: observations only, a fixed number of steps; what an agent learns of its own motions helps it."""

import math

import numpy as np
import pytest

from navarena.agents.agent import Agent, Start
from navarena.agents.explorers.adaptive import AdaptiveFrontierAgent, is_free_ahead, learn_motions, read_steps
from navarena.core.errors import ActionError, InputError
from navarena.core.seeding import make_generator
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.calibration_env import SUPERVISION, CalibrationEnv
from tasks.small import SMALL_BODY, SmallPointNav, make_episode
from worlds import draw_world

BIAS = ("motion_bias_constant",)


class LongPointNav(SmallPointNav):
    def __init__(self):
        super().__init__()
        self.max_steps = 150


TASK = LongPointNav()

WALLED = ["#" * 12, *["#" + "." * 10 + "#"] * 10, "#" * 12]
"""A hall of 10 by 10 metres between walls."""


def make_cache():
    cache = WorldCache(SMALL_BODY)
    cache.add(draw_world(WALLED, scene_id="hall"))
    return cache


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
    sensors = agent.calibration_sensors or agent.sensors
    batch = NavigationBatch(TASK, slots, None, sensors, make_cache(), corruptions)
    return CalibrationEnv(batch, goals(6, "calibration"), steps)


def run(agent, corruptions=BIAS, count=12):
    """Share of the goals at which the agent stops."""
    episodes = goals(count, "evaluation")
    batch = NavigationBatch(TASK, count, None, agent.sensors, make_cache(), corruptions)
    agent.attach(batch)
    batch.start(range(count), episodes)
    agent.reset([Start(k, one.episode_id, one.scene_id) for k, one in enumerate(episodes)])
    active = batch.running
    while active.any():
        batch.step(agent.act(batch.observations, active), active)
        active = batch.running
    return np.mean([batch.trajectory(k).succeeded for k in range(count)])


def test_adapting_recovers_part_of_what_a_constant_bias_costs():
    clean, biased = run(AdaptiveFrontierAgent(TASK), ()), run(AdaptiveFrontierAgent(TASK))
    agent = AdaptiveFrontierAgent(TASK)
    agent.adapt(calibration(agent))
    adapted = run(agent)
    assert biased < clean
    assert adapted > biased + 0.4 * (clean - biased)


def test_motions_are_learned_exactly():
    agent = AdaptiveFrontierAgent(TASK)
    learned = learn_motions(calibration(agent), TASK, make_generator("learn"))["hall"]
    batch = NavigationBatch(TASK, 1, None, ("odometry",), make_cache(), BIAS)
    batch.start([0], goals(1, "one"))
    for name in ("move_forward", "turn_left", "turn_right"):
        batch.step(np.array([TASK.actions.index(name)]))
        assert np.allclose(learned[name], batch.observations["odometry"][0], atol=1e-6)
    step, turn = read_steps(SMALL_BODY, learned)
    assert step == pytest.approx(learned["move_forward"][0]) and step != 0.25
    assert turn == pytest.approx(learned["turn_left"][2])
    assert read_steps(SMALL_BODY, {}) == (0.25, math.radians(30))


def test_the_way_ahead_is_free_where_depth_says_so():
    depth = np.full((3, 24, 32, 1), (2.0 - 0.5) / 4.5, np.float32)
    depth[1, 10:14, 14:18] = (0.8 - 0.5) / 4.5
    depth[2, 11, 15] = 0.0  # a hole
    assert is_free_ahead(depth, TASK).tolist() == [True, False, True]


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
    env = calibration(agent, (), steps=4 * 151 + 3)
    agent.adapt(env)
    assert agent.steps == 4 * 151 and env.steps_left == 3
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
    assert env.actions == TASK.actions and set(env.specs) == {"gps"} and env.slots == 4
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
