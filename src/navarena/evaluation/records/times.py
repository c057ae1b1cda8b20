"""Times of a run: simulator, agent, input and output.

    DIR/times-<worker>.jsonl    {"episode_id": ..., "simulator": ..., "agent": ..., "output": ..., ...}

Seconds of wall-clock time. They differ from run to run, so that they live beside the journals and not in
them; a line that a crash cost is merely missing. Slots that run side by side share the time of a step
equally.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import FileError
from navarena.core.files import DAMAGE, atomic_path, raise_storage_error

TABLE_NAME = "times.parquet"


class EpisodeTimes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Seconds that one episode took.

    Attributes:
        episode_id: of the episode.
        simulator: moving, observing, judging.
        agent: choosing actions.
        output: writing the journal.
        costs: what else the agent spent, such as "prompt_tokens" of a language model.
    """

    episode_id: str
    simulator: float
    agent: float
    output: float
    costs: dict[str, float] = {}


class Stopwatch:
    """Seconds spent for each of N slots.

    Attributes:
        simulator, agent: (N,) float64 seconds since the slot was last reset.
    """

    def __init__(self, slots: int) -> None:
        self.simulator: Float[np.ndarray, n] = np.zeros(slots)
        self.agent: Float[np.ndarray, n] = np.zeros(slots)

    def reset(self, slots: Sequence[int]) -> None:
        """New episodes begin in `slots`."""
        self.simulator[slots] = self.agent[slots] = 0.0

    @contextmanager
    def measure(self, seconds: Float[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> Iterator[None]:
        """Add the time of the block to `seconds` (N,) in equal shares for the `active` (N,) slots."""
        sharing, began = active.copy(), time.perf_counter()
        try:
            yield
        finally:
            seconds[sharing] += (time.perf_counter() - began) / max(1, int(np.count_nonzero(sharing)))


class TimesWriter:
    """Appends lines to the times of one worker; not synced, as nothing depends on them."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path = file, path

    def append(self, times: EpisodeTimes) -> None:
        """Write one line; raises StorageError when the disk refuses."""
        try:
            self._file.write(msgspec.json.encode(times) + b"\n")
            self._file.flush()
        except OSError as error:
            raise_storage_error(self._path, error)


def times_path(folder: Path, worker: int) -> Path:
    """The file of `worker`."""
    return folder / f"times-{worker}.jsonl"


def times_paths(folder: Path) -> list[Path]:
    """Paths of the timings of all workers."""
    return sorted(folder.glob("times-*.jsonl"))


@contextmanager
def open_times(path: Path) -> Iterator[TimesWriter]:
    """A writer at the end of `path`; raises StorageError."""
    try:
        file = path.open("ab")
    except OSError as error:
        raise_storage_error(path, error)
    try:
        yield TimesWriter(file, path)
    finally:
        with suppress(OSError):  # an agent may have closed it
            file.close()


def read_times(folder: Path) -> dict[str, EpisodeTimes]:
    """Episode id -> its times, as far as they are known: torn lines are passed over."""
    found = {}
    for path in times_paths(folder):
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror or error}") from error
        for line in lines:
            with suppress(*DAMAGE):
                times = msgspec.json.decode(line, type=EpisodeTimes)
                found[times.episode_id] = times
    return found


def sum_times(times: dict[str, EpisodeTimes]) -> dict[str, float]:
    """{"simulator", "agent", "output"}: seconds of all episodes together."""
    names = ("simulator", "agent", "output")
    return {name: float(sum(getattr(one, name) for one in times.values())) for name in names}


def sum_costs(times: dict[str, EpisodeTimes]) -> dict[str, float]:
    """Total costs of an agent over all episodes, by name; empty for agents without costs."""
    names = sorted({name for one in times.values() for name in one.costs})
    return {name: float(sum(one.costs.get(name, 0.0) for one in times.values())) for name in names}


def write_times_table(path: Path, episode_ids: Sequence[str], times: dict[str, EpisodeTimes]) -> None:
    """Write one row per episode, in the given order, null where a time is lost; raises StorageError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    known = [times.get(name) for name in episode_ids]
    columns: dict[str, Any] = {"episode_id": pa.array(list(episode_ids), pa.string())}
    for name in ("simulator", "agent", "output"):
        seconds = [None if one is None else getattr(one, name) for one in known]
        columns[f"{name}_seconds"] = pa.array(seconds, pa.float64())
    for name in sum_costs(times):
        spent = [None if one is None else one.costs.get(name) for one in known]
        columns[name] = pa.array(spent, pa.float64())
    with atomic_path(path) as temporary:
        pq.write_table(pa.table(columns), temporary, compression="zstd")
