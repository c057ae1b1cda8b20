"""Ranks on hand-made scores: their numbers, order, ties, sections, tracks, history."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation.benchmark import Benchmark, TaskSetup
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import Row, TourRecord
from navarena.evaluation.records.results import summarize
from navarena.metrics.catalog import get_metric
from navarena.metrics.paired import compare_paired, estimate_difference
from navarena.metrics.tours import TourScoring
from navarena.web.challenge.leaderboard import (
    DAY_MS,
    Entry,
    Scores,
    Ties,
    build_board,
    order_entries,
    rank_entries,
    trace_ranks,
)
from navarena.web.challenge.ranking import RankScores, rank_parts
from navarena.web.challenge.settings import Phase

IDENTITY = "ir2r-ce-v1@d/s#0123456789abcdef"
SPL = get_metric("spl")
SCENES = np.repeat(np.arange(10), 4)


def entry(name: str, mean: float, spread: float = 0.02, **changed: Any) -> Entry:
    """40 values in 10 scenes, half of them above and half below `mean` by `spread`, in every scene."""
    values = mean + spread * np.tile([1.0, -1.0], 20) if spread else np.full(40, mean)
    known: dict[str, Any] = {
        "submission": name,
        "team": name,
        "method": "m",
        "track": "rgb",
        "kind": "live",
        "privileged": False,
        "created": 0,
        "scores": Scores(values, SCENES),
    }
    return Entry(**{**known, **changed})


def noisy(name: str, mean: float, seed: int, **changed: Any) -> Entry:
    draws = make_generator("test", name, seed).random(40)
    return entry(name, mean, **changed, scores=Scores(np.clip(mean + 0.4 * (draws - 0.5), 0, 1), SCENES))


def ranks(board: Any) -> dict[str, list[tuple[str, int | None]]]:
    return {s.name: [(p.entry.submission, p.rank) for p in s.places] for s in board}


def row(scene: str, **more: Any) -> Row:
    """An episode that ended well."""
    held = {"identity": IDENTITY, "episode_id": scene, "scene_id": scene, "status": "ok", "steps": 1}
    return Row(**{**held, "start_distance": 1.0, "actions": [0], "metrics": {}, **more})


def tour_row(scene: str, ndtw: float) -> Row:
    """The only episode of a tour whose t-nDTW is `ndtw`: exp(-cost / (3 m * 1 point))."""
    record = TourRecord(
        tour_id="tour", position=0, start=[0.0] * 4, length=1.0, reference_length=1.0, reference_points=1,
        dtw=None, dtw_code=-3.0 * math.log(ndtw),
    )  # fmt: skip
    return row(scene, metrics={"success": 1.0, "spl": 1.0}, tour=record)


def rank(rank_by: str, parts: list[list[Row]], **more: Any) -> RankScores:
    """The number in `rank_by` of runs of an agent that was trained with spatter."""
    phase = Phase(name="p", protocol="ir2r-ce-v1", split="mini", rank_by=rank_by, **more)
    setup = TaskSetup("ir2r-ce-v1", "random", 0)
    benchmark = Benchmark(Identity.of(IDENTITY), (), (), (), setup, tour_scoring=TourScoring())
    return rank_parts(phase, [benchmark] * len(parts), parts, ["spatter"])


def test_tours_of_all_data_sets_count() -> None:
    parts = [[tour_row("a", 0.8)], [tour_row("b", 0.4), tour_row("c", 0.6)]]
    found = rank("t_ndtw", parts, datasets=("one", "two"))
    assert found.values == pytest.approx([0.8, 0.4, 0.6])
    assert found.scenes.tolist() == [0, 1, 2] and found.weights.tolist() == [1, 1, 1]
    assert found.estimate is not None and found.estimate.mean == pytest.approx(0.6)
    assert found.estimate.n == 3


def test_tours_count_once_with_their_mean_over_unseen_corruptions() -> None:
    suite = [part.corruptions for part in Phase(name="p", protocol="x", split="y", suite="severity-5").parts]
    known = [not row or "spatter:5" in row for row in suite]
    assert known.count(False) == 15
    numbers = [1.0 if one else 0.5 for one in known]
    numbers[suite.index(("motion_blur:5",))] = 0.2
    found = rank("unseen_mean:t_ndtw", [[tour_row("a", number)] for number in numbers], suite="severity-5")
    assert found.values == pytest.approx([(14 * 0.5 + 0.2) / 15])


def test_the_interval_of_a_run_is_that_of_its_summary() -> None:
    draws = make_generator("test", "interval").random(80)
    rows = [row(f"{scene:02d}", metrics={"spl": float(value)}) for scene, value in enumerate(draws)]
    local = summarize(rows, IDENTITY, "agent", ["spl"]).metrics["spl"]
    found = rank("spl", [rows]).estimate
    assert found is not None and local.method == "bootstrap over scenes"
    assert (found.mean, found.low, found.high) == (local.mean, local.low, local.high)


def test_clear_differences_are_ranked_one_by_one() -> None:
    board = build_board([entry("b", 0.5), entry("a", 0.7), entry("c", 0.2)], Ties(SPL))
    assert ranks(board) == {"live": [("a", 1), ("b", 2), ("c", 3)]}
    assert not any(place.tied for place in board[0].places)


def test_ties_share_the_rank_and_the_next_counts_all_before_it() -> None:
    # b differs from a by chance in every scene; c is 0.3 below a everywhere
    a = entry("a", 0.6)
    wobble = np.repeat([0.1, -0.11, 0.12, -0.13, 0.1, -0.12, 0.13, -0.11, 0.1, -0.1], 4)
    b = entry("b", 0.6, scores=Scores(a.scores.values + wobble, SCENES))
    c = entry("c", 0.3)
    board = build_board([c, b, a], Ties(SPL))
    assert ranks(board) == {"live": [("a", 1), ("b", 1), ("c", 3)]}
    assert [place.tied for place in board[0].places] == [True, True, False]


def test_a_leader_is_compared_with_and_no_chain_of_neighbours() -> None:
    """a-b and b-c tie, a-c does not: c leads its own rank."""
    noise = np.repeat([0.1, -0.1] * 5, 4)
    a = entry("a", 0.60, 0.0)
    b = entry("b", 0.55, 0.0, scores=Scores(np.full(40, 0.55) + noise, SCENES))
    c = entry("c", 0.50, 0.0, scores=Scores(np.full(40, 0.50) + 0.01 * noise, SCENES))
    ties = Ties(SPL)
    assert ties.find(a, b) and ties.find(b, c) and not ties.find(a, c)
    assert rank_entries([a, b, c], ties) == [1, 1, 3]


def test_the_interval_is_that_of_a_paired_comparison() -> None:
    a, b = noisy("a", 0.5, 1), noisy("b", 0.55, 2)
    names = [str(scene) for scene in SCENES]
    arguments = (a.scores.values, b.scores.values, names, "higher")
    full = compare_paired(*arguments, make_generator("x"), False, SPL.bounds).difference
    assert (
        estimate_difference(a.scores.values, b.scores.values, SCENES, make_generator("x"), False, SPL.bounds)
        == full
    )
    assert full.low is not None and full.high is not None
    assert Ties(SPL).find(a, b) == (full.low <= 0 <= full.high)


def test_sections_are_never_mixed() -> None:
    entries = [
        entry("expert", 1.0, 0.0, privileged=True),
        entry("privileged log", 0.95, 0.0, privileged=True, kind="log"),
        entry("log", 0.9, kind="log"),
        entry("other log", 0.3, kind="log"),
        entry("results file", 0.8, kind="trajectory"),
        entry("live", 0.4),
    ]
    assert ranks(build_board(entries, Ties(SPL))) == {
        "live": [("live", 1)],
        "declared": [("log", 1), ("other log", 2)],
        "uploaded": [("results file", 1)],
        "privileged": [("expert", None), ("privileged log", None)],
    }
    hidden = build_board(entries, Ties(SPL), live_only=True)
    assert ranks(hidden)["declared"] == [("log", None), ("other log", None)]
    assert [section.ranked for section in hidden] == [True, False, False, False]


def test_tracks_have_ranks_of_their_own() -> None:
    entries = [entry("a", 0.7, track="rgbd"), entry("b", 0.5), entry("c", 0.3)]
    assert ranks(build_board(entries, Ties(SPL), track="rgb")) == {"live": [("b", 1), ("c", 2)]}
    assert build_board(entries, Ties(SPL), track="depth") == ()


def test_the_best_of_a_method_stands_for_it() -> None:
    entries = [
        entry("1", 0.4, team="t", method="m"),
        entry("2", 0.6, team="t", method="m"),
        entry("3", 0.5, team="t", method="other"),
        entry("4", 0.9, team="t", method="m", privileged=True),
    ]
    board = build_board(entries, Ties(SPL))
    assert ranks(board) == {"live": [("2", 1), ("3", 2)], "privileged": [("4", None)]}
    assert [place.tries for place in board[0].places] == [2, 1]


def test_lower_is_better_and_infinite_comes_last() -> None:
    metric = get_metric("distance_to_goal")
    far = entry("lost", 1.0, scores=Scores(np.full(40, np.inf), SCENES))
    ordered = order_entries([far, entry("b", 3.0), entry("a", 1.0)], metric)
    assert [one.submission for one in ordered] == ["a", "b", "lost"]
    assert order_entries([far, entry("a", 0.1)], SPL)[-1] is far


def test_equal_entries_tie_and_the_earlier_one_stands_first() -> None:
    late, early = entry("a", 0.5, 0.0, created=2), entry("b", 0.5, 0.0, created=1)
    assert ranks(build_board([late, early], Ties(SPL))) == {"live": [("b", 1), ("a", 1)]}


def test_one_episode_is_too_few_to_part_two() -> None:
    metric = get_metric("distance_to_goal")
    one = Scores(np.array([1.0]), np.array([0]))
    two = Scores(np.array([2.0]), np.array([0]))
    assert Ties(metric).find(entry("a", 1, scores=one), entry("b", 2, scores=two))


@pytest.mark.parametrize("values", [np.zeros(0), np.full(40, np.inf)], ids=["no episodes", "infinite"])
def test_entries_without_a_number_share_the_last_rank(values: Any) -> None:
    empty = [entry(name, 0, scores=Scores(values, SCENES[: len(values)])) for name in ("x", "y")]
    board = build_board([*empty, entry("a", 0.5), entry("b", 0.5)], Ties(SPL))
    assert ranks(board) == {"live": [("a", 1), ("b", 1), ("x", 3), ("y", 3)]}
    assert ranks(build_board([empty[0], entry("a", 0.1)], Ties(SPL))) == {"live": [("a", 1), ("x", 2)]}


def test_other_episodes_are_refused() -> None:
    other = entry("b", 0.5, scores=Scores(np.full(39, 0.5), SCENES[1:]))
    with pytest.raises(InputError, match="same episodes"):
        Ties(SPL).find(entry("a", 0.5), other)


def test_history_of_ranks() -> None:
    a = entry("a", 0.4, created=10)
    b = entry("b", 0.6, created=DAY_MS + 5)
    c = entry("c", 0.8, created=3 * DAY_MS)
    better_a = entry("a2", 0.9, team="a", created=3 * DAY_MS + 1)
    days, traced = trace_ranks([c, better_a, b, a], Ties(SPL), [better_a, b])
    assert days == (DAY_MS, 2 * DAY_MS, 4 * DAY_MS)
    assert traced == {"a2": (1, 2, 1), "b": (None, 1, 3)}
    assert trace_ranks([c, b, a], Ties(SPL), [b], max_days=1) == ((4 * DAY_MS,), {"b": (2,)})


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=12))
def test_ranks_do_not_depend_on_the_order_of_arrival(drawn: list[tuple[float, int]]) -> None:
    entries = [noisy(str(k), mean, seed, created=k) for k, (mean, seed) in enumerate(drawn)]
    there, back = build_board(entries, Ties(SPL)), build_board(entries[::-1], Ties(SPL))
    assert ranks(there) == ranks(back)
    found = [place.rank for place in there[0].places]
    assert found[0] == 1
    for place, rank in enumerate(found):
        assert rank is not None and (rank == place + 1 or rank == found[place - 1])
