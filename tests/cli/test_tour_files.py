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
    return "--episodes", tmp_path / "mini.json.gz", "--tours", tmp_path / "tours.json"


def test_files_of_a_split_give_what_the_split_gives(files, tmp_path, capsys):
    both = [
        run(
            capsys,
            "tours",
            "evaluate",
            "ir2r-ce-v1",
            "--agent",
            "forward",
            "--out",
            tmp_path / "o.json",
            *words,
        )
        for words in (("--split", "mini"), files)
    ]
    assert both[0]["metrics"] == both[1]["metrics"] and both[0]["tours"] == both[1]["tours"]
    assert both[0]["episodes"] == 24
    curves = [
        run(capsys, "tours", "coverage", "--most", "1", *words)["curve"] for words in (("mini",), files)
    ]
    assert curves[0] == curves[1]


def test_a_test_split_is_walked_and_not_scored(tmp_path, capsys):
    paths = [item | {"path": item["path"][:1]} for item in r2r_items()]
    r2r, graphs = write_files(tmp_path, paths)
    words = ("--r2r", r2r, "--connectivity", graphs)
    out = tmp_path / "walks.json"
    told = run(capsys, "tours", "evaluate", "r2r-v1", "--agent", "random", *words, "--out", out)
    assert told["metrics"] == {} and told["episodes"] == len(json.loads(out.read_bytes())) > 0
    assert main([*map(str, ("tours", "score", out, *words))]) == 2
    assert "a test split" in capsys.readouterr().err


def test_one_file_without_the_other(files, capsys):
    for words in (files[:2], files[2:]):
        assert main(["tours", "coverage", *map(str, words)]) == 2
        assert "--episodes and --tours together" in capsys.readouterr().err


def test_references_are_checked_before_the_first_step(files, tmp_path, capsys):
    (tour, *_), *_ = json.loads(files[-1].read_bytes())["mini"].values()
    steps = [{"position": [0, 0, 0], "phase": "agent", "episode_id": name} for name in tour]
    references = tmp_path / "gt_ndtw.json.gz"
    references.write_bytes(gzip.compress(json.dumps({"mini": {"0": steps}}).encode()))
    words = ("--agent", "stop", "--out", tmp_path / "o.json", "--references", references, *files)
    assert main(["tours", "evaluate", "ir2r-ce-v1", *map(str, words)]) == 2
    assert "got none of 20 of them" in capsys.readouterr().err
    assert not (tmp_path / "o.json.journal").exists()
