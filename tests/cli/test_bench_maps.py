"""The benchmark of maps plans on a storey of the size that it names."""

import numpy as np
import pytest

from navarena.cli.benchmarks.maps import CELL, draw_storey, measure_plan


def test_the_storey_has_its_size_and_a_frontier():
    scores = draw_storey()
    assert scores.shape == (800, 800) and np.count_nonzero(scores[200:600, 200:600] < 0) > 100_000
    assert np.count_nonzero(scores) * CELL**2 == pytest.approx(400, rel=0.05)
    plan = measure_plan(2)
    assert plan.unit == "ms" and plan.value > 0, "it finds a frontier to plan to"
