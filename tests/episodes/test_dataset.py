"""A stratified sample keeps the strata of the whole."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.episodes.dataset import choose_stratified
from navarena.episodes.episode import Episode
from navarena.episodes.goals import ObjectGoal


def episode(row, scene, difficulty, category):
    return Episode(str(row), scene, (0.0, 0.0, 0.0), 0.0, ObjectGoal(category), 1.0, difficulty=difficulty)


def test_a_sample_by_hand():
    """Two of four in each scene, of 6 easy and 2 hard ones, 4 beds and 4 television sets.

    The first choice costs 1/6 + 1/4 (row 0, 1 or 3); the second 2/6 + 1/4 at row 3; then 3/6 + 2/4 is the
    same for rows 4, 6 and 7; then row 6 costs 1/2 + 2/4, less than 4/6 + 2/4 at row 7.
    """
    labels = [("easy", "bed"), ("easy", "bed"), ("hard", "tv"), ("easy", "tv")]
    episodes = [episode(4 * s + k, f"s{s}", *label) for s in range(2) for k, label in enumerate(labels)]
    assert choose_stratified(episodes, 4) == [0, 3, 4, 6]
    assert choose_stratified(episodes, 8) == list(range(8))


def test_shares_are_kept():
    """1,000 episodes of 100 scenes, 60 % easy, 30 % medium, 10 % hard, in five categories."""
    episodes = [
        episode(row, f"s{row // 10:03d}", "easy" if row % 10 < 6 else "medium" if row % 10 < 9 else "hard", c)
        for row, c in ((row, "abcde"[row % 5]) for row in range(1000))
    ]
    chosen = [episodes[row] for row in choose_stratified(episodes, 200)]
    assert set(Counter(one.scene_id for one in chosen).values()) == {2}
    counts = Counter(one.difficulty for one in chosen)
    assert (
        abs(counts["easy"] - 120) <= 2 and abs(counts["medium"] - 60) <= 2 and abs(counts["hard"] - 20) <= 2
    )
    assert all(abs(count - 40) <= 2 for count in Counter(one.goal.category for one in chosen).values())


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=30), st.data())
def test_a_sample_has_distinct_rows_and_even_scenes(labels, data):
    episodes = [episode(row, f"s{row // 3}", *label) for row, label in enumerate(labels)]
    count = data.draw(st.integers(1, len(episodes)))
    rows = choose_stratified(episodes, count)
    assert rows == sorted(set(rows)) and len(rows) == count


def test_too_many():
    with pytest.raises(InputError, match="expected a sample of 1 to 1 episodes, got 2"):
        choose_stratified([episode(0, "s", "easy", "bed")], 2)
