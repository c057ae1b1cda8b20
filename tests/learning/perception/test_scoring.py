"""Scores of segmenters on tables made by hand. No PyTorch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.learning.perception.scoring import count_confusions, mean_iou, score_classes


def test_a_table_by_hand():
    #       told: a  b  c       true
    confusions = np.array([[6, 2, 0], [1, 3, 0], [0, 0, 0]])
    a, b, c = score_classes(confusions, ("a", "b", "c"))
    assert (a.name, a.iou, a.recall, a.share) == ("a", 6 / 9, 6 / 8, 8 / 12)
    assert (b.iou, b.recall, b.share) == (3 / 6, 3 / 4, 4 / 12)
    assert (c.iou, c.recall, c.share) == (None, None, 0), "what is nowhere has no score"
    assert mean_iou([a, b, c]) == pytest.approx((6 / 9 + 3 / 6) / 2)


def test_a_class_that_is_only_told_counts_zero():
    scores = score_classes(np.array([[3, 1], [0, 0]]), ("a", "b"))
    assert scores[1].iou == 0 and scores[1].recall is None
    assert mean_iou(scores) == pytest.approx(0.375)
    with pytest.raises(InputError, match="at least one class"):
        mean_iou(score_classes(np.zeros((2, 2), np.int64), ("a", "b")))


@given(st.integers(1, 6), st.integers(0, 50), st.integers(0, 1000))
def test_confusions_are_those_of_a_loop(classes, pixels, seed):
    generator = make_generator("confusions", seed)
    true, told = generator.integers(0, classes, (2, pixels, 2))
    slow = np.zeros((classes, classes), np.int64)
    for one, other in zip(true.reshape(-1), told.reshape(-1), strict=True):
        slow[one, other] += 1
    assert np.array_equal(count_confusions(true, told, classes), slow)
    if pixels:
        scores = score_classes(slow, [str(k) for k in range(classes)])
        for k, score in enumerate(scores):
            either = ((true == k) | (told == k)).sum()
            assert score.iou == (((true == k) & (told == k)).sum() / either if either else None)


def test_what_is_no_class_is_refused():
    with pytest.raises(InputError, match="expected classes 0 to 1, got 0 to 2"):
        count_confusions(np.array([0, 1]), np.array([0, 2]), 2)
    with pytest.raises(InputError, match="expected predictions of shape"):
        count_confusions(np.array([0, 1]), np.array([0]), 2)
