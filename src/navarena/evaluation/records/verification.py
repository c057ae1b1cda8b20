"""Checks of a run's files against each other: run.json, journals, episodes.parquet and summary.json.

What no file can prove is declared: which agent acted, what it looked at, and on which machine.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.episode_table import make_table, read_arrow_table
from navarena.evaluation.records.journal import Journal, Row, list_noticed
from navarena.evaluation.records.record import FILE_NAME, RunRecord, begin_record, hash_record, note_inputs
from navarena.evaluation.records.results import SUMMARY_NAME, TABLE_NAME, read_summary, summarize
from navarena.evaluation.records.view_point_hash import hash_view_points

TOLERANCE = 1e-6
"""Allowed difference of a float, absolute and relative, on another platform."""


@dataclass(frozen=True)
class Difference:
    """A difference between a recorded and a replayed number.

    Attributes:
        episode_id: of the episode; empty for the run as a whole.
        name: of the metric or field.
        logged, replayed: both values, as text.
    """

    episode_id: str
    name: str
    logged: str
    replayed: str

    def __str__(self) -> str:
        if not self.episode_id:
            return f"{self.name} is {self.logged}, not {self.replayed}"
        return (
            f"episode {self.episode_id}: {self.name} is {self.logged} in the log, {self.replayed} by replay"
        )


def is_same(logged: object, replayed: object, exact: bool) -> bool:
    """Whether two values are equal, or floats that are close where not `exact`."""
    if exact or not (isinstance(logged, float) and isinstance(replayed, float)):
        return logged == replayed
    return math.isclose(logged, replayed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def describe_value(value: object) -> str:
    """A value of a row as text; None is infinite."""
    return "infinite" if value is None else str(value)


def describe_declared(record: RunRecord) -> dict[str, str]:
    """Declarations of a run that replay cannot verify: name, such as "agent" or "machine", -> text."""
    inputs = ", ".join(record.privileged_inputs)
    weights = {"weights": record.model_sha256} if record.model_sha256 else {}
    return {
        "agent": record.agent,
        **weights,
        "privileged": f"yes ({inputs})" if inputs else "yes" if record.privileged else "no",
        "trained with": ", ".join(record.trained_with) or "nothing corrupted",
        "machine": f"{record.hardware.get('processor', 'unknown')}, {record.started}",
    }


def compare_files(
    folder: Path,
    record: RunRecord,
    journals: Sequence[Journal],
    rows: Sequence[Row],
    benchmark: Benchmark,
    exact: bool,
) -> Iterator[Difference]:
    """Every contradiction between the files of a run.

    Args:
        folder: of the run.
        record: its run.json.
        journals: all of them.
        rows: of the journals, sorted.
        benchmark: what the run was made on.
        exact: whether floats must be equal (same platform) or close.
    """
    yield from _compare_chains(record, journals)
    is_finished = any((folder / name).exists() for name in (SUMMARY_NAME, TABLE_NAME))
    yield from _compare_record(record, benchmark, rows, is_finished)
    yield from _compare_table(folder, rows, record.metrics)
    if (folder / SUMMARY_NAME).exists():
        derived = summarize(rows, record.identity, record.agent, record.metrics, benchmark.tour_scoring)
        held, expected = msgspec.to_builtins(read_summary(folder)), msgspec.to_builtins(derived)
        found = list(_compare_contents(SUMMARY_NAME, held, expected, exact))
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        yield from (replace(first, name=first.name + more) for first in found[:1])


def _compare_chains(record: RunRecord, journals: Sequence[Journal]) -> Iterator[Difference]:
    """Rows that were edited, taken out, put in or moved, and journals of another run.json."""
    bound = hash_record(record)
    for journal in journals:
        name = journal.path.name
        if journal.rows and journal.run != bound:
            found = f"bound to another {FILE_NAME} ({journal.run or 'none'})"
            yield Difference("", name, found, f"to the one beside it ({bound}), which was edited")
        for index in journal.broken:
            row = journal.rows[index]
            what = "edited, or a line before it was taken out, put in or moved"
            yield Difference(row.episode_id, f"hash in {name}", what, "another")


def _compare_record(
    record: RunRecord, benchmark: Benchmark, rows: Sequence[Row], is_finished: bool
) -> Iterator[Difference]:
    again = note_inputs(begin_record(record), list_noticed(rows))
    expected: dict[str, object] = {
        "episodes": len(benchmark.episodes),
        "actions": benchmark.actions,
        "metrics": benchmark.metrics,
        "privileged": again.privileged,
        "privileged_inputs": again.privileged_inputs,
        "noticed_inputs": again.noticed_inputs,
    }
    if "seed" in record.settings:
        expected["seeds"] = {"agent": record.settings["seed"]}
    if is_finished:
        expected["view_points"] = hash_view_points(benchmark)
    for name, value in expected.items():
        if getattr(record, name) != value:
            yield Difference("", f"{name} of {FILE_NAME}", str(getattr(record, name)), str(value))


def _compare_table(folder: Path, rows: Sequence[Row], metrics: Sequence[str]) -> Iterator[Difference]:
    """Columns of episodes.parquet that are not what the journals give."""
    path = folder / TABLE_NAME
    if not path.exists():
        return
    held, derived = read_arrow_table(path), make_table(rows, metrics)
    for name in dict.fromkeys((*derived.column_names, *held.column_names)):
        missing = [name not in table.column_names for table in (held, derived)]
        if any(missing):
            yield Difference(
                "", f"{TABLE_NAME}, column {name}", *("missing" if one else "there" for one in missing)
            )
        elif not held[name].equals(derived[name]):
            pairs = zip(held[name].to_pylist(), derived[name].to_pylist())
            changed = [row for row, pair in enumerate(pairs) if pair[0] != pair[1]]
            where = f"{len(changed)} rows, the first {changed[0]}" if changed else "its type or length"
            yield Difference(
                "", f"{TABLE_NAME}, column {name}", f"changed ({where})", "what the journals give"
            )


def _compare_contents(place: str, held: object, derived: object, exact: bool) -> Iterator[Difference]:
    """Every value in a JSON document that differs from the derived one; `place` is where it stands."""
    if isinstance(held, Mapping) and isinstance(derived, Mapping):
        for name in dict.fromkeys((*derived, *held)):
            pair = held.get(name, "missing"), derived.get(name, "missing")
            yield from _compare_contents(f"{place} {name}", *pair, exact)
    elif not is_same(held, derived, exact):
        yield Difference("", place, str(held), str(derived))
