"""The expert that searches: it explores until the goal is seen, and then takes the shortest path."""

import numpy as np
import pytest

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.frontier_expert import FrontierExpertAgent
from navarena.agents.loading import declare_agent, load_agent
from navarena.core.errors import InputError
from navarena.evaluation import EvaluationSettings, evaluate
from navarena.tasks.catalog import get_task

FORWARD, LEFT, RIGHT = 1, 2, 3


class ShortestPaths:
    """A teacher that always turns to the right."""

    def label(self, active):
        return np.full(len(active), RIGHT)


class Goals:
    """Goals of slots, one object each: of slot k the object k, and later another."""

    def __init__(self):
        self.later = 0

    def current_ids(self, slot):
        return {slot + self.later}


def make_agent():
    agent = FrontierExpertAgent(get_task("multion-3on-v1"))
    agent._teacher, agent._goals = ShortestPaths(), Goals()
    return agent


def act(agent, ways, seen=()):
    """The actions where frontiers lie `ways` (metres, degrees), and the slots `seen` see their goals."""
    goals = np.zeros((len(ways), 4, 4, 1), np.uint8)
    goals[list(seen), 1, 2] = 1
    directions = np.array([(metres, np.deg2rad(degrees)) for metres, degrees in ways], np.float32)
    shown = {"frontier_direction": directions, "goal_map": goals}
    return agent.act(shown, np.ones(len(ways), bool)).tolist()


def test_it_follows_frontiers():
    ways = ((2, 0), (2, 30), (2, -30), (2, -180), (0.2, 0), (0, 0))
    # beside a frontier it looks around; without any it takes the shortest path
    assert act(make_agent(), ways) == [FORWARD, LEFT, RIGHT, RIGHT, LEFT, RIGHT]


def test_it_remembers_that_the_current_goal_was_seen():
    agent = make_agent()
    assert act(agent, ((2, 0), (2, 0))) == [FORWARD, FORWARD]
    assert act(agent, ((2, 0), (2, 0)), seen=[1]) == [FORWARD, RIGHT]
    assert act(agent, ((2, 0), (2, 0))) == [FORWARD, RIGHT]
    agent._goals.later = 7
    assert act(agent, ((2, 0), (2, 0))) == [FORWARD, FORWARD]
    agent._goals.later = 0
    agent.reset([Start(1, "next", "hall", Boundary.SCENE, 0)])
    assert act(agent, ((2, 0), (2, 0))) == [FORWARD, FORWARD]


def test_it_finds_what_it_searches():
    settings = EvaluationSettings(
        "objectnav-habitat2020-v1", agent="frontier-expert", split="mini", episodes=4
    )
    scores = [row.metrics for row in evaluate(settings).rows]
    assert all(one["success"] == 1.0 for one in scores)
    # it does not know the way before it sees the goal
    assert 0.2 < np.mean([one["spl"] for one in scores]) < 0.95


def test_what_it_is_told():
    assert "instance images" in declare_agent("frontier-expert").privileged_inputs
    agent = load_agent("frontier-expert", get_task("objectnav-habitat2020-v1"))
    with pytest.raises(InputError, match="call attach first"):
        agent.act({}, np.ones(1, bool))
    with pytest.raises(InputError, match="whose goals are objects for frontier-expert, got pointnav-v1"):
        load_agent("frontier-expert", get_task("pointnav-v1"))
