"""What has been finished of a run over tours: one line for each tour, after one that says what run it is.

    FILE.journal      {"identity": ..., "settings": {...}, "versions": {...}}
                      {"tour_id": "0", "records": [{...}, ...]}

An agent keeps its memory over a tour, so a tour that was cut short begins anew. The journal lies beside the
results file until that is complete.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.errors import FileError, InputError
from navarena.core.files import raise_storage_error
from navarena.evaluation.journal import JournalWriter, cut_torn_line, open_locked, parse_lines
from navarena.evaluation.record import describe_changes, describe_versions
from navarena.evaluation.tour_runner import AnyTour, RecordT, TourSource, TourT

REMEDY = "restore the file, or start over with --fresh"


class TourRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can move the numbers of a run over tours.

    Attributes:
        identity: `protocol@dataset/split#hash`.
        settings: name -> value, such as the agent and its seed.
        versions: of navarena, numpy, numba and python.
    """

    identity: str
    settings: dict[str, str | int | None]
    versions: dict[str, str] = msgspec.field(default_factory=describe_versions)


class FinishedTour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line.

    Attributes:
        tour_id: of the tour.
        records: one for each of its episodes, as the source saves them.
    """

    tour_id: str
    records: list[msgspec.Raw]


class TourJournal:
    """Finished tours of one run, in a file that this process alone may write.

    Args:
        path: of the file.
        writer: at its end.
        finished: the tours that it holds.
    """

    def __init__(self, path: Path, writer: JournalWriter, finished: Sequence[FinishedTour]) -> None:
        self.path, self._writer = path, writer
        self._finished = list(finished)

    @property
    def tours(self) -> int:
        """How many it holds."""
        return len(self._finished)

    def restore(self, source: TourSource[TourT, RecordT]) -> dict[str, RecordT]:
        """Episode id -> record of all finished tours.

        Raises FileError for a tour that `source` does not have or whose episodes are others.
        """
        known = {tour.tour_id: [one.episode_id for one in tour.episodes] for tour in source.tours}
        records: dict[str, RecordT] = {}
        for line in self._finished:
            try:
                own = [source.restore(bytes(saved)) for saved in line.records]
            except msgspec.MsgspecError as error:
                raise FileError(f"{self.path}: tour {line.tour_id} is damaged ({error}); {REMEDY}") from error
            if [record.episode_id for record in own] != known.get(line.tour_id):
                raise FileError(f"{self.path}: tour {line.tour_id} is none of this run; {REMEDY}")
            records.update((record.episode_id, record) for record in own)
        return records

    def append(self, tour: AnyTour, records: Sequence[Any]) -> None:
        """Write one finished tour; it is on the disk when this returns. Raises StorageError."""
        raw = [msgspec.Raw(msgspec.json.encode(record)) for record in records]
        line = FinishedTour(tour.tour_id, raw)
        self._writer.append(line)
        self._finished.append(line)

    def discard(self) -> None:
        """Remove the file: the results are complete."""
        self.path.unlink(missing_ok=True)


def tour_journal_path(results: Path) -> Path:
    """The journal of the results file."""
    return results.with_name(f"{results.name}.journal")


@contextmanager
def open_tour_journal(results: Path, run: TourRun, fresh: bool = False) -> Iterator[TourJournal]:
    """The journal beside the file `results`, to go on with what it holds.

    Args:
        results: file that the run will write.
        run: what it is.
        fresh: throw away what an earlier command has finished.

    Raises InputError when the journal holds tours of another run or is in use, FileError when it is damaged,
    StorageError when it cannot be written. A journal without tours is removed when the block is left.
    """
    path = tour_journal_path(results)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise_storage_error(path, error)
    with open_locked(path) as descriptor:
        if fresh:
            os.ftruncate(descriptor, 0)
        lines, torn = parse_lines(path, path.read_bytes(), msgspec.json.Decoder(msgspec.Raw), REMEDY)
        cut_torn_line(descriptor, path, torn)
        writer = JournalWriter(descriptor, path)
        if len(lines) < 2:
            os.ftruncate(descriptor, 0)
            writer.append(run)
            lines = [msgspec.Raw(msgspec.json.encode(run))]
        _require_same(path, _decode(path, lines[0], TourRun), run)
        journal = TourJournal(path, writer, [_decode(path, line, FinishedTour) for line in lines[1:]])
        try:
            yield journal
        finally:
            if not journal.tours:
                journal.discard()


def _decode(path: Path, line: msgspec.Raw, kind: Any) -> Any:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError as error:
        raise FileError(f"{path} is damaged ({error}); {REMEDY}") from error


def _require_same(path: Path, found: TourRun, wanted: TourRun) -> None:
    differences = [
        *describe_changes("", {"identity": found.identity}, {"identity": wanted.identity}),
        *describe_changes("", found.settings, wanted.settings),
        *describe_changes("version of ", found.versions, wanted.versions),
    ]
    if differences:
        raise InputError(
            f"{path} holds another run, begun and not finished: {'; '.join(differences)}. Finish it, choose "
            "another --out, or throw it away with --fresh"
        )
