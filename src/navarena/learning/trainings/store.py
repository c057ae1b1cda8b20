"""Store of trajectories on the disk: whole episodes in shards that are named by their content.

store.json             which episodes are in which shard, in the order in which they came
shards/SHA256.arrow    up to SHARD episodes, a row for each, mapped into memory when it is read
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from navarena.core.errors import FileError, InputError
from navarena.core.files import raise_storage_error, read_json, write_atomic

FORMAT = "navarena-trajectories-v2"
INDEX, SHARDS = "store.json", "shards"
SHARD = 256
"""Episodes in a full shard."""


@dataclass(frozen=True)
class Entry:
    """Index entry of one stored episode.

    Attributes:
        key: who collected which episode; nothing is stored twice under one.
        iteration: in which it was collected.
        tour: which episodes belong together; empty for single ones.
        steps: T.
    """

    key: str
    iteration: int
    tour: str
    steps: int


@dataclass(frozen=True)
class _Shard:
    sha256: str
    episodes: tuple[Entry, ...]


@dataclass(frozen=True)
class _Index:
    format: str
    shards: tuple[_Shard, ...]


class TrajectoryStore:
    """Episodes as arrays (T, ...), kept in memory until `flush` writes them.

    Args:
        folder: of the store; goes on with what is there. A shard that the index does not name was cut off
            while it was written, and counts as absent.
        is_new: whether what is there is removed.

    Attributes:
        entries: of all episodes, in the order in which they came.

    Raises FileError for a damaged index, StorageError for what cannot be removed.
    """

    def __init__(self, folder: Path, is_new: bool = False) -> None:
        if is_new:
            _remove(folder)
        self._folder, self._pending = folder, list[tuple[Entry, dict[str, np.ndarray]]]()
        self._shards: list[_Shard] = []
        self._tables: dict[str, pa.Table] = {}
        path = folder / INDEX
        if path.exists():
            index: _Index = read_json(path, "trajectory store", _Index, "remove the folder")
            if index.format != FORMAT:
                raise FileError(
                    f"expected the format {FORMAT} in {path}, got {index.format!r}; train again, with "
                    "another --out"
                )
            self._shards = list(index.shards)
        self.entries = [one for shard in self._shards for one in shard.episodes]
        self._places = {
            one.key: (shard.sha256, row) for shard in self._shards for row, one in enumerate(shard.episodes)
        }

    def add(self, entry: Entry, arrays: Mapping[str, np.ndarray]) -> bool:
        """Take an episode's `arrays`, name -> (T, ...); False when there is one under its key already.

        Raises InputError for arrays that are not of the entry's length.
        """
        wrong = [name for name, one in arrays.items() if len(one) != entry.steps]
        if wrong:
            raise InputError(f"expected {entry.steps} steps of {entry.key}, got others of {wrong}")
        if entry.key in self._places:
            return False
        self._places[entry.key] = ("", len(self._pending))
        self._pending.append((entry, {name: np.ascontiguousarray(one) for name, one in arrays.items()}))
        self.entries.append(entry)
        if len(self._pending) >= SHARD:
            self.flush()
        return True

    def flush(self) -> None:
        """Write pending episodes: a shard, then the index. Raises StorageError."""
        if not self._pending:
            return
        data = _encode(self._pending)
        sha256 = hashlib.sha256(data).hexdigest()
        write_atomic(self._folder / SHARDS / f"{sha256}.arrow", data)
        shard = _Shard(sha256, tuple(entry for entry, _ in self._pending))
        self._shards.append(shard)
        index = {"format": FORMAT, "shards": [_plain(one) for one in self._shards]}
        write_atomic(self._folder / INDEX, json.dumps(index).encode())
        self._places |= {entry.key: (sha256, row) for row, entry in enumerate(shard.episodes)}
        self._pending = []

    def read(self, key: str) -> dict[str, np.ndarray]:
        """Name -> (T, ...) of the episode `key`: views that cannot be written.

        Raises FileError for a shard that is missing or damaged, KeyError for an unknown key.
        """
        sha256, row = self._places[key]
        if not sha256:
            return self._pending[row][1]
        if sha256 not in self._tables:
            self._tables[sha256] = self._open(sha256)
        table = self._tables[sha256]
        kinds = json.loads(table.schema.metadata[b"arrays"])
        return {
            name: np.frombuffer(table[name][row].as_buffer(), dtype).reshape(-1, *shape)
            for name, (dtype, shape) in kinds.items()
        }

    def _open(self, sha256: str) -> pa.Table:
        path = self._folder / SHARDS / f"{sha256}.arrow"
        advice = f"remove {self._folder}, and collect again"
        try:
            mapped = pa.memory_map(str(path))
        except OSError as error:
            raise FileError(f"cannot read the shard {path} ({error}); {advice}") from error
        if hashlib.sha256(memoryview(mapped.read_buffer())).hexdigest() != sha256:
            raise FileError(f"the shard {path} is damaged: its content is not what it is named by; {advice}")
        mapped.seek(0)
        return pa.ipc.open_file(mapped).read_all()


def _remove(folder: Path) -> None:
    """Remove the store in `folder`, its index first: what is left then counts as absent."""
    try:
        (folder / INDEX).unlink(missing_ok=True)
        if (folder / SHARDS).exists():
            shutil.rmtree(folder / SHARDS)
    except OSError as error:
        raise_storage_error(folder, error)


def _plain(shard: _Shard) -> dict[str, Any]:
    return {"sha256": shard.sha256, "episodes": [vars(one) for one in shard.episodes]}


def _encode(episodes: list[tuple[Entry, dict[str, np.ndarray]]]) -> bytes:
    """An Arrow file with a row for each of `episodes`; equal episodes make equal bytes."""
    first = episodes[0][1]
    kinds = {name: (one.dtype.str, one.shape[1:]) for name, one in first.items()}
    columns = {"key": pa.array([entry.key for entry, _ in episodes])}
    for name in first:
        columns[name] = pa.array([arrays[name].tobytes() for _, arrays in episodes], pa.large_binary())
    table = pa.table(columns).replace_schema_metadata({"arrays": json.dumps(kinds)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())
