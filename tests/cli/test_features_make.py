"""`navarena features make`: what the file holds, the same bytes again, evaluation by it, bad input."""

import json
import sys

import numpy as np
import pytest

from navarena.cli.main import main
from navarena.core.errors import FileError, InputError
from navarena.evaluation import EvaluationSettings, evaluate
from navarena.scenes.graphs.features import StoredFeatures, load_features, save_hdf5_features

h5py = pytest.importorskip("h5py")


def run(capsys, *arguments):
    code = main(["features", "make", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("features") / "mini.hdf5"
    assert main(["features", "make", "mini", "--out", str(path), "--encoder", "classes", "--json"]) == 0
    return path


def test_the_layout_is_that_of_the_reference(file, capsys):
    again = file.with_name("again.h5")
    code, out, _ = run(capsys, "mini", "--out", str(again), "--encoder", "classes", "--json")
    told = json.loads(out)
    assert code == 0 and (told["houses"], told["encoder"]) == (2, "classes")
    assert again.read_bytes() == file.read_bytes()
    found = []
    with h5py.File(file) as data:
        data.visititems(lambda name, one: found.append(name) if isinstance(one, h5py.Dataset) else None)
        assert len(found) == told["places"]
        for name in found:
            one = data[name]
            assert name == f"{one.attrs['scanId']}_{one.attrs['viewpointId']}"
            assert one.shape == (36, told["size"]) and one.dtype == np.float32 and one.compression == "gzip"
            assert (one.attrs["image_w"], one.attrs["image_h"]) == (96, 72)
            assert one.attrs["vfov"] == pytest.approx(60.0)
        scan, viewpoint = str(one.attrs["scanId"]), str(one.attrs["viewpointId"])
        features = load_features(file)
        assert features.size == told["size"]
        assert (
            np.array_equal(features.views(scan, viewpoint), one[...])
            and features.views(scan, viewpoint).any()
        )


def test_agents_see_the_same_by_name_and_by_file(file, tmp_path):
    settings = EvaluationSettings("r2r-v1", "random", split="mini", episodes=3, workers=1, features="classes")
    runs = [
        evaluate(EvaluationSettings(**{**vars(settings), "features": one, "out": tmp_path / str(number)}))
        for number, one in enumerate(("classes", str(file)))
    ]
    first, second = ([row.metrics for row in one.rows] for one in runs)
    assert first == second and len(first) == 3


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    rows = {("scan", name): np.full((36, 3), number, np.float32) for number, name in enumerate("ab")}
    features, path = StoredFeatures(rows, "here"), tmp_path / "features.hdf5"
    assert save_hdf5_features(path, features, rows, (640, 480), 60.0) == 2
    assert load_features(path).views("scan", "b").tolist() == [[1.0] * 3] * 36
    before = path.read_bytes()
    with pytest.raises(FileError, match="viewpoint c in scan scan"):
        save_hdf5_features(path, features, [("scan", "a"), ("scan", "c")], (640, 480), 60.0)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match=r"ends in \.hdf5 or \.h5"):
        save_hdf5_features(tmp_path / "features.npz", features, rows, (640, 480), 60.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mini", "--out", "x.npz"), "to end in .hdf5 or .h5, got x.npz"),
        (("mini", "--out", "x.h5", "--encoder", "colour"), "Did you mean 'colours'"),
        (("mini", "--out", "x.h5", "--limit", "0"), "at least one house"),
        (("minni", "--out", "x.h5"), "mini"),
        (("mini", "--out", "x.h5", "--encoder", "one-hot"), "images"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *arguments)
    assert code == 2 and message.lower() in err.lower() and len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("missing", ["h5py", "encoder"])
def test_houses_are_not_opened_before_it_is_clear_that_the_file_can_be_made(
    missing, capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr("navarena.cli.episodes.features.WorldCache", None)
    if missing == "h5py":
        monkeypatch.setitem(sys.modules, "h5py", None)
    code, _, err = run(capsys, "mini", "--out", str(tmp_path / "x.h5"), "--encoder", "colour")
    assert code == 2 and ("navarena[features]" if missing == "h5py" else "Did you mean 'colours'") in err
