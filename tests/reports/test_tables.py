"""Numbers as people read them, and groups of rows."""

import math

from evaluation.corridor import make_benchmark, make_settings
from navarena.evaluation import Row, evaluate
from navarena.evaluation.analyses.breakdowns import band_groups, scene_groups
from navarena.metrics import get_metric
from navarena.metrics.failures import FailureClass
from navarena.metrics.statistics import TOO_FEW, Estimate
from navarena.reports.tables import (
    broken_table,
    failure_table,
    format_difference,
    format_estimate,
    format_interval,
    format_value,
    group_table,
    metric_table,
)


def make_row(number, start_distance, success=1.0, spl=0.5, status="ok", scene="a"):
    return Row(
        identity="p@d/s#0",
        episode_id=f"e{number}",
        scene_id=scene,
        status=status,
        steps=3,
        start_distance=start_distance,
        actions=[1, 1, 0],
        metrics={"success": success, "spl": spl, "distance_to_goal": None},
        traceback=None if status == "ok" else "Traceback\n  line\nValueError: no\n\n",
    )


def test_formats():
    assert format_value(get_metric("success"), 0.9512) == "95.1 %"
    assert format_value(get_metric("spl"), 0.5) == "0.500"
    assert format_value(get_metric("path_length"), 12.345) == "12.35 m"
    assert format_value(get_metric("num_actions"), 80.25) == "80.2"
    assert format_value(get_metric("distance_to_goal"), math.inf) == "∞"
    assert format_value(get_metric("spl"), None) == "–"
    assert format_value(get_metric("spl"), -1e-17) == "0.000", "rounding leaves no sign"
    assert format_interval(get_metric("success"), Estimate(0.2, 0.1, 0.25, 9)) == "10.0 % to 25.0 %"
    assert format_interval(get_metric("success"), Estimate(0.2, None, None, 9)) == "–"
    drop = Estimate(-0.207, -0.357, 0.0001, 9)
    assert format_difference(get_metric("success"), -0.207) == "-20.7 points", "per cent would be of a mean"
    assert format_difference(get_metric("spl"), -0.207) == "-0.207"
    assert format_difference(get_metric("success"), None) == "–"
    assert format_interval(get_metric("success"), drop, format_difference) == "-35.7 points to 0.0 points"
    few = Estimate(0.2, None, None, 1_010, 10, TOO_FEW)
    assert format_interval(get_metric("success"), few) == "n too small"
    assert format_estimate(get_metric("spl"), few) == "0.200 (n too small, n = 1,000 of 1,010)"
    assert format_estimate(get_metric("spl"), Estimate(0.2, 0.1, 0.25, 9)) == "0.200 (0.100 to 0.250, n = 9)"


def test_bands_are_half_open_and_keep_their_order():
    distances = [0.0, 1.99, 2.0, 4.0, 20.0, 19.9, None, 300.0]
    groups = band_groups([[make_row(k, d) for k, d in enumerate(distances)]], ["success"])
    assert [(group.name, group.n) for group in groups] == [
        ("0 to 2 m", 2),
        ("2 to 5 m", 2),
        ("10 to 20 m", 1),
        ("20 m and more", 2),
        ("unreachable", 1),
    ]


def test_scene_groups_average_their_own_rows():
    rows = [
        make_row(0, 1.0, 1.0, 0.8),
        make_row(1, 1.0, 0.0, 0.0),
        make_row(2, 1.0, 1.0, 1.0, scene="b"),
    ]
    groups = scene_groups([rows], ["success", "spl"])
    assert [(group.name, group.estimates["spl"].mean) for group in groups] == [("a", 0.4), ("b", 1.0)]
    table = group_table("scene", groups)
    assert table.columns == ("scene", "n", "Success", "95 % interval", "SPL", "95 % interval")
    assert table.rows[0][:3] == ("a", "2", "50.0 %")
    assert table.rows[1][4:] == ("1.000", "0.207 to 1.000")  # one episode: that of one success in one


def test_broken_table():
    rows = [make_row(0, 1.0), make_row(1, None, 0.0, 0.0, "crashed")]
    assert broken_table(rows).rows == (("e1", "a", "crashed", "3", "ValueError: no"),)


def test_failure_table():
    stuck, never = FailureClass.STUCK, FailureClass.NEVER_SAW
    table = failure_table({"a": stuck, "b": never, "c": never, "d": never, "e": never})
    assert table.rows == (
        ("never saw the goal", "4 of 5", "80 %", "b, c, d"),
        ("went to and fro, or against obstacles", "1 of 5", "20 %", "a"),
    )
    assert failure_table({}).rows == ()


def test_metric_table_has_an_n_for_every_number(tmp_path):
    summary = evaluate(make_settings(tmp_path), make_benchmark()).summary
    table = metric_table(summary)
    assert table.columns == ("metric", "mean", "95 % interval", "better", "episodes", "interval by")
    assert len(table.rows) == len(summary.metrics)
    assert {row[4] for row in table.rows} == {"40"}
    assert table.rows[0][-1] == "Wilson"
