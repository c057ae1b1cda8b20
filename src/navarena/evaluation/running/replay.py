"""Re-execute the actions of a run and compare every number with its journals.

On the platform that recorded the run (system, machine and versions equal) every number must
be equal; elsewhere whole numbers must be equal and distances within TOLERANCE.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from navarena.core.errors import CheckFailedError, FileError, InputError
from navarena.core.files import translate_damage
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Batch, Benchmark, open_benchmark
from navarena.evaluation.records.journal import (
    GoalsRecord,
    Row,
    TourRecord,
    journal_paths,
    read_journal,
    sort_rows,
)
from navarena.evaluation.records.record import (
    FILE_NAME,
    IMPORTED,
    RunRecord,
    describe_hardware,
    describe_versions,
    read_record,
)
from navarena.evaluation.records.results import require_complete
from navarena.evaluation.records.tour_scores import follows_in_tour, place_in_tour
from navarena.evaluation.records.verification import (
    TOLERANCE,
    Difference,
    compare_files,
    describe_value,
    is_same,
)
from navarena.evaluation.running.rows import TourPlace, describe_legal, find_legal, make_row, pair_rows
from navarena.evaluation.running.spectator import NOBODY, Spectator
from navarena.evaluation.settings import EvaluationSettings
from navarena.metrics.trajectory import Trajectory
from navarena.tasks.task import Actions

SLOTS = 32
_LISTED = 10


@dataclass(frozen=True)
class Replay:
    """Result of a replay.

    Attributes:
        folder: of the run.
        record: its run.json.
        episodes: how many were re-executed.
        exact: whether every float had to be equal (same platform) or close (another one).
        differences: empty when the run holds.
    """

    folder: Path
    record: RunRecord
    episodes: int
    exact: bool
    differences: tuple[Difference, ...]

    @property
    def held(self) -> str:
        """Result of the replay in words."""
        if self.differences:
            return f"{len(self.differences)} differences"
        if self.exact:
            return "every number is equal (the platform that recorded the run)"
        return f"discrete outcomes are equal, floats agree within {TOLERANCE:g} (another platform)"

    def require_equal(self) -> None:
        """Raise CheckFailedError naming the first differences, if there are any."""
        if self.differences:
            listed = "; ".join(str(difference) for difference in self.differences[:_LISTED])
            raise CheckFailedError(
                f"replay of {self.folder} found {len(self.differences)} differences in "
                f"{self.episodes} episodes: {listed}"
            )


def open_recorded_benchmark(record: RunRecord) -> Benchmark:
    """The benchmark that a run was made on.

    Raises CheckFailedError when it has become another one since, and InputError for results that were
    imported.
    """
    if IMPORTED in record.settings:
        raise InputError(
            f"expected a run of our own to execute again, got results that were imported from "
            f"{record.settings['file']}; report on them with --no-drawings"
        )
    with translate_damage(FILE_NAME, "restore it, or evaluate again"):
        settings = EvaluationSettings(**record.settings)  # type: ignore[arg-type]
    benchmark = open_benchmark(settings, needs_agent=False)
    require_same_identity(record, benchmark)
    return benchmark


def require_same_identity(record: RunRecord, benchmark: Benchmark) -> None:
    """Raise CheckFailedError unless `benchmark` is what the run was made on."""
    if record.identity != str(benchmark.identity):
        raise CheckFailedError(
            f"expected the episodes of {record.identity}, got {benchmark.identity}: the protocol or the "
            "episode file has changed since the run was recorded"
        )


def replay_run(
    folder: Path,
    benchmark: Benchmark | None = None,
    on_episode: Callable[[], object] = lambda: None,
    sensors: tuple[str, ...] = (),
    spectator: Spectator = NOBODY,
) -> Replay:
    """Re-execute every episode of the run in `folder`, and compare its files with each other.

    Args:
        folder: of a finished run; it is read, never changed.
        benchmark: what it was made on; opened from run.json when None.
        on_episode: called after each episode.
        sensors: what the spectator sees; nothing is observed where there are none.
        spectator: looks on.

    Raises FileError for missing or damaged files, CheckFailedError for missing or doubled
    rows. Differences are returned, not raised (see Replay.require_equal).
    """
    record = read_record(folder)
    paths = journal_paths(folder)
    if not paths:
        raise FileError(f"{folder} holds no journal; run navarena evaluate first")
    journals = [read_journal(path) for path in paths]
    rows = sort_rows([row for journal in journals for row in journal.rows])
    benchmark = benchmark or open_recorded_benchmark(record)
    require_same_identity(record, benchmark)
    require_complete(rows, record.identity, [episode.episode_id for episode in benchmark.episodes])
    exact = is_same_platform(record)
    differences: list[Difference] = []
    pairs = pair_rows(benchmark, rows)
    episode_of = {row.episode_id: episode for row, episode in pairs}

    def watch(batch: Batch, moved: Mapping[int, Row]) -> None:
        if spectator is not NOBODY:
            episodes = {slot: episode_of[row.episode_id] for slot, row in moved.items()}
            spectator.look(batch, batch.observations, episodes)

    for row, episode, outcome in execute_actions(benchmark, pairs, sensors, watch):
        spectator.note(row)
        again = redo_row(benchmark, row, episode, outcome)
        differences.extend(compare_row(row, again, outcome, exact))
        on_episode()
    differences.extend(compare_files(folder, record, journals, rows, benchmark, exact))
    return Replay(folder, record, len(rows), exact, tuple(differences))


def is_same_platform(record: RunRecord) -> bool:
    """Whether this process must reproduce the run bit for bit."""
    hardware, versions = describe_hardware(), describe_versions()
    here = (str(hardware["system"]), str(hardware["machine"]))
    return record.platform == (*here, *(f"{name} {version}" for name, version in sorted(versions.items())))


@dataclass(frozen=True)
class Outcome:
    """Result of executing a row's actions again.

    Attributes:
        trajectory: up to the end of the episode or of the actions.
        ended: whether the rules ended the episode.
        unused: logged actions that came after the end.
        oracle_steps: of the oracle before the episode: to the last goal, to the start.
    """

    trajectory: Trajectory
    ended: bool
    unused: int
    oracle_steps: tuple[int, int] = (0, 0)


Watch = Callable[[Batch, Mapping[int, Row]], object]
"""Looks at a batch while actions are re-executed; see execute_actions."""


@dataclass
class _Cursor:
    """Progress in the rows of one slot: those of a tour, or a single one."""

    pairs: Sequence[tuple[Row, Episode]]
    place: int = 0
    taken: int = 0
    ended: bool = False
    led: bool = False

    @property
    def row(self) -> Row:
        return self.pairs[self.place][0]

    @property
    def episode(self) -> Episode:
        return self.pairs[self.place][1]

    @property
    def done(self) -> bool:
        """Whether the current episode has come to its end or to that of its actions."""
        return not self.led and (self.ended or self.taken == len(self.row.actions))

    def next_episode(self) -> None:
        """Advance to the next row."""
        self.place, self.taken, self.ended = self.place + 1, 0, False


def execute_actions(
    benchmark: Benchmark,
    pairs: Sequence[tuple[Row, Episode]],
    sensors: tuple[str, ...] = (),
    watch: Watch = lambda batch, rows: None,
    watch_oracle: Watch = lambda batch, rows: None,
) -> Iterator[tuple[Row, Episode, Outcome]]:
    """Re-execute the actions of each (row, episode) and yield the results as the episodes end.

    Rows of a tour whose predecessors are among `pairs` are re-executed after them, oracle phases included;
    any other begins where its row says that it began.

    Args:
        benchmark: what the rows were made on.
        pairs: rows with their episodes.
        sensors: what the batch observes.
        watch: called with the batch and slot -> row after every start and step, for those that moved.
        watch_oracle: called likewise after every step of an oracle, with the row to which it leads.

    Raises CheckFailedError for an action outside the protocol's.
    """
    if not pairs:
        return
    waiting = deque(_group_pairs(pairs))
    slots = min(SLOTS, len(waiting))
    batch = benchmark.setup.make_batch(slots, sensors, None)
    cursors: dict[int, _Cursor] = {}
    while waiting or cursors:
        free = [slot for slot in range(slots) if slot not in cursors][: len(waiting)]
        for slot in free:
            cursors[slot] = _Cursor(waiting.popleft())
        if free:
            batch.start(free, [_start_of(*cursors[slot].pairs[0]) for slot in free])
            watch(batch, {slot: cursors[slot].row for slot in free})
        for slot in [slot for slot, cursor in cursors.items() if cursor.done]:
            cursor = cursors[slot]
            unused = len(cursor.row.actions) - cursor.taken
            steps = batch.oracle_steps(slot)
            yield cursor.row, cursor.episode, Outcome(batch.trajectory(slot), cursor.ended, unused, steps)
            if cursor.place + 1 == len(cursor.pairs):
                del cursors[slot]
            else:
                cursor.next_episode()
                cursor.led = not batch.follow([slot], [cursor.episode])[0]
                if not cursor.led:
                    watch(batch, {slot: cursor.row})
        if any(not cursor.done for cursor in cursors.values()):
            led = [slot for slot, cursor in cursors.items() if cursor.led]
            watch(batch, _step_logged(benchmark, batch, cursors, slots))
            watch_oracle(batch, {slot: cursors[slot].row for slot in led if cursors[slot].led})


def _group_pairs(pairs: Sequence[tuple[Row, Episode]]) -> list[list[tuple[Row, Episode]]]:
    """`pairs` in runs of consecutive episodes of a tour, the others one by one."""
    groups: list[list[tuple[Row, Episode]]] = []
    tours = sorted(
        (pair for pair in pairs if pair[0].tour is not None), key=lambda pair: place_in_tour(pair[0])
    )
    for pair in tours:
        if groups and follows_in_tour(pair[0], groups[-1][-1][0]):
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return [*([pair] for pair in pairs if pair[0].tour is None), *groups]


def _start_of(row: Row, episode: Episode) -> Episode:
    """The episode as it began, for one whose predecessors in its tour are not re-executed."""
    if row.tour is None or not row.tour.position:
        return episode
    x, y, z, yaw = row.tour.start
    return replace(episode, start_position=(x, y, z), start_yaw=yaw)


def _is_legal(action: int | list[float], dtype: np.dtype, benchmark: Benchmark) -> bool:
    """Whether a logged action is legal, whatever its size."""
    try:
        return bool(find_legal(np.array([action], dtype), benchmark)[0])
    except OverflowError:
        return False


def _step_logged(
    benchmark: Benchmark, batch: Batch, cursors: dict[int, _Cursor], slots: int
) -> dict[int, Row]:
    """Take the next logged action in every slot that has one; the slots and rows that moved by it."""
    actions: Actions = benchmark.idle_actions(slots)
    active = np.zeros(slots, bool)
    moved: dict[int, Row] = {}
    for slot, cursor in cursors.items():
        if cursor.done:
            continue
        active[slot] = True
        if cursor.led:
            continue
        action = cursor.row.actions[cursor.taken]
        fits = isinstance(action, list) == benchmark.is_continuous and np.size(action) == actions[slot].size
        if not fits or not _is_legal(action, actions.dtype, benchmark):
            raise CheckFailedError(
                f"episode {cursor.row.episode_id}: expected logged actions to be "
                f"{describe_legal(benchmark)}, got {action} at step {cursor.taken}; the journal was edited"
            )
        actions[slot] = action
        cursor.taken += 1
        moved[slot] = cursor.row
    result = batch.step(actions, active)
    for over in np.flatnonzero(active & (result.terminated | result.truncated)):
        cursors[int(over)].ended = True
    if result.arrived is not None:
        for slot in np.flatnonzero(result.arrived).tolist():
            cursors[slot].led = False
            moved[slot] = cursors[slot].row
    return moved


def redo_row(benchmark: Benchmark, row: Row, episode: Episode, outcome: Outcome) -> Row:
    """The row that the re-executed actions of `row` give; its status and traceback are taken over."""
    place = None
    if row.tour is not None:
        is_last = row.episode_id in benchmark.tour_ends
        place = TourPlace(row.tour.tour_id, row.tour.position, is_last, *outcome.oracle_steps)
    return make_row(benchmark, episode, outcome.trajectory, row.status, row.traceback, place)


def compare_row(row: Row, again: Row, outcome: Outcome, exact: bool) -> list[Difference]:
    """Every number of `row` that is another one in `again`, which redo_row has made of its actions."""
    found = []

    def expect(name: str, logged: object, replayed: object) -> None:
        if not is_same(logged, replayed, exact):
            found.append(Difference(row.episode_id, name, describe_value(logged), describe_value(replayed)))

    expect("scene", row.scene_id, again.scene_id)
    if outcome.unused:
        found.append(
            Difference(
                row.episode_id,
                "number of actions",
                str(len(row.actions)),
                f"the end after {len(row.actions) - outcome.unused}",
            )
        )
    elif outcome.ended != (row.status == "ok"):
        ended = "ended by the rules" if outcome.ended else "not at its end"
        found.append(Difference(row.episode_id, "status", row.status, ended))
    expect("steps", row.steps, again.steps)
    expect("start_distance", row.start_distance, again.start_distance)
    for name in sorted({*row.metrics, *again.metrics}):
        expect(name, row.metrics.get(name, "missing"), again.metrics.get(name, "missing"))
    for name in sorted({*row.traits, *again.traits}):
        expect(name, row.traits.get(name, "missing"), again.traits.get(name, "missing"))
    for name, logged, replayed in _paired_goals(row.goals, again.goals):
        expect(name, logged, replayed)
    if row.tour is not None and again.tour is not None:
        for name in TourRecord.__struct_fields__:
            expect(f"tour {name}", getattr(row.tour, name), getattr(again.tour, name))
    return found


def _paired_goals(
    logged: GoalsRecord | None, replayed: GoalsRecord | None
) -> Iterator[tuple[str, object, object]]:
    """(name, logged, replayed) of everything that two records of several goals hold."""
    if logged is None or replayed is None:
        yield "goals", logged, replayed
        return
    for name in GoalsRecord.__struct_fields__:
        old, new = getattr(logged, name), getattr(replayed, name)
        yield f"number of {name}", len(old), len(new)
        yield from ((f"{name} {place}", *pair) for place, pair in enumerate(zip(old, new), start=1))
