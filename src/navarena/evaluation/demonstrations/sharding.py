"""Shards of demonstrations, encoded here, in worker processes or on a Ray cluster: the bytes are the same."""

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navarena.core.errors import require_extra
from navarena.core.processes import open_pool
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.layout import EncodedShard, Layout, Recorded
from navarena.evaluation.demonstrations.lerobot_layout import LeRobotLayout
from navarena.evaluation.demonstrations.manifest import LayoutName
from navarena.evaluation.demonstrations.parquet_layout import ParquetLayout
from navarena.evaluation.demonstrations.plan import Shard
from navarena.evaluation.demonstrations.recording import record_demonstrations
from navarena.evaluation.running.cluster import connect_cluster, translate_failure

LAYOUTS: dict[LayoutName, type[Layout]] = {"lerobot": LeRobotLayout, "parquet": ParquetLayout}
"""Name -> layout."""

AHEAD = 2
"""Shards that are given out for each worker: their files wait in memory until they are written."""

LOOK_SECONDS = 1.0
"""Between two looks at whether the cluster lives."""


@dataclass(frozen=True)
class Encoding:
    """How the shards of a run are encoded.

    Attributes:
        benchmark: without its episodes; those come with the shards.
        columns: the observations.
        layout: name.
        frames_per_second: at which videos play.
        exact: whether executed actions must bring every number of their row.
        folder: where agents and scenes named by relative paths are looked for.
    """

    benchmark: Benchmark
    columns: tuple[Column, ...]
    layout: LayoutName
    frames_per_second: int
    exact: bool
    folder: str

    def make_layout(self) -> Layout:
        """The layout; raises InputError for columns that it cannot hold."""
        return LAYOUTS[self.layout](self.columns, self.frames_per_second)

    def encode(self, shard: Shard) -> EncodedShard:
        """Execute the actions of the shard's episodes again and encode their observations."""
        layout = self.make_layout()
        sensors = tuple(one.name for one in self.columns)
        made = record_demonstrations(
            self.benchmark, shard.pairs, sensors, lambda row: layout.make_sink(), self.exact
        )
        by_id = {one.row.episode_id: one for one in made}
        recorded = [Recorded(one, by_id[one.row.episode_id]) for one in shard.episodes]
        return layout.encode(shard, recorded)


Encoded = tuple[Shard, EncodedShard]


def encode_shards(
    encoding: Encoding, shards: Sequence[Shard], workers: int, ray: str | None
) -> Iterator[Encoded]:
    """Each of `shards` with its files, as they are finished.

    Args:
        encoding: how.
        shards: in any order.
        workers: processes.
        ray: address of a cluster; None for this machine.

    Raises what `Encoding.encode` raises, and CheckFailedError when a worker process died.
    """
    if ray is not None:
        yield from _encode_on_cluster(encoding, shards, workers, ray)
    elif min(workers, len(shards)) > 1:
        yield from _encode_in_processes(encoding, shards, min(workers, len(shards)))
    else:
        for shard in shards:
            yield shard, encoding.encode(shard)


def _encode_in_processes(encoding: Encoding, shards: Sequence[Shard], workers: int) -> Iterator[Encoded]:
    waiting = iter(shards)
    with open_pool(workers) as pool:
        running: dict[Future[EncodedShard], Shard] = {}
        while True:
            while len(running) < AHEAD * workers and (shard := next(waiting, None)) is not None:
                running[pool.submit(encoding.encode, shard)] = shard
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()


def _encode_far(encoding: Encoding, shard: Shard) -> EncodedShard:
    """Encode a shard on a worker of a cluster."""
    if encoding.folder not in sys.path:
        sys.path.insert(0, encoding.folder)
    return encoding.encode(shard)


def _encode_on_cluster(
    encoding: Encoding, shards: Sequence[Shard], workers: int, address: str
) -> Iterator[Encoded]:
    ray: Any = require_extra("ray", "cluster")
    with connect_cluster(ray, address, workers) as head:
        work = ray.remote(_encode_far).options(num_cpus=1, scheduling_strategy="SPREAD")
        shipped, waiting = ray.put(encoding), iter(shards)
        running: dict[Any, Shard] = {}
        while True:
            while len(running) < AHEAD * workers and (shard := next(waiting, None)) is not None:
                running[work.remote(shipped, shard)] = shard
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1, timeout=LOOK_SECONDS)
            head.require_alive()
            for one in ready:
                try:
                    yield running.pop(one), ray.get(one)
                except ray.exceptions.RayError as error:
                    raise translate_failure(error, "a worker") from error


def here() -> str:
    """The working directory, for workers on other machines."""
    return str(Path.cwd())
