"""Agents on navigation graphs: what they reach, remember and may not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_world import make_atlas, make_graph_episode
from navarena.agents import AGENTS, Agent, Boundary, Start, load_agent
from navarena.agents.agent import SingleAgent
from navarena.agents.graphs import first_step
from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.sequence import group_tours
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.identity import Identity
from navarena.evaluation.memory_groups import make_groups
from navarena.evaluation.records.results import summarize_tours
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.settings import EpisodeRules
from navarena.tasks import GraphBatch, get_task

ATLAS = make_atlas()
TASK = get_task("ir2r-v1")
NAMES = ("expert", "explorer", "forward", "path", "random", "stop")


def make_tours(count=3):
    return [
        make_graph_episode(f"{k}_{n}", path, str(k))
        for k in range(count)
        for n, path in enumerate(("abcd", "dchg", "gfabcde", "edc"))
    ]


EPISODES = make_tours()


class Setup:
    """Batches and agents on the small scan."""

    def __init__(self, agent, seed):
        self.agent, self.seed = agent, seed

    def make_batch(self, slots, sensors, threads):
        return GraphBatch(TASK, ATLAS, slots, sensors)

    def make_agent(self):
        return load_agent(self.agent, TASK, self.seed) if isinstance(self.agent, str) else self.agent()


def run(agent, episodes=EPISODES, slots=64, seed=0):
    """Episode id -> row, in the order in which they ended."""
    rows = {}

    class Rows:
        def append(self, row):
            rows[row.episode_id] = row

    identity = Identity("ir2r-v1", "small", "val", "0123456789abcdef")
    setup = Setup(agent, seed)
    benchmark = Benchmark(identity, tuple(episodes), TASK.actions, TASK.metrics, setup)
    loop = EpisodeLoop(benchmark, slots, EpisodeRules(seed), Rows(), lambda row: None)
    loop.run(iter(make_groups(episodes, set(), "tour")))
    return rows


def mean(rows, name):
    return np.mean([row.metric(name) for row in rows.values()])


def test_these_are_the_agents_on_graphs():
    assert tuple(name for name in AGENTS.names() if getattr(AGENTS.get(name), "on_graphs", True)) == NAMES


@pytest.fixture(params=NAMES)
def agent_name(request):
    return request.param


def test_walks_depend_on_nothing_but_the_episode(agent_name):
    """Neither on the slots, nor on the order of the tours, nor on what ran before."""
    together, alone = run(agent_name), run(agent_name, slots=1)
    tours = [one for tour in group_tours(EPISODES)[::-1] for one in tour]
    backwards = run(agent_name, tours, slots=2)
    assert list(alone) == [one.episode_id for one in EPISODES]
    assert together == alone == backwards


def test_every_episode_is_walked(agent_name):
    for row in run(agent_name).values():
        assert 1 <= row.steps <= 15 and row.status == "ok"


@pytest.mark.parametrize("name", ["path", "expert"])
def test_those_who_know_the_way(name):
    rows = run(name)
    assert mean(rows, "success") == 1 and mean(rows, "navigation_error") == 0
    tours = summarize_tours(list(rows.values()), TASK.tour_scoring).metrics
    if name == "path":
        assert mean(rows, "ndtw") == mean(rows, "spl") == tours["t_ndtw"].mean == tours["t_sr"].mean == 1
    else:
        assert mean(rows, "ndtw") < 1, "the described path of the third episode is no shortest way"


def test_those_who_do_not():
    assert mean(run("stop"), "length") == 0
    forward = run("forward")
    assert all(row.steps == 15 and 0 not in row.actions for row in forward.values())
    assert len({tuple(row.actions) for row in run("random").values()}) > 5
    assert run("random", seed=1) != run("random", seed=2)


def test_the_explorer_sees_everything_and_then_rests():
    first, *others = run("explorer", EPISODES[:4]).values()
    assert first.actions[-1] == 0 and first.steps > 8, "all eight places, then STOP"
    assert all(row.actions == [0] for row in others), "its map lasts for the tour"


def test_the_explorer_forgets_between_tours():
    rows = run("explorer", EPISODES[:8], slots=1)
    assert rows["1_0"].actions == rows["0_0"].actions and len(rows["0_0"].actions) > 8


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 9))
def test_the_explorers_first_step_is_towards_the_nearest(seed, count):
    """Against Floyd and Warshall on the known roads."""
    generator = np.random.default_rng(seed)
    visited = [0, *range(1, count // 2)]
    roads = {a: {} for a in visited}
    metres = np.full((count, count), np.inf)
    np.fill_diagonal(metres, 0)
    for a in visited:
        for b in range(count):
            if a != b and generator.random() < 0.5:
                length = float(generator.integers(1, 9))
                roads[a][b] = metres[a, b] = length
    direct = metres.copy()
    for k in visited:  # one may only pass through what is visited
        metres = np.minimum(metres, metres[:, [k]] + metres[[k]])
    open_ones = [b for b in range(count) if b not in visited and np.isfinite(metres[0, b])]
    step = first_step(roads, 0)
    if not open_ones:
        assert step is None
    else:
        nearest = min(metres[0, b] for b in open_ones)
        beyond = min(metres[step, b] for b in open_ones) if step in visited else 0.0
        assert direct[0, step] + beyond == nearest


def test_boundaries():
    heard = []

    class Listener(Agent):
        sensors = ("phase", "tour_position")

        def attach(self, batch):
            assert batch.slots == 1

        def reset(self, starts):
            heard.extend((start.slot, start.episode_id, start.boundary, start.seed) for start in starts)

        def act(self, observations, active):
            assert set(observations) == set(self.sensors)
            return np.zeros(len(active), np.int64)

    run(Listener, EPISODES[:8], slots=1, seed=4)
    assert heard[:2] == [(0, "0_0", Boundary.SCENE, 4), (0, "0_1", Boundary.EPISODE, 4)]
    assert heard[4] == (0, "1_0", Boundary.SCENE, 4) and len(heard) == 8
    assert Start(0, "x", "y").boundary == Boundary.EPISODE


class Single(SingleAgent):
    """Stops at once."""

    sensors = ("instruction",)

    def reset(self):
        self.begun = True

    def act(self, observations):
        assert isinstance(observations["instruction"], str)
        return 0


def test_agents_of_others_run_too():
    rows = run(f"{__name__}:Single")
    assert len(rows) == 12 and all(row.actions == [0] for row in rows.values())


def test_a_broken_package_does_not_hide_why_an_agent_does_not_fit(monkeypatch):
    broken = {"broken": ("surely_not_installed:Agent",)}
    monkeypatch.setattr("navarena.core.registry._read_entry_points", lambda group, path: broken)
    with pytest.raises(InputError, match="an agent for navigation graphs .* got 'frontier'; choose of"):
        load_agent("frontier", TASK)


def test_unknown_agents_and_early_calls():
    with pytest.raises(UnknownNameError, match="Did you mean 'explorer'"):
        load_agent("explorr", TASK)
    with pytest.raises(InputError, match="act before attach"):
        load_agent("expert", TASK).act({}, np.ones(1, bool))
    with pytest.raises(InputError, match="choose of expert, explorer, forward, path, random, stop"):
        load_agent("frontier", TASK)
    with pytest.raises(InputError, match="an agent for bodies in scenes on pointnav-v1, got 'explorer'"):
        load_agent("explorer", get_task("pointnav-v1"))
