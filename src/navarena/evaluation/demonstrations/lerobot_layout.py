"""LeRobot data sets, version 3.0: Parquet of numbers, MP4 of colours, statistics and tasks.

    meta/info.json                              features, sizes, paths
    meta/stats.json                             statistics of every feature
    meta/tasks.parquet                          words of the tasks, and their numbers
    meta/episodes/chunk-000/file-000.parquet    lengths, places in the files, and statistics of each episode
    data/chunk-000/file-000.parquet             a row for each frame
    videos/NAME/chunk-000/file-000.mp4          the colours of the same frames

Planes such as depth are 16-bit PNG in the rows: videos would blur the edges. Poses are `pose` and no state
of the robot, since no body of a protocol knows them. The layout is that of LeRobotDataset v3.0 (LeRobot's
documentation, "LeRobotDataset v3.0", and meta/info.json of published data sets).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from navarena.core.errors import InputError
from navarena.evaluation.demonstrations.columns import Column
from navarena.evaluation.demonstrations.images import (
    PIXELS,
    Clip,
    encode_png16,
    find_scale,
    join_clips,
    quantise_plane,
    require_even,
)
from navarena.evaluation.demonstrations.layout import (
    CHUNK,
    POSE,
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
from navarena.evaluation.demonstrations.statistics import Summary, combine, sample_pixels, summarise

VERSION = "v3.0"

DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-000/file-000.parquet"
INFO_PATH, STATS_PATH, TASKS_PATH = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"

DATA_MB, VIDEO_MB = 100, 200
"""Sizes, in megabytes, at which LeRobot itself would begin new files when it appends episodes."""

PNG = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""How an image stands in a row, as of Hugging Face's data sets."""

