import pytest

from navarena.metrics.statistics import Estimate
from navarena.reports.plots import draw_ranges

SHORT = ["t-nDTW", "t-SR", "t-SPL", "SPL", "nDTW", "sDTW", "CLS", "SR"]


@pytest.mark.parametrize(
    ("names", "slants"), [(SHORT, False), ([*SHORT, "Success", "Success, oracle stop"], True)]
)
def test_names_that_would_run_into_each_other_are_slanted(names, slants):
    """One long name beside another is enough, however short the rest."""
    drawn = draw_ranges("Scores", names, {"a": [Estimate(0.5, 0.4, 0.6, 9)] * len(names)}, "")
    assert ("rotate(-28 " in drawn) == slants
