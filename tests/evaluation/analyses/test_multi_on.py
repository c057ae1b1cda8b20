"""MultiON's tables against sums by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as change

from evaluation.analyses.written import make_row, write_run
from navarena.core.errors import InputError
from navarena.evaluation.analyses import (
    fitting_analyses,
    read_analyses,
    read_labelled,
    run_analysis,
    save_analysis,
)
from navarena.evaluation.analyses.analysis import AnalysedRun
from navarena.evaluation.analyses.multi_on import raise_to
from navarena.evaluation.records.journal import hash_rows, read_rows
from navarena.evaluation.records.record import read_record
from navarena.metrics.statistics import Estimate, subtract_estimates, wilson_interval


def write(folder, goals, founds, **settings):
    rows = [make_row(k, goals, found) for k, found in enumerate(founds)]
    return write_run(folder, rows, protocol=f"multion-{goals}on-v1", **settings)


def write_ruled(folder, goals, rules, count=3, protocol="", **settings):
    """A run under `rules`, as the identity writes them."""
    rows = [change(make_row(k, goals, 1), identity=f"{rules}@houses/mini#0") for k in range(count)]
    return write_run(folder, rows, protocol=protocol or rules, **settings)


def cells(analysis, *titles):
    places = [analysis.headings.index(title) for title in titles]
    return [[row[place] for place in places] for row in analysis.rows]


def test_generalization_matrix(tmp_path):
    """Trained with 1 and 2 goals; the 2-goal agent was not tested on 1-ON."""
    entries = [
        f"1={write(tmp_path / 'a', 1, [1, 1, 1, 0])}",
        f"1-ON={write(tmp_path / 'b', 2, [1, 0, 0, 1])}",
        f"2={write(tmp_path / 'c', 2, [2, 1, 1, 2])}",
    ]
    analysis = run_analysis("generalization", read_labelled(entries))
    assert [row[:2] for row in analysis.rows] == [("", "1-ON"), ("", "2-ON")]
    (one_on_1, one_on_2), (two_on_1, two_on_2) = cells(analysis, "PROGRESS on 1-ON", "PROGRESS on 2-ON")
    assert (one_on_1.mean, one_on_2.mean, two_on_2.mean) == (0.75, 0.25, 0.75) and two_on_1 is None
    assert (one_on_1.n, one_on_2.n) == (4, 4)
    changes = cells(analysis, "change on 1-ON", "change on 2-ON")
    assert changes[0][0] is None and changes[1] == [None, None]
    assert changes[0][1].mean == pytest.approx(-0.5) and changes[0][1].n == 4  # of pairs: -1/2 each
    unseen = 1.959964**2 / (4 + 1.959964**2)  # share of episodes that may differ otherwise, from -1 to 1
    ends = (-0.5 - 0.5 * unseen, -0.5 + 1.5 * unseen)
    assert (changes[0][1].low, changes[0][1].high) == pytest.approx(ends, abs=1e-5)
    with pytest.raises(InputError, match=r"as 3=FOLDER or map:3=FOLDER, got 'walker'"):
        run_analysis("generalization", read_labelled([entries[0].partition("=")[2]]))
    with pytest.raises(InputError, match="with commas"):
        run_analysis("generalization", read_labelled([entries[0], entries[0]]))


def test_changes_without_common_episodes_take_the_runs_as_independent(tmp_path):
    write(tmp_path / "a", 1, [1, 0])
    rows = [make_row(k + 50, 1, 1) for k in range(2)]
    b = write_run(tmp_path / "b", rows)
    two = write(tmp_path / "two", 2, [2, 2])
    runs = read_labelled([f"1={tmp_path / 'a'}", f"2={b}", f"2={two}"])
    change = run_analysis("generalization", runs).rows[1][4]
    assert change.mean == 0.5 and change.method == "square-and-add of two intervals"


def test_powers_and_drops(tmp_path):
    one = write(tmp_path / "1", 1, [1] * 8 + [0] * 2)
    two = write(tmp_path / "2", 2, [2] * 7 + [1] * 3)
    analysis = run_analysis("goal-counts", read_labelled([str(two), str(one)], groups=True))
    assert [row[1] for row in analysis.rows] == [1, 2]
    alone, both = analysis.rows
    low, high = wilson_interval(8, 10)
    assert alone[2].mean == 0.8 and alone[3] == alone[2] and alone[4:7] == (None, None, None)
    assert both[2].mean == 0.7 and both[3].mean == pytest.approx(0.64)
    assert (both[3].low, both[3].high, both[3].n) == (low**2, high**2, 10)
    assert both[4].mean == pytest.approx(0.06) and both[5].mean == pytest.approx(-0.1)
    assert both[6] == pytest.approx(-0.125) and both[7].mean == pytest.approx((14 + 3) / 20)
    own = wilson_interval(7, 10)
    below = np.hypot(0.7 - own[0], high - 0.8)  # square-and-add, by hand
    assert both[5].low == pytest.approx(-0.1 - below)
    assert [curve.label for curve in analysis.curves] == ["walker: SUCCESS(m)", "walker: SUCCESS(1)^m"]
    assert analysis.curves[0].x == (1.0, 2.0)
    without = run_analysis("goal-counts", read_labelled([str(two)], groups=True))
    assert without.rows[0][3] is None and len(without.curves) == 1
    with pytest.raises(InputError, match="one run of 'walker' for each number of goals"):
        run_analysis("goal-counts", read_labelled([str(two), str(two)], groups=True))


def test_runs_of_one_method_differ_in_their_goals_alone(tmp_path):
    one = write_ruled(tmp_path / "1", 1, "multion-1on-v1")
    two = write_ruled(tmp_path / "2", 2, "multion-2on-v1+custom+found_budget=2")
    many = write_ruled(tmp_path / "5", 5, "multion-3on-v1+custom+objects=5")
    plain = write_ruled(tmp_path / "plain", 2, "multion-2on-v1")
    message = "same rules but for the number of goals, got multion-v1, multion-v1.custom.found_budget=2; give"
    runs = read_labelled([f"a={one}", f"a={two}"], groups=True)
    with pytest.raises(InputError, match="runs of 'a' under the " + message):
        run_analysis("goal-counts", runs)
    assert "goal-counts" not in [analysis.name for analysis in fitting_analyses(runs)]
    with pytest.raises(InputError, match="runs of one agent under the " + message):
        run_analysis("generalization", read_labelled([f"1={one}", f"2={two}"]))
    apart = run_analysis("goal-counts", read_labelled([f"a={one}", f"b={two}"], groups=True))
    assert [row[:2] for row in apart.rows] == [("a", 1), ("b", 2)]
    same = run_analysis("goal-counts", read_labelled([str(one), str(many), str(plain)], groups=True))
    assert [row[1] for row in same.rows] == [1, 2, 5]


def test_runs_of_one_method_differ_in_their_budgets_alone(tmp_path):
    """Two training seeds, other numbers of goals, other episodes: none is left out without a word."""
    rules = "multion-3on-v1+custom+found_budget={}"
    five = write_ruled(tmp_path / "5", 3, rules.format(5))
    again = write_ruled(tmp_path / "again", 3, rules.format(5), seed=1)
    other = write_ruled(tmp_path / "other", 2, "multion-2on-v1+custom+found_budget=2")
    fewer = write_ruled(tmp_path / "fewer", 3, "multion-3on-v1", count=2)
    oracle = write_ruled(tmp_path / "oracle", 3, "multion-3on-v1+custom+oracle_found=true")
    for runs, message in [
        ((five, again), "one run of 'walker' for each FOUND budget, got the budgets 5, 5; .* seeds a label"),
        ((oracle, oracle), "got the budgets oracle, oracle"),
        ((five, other), "rules but for the FOUND budget, got multion-3on-v1, multion-2on-v1; give"),
        ((five, fewer), f"on the same episodes, got others in {fewer} than in {five}; give"),
    ]:
        with pytest.raises(InputError, match=message):
            run_analysis("found-budgets", read_labelled([str(run) for run in runs], groups=True))


def test_distance_bands(tmp_path):
    ways = [1.0, 4.9, 5.0, 12.0, 100.0]
    rows = [make_row(k, 2, 1, way=way, ppl=k / 10) for k, way in enumerate(ways)]
    rows.append(change(make_row(9, 2, 1, ppl=0.9), start_distance=None))
    analysis = run_analysis("distance", read_labelled([str(write_run(tmp_path / "a", rows))]))
    assert cells(analysis, "shortest path", "episodes") == [
        ["0 to 5 m", 2],
        ["5 to 10 m", 1],
        ["10 to 15 m", 1],
        ["60 m and more", 1],
    ]
    assert [row[4].mean for row in analysis.rows] == pytest.approx([0.05, 0.2, 0.3, 0.4])
    (curve,) = analysis.curves
    assert curve.x == pytest.approx((2.95, 5.0, 12.0, 100.0))


def test_lengths_and_ends(tmp_path):
    rows = [
        make_row(0, 3, 3, steps=10),
        make_row(1, 3, 1, steps=20),
        make_row(2, 3, 0, steps=60, stopped=0.0),
        make_row(3, 3, 2, steps=40, status="crashed", stopped=0.0),
        make_row(4, 3, 2, steps=30),
    ]
    folder = write_run(tmp_path / "a", rows)
    analysis = run_analysis("lengths", read_labelled([f"mine={folder}"]))
    ((label, task, n, mean, median, success, wrong, cut, broken),) = analysis.rows
    assert (label, task, n, mean.mean, median) == ("mine", "3-ON", 5, 32.0, 30.0)
    assert [one.mean for one in (success, wrong, cut, broken)] == [0.2, 0.4, 0.2, 0.2]
    assert analysis.texts()[0][6] == "40.0 % (11.8 % to 76.9 %, n = 5)"
    old = write_run(tmp_path / "old", rows, metrics=("success", "spl"))
    assert analysis.notes == ("Every episode is in exactly one of the last four columns.",)
    unsaid = run_analysis("lengths", read_labelled([str(old)]))
    assert unsaid.rows[0][6:8] == (None, None) and unsaid.notes[0].startswith("Dashes: the run does not say")
    bare = [change(make_row(0), goals=None)]
    with pytest.raises(InputError, match="expected runs of MultiON"):
        run_analysis("lengths", read_labelled([str(write_run(tmp_path / "bare", bare))]))


def test_an_episode_of_several_seeds_counts_once_in_lengths(tmp_path):
    """Of four episodes the first succeeds in both runs, the second in one; two runs are no more episodes."""
    first = [make_row(k, 2, 2 * (k == 0), steps=10) for k in range(4)]
    second = [make_row(k, 2, 2 * (k < 2), steps=20) for k in range(4)]
    runs = [write_run(tmp_path / name, rows) for name, rows in (("a", first), ("b", second))]
    analysis = run_analysis("lengths", read_labelled([f"mine={runs[0]},{runs[1]}"]))
    ((_, _, n, mean, median, success, wrong, _, _),) = analysis.rows
    assert (n, mean.mean, median, mean.n, success.n, wrong.n) == (4, 15.0, 15.0, 4, 4, 4)
    assert (success.mean, wrong.mean) == (3 / 8, 5 / 8)
    assert (success.low, success.high) == pytest.approx(wilson_interval(1.5, 4))
    (alone,) = run_analysis("lengths", read_labelled([f"mine={runs[0]}"])).rows
    assert (alone[5].low, alone[5].high) == pytest.approx(wilson_interval(1, 4))


def test_what_fits_is_found_and_kept(tmp_path):
    one, two = write(tmp_path / "1", 1, [1, 0, 1]), write(tmp_path / "2", 2, [2, 1, 0])
    both = read_labelled([str(one), str(two)])
    assert [run.label for run in both] == ["walker, multion-1on-v1", "walker, multion-2on-v1"]
    assert [analysis.name for analysis in fitting_analyses(both)] == ["distance", "goal-counts", "lengths"]
    assert [analysis.name for analysis in fitting_analyses(both[:1])] == ["distance", "lengths"]
    again = write(tmp_path / "again", 1, [1, 0, 1])
    seeds = read_labelled([f"{one},{again}"])
    assert "seeds" in [analysis.name for analysis in fitting_analyses(seeds)]
    assert read_analyses(one) == ()
    kept = fitting_analyses(both)
    for analysis in kept:
        save_analysis(one, analysis)
    assert read_analyses(one) == kept
    labels = [run.label for run in both]
    assert kept[0].runs == tuple(
        AnalysedRun(name, (hash_rows(read_record(run), read_rows(run)),))
        for name, run in zip(labels, (one, two), strict=True)
    )
    unnamed = json.loads((one / "analyses" / "lengths.json").read_text())
    del unnamed["runs"]  # as written before analyses named their runs
    (one / "analyses" / "lengths.json").write_text(json.dumps(unnamed))
    assert read_analyses(one)[-1] == replace(kept[-1], runs=())
    (one / "analyses" / "distance.json").write_text("{}")
    with pytest.raises(InputError, match=r"distance.json is damaged"):
        read_analyses(one)


def test_a_rate_to_a_power_and_differences():
    rate = Estimate(0.5, 0.25, 0.75, 8, 0, "Wilson")
    cubed = raise_to(rate, 3)
    assert (cubed.mean, cubed.low, cubed.high, cubed.n) == (0.125, 0.015625, 0.421875, 8)
    assert raise_to(rate, 1) == rate and raise_to(replace(rate, low=None, high=None), 2).low is None
    apart = subtract_estimates(Estimate(0.6, 0.5, 0.8, 9), Estimate(0.4, 0.1, 0.5, 4))
    assert apart.low == pytest.approx(0.2 - np.hypot(0.1, 0.1)) and apart.n == 4
    assert apart.high == pytest.approx(0.2 + np.hypot(0.2, 0.3))
    # Newcombe 1998, table II, method 10, 56/70 against 48/80: 0.0524 to 0.3339
    first = Estimate(56 / 70, *wilson_interval(56, 70), 70)
    second = Estimate(48 / 80, *wilson_interval(48, 80), 80)
    published = subtract_estimates(first, second)
    assert (published.low, published.high) == (
        pytest.approx(0.0524, abs=5e-5),
        pytest.approx(0.3339, abs=5e-5),
    )
