"""Evidence of several images: by hand, and against a plain loop."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from navarena.mapping.evidence import Evidence, EvidenceSettings

PLAIN = EvidenceSettings(cell=1.0, gain=1.0, loss=0.5, bound=2.0, accept=2.0, cells=1)


def test_evidence_by_hand():
    """Two cells, x in 0 to 1 and 1 to 2: pixels called the goal, then none of the first, then half of it."""
    evidence = Evidence(PLAIN)
    first, second = [[0.2, 0, 0], [0.4, 0, 0]], [[1.5, 0, 0]]
    evidence.add(np.array(first + second), np.array([True, True, False]))
    assert evidence.scores.tolist() == [1.0], "a cell that was never called the goal has none"
    assert np.allclose(evidence.points, [[0.3, 0, 0]])
    evidence.add(np.array(first + second), np.array([False, False, True]))
    assert evidence.scores.tolist() == [0.5, 1.0]
    evidence.add(np.array([[0.6, 0, 0], [0.9, 0, 0]]), np.array([True, False]))
    assert evidence.scores.tolist() == [1.5, 1.0], "half of the pixels are enough"
    assert np.allclose(evidence.points, [[0.4, 0, 0], [1.5, 0, 0]]), "the mean of the called pixels alone"
    for _ in range(4):
        evidence.add(np.array(second), np.array([True]))
    assert evidence.scores.tolist() == [1.5, 2.0], "bounded"
    assert np.allclose(evidence.goals(2.0), [[1.5, 0, 0]]) and len(evidence.goals(1.5)) == 2
    assert evidence.holds(np.array([[1.1, 0, 0], [0.1, 0, 0], [-0.1, 0, 0]]), 2.0).tolist() == [
        True,
        False,
        False,
    ]
    few = Evidence(EvidenceSettings(cell=1.0, cells=2))
    few.add(np.array(second), np.array([True]))
    assert few.goals(1.0).shape == (0, 3), "a goal has two cells"


def plain_scores(images):
    """The scores of cells, cell by cell and image by image."""
    scores = {}
    for points, called in images:
        cells = defaultdict(list)
        for point, one in zip(points.tolist(), called.tolist(), strict=True):
            cells[tuple(math.floor(x / PLAIN.cell) for x in point)].append(one)
        for cell, ones in cells.items():
            if cell in scores or any(ones):
                gain = PLAIN.gain if 2 * sum(ones) >= len(ones) else -PLAIN.loss
                scores[cell] = min(max(scores.get(cell, 0.0) + gain, -PLAIN.bound), PLAIN.bound)
    return scores


PIXELS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(arrays(float, (n, 3), elements=st.floats(-3, 3)), arrays(bool, n))
)


@given(st.lists(PIXELS, min_size=1, max_size=6))
def test_evidence_is_that_of_a_plain_loop(images):
    evidence = Evidence(PLAIN)
    for points, called in images:
        evidence.add(points, called)
    expected = plain_scores(images)
    cells = np.array(sorted(expected), float).reshape(-1, 3) + 0.5
    for least in (-1.0, 0.5, 2.0):
        wanted = [expected[cell] >= least for cell in sorted(expected)]
        assert evidence.holds(cells, least).tolist() == wanted
    assert sorted(evidence.scores) == pytest.approx(sorted(expected.values()))


def test_a_thousand_cells_find_room():
    """Of three images of a cube of 12 m, whose cells of a metre are nearly all called the goal once."""
    rng = np.random.default_rng(0)
    images = [(rng.uniform(-6, 6, (3_000, 3)), rng.random(3_000) < 0.5) for _ in range(3)]
    evidence, expected = Evidence(PLAIN), plain_scores(images)
    for points, called in images:
        evidence.add(points, called)
    assert len(evidence.scores) == len(expected) > 1_000
    assert sorted(evidence.scores) == sorted(expected.values())
    places = [tuple(map(math.floor, point)) for point in evidence.points.tolist()]
    assert dict(zip(places, evidence.scores.tolist(), strict=True)) == expected
    sure = evidence.goals(1.0)
    assert len(sure) == sum(score >= 1.0 for score in expected.values())
    assert [tuple(map(math.floor, point)) for point in sure.tolist()] == sorted(
        place for place, score in expected.items() if score >= 1.0
    ), "by their keys, x first"
