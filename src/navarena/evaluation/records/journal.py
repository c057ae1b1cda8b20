"""The journal: one finished episode per line, on the disk before the next one begins.

    DIR/journal-<worker>.jsonl      {"journal": "navarena-journal-v1", "run": hash of run.json}
                                    {"chain": ..., "episode_id": ..., "actions": [...], "metrics": {...}, ...}
                                    ...

Everything else in a run's folder derives from the journals. A line that a crash cut short
is dropped when the run resumes; damage anywhere else is an error. Infinite numbers are
written as null (JSON knows no infinity, and NaN never gets here).

Each file is a hash chain of its own: `chain` is a hash over that of the line before (in the first row, that
of run.json) and the rest of the line, so that a line that was edited, taken out, put in or moved is found by
replay. Whoever edits a line can compute the chain anew; that is not found.
"""

import errno
import gc
import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from navarena.core.errors import FileError, StorageError
from navarena.core.files import DAMAGE, describe_damage, raise_storage_error
from navarena.evaluation.records.lock import require_lock
from navarena.evaluation.records.record import RunRecord, hash_record, hash_run

Status = Literal["ok", "step_limit", "crashed", "timed_out", "illegal_action"]
"""How an episode ended: by the rules (STOP or their step limit), by the step limit of the evaluation, by an
exception of the agent, by its time limit, or by an action outside the action space."""

BROKEN: tuple[Status, ...] = ("crashed", "timed_out", "illegal_action")
"""The statuses that are the agent's fault; they count as failures."""


def is_broken(status: Status) -> bool:
    """Whether an episode ended by the agent's fault."""
    return status in BROKEN


class GoalsRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Record of an episode with several goals in order, beside its metrics.

    Attributes:
        legs: metres, geodesic: start to first goal, first to second, ...; None without a path.
        found_after: for each goal found, the number of actions taken until then; None where results from
            elsewhere do not hold.
        walked: for each goal found, metres walked until then.
    """

    legs: list[float | None]
    found_after: list[int | None]
    walked: list[float]


class TourRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Record of an episode of a tour, beside its metrics; the numbers of tours follow from these.

    Attributes:
        tour_id: of the tour.
        position: of the episode in it, from 0.
        oracle_goal, oracle_start: steps of the oracle before the episode: to the last goal, to the start.
        start: x, y, z (metres, world frame) and yaw (radians) where the oracle left the body.
        length, reference_length: metres walked, and along the described path; None where they are infinite.
        reference_points: of the described path.
        dtw: metres, cost of the alignment of both in the "paper" reading; None where it is infinite.
        dtw_code: the same in the "code" reading; None where it is infinite, or no alignment obeys it.
    """

    tour_id: str
    position: int
    oracle_goal: int = 0
    oracle_start: int = 0
    start: list[float]
    length: float | None
    reference_length: float | None
    reference_points: int
    dtw: float | None
    dtw_code: float | None


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One finished episode.

    Attributes:
        identity: `protocol@dataset/split#hash` of the run, so that a line speaks for itself.
        episode_id, scene_id: as in the dataset.
        status: how it ended.
        steps: number of actions.
        start_distance: metres, geodesic from start to goal; None when unreachable.
        actions: indices into the protocol's actions, in order; lists of numbers when they are continuous.
        metrics: name -> value; None is infinite.
        traceback: what the agent raised or did wrong; None when all went well.
        traits: what kind of episode it is, such as {"category": "chair"} (see evaluation.traits).
        goals: of episodes with several goals.
        tour: of episodes of tours.
        noticed: privileged inputs that the agent did not declare, as far as they were noticed until then.
    """

    identity: str
    episode_id: str
    scene_id: str
    status: Status
    steps: int
    start_distance: float | None
    actions: list[int | list[float]]
    metrics: dict[str, float | None]
    traceback: str | None = None
    traits: dict[str, str] = {}
    goals: GoalsRecord | None = None
    tour: TourRecord | None = None
    noticed: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the agent broke the episode, which then counts as a failure."""
        return is_broken(self.status)

    def metric(self, name: str) -> float:
        """The value of metric `name`, None turned back into infinity."""
        value = self.metrics[name]
        return math.inf if value is None else value


@dataclass(frozen=True)
class Journal:
    """The content of one journal file.

    Attributes:
        path: of the file.
        rows: its complete lines, in order.
        torn: bytes of an incomplete last line, 0 when there is none.
        run: hash of the run.json that it belongs to, as its first line says; empty where it does not.
        broken: indices of rows that do not follow the line before in the hash chain.
    """

    path: Path
    rows: tuple[Row, ...]
    torn: int
    run: str = ""
    broken: tuple[int, ...] = ()


