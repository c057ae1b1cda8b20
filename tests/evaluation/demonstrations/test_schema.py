"""The layout of LeRobot data sets 3.0, as its documentation and published data sets have it."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from navarena.evaluation.demonstrations.manifest import read_manifest

from .small import EPISODES, write

av = pytest.importorskip("av")

RGB, DEPTH = "observation.images.rgb", "observation.images.depth"
STATISTICS = {"min", "max", "mean", "std", "q01", "q10", "q50", "q90", "q99", "count"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demos") / "lerobot"
    write(folder)
    return folder


@pytest.fixture(scope="module")
def info(folder: Path) -> Any:
    return json.loads((folder / "meta" / "info.json").read_text())


def test_info(folder: Path, info: Any) -> None:
    manifest = read_manifest(folder)
    expected = {
        "codebase_version": "v3.0",
        "total_episodes": EPISODES,
        "total_frames": manifest.frames,
        "total_tasks": 1,
        "chunks_size": 1000,
        "fps": 10,
        "splits": {"train": f"0:{EPISODES}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    assert {name: info[name] for name in expected} == expected
    features = info["features"]
    for name in ("timestamp", "frame_index", "episode_index", "index", "task_index", "next.reward"):
        assert features[name]["shape"] == [1] and features[name]["dtype"] in ("float32", "int64")
    assert features[RGB]["dtype"] == "video" and features[RGB]["shape"] == [24, 32, 3]
    assert features[RGB]["info"]["video.codec"] == "h264" and not features[RGB]["info"]["video.is_depth_map"]
    assert features[DEPTH]["dtype"] == "image" and features[DEPTH]["shape"] == [24, 32, 1]
    assert features["action"]["actions"][0] == "stop" and features["action"]["dtype"] == "int64"
    for feature in features.values():
        assert {"dtype", "shape", "names"} <= set(feature)


def test_rows_have_the_types_of_the_features(folder: Path, info: Any) -> None:
    paths = sorted((folder / "data").glob("*/*.parquet"))
    assert len(paths) > 1 and paths[0].name == "file-000.parquet"
    expected = {name: one for name, one in info["features"].items() if one["dtype"] != "video"}
    arrow = {"float32": "float", "int64": "int64", "bool": "bool"}
    first = 0
    for path in paths:
        file = pq.ParquetFile(path)
        table = file.read()
        assert set(table.column_names) == set(expected)
        for name, feature in expected.items():
            kind = str(table.schema.field(name).type)
            if feature["dtype"] == "image":
                assert kind == "struct<bytes: binary, path: string>"
            elif feature["shape"] == [1]:
                assert kind == arrow[feature["dtype"]], name
            else:
                assert kind.startswith("fixed_size_list") and kind.endswith(f"[{feature['shape'][0]}]")
        index = table["index"].to_numpy()
        np.testing.assert_array_equal(index, first + np.arange(len(table)))
        first += len(table)
        frames, episodes = table["frame_index"].to_numpy(), table["episode_index"].to_numpy()
        np.testing.assert_allclose(table["timestamp"].to_numpy(), frames / 10, rtol=1e-6)
        ends = table["next.done"].to_numpy()
        np.testing.assert_array_equal(ends, np.append(np.diff(episodes) == 1, True))
        assert file.metadata.num_row_groups == len(set(episodes.tolist()))
    assert first == info["total_frames"]


def test_episodes_say_where_their_frames_are(folder: Path, info: Any) -> None:
    rows = pq.read_table(folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet").to_pylist()
    assert [one["episode_index"] for one in rows] == list(range(EPISODES))
    end, shown = 0, dict.fromkeys({one["data/file_index"] for one in rows}, 0.0)
    for one in rows:
        assert one["dataset_from_index"] == end and one["tasks"] == ["Go to the point."]
        end = one["dataset_to_index"]
        assert end - one["dataset_from_index"] == one["length"]
        place = {"chunk_index": one["data/chunk_index"], "file_index": one["data/file_index"]}
        table = pq.read_table(folder / info["data_path"].format(**place), columns=["index"])
        assert one["dataset_from_index"] in table["index"].to_pylist()
        assert one[f"videos/{RGB}/file_index"] == place["file_index"]
        assert one[f"videos/{RGB}/from_timestamp"] == pytest.approx(shown[place["file_index"]])
        shown[place["file_index"]] = one[f"videos/{RGB}/to_timestamp"]
        assert one[f"stats/{RGB}/count"] == [one["length"]]
        assert np.array(one[f"stats/{RGB}/mean"]).shape == (3, 1, 1)
    for number, seconds in shown.items():
        path = folder / info["video_path"].format(video_key=RGB, chunk_index=0, file_index=number)
        with av.open(io.BytesIO(path.read_bytes())) as video:
            times = [float(frame.pts * frame.time_base) for frame in video.decode(video=0)]
        np.testing.assert_allclose(times, np.arange(len(times)) / 10, atol=1e-6)
        assert len(times) == round(seconds * 10)


def test_statistics_are_those_of_the_values(folder: Path) -> None:
    stats = json.loads((folder / "meta" / "stats.json").read_text())
    tables = [pq.read_table(path) for path in sorted((folder / "data").glob("*/*.parquet"))]
    for name in ("action", "next.reward", "index"):
        values = np.concatenate([table[name].to_numpy() for table in tables]).astype(float)
        found = stats[name]
        assert set(found) == STATISTICS and found["count"] == [len(values)]
        expected = [values.min(), values.max(), values.mean(), values.std()]
        assert [found[key][0] for key in ("min", "max", "mean", "std")] == pytest.approx(expected)
    for key in STATISTICS - {"count"}:
        assert np.array(stats[RGB][key]).shape == (3, 1, 1) and 0 <= np.min(stats[RGB][key]) <= 1
    assert 0 <= stats[DEPTH]["min"][0][0][0] < stats[DEPTH]["max"][0][0][0] <= 10_000


def test_tasks_are_a_table_indexed_by_words(folder: Path) -> None:
    table = pq.read_table(folder / "meta" / "tasks.parquet")
    assert table.to_pylist() == [{"task_index": 0, "task": "Go to the point."}]
    described = json.loads(table.schema.metadata[b"pandas"])
    assert described["index_columns"] == ["task"]
    assert {one["name"] for one in described["columns"]} == set(table.column_names)
