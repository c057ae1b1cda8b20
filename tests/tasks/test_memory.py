"""Resets do not collect memory: 10,000 of them over 50 scenes."""

import os
from pathlib import Path

import numpy as np
import pytest

from navarena.episodes.catalog import load_episodes
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task

RESETS, SCENES, SLOTS = 10_000, 50, 4
ALLOWED_MIB = 4.0


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of Linux")
def test_ten_thousand_resets_over_fifty_scenes() -> None:
    """Of the resets after the first tenth, in which every scene is opened, none keeps anything."""
    by_scene: dict[str, list] = {}
    for episode in load_episodes("pointnav-v1", "val").episodes:
        by_scene.setdefault(episode.scene_id, []).append(episode)
    scenes = list(by_scene)[:SCENES]
    batch = NavigationBatch(get_task("pointnav-v1"), SLOTS, sensors=("pointgoal_with_gps_compass",))
    settled = 0.0
    for first in range(0, RESETS, SLOTS):
        turns = [divmod(first + slot, SCENES) for slot in range(SLOTS)]
        episodes = [by_scene[scenes[k]][turn % len(by_scene[scenes[k]])] for turn, k in turns]
        batch.start(range(SLOTS), episodes)
        batch.step(np.ones(SLOTS, np.int64))
        assert batch.observations["pointgoal_with_gps_compass"].shape == (SLOTS, 2)
        if first == RESETS // 10:
            settled = resident_mib()
    assert resident_mib() - settled < ALLOWED_MIB
