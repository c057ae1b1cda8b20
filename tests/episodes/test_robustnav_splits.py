"""What RobustNav evaluates, what it calibrates on, and what it calls difficult."""

from dataclasses import replace

import pytest

from navarena.episodes import load_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.goals import ObjectGoal
from navarena.episodes.robustnav import label_within_scene


def at_distance(row, distance):
    return Episode(str(row), "scene", (0.0, 0.0, 0.0), 0.0, ObjectGoal("Mug"), distance)


def test_labels_by_hand():
    """Of ten: two easy, four medium, four hard, in whatever order; of equals the later one is farther."""
    distances = [9.0, 1.0, 8.0, 2.0, 3.0, 3.0, 7.0, 4.0, 3.0, 6.0]
    told = {one.geodesic_distance: one.difficulty for one in label_within_scene(_all(distances))}
    assert told == {
        1.0: "easy", 2.0: "easy", 3.0: "medium", 4.0: "medium", 6.0: "hard", 7.0: "hard", 8.0: "hard",
        9.0: "hard",
    }  # fmt: skip
    equal = label_within_scene(_all([5.0] * 5))
    assert [one.difficulty for one in equal] == ["easy", "medium", "medium", "hard", "hard"]
    assert [one.episode_id for one in equal] == list("01234")


def test_nothing_but_the_label_changes():
    before = _all([2.0, 1.0])
    after = label_within_scene(before)
    assert [replace(one, difficulty=was.difficulty) for one, was in zip(after, before)] == before


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


def _all(distances):
    return [at_distance(row, distance) for row, distance in enumerate(distances)]


def _name(episode):
    return episode.scene_id, episode.episode_id
