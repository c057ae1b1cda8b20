"""HAMT's reward: rows by hand, and along a walk of a small scan."""

import numpy as np
import pytest

from graph_world import make_atlas, make_graph_episode
from navarena.tasks import GraphBatch, get_task
from navarena.tasks.graphs.fidelity import FidelityReward, fidelity_reward

ATLAS = make_atlas()


@pytest.mark.parametrize(
    ("before", "after", "before_ndtw", "after_ndtw", "stopped", "expected"),
    [
        (6.0, 4.0, 0.2, 0.5, False, 1.3),
        (4.0, 6.0, 0.5, 0.4, False, -1.1),
        (4.0, 4.0, 0.5, 0.4, False, -0.1),  # a neighbour that is not there
        (0.75, 2.0, 0.9, 0.7, False, -1.2 - 2 * 0.25),
        (1.0, 2.0, 0.9, 0.7, False, -1.2),
        (0.75, 0.0, 0.9, 1.0, False, 1.1),  # nearer: nothing was missed
        (2.9, 2.9, 0.6, 0.6, True, 2.0 + 1.2),
        (3.0, 3.0, 0.6, 0.6, True, -2.0),
    ],
)
def test_rewards_by_hand(before, after, before_ndtw, after_ndtw, stopped, expected):
    row = (np.array([value]) for value in (before, after, before_ndtw, after_ndtw, stopped))
    assert fidelity_reward(*row).tolist() == [pytest.approx(expected)]


def test_rewards_along_a_walk():
    batch = GraphBatch(get_task("r2r-v1"), ATLAS, 2, ("phase",))
    batch.start([0, 1], [make_graph_episode("e", "abcd"), make_graph_episode("f", "gfa")])
    reward, found = FidelityReward(batch), []
    # slot 0: a to b, back to a, and to b again; slot 1: g to h, and on to c
    for targets in ("bh", "ac", "bh"):
        nodes = ATLAS.nodes("scan1", list(targets))
        places = ATLAS.candidates.places[batch.state.node]
        reward.begin()
        found.append(reward.compute(batch.step(1 + (places == nodes[:, None]).argmax(1))))
    # costs of the alignments of a, ab, aba, abab with abcd; 3 m times 4 places
    costs = np.array([12.0, 6.0, 8.0, 2.0 + 2.0 + 2.0 + 4.0])
    ndtw = np.exp(-costs / 12)
    assert found[0][0] == pytest.approx(1 + ndtw[1] - ndtw[0])
    assert found[1][0] == pytest.approx(-1 + ndtw[2] - ndtw[1])
    assert 0 < found[2][0] < 2
    # of g and gh with gfa: f is 2 m from g, a 5 m from g and 7 m from h
    first, second = (np.exp(-cost / 9) for cost in (2.0 + 5.0, 2.0 + 7.0))
    assert found[0][1] == pytest.approx(-1 + second - first)


def test_a_stop_is_rewarded_where_it_is_right():
    batch = GraphBatch(get_task("r2r-v1"), ATLAS, 2, ("phase",))
    batch.start([0, 1], [make_graph_episode("e", "ab"), make_graph_episode("f", "abc")])
    reward = FidelityReward(batch)
    reward.begin()
    found = reward.compute(batch.step(np.array([0, 0])))
    assert found.tolist() == [pytest.approx(2 + 2 * np.exp(-2 / 6)), -2.0]