class Header(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line of a journal: its format, and the hash of the run.json that it belongs to."""

    journal: Literal["navarena-journal-v1"] = "navarena-journal-v1"
    run: str


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Row)
_REMEDY = (
    "restore the file, delete it from that line on to run those episodes again, or start over with --fresh"
)
_CHAIN = re.compile(rb'\{\s*"chain"\s*:\s*"([0-9a-f]+)"\s*,\s*')
_HEADER = b'{"journal":'


def journal_path(folder: Path, worker: int) -> Path:
    """The file that `worker` appends to."""
    return folder / f"journal-{worker}.jsonl"


def journal_paths(folder: Path) -> list[Path]:
    """All journals of a run, by worker."""
    return sorted(folder.glob("journal-*.jsonl"), key=lambda path: (len(path.name), path.name))


def parse_journal(path: Path, data: bytes) -> Journal:
    """The rows in `data`, the content of `path`; FileError names file and line of any damage."""
    *lines, tail = data.split(b"\n")
    rows: list[Row] = []
    broken, run = [], ""
    before = b""
    for number, line in enumerate(lines, start=1):
        try:
            if number == 1 and line.startswith(_HEADER):
                run = msgspec.json.decode(line, type=Header).run
                before = run.encode()
                continue
            found = _CHAIN.match(line)
            text = b"{" + line[found.end() :] if found else line
            rows.append(_DECODER.decode(text))
        except DAMAGE as error:
            raise describe_damage(f"{path}, line {number},", error, _REMEDY) from error
        chain = found[1] if found else b""
        if chain != _next_in_chain(before, text):
            broken.append(len(rows) - 1)
        before = chain
    return Journal(path, tuple(rows), len(tail), run, tuple(broken))


def _next_in_chain(before: bytes, text: bytes) -> bytes:
    """32 hex digits of SHA-256 over the hash `before` and the JSON `text` of a row."""
    return hashlib.sha256(before + text).hexdigest()[:32].encode()


def _chain_row(before: bytes, row: Row) -> tuple[bytes, bytes]:
    """(hash, line) of `row` after the hash `before`."""
    text = _ENCODER.encode(row)
    chain = _next_in_chain(before, text)
    return chain, b'{"chain":"' + chain + b'",' + text[1:] + b"\n"


@contextmanager
def _no_collection() -> Iterator[None]:
    """Let the collector of garbage rest: nothing that is read is garbage, and looking takes longer."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_journal(path: Path) -> Journal:
    """The journal at `path`, which may end in a torn line; raises FileError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read journal {path}: {error.strerror or error}") from error
    return parse_journal(path, data)


def repair_journal(path: Path) -> Journal:
    """Read `path` and cut a torn last line off the file; waits for a writer that is about to die."""
    with open_locked(path) as descriptor:
        journal = read_journal(path)
        cut_torn_line(descriptor, path, journal.torn)
    return journal


def cut_torn_line(descriptor: int, path: Path, torn: int) -> None:
    """Take the last `torn` bytes off the locked file `descriptor` (of `path`); raises StorageError."""
    if torn:
        try:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - torn)
            os.fsync(descriptor)
        except OSError as error:
            raise_storage_error(path, error)


def encode_rows(rows: Sequence[Row], run: str) -> bytes:
    """The bytes of a journal that holds `rows` and belongs to the run.json of hash `run`."""
    before, lines = run.encode(), [_ENCODER.encode(Header(run=run)) + b"\n"]
    for row in rows:
        before, line = _chain_row(before, row)
        lines.append(line)
    return b"".join(lines)


def hash_rows(record: RunRecord, rows: Sequence[Row]) -> str:
    """32 hex digits of SHA-256 over the rows of a run, in any order, and its run.json."""
    return hashlib.sha256(encode_rows(sort_rows(rows), hash_record(record))).hexdigest()[:32]


def read_rows(folder: Path) -> list[Row]:
    """The rows of all journals of a run, sorted by scene and episode; torn lines left out."""
    with _no_collection():
        return sort_rows([row for path in journal_paths(folder) for row in read_journal(path).rows])


def list_noticed(rows: Iterable[Row]) -> tuple[str, ...]:
    """The privileged inputs that were noticed in any of `rows`, sorted."""
    return tuple(sorted({one for row in rows for one in row.noticed}))


def sort_rows(rows: Sequence[Row]) -> list[Row]:
    """`rows` by scene and episode id: an order that no worker can change."""
    return sorted(rows, key=lambda row: (row.scene_id, row.episode_id))


@contextmanager
def open_locked(path: Path) -> Iterator[int]:
    """The file descriptor of `path`, open for appending, made if it is not there, and locked.

    Raises StorageError, and InputError while another process has it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise_storage_error(path, error)
    try:
        require_lock(descriptor, path)
        yield descriptor
    finally:
        with suppress(OSError):  # an agent may have closed it
            os.close(descriptor)


class JournalWriter:
    """Appends rows to one journal; each is on the disk when `append` returns.

    Args:
        descriptor: open for appending and locked.
        path: of the file; it ends in a complete line.
        run: hash of the run.json that it belongs to.
    """

    def __init__(self, descriptor: int, path: Path, run: str) -> None:
        self._descriptor, self._path = descriptor, path
        lines = path.read_bytes().splitlines()
        found = _CHAIN.match(lines[-1]) if lines else None
        self._before = found[1] if found else run.encode()
        self._head = b"" if lines else _ENCODER.encode(Header(run=run)) + b"\n"

    def append(self, row: Row) -> None:
        """Write `row` as one line in one write, the first one with the header, and fsync.

        When the disk refuses, the file is cut back to what it was: StorageError, nothing half-written.
        """
        self._require_kept()
        chain, line = _chain_row(self._before, row)
        line = self._head + line
        before = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):  # a torn line is repaired when the run resumes
                os.ftruncate(self._descriptor, before)
            raise_storage_error(self._path, error)
        self._before, self._head = chain, b""

    def _require_kept(self) -> None:
        """Raise StorageError unless the open file is still the one at the path."""
        with suppress(OSError):
            if os.path.samestat(os.fstat(self._descriptor), os.stat(self._path)):
                return
        raise StorageError(
            f"expected to append to {self._path}, got a file that was removed, replaced, or closed by the "
            "agent while the run went on; give the same command again"
        )


@contextmanager
def open_journal(path: Path) -> Iterator[JournalWriter]:
    """A writer at the end of `path`, which no other process may write meanwhile (InputError).

    The journal is bound to the run.json beside it, where there is one.
    """
    with open_locked(path) as descriptor:
        _sync_folder(path.parent)
        yield JournalWriter(descriptor, path, hash_run(path.parent))


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file survive a power cut, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
