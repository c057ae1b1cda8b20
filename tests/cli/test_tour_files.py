"""Tours of files in VLN-CE's and IVLN-CE's layouts, from the command line."""

import gzip
import json

import pytest

from graph_world import r2r_items, write_files
from navarena.cli.main import main


def run(capsys, *words):
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def files(tmp_path, capsys):
    run(capsys, "tours", "houses", "mini", "--out", tmp_path)
    return tmp_path / "mini.json.gz", tmp_path / "tours.json"


def test_files_of_a_split_give_what_the_split_gives(files, tmp_path, capsys):
    episodes, tours = files
    evaluate = ("evaluate", "ir2r-ce-v1", "--agent", "forward", "--out")
    both = [
        run(capsys, *evaluate, tmp_path / str(number), *words)
        for number, words in enumerate((("--split", "mini"), ("--dataset", episodes, "--tours", tours)))
    ]
    assert both[0]["episodes"] == both[1]["episodes"] == 24
    means = [{name: one["mean"] for name, one in run["metrics"].items()} for run in both]
    assert means[0] == means[1]
    over_tours = [{name: one["mean"] for name, one in run["tours"]["metrics"].items()} for run in both]
    assert over_tours[0] == over_tours[1] and both[0]["tours"]["tours"] == both[1]["tours"]["tours"] == 6
    words = (("mini",), ("--episodes", episodes, "--tours", tours))
    curves = [run(capsys, "tours", "coverage", "--limit", "1", *one)["curve"] for one in words]
    assert curves[0] == curves[1]


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path, capsys):
    (tmp_path / "out").write_text("of somebody else")
    assert main(["tours", "houses", "mini", "--out", str(tmp_path / "out")]) == 2
    assert f"error: cannot write {tmp_path / 'out'}" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_a_test_split_is_walked_and_not_scored(tmp_path, capsys):
    paths = [item | {"path": item["path"][:1]} for item in r2r_items()]
    r2r, graphs = write_files(tmp_path, paths)
    out = tmp_path / "run"
    words = ("--dataset", r2r, "--scenes", graphs)
    done = run(capsys, "evaluate", "r2r-v1", "--agent", "random", *words, "--out", out)
    assert set(done["metrics"]) == {"length", "path_steps"}
    assert main(["failures", str(out)]) == 2
    assert "whose goals are hidden" in capsys.readouterr().err


def test_one_file_without_the_other(files, capsys):
    for flag, file in zip(("--episodes", "--tours"), files, strict=True):
        assert main(["tours", "coverage", flag, str(file)]) == 2
        assert "--episodes and --tours together" in capsys.readouterr().err
    assert main(["evaluate", "ir2r-ce-v1", "--agent", "stop", "--tours", str(files[1])]) == 2
    assert "expected an episode file" in capsys.readouterr().err


def test_references_are_checked_before_the_first_step(files, tmp_path, capsys):
    (tour, *_), *_ = json.loads(files[1].read_bytes())["mini"].values()
    steps = [{"position": [0, 0, 0], "phase": "agent", "episode_id": name} for name in tour]
    references = tmp_path / "gt_ndtw.json.gz"
    references.write_bytes(gzip.compress(json.dumps({"mini": {"0": steps}}).encode()))
    words = ("--agent", "stop", "--out", tmp_path / "o", "--references", references)
    words = (*words, "--dataset", files[0], "--tours", files[1])
    assert main(["evaluate", "ir2r-ce-v1", *map(str, words)]) == 2
    assert "expected the places of an expert for every episode" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tours", "evaluate", "ir2r-v1"), "which is now: navarena evaluate"),
        (("list", "graph-agents"), "which is now: navarena list agents"),
        (("evaluate", "pointnav-v1", "--calibrate", "3"), "--calibration-steps"),
        (("evaluate", "pointnav-v1", "--calibration", "x"), "--calibration-episodes"),
        (("evaluate", "pointnav-v1", "--most", "3"), "expected the flag --episodes"),
        (("tours", "coverage", "--most", "3"), "--limit"),
    ],
)
def test_old_names_say_what_has_taken_their_place(words, message, capsys):
    assert main(list(words)) == 2
    assert message in capsys.readouterr().err
