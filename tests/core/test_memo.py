import pickle
from copy import deepcopy

import pytest

from navarena.core.memo import Memo


class Doubler:
    """Counts how often it was asked for what it did not remember."""

    def __init__(self):
        self.asked = 0
        self.double = Memo(self._double, 2)

    def _double(self, number):
        self.asked += 1
        return 2 * number


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_results_are_kept_and_copies_begin_with_none(copied):
    one = Doubler()
    assert [one.double(number) for number in (1, 2, 1, 2)] == [2, 4, 2, 4] and one.asked == 2
    two = copied(one)
    assert two.double(1) == 2 and two.asked == 3 and one.asked == 2  # its own, not that of the first
    assert [one.double(number) for number in (3, 1)] == [6, 2] and one.asked == 4  # only two are kept
