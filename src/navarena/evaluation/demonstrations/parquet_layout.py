"""Plain Parquet: every observation exactly as the agent saw it.

    data/file-00000.parquet     a row for each frame, a row group for each episode
    episodes.parquet            a row for each episode

Colours are PNG, other arrays their bytes, C-contiguous and little-endian, compressed by zstd; demos.json has
their shapes and dtypes. Numbers, vectors and texts are plain.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa

from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.images import encode_array, encode_png
from navarena.evaluation.demonstrations.layout import (
    EncodedShard,
    Layout,
    Recorded,
    array_column,
    common_columns,
    encode_table,
)
from navarena.evaluation.demonstrations.manifest import LayoutName, Manifest
from navarena.evaluation.demonstrations.plan import Shard
from navarena.evaluation.demonstrations.recording import FrameSink
from navarena.evaluation.demonstrations.statistics import Summary

ENCODED = ("image", "plane", "array")
"""Kinds whose columns hold compressed bytes."""


def data_path(shard: int) -> str:
    """Path, within the folder, of the frames of a shard."""
    return f"data/file-{shard:05d}.parquet"


class _Frames:
    """Takes the frames of one episode, compressed as they come."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self.values: dict[str, list[object]] = {one.name: [] for one in columns}

    def add(self, seen: Mapping[str, np.ndarray]) -> None:
        for one in self._columns:
            value = seen[one.name]
            if one.kind == "image":
                self.values[one.name].append(encode_png(value))
            elif one.kind in ENCODED:
                self.values[one.name].append(encode_array(value))
            elif one.kind == "text":
                self.values[one.name].append(str(value))
            else:
                self.values[one.name].append(np.array(value))

    def column(self, one: Column) -> pa.Array:
        """The values of column `one`."""
        values = self.values[one.name]
        if one.kind in ENCODED:
            return pa.array(values, pa.large_binary())
        if one.kind == "text":
            return pa.array(values, pa.string())
        return array_column(np.stack(values).astype(one.dtype))  # type: ignore[arg-type]


class ParquetLayout(Layout):
    """Plain Parquet; see this module."""

    name: ClassVar[LayoutName] = "parquet"

    def make_sink(self) -> FrameSink:
        return _Frames(self.columns)

    def encode(self, shard: Shard, recorded: Sequence[Recorded]) -> EncodedShard:
        tables = []
        for one in recorded:
            sink, steps = one.demonstration.sink, len(one.planned.row.actions)
            assert isinstance(sink, _Frames)
            columns = {
                "episode_id": pa.array([one.planned.row.episode_id] * steps),
                "scene_id": pa.array([one.planned.row.scene_id] * steps),
                **common_columns(one),
                "task": pa.array([one.planned.task] * steps),
            }
            columns |= {f"observation.{col.name}": sink.column(col) for col in self.columns}
            tables.append(pa.table(columns))
        raw = [f"observation.{one.name}" for one in self.columns if one.kind in ENCODED]
        return EncodedShard({data_path(shard.number): encode_table(tables, raw)})

    def describe(
        self, manifest: Manifest, shards: Sequence[Shard], statistics: Sequence[Mapping[str, Summary]]
    ) -> dict[str, bytes]:
        rows = manifest.episodes
        table = pa.table(
            {
                "episode_index": pa.array(np.arange(len(rows))),
                "episode_id": [one.episode_id for one in rows],
                "scene_id": [one.scene_id for one in rows],
                "tour_id": [one.tour_id for one in rows],
                "task": [one.task for one in rows],
                "steps": pa.array([one.steps for one in rows], pa.int64()),
                "status": [one.status for one in rows],
                "success": pa.array([one.success for one in rows], pa.float64()),
                "file": [data_path(one.shard) for one in rows],
            }
        )
        return {"episodes.parquet": encode_table([table])}
