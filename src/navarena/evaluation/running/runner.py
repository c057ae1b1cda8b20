"""Evaluate an agent: each episode exactly once, journaled, resumable, summed up at the end."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from msgspec.structs import replace as replace_fields

from navarena.agents.agent import Agent
from navarena.core.display import NotebookDisplay, describe_fields
from navarena.core.errors import (
    AgentUnreachableError,
    FileError,
    InputError,
    NavarenaError,
    ServiceUnreachableError,
)
from navarena.core.files import raise_storage_error
from navarena.core.packages import naming_packages
from navarena.core.threads import thread_count
from navarena.evaluation.benchmark import Benchmark, absolute_paths, open_benchmark
from navarena.evaluation.memory_groups import MemoryGroup, make_groups, shuffle_groups
from navarena.evaluation.records.journal import (
    Row,
    journal_path,
    journal_paths,
    list_noticed,
    open_journal,
    read_rows,
    repair_journal,
)
from navarena.evaluation.records.lock import FolderLock
from navarena.evaluation.records.record import (
    FILE_NAME,
    RunRecord,
    begin_record,
    hash_record,
    make_record,
    note_inputs,
    read_record,
    require_same_run,
    write_record,
)
from navarena.evaluation.records.results import (
    ANALYSES_FOLDER,
    SUMMARY_NAME,
    TABLE_NAME,
    Summary,
    require_complete,
    summarize,
    write_results,
)
from navarena.evaluation.records.times import TABLE_NAME as TIMES_NAME
from navarena.evaluation.records.times import (
    open_times,
    read_times,
    sum_costs,
    sum_times,
    times_path,
    times_paths,
    write_times_table,
)
from navarena.evaluation.records.view_point_hash import hash_view_points
from navarena.evaluation.running.cluster import ClusterPool
from navarena.evaluation.running.episode_loop import EpisodeLoop
from navarena.evaluation.running.lost_agents import AGAIN, note_lost, read_lost
from navarena.evaluation.running.lost_agents import FILE_NAME as LOST_NAME
from navarena.evaluation.running.shares import PROCESS_ENDED, choose_workers, count_slots
from navarena.evaluation.running.spectator import NOBODY, Spectator
from navarena.evaluation.running.workers import WorkerPool
from navarena.evaluation.settings import EvaluationSettings

REPORT_NAME = "report.html"
FAILURES_NAME = "failures.json"


@dataclass(frozen=True)
class Evaluation(NotebookDisplay):
    """A finished run.

    Attributes:
        folder: where everything about it lies.
        benchmark: what was evaluated.
        record: its run.json.
        rows: one per episode, sorted by scene and episode.
        summary: its summary.json.
        resumed: how many episodes an earlier command had finished.
        notices: what people should know, such as a worker that died.
        times: "simulator", "agent" and "output" -> seconds of all episodes together, as far as known.
        costs: what else the agent spent in all episodes together, such as tokens of a language model.
    """

    folder: Path
    benchmark: Benchmark
    record: RunRecord
    rows: tuple[Row, ...]
    summary: Summary
    resumed: int
    notices: tuple[str, ...]
    times: dict[str, float]
    costs: dict[str, float]

    display_kind = "run"

    def __repr__(self) -> str:
        return describe_fields(
            "Evaluation",
            agent=self.record.agent,
            identity=self.record.identity,
            episodes=len(self.rows),
        )

    @property
    def is_broken(self) -> bool:
        """Whether the agent broke every episode, so that the numbers say nothing of it."""
        return all(row.failed for row in self.rows)


class Run:
    """A run with its folder prepared and locked: finished and remaining episodes.

    Attributes:
        folder: of the run.
        benchmark: what is evaluated.
        remaining: episodes that are not journaled yet, in evaluation order.
        resumed: how many were finished before.
        notices: what was repaired.
    """

    def __init__(
        self,
        settings: EvaluationSettings,
        benchmark: Benchmark,
        folder: Path,
        record: RunRecord,
        was_abandoned: bool = False,
    ) -> None:
        self.folder = folder
        self._settings, self.benchmark, self._record = settings, benchmark, record
        finished: set[str] = set()
        self._fatal: dict[str, str] = {}
        self.notices: list[str] = []
        for path in journal_paths(folder):
            journal = repair_journal(path)
            if journal.rows and journal.run != hash_record(record):
                raise FileError(
                    f"expected {path} to belong to the {FILE_NAME} beside it, got one of another hash: "
                    "it was edited, or files of two runs were mixed; restore it, or start over with --fresh"
                )
            self._mark_privileged(list_noticed(journal.rows))  # a kill may have come before run.json
            finished.update(row.episode_id for row in journal.rows)
            problems = {
                row.episode_id: row.traceback or "" for row in journal.rows if row.status == "crashed"
            }
            self._fatal |= {name: text for name, text in problems.items() if text.startswith(PROCESS_ENDED)}
            if journal.torn:
                self.notices.append(
                    f"{path}: dropped an incomplete last line ({journal.torn} bytes); its episode runs again"
                )
        self._finished = finished
        lost = read_lost(folder)
        self._lost = frozenset(name for name, times in lost.items() if times < AGAIN)
        self._fatal |= {
            name: f"{PROCESS_ENDED} twice in this episode: {settings.agent} did not answer any more; its "
            "actions are not known"
            for name, times in lost.items()
            if times >= AGAIN
        }
        self.remaining = [episode for episode in benchmark.episodes if episode.episode_id not in finished]
        self.resumed = len(benchmark.episodes) - len(self.remaining)
        is_movable = isinstance(settings.agent, str) and settings.ray is None and not benchmark.is_bound
        self._is_supervised = was_abandoned and is_movable
        if was_abandoned and self.remaining:
            self.notices.append(
                "the process of the last command was killed, or ended by its agent, without a word"
                + ("; what is left runs in a worker process" if self._is_supervised else "")
            )

    def finish(
        self, on_row: Callable[[], object] = lambda: None, spectator: Spectator | None = None
    ) -> Evaluation:
        """Run what remains, check that nothing is missing or doubled, and write the results.

        Args:
            on_row: called after each episode is in its journal.
            spectator: looks on; the episodes must run in this process, else InputError is raised.

        Raises CheckFailedError when rows are missing or doubled at the end.
        """
        if self.remaining:
            self.notices.extend(self._execute(on_row, spectator))
        rows = read_rows(self.folder)
        identity = str(self.benchmark.identity)
        require_complete(rows, identity, [episode.episode_id for episode in self.benchmark.episodes])
        summary = summarize(
            rows, identity, self._record.agent, self.benchmark.metrics, self.benchmark.tour_scoring
        )
        if self.remaining or self._record.view_points is None:
            self._record = self._finish_record(rows)
            write_record(self.folder, self._record)
        write_results(self.folder, rows, summary)
        times = read_times(self.folder)
        write_times_table(self.folder / TIMES_NAME, [row.episode_id for row in rows], times)
        return Evaluation(
            self.folder,
            self.benchmark,
            self._record,
            tuple(rows),
            summary,
            self.resumed,
            tuple(self.notices),
            sum_times(times),
            sum_costs(times),
        )

    def _finish_record(self, rows: Sequence[Row]) -> RunRecord:
        """Complete run.json at the end of a run: view points, and inputs noticed in rows."""
        begun = begin_record(self._record)
        return replace_fields(
            note_inputs(begun, list_noticed(rows)), view_points=hash_view_points(self.benchmark)
        )

    def _execute(self, on_row: Callable[[], object], spectator: Spectator | None) -> list[str]:
        settings = self._settings
        groups = make_groups(self.benchmark.episodes, self._finished, settings.rules.forget, self._fatal)
        if settings.shuffle:
            groups = shuffle_groups(groups, settings.seed)
        workers = min(settings.workers or 1, len(groups))
        slots = count_slots(len(groups), workers, settings.batch_size)
        alone = [one for one in groups if not self._lost.isdisjoint(left.episode_id for left in one.left)]
        spread = settings.ray is not None or workers > 1 or self._is_supervised
        if spread and spectator is not None:
            raise InputError(
                "expected episodes in this process to look on, got worker processes (--workers, --ray, or "
                "what is left of a run that was killed); leave out --watch"
            )
        looks_on = spectator or NOBODY
        if alone:  # each with nothing beside it: it may have ended the agent
            self._run_here([[group] for group in alone], 1, on_row, looks_on)
            groups = [group for group in groups if group not in alone]
        if spread:
            kind = WorkerPool if settings.ray is None else partial(ClusterPool, settings.ray)
            pool = kind(self.benchmark, self.folder, workers, slots, settings.rules)
            try:
                return pool.run(groups, on_row, self._mark_privileged)
            except ServiceUnreachableError:
                raise
            except AgentUnreachableError:
                note_lost(self.folder, pool.running_at_end)
                raise
        self._run_here([groups], slots, on_row, looks_on)
        return []

    def _run_here(
        self,
        rounds: list[list[MemoryGroup]],
        slots: int,
        on_row: Callable[[], object],
        spectator: Spectator,
    ) -> None:
        """Run groups in this process, one round after the other, `slots` of them side by side."""
        running: list[str] = []

        def begin(ids: list[str]) -> None:
            running[:] = ids

        with (
            open_journal(journal_path(self.folder, 0)) as journal,
            open_times(times_path(self.folder, 0)) as times,
        ):
            loop = EpisodeLoop(
                self.benchmark,
                slots,
                self._settings.rules,
                journal,
                lambda row: on_row(),
                on_times=times.append,
                on_privileged=self._mark_privileged,
                on_start=begin,
                spectator=spectator,
            )
            try:
                for groups in rounds:
                    loop.run(iter(groups))
            except ServiceUnreachableError:
                raise
            except AgentUnreachableError:
                finished = {row.episode_id for row in read_rows(self.folder)}
                note_lost(self.folder, set(running) - finished)
                raise

    def _mark_privileged(self, inputs: tuple[str, ...]) -> None:
        """Record in run.json that the agent uses `inputs`, whatever it declared."""
        record = note_inputs(self._record, inputs)
        if record != self._record:
            self._record = record
            write_record(self.folder, record)


@contextlib.contextmanager
def open_run(
    settings: EvaluationSettings,
    benchmark: Benchmark | None = None,
    command: tuple[str, ...] | None = None,
) -> Iterator[Run]:
    """Prepare the folder of a run: write run.json first, or check it and resume.

    A run that an error of ours stops before its first episode is finished leaves nothing behind.

    Args:
        settings: what to evaluate, and how.
        benchmark: what `settings` name; opened from them when None.
        command: for run.json; sys.argv when None.

    Raises InputError when the folder holds another run or is in use, FileError when it is
    damaged, StorageError when it cannot be written.
    """
    settings = absolute_paths(settings)
    benchmark = benchmark or open_benchmark(settings)
    if settings.workers is None:
        workers = choose_workers(benchmark.declaration, len(benchmark.episodes), thread_count())
        settings = replace(settings, workers=1 if settings.ray else workers)
    if isinstance(settings.agent, Agent) and (settings.workers != 1 or settings.ray):
        raise InputError(
            f"expected one process for an agent that is an object, got {settings.workers} workers; give "
            "its class"
        )
    if not benchmark.episodes:
        raise InputError(f"expected at least one episode in {benchmark.identity}, got none")
    folder = settings.folder(benchmark.identity)
    with FolderLock(folder) as lock:
        if settings.fresh:
            clear_run(folder)
        record = make_record(settings, benchmark, command)
        if (folder / FILE_NAME).exists():
            found = read_record(folder)
            require_same_run(folder, found, record)
            record = found
        elif journal_paths(folder):
            raise InputError(
                f"{folder} holds journals without a {FILE_NAME}; choose another --out, or throw them away "
                "with --fresh"
            )
        else:
            write_record(folder, record)
        try:
            with naming_packages():
                yield Run(settings, benchmark, folder, record, lock.was_abandoned)
        except NavarenaError:
            if not any(path.stat().st_size for path in journal_paths(folder)):
                clear_run(folder, keep=(LOST_NAME,))
                lock.release_folder()
            raise


def clear_run(folder: Path, keep: tuple[str, ...] = ()) -> None:
    """Delete the files of a run from `folder`, but not those in `keep`; raises StorageError."""
    names = (FILE_NAME, LOST_NAME, SUMMARY_NAME, TABLE_NAME, TIMES_NAME, FAILURES_NAME, REPORT_NAME)
    derived = sorted((folder / ANALYSES_FOLDER).glob("*.json"))
    written = [
        *journal_paths(folder),
        *times_paths(folder),
        *derived,
        *(folder / name for name in names if name not in keep),
    ]
    for path in written:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise_storage_error(path, error)


def evaluate(
    settings: EvaluationSettings,
    benchmark: Benchmark | None = None,
    on_row: Callable[[], object] = lambda: None,
) -> Evaluation:
    """Evaluate an agent and return the finished run; the same settings resume and repeat it.

    Args:
        settings: what to evaluate, and how.
        benchmark: what `settings` name; opened from them when None.
        on_row: called after each finished episode.
    """
    with open_run(settings, benchmark) as run:
        return run.finish(on_row)
