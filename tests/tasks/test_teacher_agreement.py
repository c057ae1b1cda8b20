"""The teacher's labels begin the planner's plans, from anywhere in real houses."""

import pytest

from tasks.teacher_agreement import PROTOCOLS, compare_labels


@pytest.mark.slow
@pytest.mark.turns(6)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_labels_from_anywhere_begin_the_plans_of_the_planner(protocol):
    found = compare_labels(protocol, 500, seed=0)
    assert found.poses >= 500 and found.others <= 1 and found.worst < 1e-3
