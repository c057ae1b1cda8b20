"""Dynamic time warping and t-nDTW: hand-made tables, the whole constrained table, both readings."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.metrics.alignment import dtw, dtw_alignment, euclidean_costs
from navarena.metrics.tours import (
    constrain_costs,
    mean_over_tours,
    tour_alignment,
    tour_coverage,
    tour_dtw,
    tour_ndtw,
    tour_success,
    tour_weights,
)

line = lambda *xs: np.array([(x, 0.0, 0.0) for x in xs], float)  # noqa: E731


def on_line(walked, reference):
    return euclidean_costs(line(*walked), line(*reference))


def slow_dtw(allowed, costs):
    """Least cost over all chains of cells, by plain recursion over a table of what is allowed."""
    rows, columns = costs.shape
    best = np.full((rows, columns), np.inf)
    for i, j in itertools.product(range(rows), range(columns)):
        if not allowed[i, j]:
            continue
        before = [best[a, b] for a, b in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if a >= 0 and b >= 0]
        best[i, j] = costs[i, j] + (min(before) if before else 0.0)
    return best[-1, -1]


def whole_tour(costs, reading):
    """DTW of the concatenated paths as one table, with the windows that paper and code describe."""
    rows = np.repeat(np.arange(len(costs)), [table.shape[0] for table in costs])
    columns = np.repeat(np.arange(len(costs)), [table.shape[1] for table in costs])
    table = np.zeros((len(rows), len(columns)))
    allowed = np.ones(table.shape, bool)
    for k, own in enumerate(costs):
        table[np.ix_(rows == k, columns == k)] = own
    if reading == "paper":
        allowed = rows[:, None] == columns
    else:
        for k in range(len(costs) - 1):
            last_row, first_row = np.flatnonzero(rows == k)[-1], np.flatnonzero(rows == k + 1)[0]
            last, first = np.flatnonzero(columns == k)[-1], np.flatnonzero(columns == k + 1)[0]
            allowed[np.arange(len(rows)) != last_row, last] = False
            allowed[np.arange(len(rows)) != first_row, first] = False
    return slow_dtw(allowed, table)


@pytest.mark.parametrize(
    ("walked", "reference", "expected"),
    [
        ((0,), (0,), 0.0),
        ((0,), (3,), 3.0),
        ((0,), (0, 1, 2), 0 + 1 + 2),  # stays: every point is matched by the start
        ((0, 1, 2), (0,), 0 + 1 + 2),
        ((0, 1, 2), (0, 1, 2), 0.0),
        ((0, 2), (0, 1, 2), 1.0),  # the middle one is matched once
        ((0, 1, 0, 1, 2), (0, 1, 2), 1.0),  # one step back costs one metre
        ((5, 6), (0, 1), 5 + 5),
    ],
)
def test_dtw_by_hand(walked, reference, expected):
    costs = on_line(walked, reference)
    assert dtw(costs) == expected
    cells = dtw_alignment(costs)
    assert costs[cells[:, 0], cells[:, 1]].sum() == expected
    assert cells[0].tolist() == [0, 0] and cells[-1].tolist() == [len(walked) - 1, len(reference) - 1]


tables = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000)).map(
    lambda s: np.random.default_rng(s[2]).integers(0, 9, s[:2]).astype(float)
)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_dtw_is_the_least_of_all_alignments(costs):
    expected = slow_dtw(np.ones(costs.shape, bool), costs)
    assert dtw(costs) == expected
    cells = dtw_alignment(costs)
    assert costs[cells[:, 0], cells[:, 1]].sum() == expected
    steps = np.diff(cells, axis=0)
    assert ((steps >= 0) & (steps <= 1)).all() and (steps.sum(1) >= 1).all()


@settings(max_examples=80, deadline=None)
@given(st.lists(tables, min_size=1, max_size=4))
def test_a_tour_is_the_sum_of_its_episodes(costs):
    """The heart of t-nDTW: the whole constrained table gives the same cost, in both readings."""
    assert tour_dtw(costs, "paper") == whole_tour(costs, "paper")
    expected = whole_tour(costs, "code")
    if np.isfinite(expected):
        assert tour_dtw(costs, "code") == expected
        assert expected >= tour_dtw(costs, "paper")
        cells = tour_alignment(costs, "code")
        assert sum(table[c[:, 0], c[:, 1]].sum() for table, c in zip(costs, cells, strict=True)) == expected
    else:
        with pytest.raises(InputError, match="got none"):
            tour_dtw(costs, "code")


def test_the_windows_of_the_code_by_hand():
    inf = np.inf
    free = np.ones((3, 2))
    assert constrain_costs(free, True, True).tolist() == free.tolist()
    assert constrain_costs(free, True, False).tolist() == [[1, inf], [1, inf], [1, 1]]
    assert constrain_costs(free, False, True).tolist() == [[1, 1], [inf, 1], [inf, 1]]


@pytest.mark.parametrize("walked", [(0, 1, 2), (0,), (0, 1)], ids=["perfect", "stationary", "early stop"])
def test_readings_agree_on_simple_agents(walked):
    costs = [on_line(walked, (0, 1, 2))] * 3
    assert tour_dtw(costs, "code") == tour_dtw(costs, "paper")


def test_the_code_punishes_oscillation_at_the_goal():
    """0 1 2 1 2 on 0 1 2: the paper matches the goal twice; between episodes the code cannot."""
    costs = [on_line((0, 1, 2, 1, 2), (0, 1, 2))] * 2
    assert tour_dtw(costs, "paper") == 2.0
    # First episode: the goal only by the last point, so the 2 before it is matched with 1: cost 1, then
    # 1 with 1, 2 with 2: in all 1. Second: its start only by its first point: 0, (1 2 1) and the goal free.
    assert tour_dtw(costs, "code") == whole_tour(costs, "code")
    assert tour_ndtw(costs, "paper") == pytest.approx(np.exp(-2.0 / (3.0 * 6)))


@pytest.mark.parametrize(("points", "steps"), [(1, 2), (1, 3), (2, 3), (2, 5)])
def test_infeasible_inner_episodes_say_so(points, steps):
    whole = on_line((0, 1, 2), (0, 1, 2))
    inner = np.ones((steps, points))
    assert np.isfinite(tour_dtw([whole, inner, whole], "paper"))
    with pytest.raises(InputError, match=f"episode 1 .*for {steps} walked and {points} reference"):
        tour_dtw([whole, inner, whole], "code")
    if points > 1:
        assert np.isfinite(tour_dtw([inner, whole], "code"))
    assert np.isfinite(tour_dtw([inner], "code")), "a tour of one is free at both ends"


def test_unreachable_points_score_zero():
    costs = np.full((2, 2), np.inf)
    assert dtw(costs) == np.inf and tour_ndtw([costs], "paper") == 0.0 == tour_ndtw([costs], "code")
    with pytest.raises(InputError, match="finite"):
        dtw_alignment(costs)


@pytest.mark.parametrize("costs", [np.zeros((0, 2)), np.full((1, 1), np.nan), np.full((1, 1), -1.0)])
def test_bad_tables_are_refused(costs):
    with pytest.raises(InputError, match="expected distances"):
        dtw(costs)
    with pytest.raises(InputError, match="at least one episode"):
        tour_dtw([])


def test_reference_points_can_count_turns():
    costs = [on_line((0, 1), (0, 1, 2))]
    assert tour_ndtw(costs, reference_points=30) == pytest.approx(np.exp(-1 / 90))


def test_weights_by_hand():
    assert tour_weights([1, 3]).tolist() == [1, 3] and tour_weights([1, 3], "changes").tolist() == [0, 2]
    assert mean_over_tours([1.0, 0.0], [1, 3]) == 0.25
    assert mean_over_tours([1.0, 0.0], [3, 5], "changes") == pytest.approx(1 / 3)
    assert mean_over_tours([1.0] * 3, [7, 11, 13]) == 1.0
    with pytest.raises(InputError, match="changes"):
        tour_weights([1, 1], "changes")
    with pytest.raises(InputError, match="0 tours"):
        tour_weights([])


def test_tour_success_by_hand():
    """Weights max(L_R, L_P) / L_R: 1 for the first, 3 for the second, which walked three times as far."""
    values = [np.array(v, float) for v in ([1, 0], [1, 0], [5, 30], [10, 10])]
    whole = tour_success(*values)
    assert whole.success == whole.spl == 0.25
    assert tour_success(np.ones(1), np.ones(1), np.zeros(1), np.zeros(1)).success == 1.0


def test_exploring_in_the_first_episode_pays_in_the_mean_but_not_in_the_tour():
    """An agent that walks everywhere first, and then perfectly, in a tour of 20 episodes."""
    reference = (0, 2, 4, 6)
    everywhere = tuple(range(0, 120, 2)) + tuple(range(118, -2, -2))
    perfect = on_line(reference, reference)
    costs = [on_line(everywhere, reference)] + [perfect] * 19
    episodic = np.mean([np.exp(-dtw(table) / (3 * table.shape[1])) for table in costs])
    assert episodic == pytest.approx(0.95, abs=1e-6), "one episode of twenty is lost"
    for reading in ("code", "paper"):
        assert tour_ndtw(costs, reading) < 0.01


@pytest.mark.parametrize(("episodes", "points", "limit"), [(2349, 7, 1.0), (1800, 100, 20.0)])
def test_speed(episodes, points, limit):
    table = np.random.default_rng(0).random((points, points))
    tour_ndtw([table])
    begin = time.thread_time()
    tour_ndtw([table] * episodes)
    assert time.thread_time() - begin < limit


def cells(text):
    return np.array([letter == "x" for letter in text])


def test_coverage_by_hand():
    """Paths show cells 0-2, 1-2 and 2-3 of five; cell 4 is seen, but belongs to no path."""
    shown = [cells("xxx.."), cells(".xx.."), cells("..xx.")]
    seen = [cells("....."), cells("xx..x"), cells("xxx.x")]
    coverage = tour_coverage(shown, seen)
    assert coverage.next_path.tolist() == [0, 1 / 2, 1 / 2]
    assert coverage.whole_tour.tolist() == [0, 2 / 4, 3 / 4]


@pytest.mark.parametrize(
    ("shown", "seen", "got"),
    [([], [], "0 and 0"), (["x"], [], "0 and 1"), (["."], ["x"], "nothing in episode 0")],
)
def test_coverage_of_nothing_is_refused(shown, seen, got):
    with pytest.raises(InputError, match=got):
        tour_coverage([cells(one) for one in shown], [cells(one) for one in seen])
