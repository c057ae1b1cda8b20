"""Agents on navigation graphs: what they reach, remember and may not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from navarena.agents.graph_explorer import first_step

from graph_world import make_atlas
from navarena.agents import Boundary, GraphAgent, Start, load_agent
from navarena.agents.agent import SingleAgent
from navarena.agents.catalog import GRAPH_AGENTS
from navarena.core.errors import InputError, UnknownNameError
from navarena.episodes.graph_episodes import GraphEpisode, Tour
from navarena.evaluation import GraphTours, mean_scores, run_tours, score_episodes, score_tours
from navarena.tasks import get_graph_task

ATLAS = make_atlas()
TASK = get_graph_task("ir2r-v1")


def episode(episode_id, path):
    return GraphEpisode(episode_id, "scan1", tuple(path), 0.0, f"Do {episode_id}.")


def make_tours(count=3):
    return [
        Tour(
            str(k),
            "scan1",
            tuple(episode(f"{k}_{n}", path) for n, path in enumerate(("abcd", "dchg", "gfabcde", "edc"))),
        )
        for k in range(count)
    ]


TOURS = make_tours()
EPISODES = {e.episode_id: e for tour in TOURS for e in tour.episodes}


def run(name, tours=TOURS, slots=64, seed=0):
    return run_tours(load_agent(name, TASK, seed), GraphTours(TASK, ATLAS, tours), slots, seed)


def scores_of(walks):
    return score_episodes({k: w.nodes for k, w in walks.items()}, EPISODES, ATLAS, "path")


@pytest.fixture(params=GRAPH_AGENTS.names())
def agent_name(request):
    return request.param


def test_walks_depend_on_nothing_but_the_episode(agent_name):
    """Neither on the slots, nor on the order of the tours, nor on what ran before."""
    together, alone = run(agent_name), run(agent_name, slots=1)
    backwards = run(agent_name, TOURS[::-1], slots=2)
    assert list(together) == list(EPISODES) and set(backwards) == set(together)
    for name, walk in together.items():
        for other in (alone[name], backwards[name]):
            assert np.array_equal(walk.nodes, other.nodes) and walk.stopped == other.stopped


def test_every_episode_is_walked(agent_name):
    for name, walk in run(agent_name).items():
        assert 1 <= len(walk.nodes) <= 16 and ATLAS.viewpoint(int(walk.nodes[0])) == EPISODES[name].path[0]


@pytest.mark.parametrize("name", ["path", "expert"])
def test_those_who_know_the_way(name):
    scored = scores_of(run(name))
    means = mean_scores(scored)
    assert means["success"] == 1 and means["navigation_error"] == 0
    tours = score_tours(TOURS, scored)
    if name == "path":
        assert means["ndtw"] == means["spl"] == tours.t_ndtw == tours.t_sr == 1
    else:
        assert means["ndtw"] < 1, "the described path of the third episode is no shortest path"


def test_those_who_do_not():
    assert mean_scores(scores_of(run("stop")))["length"] == 0
    forward = run("forward")
    assert all(len(walk.nodes) == 16 and not walk.stopped for walk in forward.values())
    assert len({tuple(walk.nodes) for walk in run("random").values()}) > 5
    assert not all(
        np.array_equal(a.nodes, b.nodes)
        for a, b in zip(run("random", seed=1).values(), run("random", seed=2).values())
    )


def test_the_explorer_sees_everything_and_then_rests():
    walks = list(run("explorer", TOURS[:1]).values())
    assert len(set(walks[0].nodes.tolist())) == 8 and walks[0].stopped
    assert all(len(walk.nodes) == 1 for walk in walks[1:]), "its map lasts for the tour"


def test_the_explorer_forgets_between_tours():
    walks = run("explorer", TOURS[:2], slots=1)
    assert len(walks["1_0"].nodes) == len(walks["0_0"].nodes) > 8


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

    class Listener(GraphAgent):
        sensors = ("phase", "tour_position")

        def reset(self, starts):
            heard.extend((start.slot, start.episode_id, start.boundary) for start in starts)

        def act(self, observations, active):
            assert set(observations) == set(self.sensors) and self.graphs.slots == 1
            return np.zeros(len(active), np.int64)

    run_tours(Listener(), GraphTours(TASK, ATLAS, TOURS[:2]), slots=1, seed=4)
    assert heard[:2] == [(0, "0_0", Boundary.SCENE), (0, "0_1", Boundary.EPISODE)]
    assert heard[4] == (0, "1_0", Boundary.TOUR) and len(heard) == 8
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
    walks = run(f"{__name__}:Single")
    assert all(walk.stopped and len(walk.nodes) == 1 for walk in walks.values())


def test_unknown_agents_and_early_calls():
    with pytest.raises(UnknownNameError, match="Did you mean 'explorer'"):
        load_agent("explorr", TASK)
    with pytest.raises(InputError, match="attach_graphs"):
        load_agent("expert", TASK).graphs  # noqa: B018
    with pytest.raises(InputError, match="'0_0' twice"):
        run("stop", [TOURS[0], TOURS[0]])
