"""Neither resets nor steps with images collect memory, descriptors or threads.

Run this file for as many as one likes: `python tests/tasks/test_memory.py RESETS STEPS`.
"""

import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from navarena.episodes.catalog import load_episodes
from navarena.episodes.episode import Episode
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task

RESETS, SCENES, SLOTS = 10_000, 50, 4
IMAGE_STEPS, IMAGE_SCENES, IMAGE_SLOTS = 16_000, 4, 16
ALLOWED_MIB = 4.0
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc of Linux"),
]


@dataclass(frozen=True)
class Usage:
    """What this process holds."""

    mib: float
    descriptors: int
    threads: int


def measure() -> Usage:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    threads = max(threading.active_count(), len(os.listdir("/proc/self/task")))
    return Usage(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(os.listdir("/proc/self/fd")), threads)


def by_scene(count: int) -> list[list[Episode]]:
    """The episodes of `pointnav-v1` in each of its first `count` houses of `val`."""
    found: dict[str, list[Episode]] = {}
    for episode in load_episodes("pointnav-v1", "val").episodes:
        found.setdefault(episode.scene_id, []).append(episode)
    return list(found.values())[:count]


def reset_often(count: int) -> tuple[Usage, Usage]:
    """Reset to another scene `count` times; what is held after a tenth, when all are open, and at the end."""
    scenes = by_scene(SCENES)
    batch = NavigationBatch(get_task("pointnav-v1"), SLOTS, sensors=("pointgoal_with_gps_compass",))
    settled = measure()
    for first in range(0, count, SLOTS):
        turns = [divmod(first + slot, SCENES) for slot in range(SLOTS)]
        batch.start(range(SLOTS), [scenes[k][turn % len(scenes[k])] for turn, k in turns])
        batch.step(np.ones(SLOTS, np.int64))
        assert batch.observations["pointgoal_with_gps_compass"].shape == (SLOTS, 2)
        if first == count // 10 // SLOTS * SLOTS:
            settled = measure()
    return settled, measure()


def step_often(count: int) -> tuple[Usage, Usage]:
    """Take `count` steps with colours and depth, at random; what is held after a tenth, and at the end."""
    scenes, draws = by_scene(IMAGE_SCENES), np.random.default_rng(0)
    task = get_task("pointnav-v1")
    batch = NavigationBatch(task, IMAGE_SLOTS, sensors=("rgb", "depth"))
    settled, ended, total = measure(), np.ones(IMAGE_SLOTS, bool), 0
    for step in range(count // IMAGE_SLOTS):
        for slot in np.flatnonzero(ended).tolist():
            scene = scenes[slot % IMAGE_SCENES]
            batch.start([slot], [scene[int(draws.integers(len(scene)))]])
        result = batch.step(draws.choice(len(task.actions), IMAGE_SLOTS, p=[0.01, 0.33, 0.33, 0.33]))
        ended = result.terminated | result.truncated
        total += int(batch.observations["rgb"].any(axis=(1, 2, 3)).sum())
        assert batch.observations["depth"].shape[0] == IMAGE_SLOTS
        if step == count // IMAGE_SLOTS // 10:
            settled = measure()
    assert total > 0.99 * count, "hardly any image is black"
    return settled, measure()


def require_no_growth(settled: Usage, end: Usage) -> None:
    assert end.mib - settled.mib < ALLOWED_MIB
    assert (end.descriptors, end.threads) == (settled.descriptors, settled.threads)


@pytest.mark.turns(6)
def test_ten_thousand_resets_over_fifty_scenes() -> None:
    """Of the resets after the first tenth, in which every scene is opened, none keeps anything."""
    require_no_growth(*reset_often(RESETS))


@pytest.mark.turns(6)
def test_steps_with_colours_and_depth_in_sixteen_slots() -> None:
    require_no_growth(*step_often(IMAGE_STEPS))


if __name__ == "__main__":
    for what, usage in (
        ("resets", reset_often(int(sys.argv[1]))),
        ("RGB-D steps", step_often(int(sys.argv[2]))),
    ):
        print(f"{what}: a tenth {usage[0]}, at the end {usage[1]}", flush=True)
