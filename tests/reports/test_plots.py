import itertools
import re

import pytest

from navarena.metrics.statistics import Estimate
from navarena.reports.plots import RUN_COLORS, Line, draw_lines, draw_ranges

SHORT = ["t-nDTW", "t-SR", "t-SPL", "SPL", "nDTW", "sDTW", "CLS", "SR"]


@pytest.mark.parametrize(
    ("names", "slants"), [(SHORT, False), ([*SHORT, "Success", "Success, oracle stop"], True)]
)
def test_names_that_would_run_into_each_other_are_slanted(names, slants):
    """One long name beside another is enough, however short the rest."""
    drawn = draw_ranges("Scores", names, {"a": [Estimate(0.5, 0.4, 0.6, 9)] * len(names)}, "")
    assert ("rotate(-28 " in drawn) == slants


def test_many_groups_stand_below_each_other():
    """Each name is on a line of its own, and the axis of the means is below."""
    names = [f"Success, sub-task {k}" for k in range(13)]
    drawn = draw_ranges("Scores", names, {"a": [Estimate(0.5, 0.4, 0.6, 9)] * 13}, "score")
    assert "rotate(-28 " not in drawn
    heights = [float(re.search(f' y="([^"]*)"[^>]*>{name}<', drawn)[1]) for name in names]
    assert min(two - one for one, two in itertools.pairwise(heights)) > 9  # the size of the letters
    assert ">score<" in drawn


def test_counts_have_no_ticks_between_them():
    assert ">1.5<" not in draw_lines("Positions", [Line("a", (1.0, 2.0, 3.0), (0.2, 0.4, 0.6))], "n", "y")


@pytest.mark.parametrize("steps", [False, True])
def test_lines_whose_colours_return_are_dashed(steps):
    lines = [Line(str(k), (0.0, 1.0), (0.0, k / 9), steps=steps, group=k // 2) for k in range(18)]
    drawn = draw_lines("Many", lines, "x", "y")
    styles = re.findall(r'style="fill: none; ([^"]*)"', drawn)
    dashed = [one for one in styles if "stroke-dasharray" in one and "stroke: #0" not in one]
    used = [{color for color in RUN_COLORS if any(color in one for one in some)} for some in (dashed, styles)]
    assert used == [{RUN_COLORS[0]}, set(RUN_COLORS)]
    assert any(RUN_COLORS[0] in one for one in set(styles) - set(dashed))
