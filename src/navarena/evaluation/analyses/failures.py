"""Failure classes of a finished run: its failed episodes are re-executed with the instance sensor."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from navarena.core.errors import InputError
from navarena.core.files import read_json, unless_read_only, write_atomic
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import Row, hash_rows, read_rows
from navarena.evaluation.records.record import RunRecord, read_record
from navarena.evaluation.records.results import require_complete, summarize
from navarena.evaluation.records.times import read_times, sum_costs, sum_times
from navarena.evaluation.records.traits import MODALITY, POINT
from navarena.evaluation.running.replay import execute_actions, open_recorded_benchmark
from navarena.evaluation.running.rows import pair_rows
from navarena.evaluation.running.runner import FAILURES_NAME, Evaluation
from navarena.metrics.failures import FailureClass, classify_failure
from navarena.tasks.batch import NavigationBatch

SEEN_SHARE = 5e-4
"""Share of an image that must show a goal: 33 pixels of 256 x 256, 154 of 640 x 480."""


@dataclass(frozen=True)
class Failures:
    """Failure classes of the episodes of a run.

    Attributes:
        record: its run.json.
        episodes: how many the run has.
        classes: episode id -> class, of every episode that failed.
    """

    record: RunRecord
    episodes: int
    classes: dict[str, FailureClass]

    def count(self) -> dict[FailureClass, int]:
        """Class -> how many, most frequent first."""
        found = list(self.classes.values())
        return dict(sorted(((one, found.count(one)) for one in set(found)), key=lambda pair: -pair[1]))


class _Watcher:
    """Notes which goals the images of a batch show, pose by pose."""

    def __init__(self) -> None:
        self.seen: dict[str, list[list[bool]]] = {}

    def __call__(self, batch: object, rows: Mapping[int, Row]) -> None:
        images = None
        for slot, row in rows.items():
            notes = self.seen.setdefault(row.episode_id, [])
            if not isinstance(batch, NavigationBatch):  # on navigation graphs no image shows the goal
                notes.append([])
                continue
            goals = batch.task.goal_ids(batch.state, slot)
            if not any(goals):
                notes.append([])
                continue
            images = batch.observations["instance"] if images is None else images
            least = SEEN_SHARE * images[slot].size
            notes.append([int(np.isin(images[slot], list(ids)).sum()) >= least for ids in goals])


def classify_run(
    folder: Path, benchmark: Benchmark | None = None, on_episode: Callable[[], object] = lambda: None
) -> Failures:
    """Re-execute the failed episodes of the run in `folder` and classify each failure.

    The result is written into the folder as failures.json, too, if it can be written; see classify_rows.

    Args:
        folder: of a finished run.
        benchmark: what it was made on; opened from run.json when None.
        on_episode: called after each episode.

    Raises FileError for missing or damaged files, CheckFailedError for an unfinished run or one whose actions
    no longer run, and InputError for runs without scores.
    """
    record = read_record(folder)
    rows = read_rows(folder)
    if "success" not in record.metrics:
        raise InputError(f"expected a run that was scored, got {record.identity}, whose goals are hidden")
    benchmark = benchmark or open_recorded_benchmark(record)
    require_complete(rows, record.identity, [one.episode_id for one in benchmark.episodes])
    classes = classify_rows(benchmark, [row for row in rows if row.metrics["success"] != 1.0], on_episode)
    kept = _Kept(journals=hash_rows(record, rows), classes=dict(sorted(classes.items())))
    with unless_read_only():
        write_atomic(folder / FAILURES_NAME, msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return Failures(record, len(rows), classes)


def classify_rows(
    benchmark: Benchmark, rows: Sequence[Row], on_episode: Callable[[], object] = lambda: None
) -> dict[str, FailureClass]:
    """Episode id -> class of each of `rows`, which are re-executed; those that did not fail have none.

    Images are those of the body's first camera without corruptions.

    Args:
        benchmark: what the rows were made on.
        rows: with the metric "success".
        on_episode: called after each episode.

    Raises CheckFailedError for actions that no longer run.
    """
    failed = pair_rows(benchmark, rows)
    # scenes without labels can be walked in, but not seen by their objects: points need no image
    is_visible = any(row.traits.get(MODALITY) != POINT for row, _ in failed)
    watcher = _Watcher()
    classes = {}
    for row, _, outcome in execute_actions(benchmark, failed, ("instance",) if is_visible else (), watcher):
        seen = np.array(watcher.seen.pop(row.episode_id), bool).reshape(
            len(outcome.trajectory.actions) + 1, -1
        )
        found = classify_failure(outcome.trajectory, seen, row.failed)
        if found is not None:
            classes[row.episode_id] = found
        on_episode()
    return classes


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The content of failures.json: the classes, and the hash of the rows that they are of."""

    journals: str = ""
    classes: dict[str, FailureClass] = {}


def read_failures(folder: Path, record: RunRecord, rows: Sequence[Row]) -> dict[str, FailureClass] | None:
    """Episode id -> class as `classify_run` wrote them into `folder`; None when it has not, or of other rows.

    Raises FileError for a damaged file.
    """
    path = folder / FAILURES_NAME
    if not path.exists():
        return None
    remedy = f"make it again with: navarena failures {folder}"
    kept: _Kept = read_json(path, "failure classes", _Kept, remedy)
    return kept.classes if kept.journals == hash_rows(record, rows) else None


def load_evaluation(folder: Path, benchmark: Benchmark | None = None) -> Evaluation:
    """A finished run from its folder, to report on it again; nothing is run.

    Raises FileError for missing or damaged files, CheckFailedError for an unfinished run.
    """
    record, rows = read_record(folder), read_rows(folder)
    benchmark = benchmark or open_recorded_benchmark(record)
    require_complete(rows, record.identity, [one.episode_id for one in benchmark.episodes])
    summary = summarize(rows, record.identity, record.agent, record.metrics, benchmark.tour_scoring)
    times = read_times(folder)
    return Evaluation(
        folder,
        benchmark,
        record,
        tuple(rows),
        summary,
        len(rows),
        (),
        sum_times(times),
        sum_costs(times),
    )
