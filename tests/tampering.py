"""Edits every value in the files of a run, one after the other, and asks replay whether it notices.

python tests/tampering.py RUN [RUN ...]     counts for the runs in these folders, which stay as they are
"""

import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from navarena.core.errors import NavarenaError
from navarena.evaluation import read_record, replay_run
from navarena.evaluation.running.replay import open_recorded_benchmark

DECLARED = ("times-", "times.parquet", "analyses", "failures.json", "report.html", ".lock")
"""How the names of files begin that replay does not verify, as the documentation says."""


def changed(value: Any) -> Any:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value + max(1e-3, abs(value) * 1e-3)
        case None:
            return 1
        case list():
            return [*value, value[-1] if value else "x"]
        case dict():
            return {**value, "x": "x"}
    return value[:-1] + ("y" if value[-1:] == "x" else "x")


def edited(document: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(where, copy of `document`) with each leaf changed; of lists and objects also one item more."""
    if isinstance(document, dict):
        for key, value in document.items():
            for where, other in edited(value, f"{path}.{key}"):
                yield where, {**document, key: other}
    if isinstance(document, list):
        for place, value in enumerate(document):
            for where, other in edited(value, f"{path}[{place}]"):
                yield where, [*document[:place], other, *document[place + 1 :]]
    yield f"{path} ({type(document).__name__})", changed(document)


def list_edits(folder: Path) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """(what, function that edits a copy of the run) for every value of every file that is not DECLARED."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if name.startswith(DECLARED):
            continue
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            for column in table.column_names:
                for row in range(len(table)):
                    yield f"{name} {column}[{row}]", _edit_cell(name, table, column, row)
        elif path.suffix == ".jsonl":
            lines = path.read_text().splitlines()
            for number, line in enumerate(lines):
                for where, other in edited(json.loads(line)):
                    text = json.dumps(other, separators=(",", ":"), ensure_ascii=False)
                    whole = "\n".join([*lines[:number], text, *lines[number + 1 :]]) + "\n"
                    yield f"{name}:{number + 1} {where}", _write(name, whole)
        else:
            for where, other in edited(json.loads(path.read_text())):
                yield f"{name} {where}", _write(name, json.dumps(other))


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def _edit_cell(name: str, table: pa.Table, column: str, row: int) -> Callable[[Path], object]:
    values = table[column].to_pylist()
    kind = table[column].type
    new = changed(values[row])
    if values[row] is None:
        new = "x" if pa.types.is_string(kind) else [] if pa.types.is_list(kind) else 1
    elif values[row] == []:
        new = None
    array = pa.array([*values[:row], new, *values[row + 1 :]], kind)
    other = table.set_column(table.column_names.index(column), column, array)
    return lambda folder: pq.write_table(other, folder / name)


def tamper(
    folder: Path, benchmark: Any = None, most: int | None = None, seed: int = 0
) -> tuple[int, list[str]]:
    """(how many edits, those that replay did not notice).

    Args:
        folder: of a finished run, which stays as it is.
        benchmark: what it was made on; opened from run.json when None.
        most: so many edits, drawn by `seed`; None for all.
        seed: of the draw.
    """
    benchmark = benchmark or open_recorded_benchmark(read_record(folder))
    assert replay_run(folder, benchmark).differences == ()
    edits = list(list_edits(folder))
    if most is not None and most < len(edits):
        chosen = np.random.Generator(np.random.PCG64(seed)).choice(len(edits), most, replace=False)
        edits = [edits[place] for place in sorted(chosen.tolist())]
    unfound = []
    for what, edit in edits:
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "run"
            shutil.copytree(folder, copy)
            edit(copy)
            try:
                if not replay_run(copy, benchmark).differences:
                    unfound.append(what)
            except NavarenaError:
                pass  # a file that cannot be read, or is of another run, is noticed, too
    return len(edits), unfound


if __name__ == "__main__":
    total: Counter[str] = Counter()
    for argument in sys.argv[1:]:
        count, missed = tamper(Path(argument))
        print(f"{argument}: {count} edits, {len(missed)} not noticed", *missed, sep="\n    ", flush=True)
        total.update(edits=count, unfound=len(missed))
    print(dict(total))
