"""What RobustNav evaluates, what it calibrates on, and what it calls difficult."""

import gzip
import json
from collections import Counter, defaultdict

import numpy as np
import pytest

from navarena.episodes import load_episodes, make_episodes
from navarena.episodes.robustnav import scene_limits
from navarena.episodes.sampling import LABELS, label_difficulty

OBJECTS = "robustnav-objectnav-v1"

PUBLISHED = {
    "robustnav-pointnav-v1": ((367, 367, 366), 3.48, (1.82, 3.25, 4.96)),
    OBJECTS: ((214, 446, 435), 3.30, (1.43, 3.09, 5.04)),
}
"""Of the published evaluation: episodes that are easy, medium and hard, and the mean distance (m); quartiles
of the distances of the calibration files (m), for objects scaled to that mean (docs/episodes.md)."""


def test_limits_by_hand():
    """Of ten, two are easy, four medium and four hard, in whatever order; equals have equal labels."""
    assert scene_limits(np.array([9.0, 1.0, 8.0, 2.0, 3.0, 3.5, 7.0, 4.0, 3.2, 6.0])) == (2.0, 4.0)
    assert scene_limits(np.full(5, 5.0)) == (5.0, 5.0)
    assert scene_limits(np.array([2.0])) == (2.0, 2.0)
    assert [label_difficulty(d, (2.0, 4.0)) for d in (2.0, 2.1, 4.0, 4.1)] == [
        "easy", "medium", "medium", "hard"
    ]  # fmt: skip


@pytest.mark.parametrize("split", ["val", "test"])
def test_difficulty_is_that_of_the_scene(split):
    """In each apartment of val 24, 48 and 48, by distance (two equals share a label); test has 26 more."""
    by_scene = defaultdict(list)
    for one in load_episodes(OBJECTS, split).episodes:
        by_scene[one.scene_id].append((one.geodesic_distance, LABELS.index(one.difficulty)))
    for scene, found in by_scene.items():
        labels = [label for _, label in sorted(found)]
        assert labels == sorted(labels), scene
        if split == "val":
            assert labels.count(0) == 24 and 47 <= labels.count(2) <= 48, scene
    farthest_easy = [max(far for far, label in found if label == 0) for found in by_scene.values()]
    nearest_medium = [min(far for far, label in found if label == 1) for found in by_scene.values()]
    assert max(farthest_easy) > min(nearest_medium), "limits differ between scenes"


def test_labels_do_not_depend_on_how_many_episodes_are_made():
    scene = load_episodes(OBJECTS, "val").episodes[0].scene_id
    val = [one for one in load_episodes(OBJECTS, "val").episodes if one.scene_id == scene]
    made = make_episodes(OBJECTS, [scene], 2, name="robothor-like-v1", split="val").episodes
    assert made == tuple(val[:2])


def test_points_keep_their_global_limits():
    """Only objects are ranked within scenes: 2.28 and 4.39 m hold for points (spec 3.4)."""
    for one in load_episodes("robustnav-pointnav-v1", "lite").episodes:
        assert one.difficulty == label_difficulty(one.geodesic_distance, (2.28, 4.39))


@pytest.mark.real_data
def test_published_labels_are_quantiles_of_their_scene(real_data):
    """Of 47 episodes a scene 7 to 9 are easy, 19 hard; in no scene do two labels overlap."""
    shares = Counter()
    for file in sorted((real_data / "robustnav/objectnav/calibration").glob("*.json.gz")):
        rows = json.loads(gzip.decompress(file.read_bytes()))
        ranked = sorted((row["shortest_path_length"], LABELS.index(row["difficulty"])) for row in rows)
        labels = [label for _, label in ranked]
        assert labels == sorted(labels)
        shares[tuple(labels.count(k) for k in range(3))] += 1
    assert shares == {(9, 19, 19): 13, (8, 20, 19): 1, (7, 21, 19): 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "evaluated"), [("robustnav-pointnav-v1", 1_100), ("robustnav-objectnav-v1", 1_095)]
)
def test_evaluation_and_calibration_share_out_val(protocol, evaluated):
    """Spec 3.4: disjoint, together the 1,800 episodes of 15 scenes, as many in each scene as divide."""
    val, chosen, others = (
        load_episodes(protocol, split).episodes for split in ("val", "eval", "calibration")
    )
    assert (len(chosen), len(others)) == (evaluated, 1_800 - evaluated)
    assert sorted((*chosen, *others), key=_name) == sorted(val, key=_name)
    counts = [sum(one.scene_id == scene for one in chosen) for scene in {one.scene_id for one in val}]
    assert len(counts) == 15 and max(counts) - min(counts) <= 1
    labels, mean, quartiles = PUBLISHED[protocol]
    found = Counter(one.difficulty for one in chosen)
    assert all(abs(found[name] - count) <= 10 for name, count in zip(LABELS, labels, strict=True))
    assert np.mean([one.geodesic_distance for one in chosen]) == pytest.approx(mean, abs=0.05)
    lengths = [one.geodesic_distance for one in val]
    np.testing.assert_allclose(np.percentile(lengths, [25, 50, 75]), quartiles, atol=0.02)


def _name(episode):
    return episode.scene_id, episode.episode_id
