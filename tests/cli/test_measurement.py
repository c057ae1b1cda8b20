"""Figures and their marks."""

import pytest

from navarena.cli.benchmarks.measurement import Measurement, median_seconds


@pytest.mark.parametrize(
    ("value", "unit", "target", "ratio"),
    [
        (8000, "frames/s", 4000, 2.0),
        (2000, "frames/s", 4000, 0.5),
        (5, "us", 10, 2.0),  # half the time allowed
        (200, "ms", 50, 0.25),
        (1.9, "x", 1.9, 1.0),
        (3, "frames/s", None, None),
        (0, "ms", 50, None),
    ],
)
def test_ratio_says_whether_the_mark_is_met(
    value: float, unit: str, target: float | None, ratio: float | None
) -> None:
    assert Measurement("work", value, unit, target).ratio == ratio


def test_median_leaves_out_the_first_call() -> None:
    ticks = iter([0, 5, 10, 11, 20, 23])  # three timed calls: 5, 1 and 3
    calls = []
    assert median_seconds(lambda: calls.append(1), 3, clock=lambda: next(ticks)) == 3
    assert len(calls) == 4
