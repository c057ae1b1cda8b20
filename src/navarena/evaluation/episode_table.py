"""The door to pyarrow: episodes.parquet, one row per episode, for pandas, polars and DuckDB.

Columns: episode_id, scene_id, identity, status, steps, start_distance (metres, infinite when
unreachable), one column of text per trait that any episode has (trait_category, ...), one float64
column per metric (infinite when unreachable), for episodes with several goals legs, found_after and
walked (lists), actions (list of int32), error (last line of the traceback, or null).
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from navarena.core.errors import FileError
from navarena.core.files import atomic_path
from navarena.evaluation.journal import Row


def write_table(path: Path, rows: Sequence[Row], metrics: Sequence[str]) -> None:
    """Write `rows` to `path` in one step; equal rows give equal bytes. Raises StorageError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
    for name in metrics:
        columns[name] = pa.array([row.metric(name) for row in rows], pa.float64())
    if any(row.goals is not None for row in rows):
        kinds = {"legs": pa.float64(), "found_after": pa.int32(), "walked": pa.float64()}
        for name, kind in kinds.items():
            lists = [None if row.goals is None else getattr(row.goals, name) for row in rows]
            columns[name] = pa.array(lists, pa.list_(kind))
    is_continuous = any(isinstance(action, list) for row in rows for action in row.actions[:1])
    action = pa.list_(pa.float64()) if is_continuous else pa.int32()
    columns["actions"] = pa.array([row.actions for row in rows], pa.list_(action))
    columns["error"] = pa.array([last_line(row.traceback) for row in rows], pa.string())
    with atomic_path(path) as temporary:
        pq.write_table(pa.table(columns), temporary, compression="zstd")


def read_table(path: Path) -> list[dict[str, Any]]:
    """The rows of `path` as dictionaries; raises FileError when it is missing or damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise FileError(
            f"episode table {path} is missing or damaged ({error}); run navarena evaluate again to derive it"
        ) from error
    return rows


def last_line(text: str | None) -> str | None:
    """The last line of a traceback that says something: the error itself."""
    lines = [line for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else None
