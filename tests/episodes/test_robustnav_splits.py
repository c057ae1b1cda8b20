"""What RobustNav evaluates, and what it calibrates on."""

import pytest

from navarena.episodes import load_episodes


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


def _name(episode):
    return episode.scene_id, episode.episode_id
