"""Interface of layouts of demonstrations, and what all of them share: frames of a shard as a table."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.manifest import LayoutName, Manifest
from navarena.evaluation.demonstrations.plan import Planned, Shard
from navarena.evaluation.demonstrations.recording import Demonstration, FrameSink
from navarena.evaluation.demonstrations.statistics import Summary

POSE = ("x", "y", "z", "yaw", "tilt")
"""Names of the components of a pose: metres, world frame, and radians."""

CHUNK = 1000
"""Files in a folder."""


@dataclass(frozen=True)
class Recorded:
    """A demonstration and its place.

    Attributes:
        planned: its place.
        demonstration: what was seen and done.
    """

    planned: Planned
    demonstration: Demonstration

    @property
    def action_rows(self) -> np.ndarray:
        """(K,) int64 indices of actions, or (K, A) float32 numbers of continuous ones."""
        actions = np.array(self.planned.row.actions)
        return actions.astype(np.float32 if actions.ndim == 2 else np.int64)


@dataclass(frozen=True)
class EncodedShard:
    """The files of a shard.

    Attributes:
        files: path within the folder -> content.
        statistics: for each episode, name of a feature -> its statistics.
    """

    files: dict[str, bytes]
    statistics: tuple[dict[str, Summary], ...] = ()


class Layout(ABC):
    """Interface of file layouts for demonstrations.

    Args:
        columns: the observations.
        frames_per_second: at which videos play.

    Attributes:
        name: of the layout.
    """

    name: ClassVar[LayoutName]

    def __init__(self, columns: Sequence[Column], frames_per_second: int) -> None:
        self.columns, self.frames_per_second = tuple(columns), frames_per_second

    @abstractmethod
    def make_sink(self) -> FrameSink:
        """A sink for the frames of one episode."""

    @abstractmethod
    def encode(self, shard: Shard, recorded: Sequence[Recorded]) -> EncodedShard:
        """The files of a shard, whose episodes are `recorded`, in order."""

    @abstractmethod
    def describe(
        self, manifest: Manifest, shards: Sequence[Shard], statistics: Sequence[Mapping[str, Summary]]
    ) -> dict[str, bytes]:
        """Path -> content of the files that describe the whole.

        Args:
            manifest: complete.
            shards: all, in order.
            statistics: of every episode, as `encode` gave them.
        """


def common_columns(one: Recorded) -> dict[str, pa.Array]:
    """Columns of an episode that all layouts have, but for observations: index, action, pose, and ends."""
    steps, planned = len(one.planned.row.actions), one.planned
    ended = np.array(one.demonstration.ended, bool).reshape(-1, 2)
    return {
        "episode_index": pa.array(np.full(steps, planned.index)),
        "frame_index": pa.array(np.arange(steps)),
        "index": pa.array(planned.first + np.arange(steps)),
        "action": array_column(one.action_rows),
        "reward": pa.array(np.array(one.demonstration.rewards, np.float32)),
        "terminated": pa.array(ended[:, 0]),
        "truncated": pa.array(ended[:, 1]),
        "pose": array_column(one.demonstration.poses.astype(np.float32)),
    }


def array_column(values: np.ndarray) -> pa.Array:
    """A column of `values` (K,) or (K, C), any numbers: plain ones, or lists of a fixed length."""
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def encode_table(
    tables: Sequence[pa.Table], raw: Sequence[str] = (), metadata: Mapping[str, str] | None = None
) -> bytes:
    """A Parquet file with a row group for each of `tables`; columns `raw` are compressed already."""
    schema = tables[0].schema.with_metadata(dict(metadata) if metadata else None)
    plain = [name for name in schema.names if name not in raw]
    sink = pa.BufferOutputStream()
    options: dict[str, Any] = {"compression": dict.fromkeys(plain, "zstd") | dict.fromkeys(raw, "none")}
    with pq.ParquetWriter(sink, schema, use_dictionary=False, **options) as writer:
        for table in tables:
            writer.write_table(table.replace_schema_metadata(schema.metadata), row_group_size=len(table))
    return bytes(sink.getvalue().to_pybytes())
