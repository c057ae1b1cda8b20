"""Demonstrations as arrays, read from a folder of either layout."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Bool, Float, Shaped

from navarena.core.errors import FileError, InputError
from navarena.core.files import read_bytes, translate_damage
from navarena.core.protocol_ids import split_protocol
from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.images import (
    decode_array,
    decode_clip,
    decode_png,
    decode_png16,
    restore_plane,
)
from navarena.evaluation.demonstrations.lerobot_layout import (
    DATA_PATH,
    VIDEO_PATH,
    feature_name,
    file_place,
)
from navarena.evaluation.demonstrations.manifest import FILE_NAME, DemoEpisode, Manifest, read_manifest
from navarena.evaluation.demonstrations.parquet_layout import data_path


@dataclass(frozen=True)
class EpisodeArrays:
    """One demonstration with K frames.

    Attributes:
        observations: name of a sensor -> (K, ...) of its shape and dtype; K texts as objects.
        actions: (K,) int64 indices, or (K, A) float32.
        rewards: (K,) float32.
        terminated: (K,) bool, whether the task came to its end with the step.
        truncated: (K,) bool, whether the step limit cut the episode off.
        poses: (K, 5) float32: x, y, z (metres, world frame), yaw and tilt (radians) before each action.
    """

    observations: dict[str, Shaped[np.ndarray, "k ..."]]
    actions: Shaped[np.ndarray, "k ..."]
    rewards: Float[np.ndarray, "k"]
    terminated: Bool[np.ndarray, "k"]
    truncated: Bool[np.ndarray, "k"]
    poses: Float[np.ndarray, "k 5"]


class DemoSet:
    """A complete data set of demonstrations; `open_demos` opens one.

    Args:
        folder: of it.
        manifest: complete.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        self._open: tuple[int, pq.ParquetFile, dict[str, np.ndarray]] | None = None

    def __len__(self) -> int:
        return len(self.manifest.episodes)

    def __iter__(self) -> Iterator[EpisodeArrays]:
        return (self.read(k) for k in range(len(self)))

    def read(self, index: int) -> EpisodeArrays:
        """The episode number `index`; raises FileError for files that are missing or damaged."""
        entry = self.manifest.episodes[index]
        with translate_damage(f"demonstrations in {self.folder}", "write them again"):
            file, clips = self._open_shard(entry)
            firsts = [one.first for one in self.manifest.episodes if one.shard == entry.shard]
            table = file.read_row_group(firsts.index(entry.first))
            begin = entry.first - firsts[0]
            seen = {name: frames[begin : begin + entry.steps] for name, frames in clips.items()} | {
                one.name: self._read_column(table, one)
                for one in self.manifest.columns
                if one.name not in clips
            }
        if self.manifest.layout == "lerobot":
            names = ("next.reward", "next.done", "next.truncated")
            rewards, done, truncated = (table[name].to_numpy() for name in names)
            terminated = done & ~truncated
        else:
            rewards, terminated, truncated = (
                table[name].to_numpy() for name in ("reward", "terminated", "truncated")
            )
        actions, poses = _stack(table["action"]), _stack(table["pose"])
        return EpisodeArrays(seen, actions, rewards, terminated, truncated, poses)

    def _open_shard(self, entry: DemoEpisode) -> tuple[pq.ParquetFile, dict[str, np.ndarray]]:
        """The rows of the shard of `entry`, and name -> images of its videos; the last one stays open."""
        if self._open is None or self._open[0] != entry.shard:
            clips: dict[str, np.ndarray] = {}
            if self.manifest.layout == "lerobot":
                place = file_place(entry.shard)
                rows = self._read_file(DATA_PATH.format(**place))
                for one in self.manifest.columns:
                    if one.kind == "image":
                        path = VIDEO_PATH.format(video_key=feature_name(one), **place)
                        clips[one.name] = decode_clip(self._read_file(path))
            else:
                rows = self._read_file(data_path(entry.shard))
            self._open = entry.shard, pq.ParquetFile(pa.BufferReader(rows)), clips
        return self._open[1], self._open[2]

    def _read_file(self, path: str) -> bytes:
        data = read_bytes(self.folder / path, "file of demonstrations")
        if hashlib.sha256(data).hexdigest() != self.manifest.files.get(path):
            raise FileError(
                f"{self.folder / path} does not belong to the {FILE_NAME} beside it; copy both again, or "
                "write the demonstrations again"
            )
        return data

    def _read_column(self, table: pa.Table, one: Column) -> np.ndarray:
        if self.manifest.layout == "lerobot":
            column = table[feature_name(one)]
            if one.kind == "plane":
                images = (decode_png16(value["bytes"]) for value in column.to_pylist())
                return np.stack([restore_plane(image, one) for image in images])
        else:
            column = table[f"observation.{one.name}"]
            if one.kind in ("image", "plane", "array"):
                decode: Callable[[bytes], np.ndarray] = (
                    decode_png if one.kind == "image" else lambda data: decode_array(data, one)
                )
                return np.stack([decode(value) for value in column.to_pylist()])
        if one.kind == "text":
            return np.array(column.to_pylist(), object)
        return _stack(column).astype(one.dtype).reshape(len(column), *one.shape)


def _stack(column: pa.ChunkedArray) -> np.ndarray:
    """(K,) or (K, C) numbers of a column of numbers, or of lists of a fixed length."""
    whole = column.combine_chunks()
    if pa.types.is_fixed_size_list(whole.type):
        flat = whole.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat.reshape(-1, whole.type.list_size))
    return np.asarray(whole.to_numpy(zero_copy_only=False))


def open_demos(folder: str | Path, protocol: str | None = None) -> DemoSet:
    """The demonstrations in `folder`.

    Args:
        folder: as `navarena demos` wrote it.
        protocol: id that they must be of, with options; None for any.

    Raises FileError for a folder without demonstrations or with half-written ones, InputError for those of
    another protocol.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    if not manifest.complete:
        raise FileError(
            f"expected complete demonstrations in {folder}, got half-written ones; give the command of "
            "`navarena demos` that began them again, which goes on"
        )
    if protocol is not None and split_protocol(manifest.protocol) != split_protocol(protocol):
        raise InputError(f"expected demonstrations of {protocol}, got {folder} of {manifest.protocol}")
    return DemoSet(folder, manifest)
