"""The rows of RobustNav's tables."""

import pytest

from navarena.corruptions import find_corruptions
from navarena.corruptions.suites import CLEAN, SUITES


@pytest.mark.parametrize("name", SUITES)
def test_rows_are_known_and_different(name):
    rows = SUITES[name].rows
    assert rows[0] == CLEAN and len(set(rows)) == len(rows)
    for row in rows:
        assert len(find_corruptions(row)) == len(row)


def test_the_main_table_is_that_of_the_paper():
    rows = SUITES["severity-5"].rows
    singles, pairs = [row[0] for row in rows if len(row) == 1], [row for row in rows if len(row) == 2]
    sight = {f"{name}:5" for name in ("defocus_blur", "motion_blur", "spatter", "speckle_noise", "lighting")}
    motion = {"motion_bias_constant", "motion_bias_stochastic", "motion_drift", "motor_failure"}
    assert set(singles) == sight | motion | {"lower_fov", "camera_crack", "pyrobot:teleport"}
    assert len(singles) == 12 and len(pairs) == 6
    seconds = {"motion_bias_stochastic", "motion_drift"}
    firsts = {"defocus_blur:5", "speckle_noise:5", "spatter:5"}
    assert set(pairs) == {(a, b) for a in firsts for b in seconds}


def test_other_suites():
    assert len(SUITES["severity-3"].rows) == 6
    assert set(SUITES["all"].rows) == set(SUITES["severity-5"].rows) | set(SUITES["severity-3"].rows)
    assert len(SUITES["severities"].rows) == 26
