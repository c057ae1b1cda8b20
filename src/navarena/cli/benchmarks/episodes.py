"""Benchmark of episode files: opening a large file, and reading all of its episodes."""

import tempfile
import time
from pathlib import Path

from navarena.cli.benchmarks.measurement import Measurement, median_seconds
from navarena.episodes.episode import Episode
from navarena.episodes.exchange import make_document, open_episode_file, write_document
from navarena.episodes.goals import MultiGoal, ObjectInstance
from navarena.episodes.statistics import compute_statistics

OPEN_TARGET_S = 5.0
"""For a file of 280 MB; the project asks for seconds."""

SCENES = 60
FULL_EPISODES = 400_000
"""280 MB of JSON."""

QUICK_EPISODES = 30_000


def measure(quick: bool) -> list[Measurement]:
    """Open one JSON file of MultiON episodes in many scenes, read one scene of it, read all.

    Args:
        quick: a file of 21 MB in the place of one of 280 MB; the target is that of the large one.
    """
    count = QUICK_EPISODES if quick else FULL_EPISODES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.json"
        episodes = [_make_episode(index) for index in range(count)]
        write_document(make_document("multion", episodes), path)
        del episodes
        size = f"{path.stat().st_size / 1e6:.0f} MB, {count} episodes, {SCENES} scenes"

        def open_one_scene() -> int:
            file = open_episode_file(path)
            return len(file.of_scene(file.scene_names[0]))

        opening = median_seconds(open_one_scene, 3, time.thread_time)
        file = open_episode_file(path)
        began = time.thread_time()
        compute_statistics(file.episodes)
        reading = time.thread_time() - began
    return [
        Measurement("open a file and read one scene", opening, "s", OPEN_TARGET_S, size),
        Measurement("read and measure all episodes", count / reading, "episodes/s", None, size),
    ]


def _make_episode(index: int) -> Episode:
    """An episode with numbers as long as those of published files."""
    scene, x = f"S{index % SCENES:02d}", (index % 997) / 31
    goals = tuple(
        ObjectInstance(str(k), f"cylinder_{k}", (x + k / 7, 0.123456, -x - k / 3)) for k in range(3)
    )
    return Episode(
        str(index), f"mp3d/{scene}/{scene}.glb", (x, 0.123456, -x), x % 3, MultiGoal(goals), 10 + x
    )
