"""The benchmark of generation counts what it makes, and its expert arrives."""

from navarena.cli.benchmarks.generation import MULTION, MULTION_TARGET, measure_expert, measure_making
from navarena.cli.benchmarks.measurement import Measurement
from navarena.episodes.catalog import load_episodes


def test_episodes_by_the_minute():
    made = measure_making(MULTION, ["houses-v1/val/00000"], MULTION_TARGET, "one house")
    assert (made.unit, made.target) == ("/min", 1000) and made.value > 0
    assert made.higher_is_better and made.note == "one core; one house"


def test_seconds_of_the_expert():
    run = measure_expert(load_episodes("pointnav-v1", "mini").episodes[:4])
    assert run.unit == "s" and run.value > 0 and not run.higher_is_better
    assert run.note == "one core, of 4 episodes; 0 failed"


def test_a_rate_by_the_minute_reaches_its_mark_from_above():
    assert Measurement("x", 300.0, "/min", 200.0).ratio == 1.5
