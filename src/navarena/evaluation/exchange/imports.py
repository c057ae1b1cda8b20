"""Run folders of results that other code wrote; see `official` for the layouts."""

import datetime
import sys
from pathlib import Path

import numpy as np

from navarena.core.errors import CheckFailedError, InputError, require_name
from navarena.core.files import write_atomic
from navarena.core.geometry import unity_from_world
from navarena.episodes.catalog import load_community_file
from navarena.evaluation.exchange.official import (
    OfficialResults,
    ShortestPath,
    read_multi_on,
    read_robothor,
)
from navarena.evaluation.records.journal import encode_rows, journal_path, sort_rows
from navarena.evaluation.records.lock import FolderLock
from navarena.evaluation.records.record import (
    FILE_NAME,
    IMPORTED,
    RunRecord,
    describe_hardware,
    describe_versions,
    hash_record,
    write_record,
)
from navarena.evaluation.records.results import require_complete, summarize, write_results
from navarena.tasks.catalog import get_task

ROBOTHOR, MULTION = "robothor2021", "multion"
LAYOUTS = (ROBOTHOR, MULTION)
ROBOTHOR_PROTOCOL = "objectnav-robothor2021-v1"


def import_results(
    layout: str,
    file: Path,
    folder: Path,
    agent: str,
    split: str,
    episodes: Path | None = None,
) -> OfficialResults:
    """Write the results in `file` as the finished run in `folder`.

    Args:
        layout: of LAYOUTS.
        file: the results.
        folder: of the run; new, or empty.
        agent: its name in tables.
        split: of the results.
        episodes: the episode file (or folder of them) of RoboTHOR's split, of which each episode must have
            a result once; None for MultiON, whose raw metrics hold what is needed.

    Raises UnknownNameError for another layout, what its reader raises, InputError for a folder that holds a
    run, CheckFailedError for missing episodes, and StorageError.
    """
    require_name("layout of results", layout, LAYOUTS)
    if layout == ROBOTHOR:
        if episodes is None:
            raise InputError(
                "expected --episodes FILE for results of RoboTHOR: SPL needs the shortest paths that it holds"
            )
        paths, dataset = read_shortest_paths(episodes)
        results = read_robothor(file, split, get_task(ROBOTHOR_PROTOCOL).actions, paths, dataset)
        expected = list(paths)
    else:
        if episodes is not None:
            raise InputError("expected no --episodes for MultiON, whose raw metrics hold their own lengths")
        results = read_multi_on(file, split, "multion")
        expected = [row.episode_id for row in results.rows]
    write_run(results, folder, agent, split, layout, file, expected)
    return results


def read_shortest_paths(path: Path) -> tuple[dict[str, ShortestPath], str]:
    """(episode id -> its shortest path, name of the dataset) of RoboTHOR's episode files of 2021.

    Raises FileError for a bad file, and InputError for files without shortest paths, as those of the test
    split are.
    """
    dataset = load_community_file(path, ROBOTHOR_PROTOCOL)
    paths = {}
    for episode in dataset.episodes:
        if episode.geodesic_distance is None:
            raise InputError(
                f"expected shortest paths in {path}, got none in {episode.episode_id!r}: those of the test "
                "split are hidden, so that its SPL cannot be computed"
            )
        x, _, z = unity_from_world(np.array(episode.start_position)).tolist()
        paths[episode.episode_id] = ShortestPath(episode.scene_id, episode.geodesic_distance, (x, z))
    return paths, dataset.name


def write_run(
    results: OfficialResults,
    folder: Path,
    agent: str,
    split: str,
    layout: str,
    file: Path,
    episode_ids: list[str],
) -> None:
    """The run folder of `results`, each of `episode_ids` once; raises as import_results does."""
    rows = sort_rows(results.rows)
    identity = str(results.identity)
    # ids of MultiON are unique within their scenes only
    unique = len({row.episode_id for row in rows}) == len(rows)
    if unique:
        require_complete(rows, identity, episode_ids)
    elif len({(row.scene_id, row.episode_id) for row in rows}) < len(rows):
        raise CheckFailedError(f"expected every episode once in {file}, got some twice")
    with FolderLock(folder):
        if (folder / FILE_NAME).exists():
            raise InputError(f"{folder} holds a run; choose another --out")
        record = RunRecord(
            identity=identity,
            settings={
                "protocol": results.identity.protocol,
                "agent": agent,
                "split": split,
                IMPORTED: layout,
                "file": str(file.resolve()),
            },
            privileged=False,
            episodes=len(rows),
            actions=results.actions,
            metrics=results.metrics,
            seeds={},
            versions=describe_versions(),
            hardware=describe_hardware(),
            execution={},
            command=tuple(sys.argv),
            started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        write_atomic(journal_path(folder, 0), encode_rows(rows, hash_record(record)))
        write_results(folder, rows, summarize(rows, identity, agent, results.metrics))
        write_record(folder, record)
