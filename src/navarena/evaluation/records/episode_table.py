"""The only module that imports pyarrow: episodes.parquet, one row per episode, for pandas, polars and DuckDB.

Columns: episode_id, scene_id, identity, status, steps, start_distance (metres, infinite when
unreachable), one column of text per trait that any episode has (trait_category, ...), one float64
column per metric (infinite when unreachable), for episodes with several goals legs, found_after and
walked (lists), for episodes of tours tour_id, position, oracle_goal and oracle_start (counts), actions
(list of int32), error (last line of the traceback, or null).
"""

import math
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError, InputError, describe_choices
from navarena.core.files import atomic_path, translate_damage
from navarena.evaluation.records.journal import Row


def write_table(path: Path, rows: Sequence[Row], metrics: Sequence[str]) -> None:
    """Write `rows` to `path` in one step; equal rows give equal bytes. Raises StorageError and FileError."""
    import pyarrow.parquet as pq

    with atomic_path(path) as temporary:
        pq.write_table(make_table(rows, metrics), temporary, compression="zstd")


@translate_damage("the journal", "restore it, or evaluate again")
def make_table(rows: Sequence[Row], metrics: Sequence[str]) -> Any:
    """The pyarrow.Table of `rows` with the columns above; raises FileError for what no column can hold."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        "episode_id": pa.array([row.episode_id for row in rows], pa.string()),
        "scene_id": pa.array([row.scene_id for row in rows], pa.string()),
        "identity": pa.array([row.identity for row in rows], pa.string()),
        "status": pa.array([row.status for row in rows], pa.string()),
        "steps": pa.array([row.steps for row in rows], pa.int32()),
        "start_distance": pa.array(
            [math.inf if row.start_distance is None else row.start_distance for row in rows], pa.float64()
        ),
    }
    for name in sorted({name for row in rows for name in row.traits}):
        columns[f"trait_{name}"] = pa.array([row.traits.get(name) for row in rows], pa.string())
    columns |= {name: pa.array(values) for name, values in metric_columns(rows, metrics).items()}
    if any(row.goals is not None for row in rows):
        kinds = {"legs": pa.float64(), "found_after": pa.int32(), "walked": pa.float64()}
        for name, kind in kinds.items():
            lists = [None if row.goals is None else getattr(row.goals, name) for row in rows]
            columns[name] = pa.array(lists, pa.list_(kind))
    if any(row.tour is not None for row in rows):
        for name in ("tour_id", "position", "oracle_goal", "oracle_start"):
            columns[name] = pa.array([None if row.tour is None else getattr(row.tour, name) for row in rows])
    columns["actions"] = _actions_column([row.actions for row in rows])
    columns["error"] = pa.array([last_line(row.traceback) for row in rows], pa.string())
    return pa.table(columns)


def _actions_column(taken: Sequence[Sequence[int | list[float]]]) -> Any:
    """The pyarrow.Array of all rows' actions; raises what pyarrow and NumPy do where kinds are mixed."""
    import pyarrow as pa

    if any(isinstance(action, list) for actions in taken for action in actions[:1]):
        return pa.array(taken, pa.list_(pa.list_(pa.float64())))
    # as one long array: many times faster than a list for each row
    ends = np.cumsum([0, *map(len, taken)], dtype=np.int32)
    actions = np.fromiter(chain.from_iterable(taken), np.int32, int(ends[-1]))
    return pa.ListArray.from_arrays(ends, actions)


def metric_columns(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Float[np.ndarray, "n"]]:
    """Name -> (N,) float64 values of that metric in each row, infinity where the journal says so.

    Each row is visited once for all names: with many rows, that is what takes the time.
    """
    if not names:
        return {}
    pick = itemgetter(*names)
    try:
        picked = [pick(row.metrics) for row in rows]
    except KeyError as error:
        held = describe_choices({name for row in rows for name in row.metrics})
        raise InputError(
            f"expected the metric {error} in every row of the journals, got rows with {held}; run.json and "
            "the journals are of different runs"
        ) from error
    values = np.array(picked, np.float64).reshape(len(rows), len(names))
    values[np.isnan(values)] = np.inf  # None becomes NaN, which no journal holds
    return {name: np.ascontiguousarray(values[:, place]) for place, name in enumerate(names)}


def read_table(path: Path) -> list[dict[str, Any]]:
    """The rows of `path` as dictionaries; raises FileError when it is missing or damaged."""
    rows: list[dict[str, Any]] = read_arrow_table(path).to_pylist()
    return rows


def read_arrow_table(path: Path) -> Any:
    """The pyarrow.Table in `path`; raises FileError when it is missing or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        table.validate(full=True)
        return table
    except (OSError, pa.ArrowException) as error:
        raise FileError(
            f"episode table {path} is missing or damaged ({error}); run navarena evaluate again to derive it"
        ) from error


def last_line(text: str | None) -> str | None:
    """The last line of a traceback that says something: the error itself."""
    lines = [line for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else None
