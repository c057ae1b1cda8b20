"""Whatever takes minutes has its turn in consecutive runs."""

import pytest

from turns import has_turn, share_of


@pytest.mark.parametrize(("count", "shares"), [(100, 4), (100, 8), (100, 16), (10, 16), (15, 8)])
def test_all_scenes_have_their_turn(count, shares):
    scenes = list(range(count))
    for first in (0, 5, 123):
        turns = [share_of(scenes, shares, turn) for turn in range(first, first + shares)]
        assert all(turns) and set().union(*turns) == set(scenes)


@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_a_test_has_its_turn_once_in_so_many(turns):
    for first in (0, 7):
        for name in ("tests/a.py::test_b", "tests/a.py::test_b[c]"):
            assert sum(has_turn(name, turns, turn) for turn in range(first, first + turns)) == 1


def test_names_are_spread_over_turns():
    counts = [sum(has_turn(f"test_{number}", 4, turn) for number in range(400)) for turn in range(4)]
    assert sum(counts) == 400 and min(counts) > 60
