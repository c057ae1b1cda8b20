"""Bands of distance: turns, shares, and what happens where a scene has no such paths."""

import gzip
import json
from collections import Counter

import numpy as np
import pytest

from navarena.episodes import make_episodes
from navarena.episodes.robustnav import (
    OBJECT_BANDS,
    OBJECT_CALIBRATION_EDGES,
    OBJECT_CALIBRATION_MEAN,
    POINT_BANDS,
    DistanceBands,
    nearest_feasible,
    share_bands,
)

BANDS = DistanceBands((0.0, 1.0, 2.0, 4.0))
STEM = ("protocol", "set", "val", 0, "scene")


def test_turns_go_through_all_bands_and_do_not_depend_on_where_they_begin():
    whole = BANDS.turns(STEM, 0, 30)
    for begin in range(0, 30, 3):
        assert sorted(whole[begin : begin + 3]) == [0, 1, 2]
    assert BANDS.turns(STEM, 7, 11) == whole[7:18]
    assert len({tuple(whole[begin : begin + 3]) for begin in range(0, 30, 3)}) > 1
    assert BANDS.turns((*STEM[:-1], "other"), 0, 30) != whole


def test_feasible_bands_by_hand():
    """Of 1,000 distances five must lie in a band; infinite ones count among the 1,000."""
    distances = np.concatenate([np.full(5, 0.5), np.full(4, 1.5), np.full(900, 3.0), np.full(91, np.inf)])
    assert BANDS.feasible(distances).tolist() == [True, False, True]
    assert BANDS.feasible(np.full(9, np.inf)).tolist() == [False, False, False]


@pytest.mark.parametrize(
    ("band", "feasible", "expected"),
    [
        (1, (1, 1, 1), 1),
        (2, (1, 1, 0), 1),
        (0, (0, 0, 1), 2),
        (1, (1, 0, 1), 0),
        (1, (0, 0, 0), 1),
    ],
)
def test_nearest_feasible_by_hand(band, feasible, expected):
    assert nearest_feasible(band, np.array(feasible, bool)) == expected


def test_scarce_bands_choose_first():
    """Only the mug has far starts, so it gets the far band although it comes last; nothing is left over."""
    feasible = {"bowl": np.array([1, 1, 0], bool), "vase": np.array([1, 1, 0], bool)}
    feasible["mug"] = np.array([1, 1, 1], bool)
    shared = share_bands([2, 0, 1], feasible, ["bowl", "vase", "mug"])
    assert shared == {"mug": 2, "bowl": 1, "vase": 0}


def test_what_is_left_over_gets_the_nearest():
    near, far = np.array([1, 1, 0], bool), np.array([1, 1, 1], bool)
    shared = share_bands([2, 2, 0], {"bowl": near, "mug": far, "vase": near}, ["bowl", "mug", "vase"])
    assert shared == {"mug": 2, "bowl": 0, "vase": 1}


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("task", "edges", "mean"),
    [("pointnav", POINT_BANDS.edges, None), ("objectnav", OBJECT_CALIBRATION_EDGES, 3.469)],
)
def test_edges_are_twelfths_of_the_published_distances(real_data, task, edges, mean):
    lengths = [
        row["shortest_path_length"]
        for file in sorted((real_data / f"robustnav/{task}/calibration").glob("*.json.gz"))
        for row in json.loads(gzip.decompress(file.read_bytes()))
    ]
    twelfths = np.quantile(lengths, np.linspace(0, 1, 13))
    np.testing.assert_allclose(edges[1:], twelfths[1:], atol=0.011)
    if mean is not None:
        assert np.mean(lengths) == pytest.approx(mean, abs=5e-4) and mean == OBJECT_CALIBRATION_MEAN


SCENES = ["robothor-like-v1/val/00003"]


def test_points_have_the_published_distances_and_thirds():
    """Each round of 12 has one in every band: of 36, twelve are easy, medium and hard."""
    made = make_episodes("robustnav-pointnav-v1", SCENES, 36).episodes
    counts = np.histogram([one.geodesic_distance for one in made], POINT_BANDS.edges)[0]
    assert counts.tolist() == [3] * 12
    assert Counter(one.difficulty for one in made) == {"easy": 12, "medium": 12, "hard": 12}


def test_objects_have_the_published_distances_and_all_categories():
    made = make_episodes("robustnav-objectnav-v1", SCENES, 36).episodes
    counts = np.histogram([one.geodesic_distance for one in made], OBJECT_BANDS.edges)[0]
    assert counts.min() >= 2 and counts.max() <= 4
    assert set(Counter(one.goal.category for one in made).values()) == {3}