SCALARS = {
    "next.reward": "float32",
    "next.done": "bool",
    "next.truncated": "bool",
    "next.success": "bool",
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
"""Features of one number, and their types, beside observations."""


def feature_name(column: Column) -> str:
    """The name of an observation among the features."""
    is_seen = column.kind in ("image", "plane")
    return f"observation.images.{column.name}" if is_seen else f"observation.{column.name}"


def file_place(shard: int) -> dict[str, int]:
    """The numbers in the paths of a shard's files."""
    return {"chunk_index": shard // CHUNK, "file_index": shard % CHUNK}


class _Frames:
    """Takes the frames of one episode."""

    def __init__(self, columns: Sequence[Column], frames_per_second: int) -> None:
        self._columns = columns
        self.clips = {
            one.name: Clip(one.shape[0], one.shape[1], frames_per_second)
            for one in columns
            if one.kind == "image"
        }
        self.values: dict[str, list[Any]] = {one.name: [] for one in columns}
        self.samples: dict[str, list[np.ndarray]] = {one.name: [] for one in columns}

    def add(self, seen: Mapping[str, np.ndarray]) -> None:
        for one in self._columns:
            value = seen[one.name]
            if one.kind == "image":
                self.clips[one.name].add(value)
                self.samples[one.name].append(sample_pixels(value))
            elif one.kind == "plane":
                levels = quantise_plane(value, one)
                self.values[one.name].append({"bytes": encode_png16(levels), "path": None})
                self.samples[one.name].append(sample_pixels(levels))
            elif one.kind == "text":
                self.values[one.name].append(str(value))
            else:
                self.values[one.name].append(np.array(value))

    def column(self, one: Column) -> pa.Array:
        """The values of column `one`, which is no image."""
        if one.kind == "plane":
            return pa.array(self.values[one.name], PNG)
        if one.kind == "text":
            return pa.array(self.values[one.name], pa.string())
        return array_column(self.numbers(one))

    def numbers(self, one: Column) -> np.ndarray:
        """(K,) or (K, C) numbers of column `one`; a list of one number is a plain one."""
        stacked = np.stack(self.values[one.name]).astype(one.dtype)
        return stacked.reshape(len(stacked)) if stacked[0].size == 1 else stacked


class LeRobotLayout(Layout):
    """A LeRobot data set; see this module.

    Raises InputError for observations that it cannot hold.
    """

    name: ClassVar[LayoutName] = "lerobot"

    def __init__(self, columns: Sequence[Column], frames_per_second: int) -> None:
        super().__init__(columns, frames_per_second)
        for one in columns:
            if one.kind == "array":
                raise InputError(
                    f"expected images, numbers and texts for --format lerobot, got {one.name} of shape "
                    f"{one.shape}; choose --format parquet, or leave it out by --sensors"
                )
            if one.kind == "plane":
                find_scale(one)
            if one.kind == "image":
                require_even(one.shape[0], one.shape[1])

    def make_sink(self) -> FrameSink:
        return _Frames(self.columns, self.frames_per_second)

    def encode(self, shard: Shard, recorded: Sequence[Recorded]) -> EncodedShard:
        place = file_place(shard.number)
        tables, statistics = [], []
        clips: dict[str, list[bytes]] = {feature_name(one): [] for one in self.columns if one.kind == "image"}
        for one in recorded:
            sink = one.demonstration.sink
            assert isinstance(sink, _Frames)
            columns = self._make_columns(one, sink)
            tables.append(pa.table(columns))
            statistics.append(self._summarise(one, sink, columns))
            for column in self.columns:
                if column.kind == "image":
                    clips[feature_name(column)].append(sink.clips[column.name].finish())
        raw = [feature_name(one) for one in self.columns if one.kind == "plane"]
        files = {DATA_PATH.format(**place): encode_table(tables, [f"{name}.bytes" for name in raw])}
        for name, parts in clips.items():
            files[VIDEO_PATH.format(video_key=name, **place)] = join_clips(parts, self.frames_per_second)
        return EncodedShard(files, tuple(statistics))

    def _make_columns(self, one: Recorded, sink: _Frames) -> dict[str, pa.Array]:
        common, steps = common_columns(one), len(one.planned.row.actions)
        ended = np.array(one.demonstration.ended, bool).reshape(-1, 2)
        last = np.arange(steps) == steps - 1
        frames = np.arange(steps)
        success = last & (one.planned.row.metrics.get("success") == 1.0)
        seen = {feature_name(col): sink.column(col) for col in self.columns if col.kind != "image"}
        return seen | {
            "action": common["action"],
            "pose": common["pose"],
            "next.reward": common["reward"],
            "next.done": pa.array(ended.any(1) | last),
            "next.truncated": pa.array(ended[:, 1]),
            "next.success": pa.array(success),
            "timestamp": pa.array((frames / self.frames_per_second).astype(np.float32)),
            "frame_index": common["frame_index"],
            "episode_index": common["episode_index"],
            "index": common["index"],
            "task_index": pa.array(np.full(steps, one.planned.task_index)),
        }

    def _summarise(self, one: Recorded, sink: _Frames, columns: Mapping[str, pa.Array]) -> dict[str, Summary]:
        """Statistics of every feature of an episode but texts; colours within 0 to 1."""
        steps = len(one.planned.row.actions)
        found: dict[str, Summary] = {}
        for column in self.columns:
            name = feature_name(column)
            if column.kind in ("image", "plane"):
                pixels = np.stack(sink.samples[column.name])
                channels = pixels.shape[3] if pixels.ndim == 4 else 1
                values = pixels.reshape(-1, channels)
                found[name] = summarise(values / 255.0 if column.kind == "image" else values, steps)
            elif column.kind == "numbers":
                found[name] = summarise(sink.numbers(column).reshape(steps, -1), steps)
        found["action"] = summarise(one.action_rows.reshape(steps, -1), steps)
        found["pose"] = summarise(one.demonstration.poses, steps)
        for name in SCALARS:
            values = np.array(columns[name].to_pylist(), np.float64).reshape(-1, 1)
            found[name] = summarise(values, steps)
        return found

    def describe(
        self, manifest: Manifest, shards: Sequence[Shard], statistics: Sequence[Mapping[str, Summary]]
    ) -> dict[str, bytes]:
        tasks = list(dict.fromkeys(one.task for one in manifest.episodes))
        whole = {name: combine([one[name] for one in statistics]) for name in statistics[0]}
        images = {feature_name(one) for one in self.columns if one.kind in ("image", "plane")}
        shaped = {
            name: {key: _shape(value, name in images and key != "count") for key, value in one.items()}
            for name, one in whole.items()
        }
        return {
            INFO_PATH: _encode_json(self._describe_info(manifest, len(tasks))),
            STATS_PATH: _encode_json(shaped),
            TASKS_PATH: _encode_tasks(tasks),
            EPISODES_PATH: self._encode_episodes(manifest, statistics, images),
        }

    def _describe_info(self, manifest: Manifest, tasks: int) -> dict[str, Any]:
        has_videos = any(one.kind == "image" for one in self.columns)
        return {
            "codebase_version": VERSION,
            "robot_type": "navarena",
            "total_episodes": len(manifest.episodes),
            "total_frames": manifest.frames,
            "total_tasks": tasks,
            "chunks_size": CHUNK,
            "data_files_size_in_mb": DATA_MB,
            "video_files_size_in_mb": VIDEO_MB,
            "fps": self.frames_per_second,
            "splits": {"train": f"0:{len(manifest.episodes)}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH if has_videos else None,
            "features": self._describe_features(manifest),
        }

    def _describe_features(self, manifest: Manifest) -> dict[str, Any]:
        found = {feature_name(one): self._describe_column(one) for one in self.columns}
        if manifest.is_continuous:
            action = {"dtype": "float32", "shape": [len(manifest.actions)], "names": list(manifest.actions)}
        else:
            action = {"dtype": "int64", "shape": [1], "names": ["action"], "actions": list(manifest.actions)}
        found["action"] = action
        found["pose"] = {"dtype": "float32", "shape": [len(POSE)], "names": list(POSE)}
        for name, dtype in SCALARS.items():
            found[name] = {"dtype": dtype, "shape": [1], "names": None}
        return found

    def _describe_column(self, one: Column) -> dict[str, Any]:
        if one.kind == "text":
            return {"dtype": "string", "shape": [1], "names": None}
        if one.kind == "numbers":
            size = int(np.prod(one.shape))
            return {"dtype": one.dtype, "shape": [size], "names": None, "unit": one.unit}
        height, width = one.shape[:2]
        channels = 3 if one.kind == "image" else 1
        found = {"shape": [height, width, channels], "names": ["height", "width", "channels"]}
        if one.kind == "plane":
            is_depth = np.dtype(one.dtype).kind == "f"
            scale = {"low": one.low, "high": one.high, "levels_per_unit": find_scale(one), "unit": one.unit}
            return {"dtype": "image", **found, "info": {"is_depth_map": is_depth, **scale}}
        info = {
            "video.height": height,
            "video.width": width,
            "video.codec": "h264",
            "video.pix_fmt": PIXELS,
            "video.is_depth_map": False,
            "video.fps": self.frames_per_second,
            "video.channels": channels,
            "has_audio": False,
        }
        return {"dtype": "video", **found, "info": info}

    def _encode_episodes(
        self, manifest: Manifest, statistics: Sequence[Mapping[str, Summary]], images: set[str]
    ) -> bytes:
        """A row for each episode: where its frames are, and their statistics."""
        rows = manifest.episodes
        count, rate = len(rows), float(self.frames_per_second)
        places = [file_place(one.shard) for one in rows]
        starts: dict[int, int] = {}
        for one in rows:
            starts.setdefault(one.shard, one.first)
        columns: dict[str, Any] = {
            "episode_index": pa.array(np.arange(count)),
            "tasks": pa.array([[one.task] for one in rows], pa.list_(pa.string())),
            "length": pa.array([one.steps for one in rows], pa.int64()),
            "data/chunk_index": pa.array([one["chunk_index"] for one in places], pa.int64()),
            "data/file_index": pa.array([one["file_index"] for one in places], pa.int64()),
            "dataset_from_index": pa.array([one.first for one in rows], pa.int64()),
            "dataset_to_index": pa.array([one.first + one.steps for one in rows], pa.int64()),
        }
        for column in self.columns:
            if column.kind != "image":
                continue
            key = f"videos/{feature_name(column)}"
            begins = [(one.first - starts[one.shard]) for one in rows]
            columns |= {
                f"{key}/chunk_index": columns["data/chunk_index"],
                f"{key}/file_index": columns["data/file_index"],
                f"{key}/from_timestamp": pa.array([one / rate for one in begins]),
                f"{key}/to_timestamp": pa.array(
                    [(begin + one.steps) / rate for begin, one in zip(begins, rows)]
                ),
            }
        for name, summary in statistics[0].items():
            for key in summary:
                is_image = name in images and key != "count"
                values = [_shape(part[name][key], is_image) for part in statistics]
                columns[f"stats/{name}/{key}"] = pa.array(values)
        columns |= {
            "meta/episodes/chunk_index": pa.array(np.zeros(count, np.int64)),
            "meta/episodes/file_index": pa.array(np.zeros(count, np.int64)),
        }
        return encode_table([pa.table(columns)])


def _shape(values: Sequence[float], is_image: bool) -> list[Any]:
    """Numbers of a feature; those of images are (C, 1, 1)."""
    return [[[one]] for one in values] if is_image else list(values)


def _encode_json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, indent=4, ensure_ascii=False).encode() + b"\n"


def _encode_tasks(tasks: Sequence[str]) -> bytes:
    """A table whose index, as pandas reads it, is the words of the tasks."""
    numbers, words = pa.array(np.arange(len(tasks))), pa.array(tasks, pa.string())
    kinds = {"task_index": ("int64", "int64"), "task": ("unicode", "object")}
    described = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy_kind, "metadata": None}
        for name, (kind, numpy_kind) in kinds.items()
    ]
    pandas = {"index_columns": ["task"], "column_indexes": [], "columns": described, "pandas_version": "2.0"}
    table = pa.table({"task_index": numbers, "task": words})
    return encode_table([table], metadata={"pandas": json.dumps(pandas)})
