"""Known faults of published lists are found by data set, split, protocol and scene."""

import json

import msgspec
import pytest

from navarena.cli.main import main
from navarena.episodes import errata
from navarena.episodes.errata import Erratum, find_errata, load_errata
from navarena.episodes.exchange.detection import EPISODE_FORMATS
from navarena.scenes.catalog import SCENE_SETS

KNOWN = (
    Erratum("houses-v9", "all of it", "here"),
    Erratum("houses-v9", "one protocol", "here", protocol="pointnav-v1"),
    Erratum("houses-v9", "one split", "here", split="val"),
    Erratum("houses-v9", "one scene", "here", scene="a", episodes=("3",)),
)


def test_the_shipped_file_names_what_exists():
    assert load_errata()
    for one in load_errata():
        assert one.dataset in {*EPISODE_FORMATS.names(), *SCENE_SETS.names()} and one.problem and one.source
        assert not one.episodes or one.scene


@pytest.mark.parametrize(
    ("asked", "problems"),
    [
        (("houses-v9", "val", "pointnav-v1"), ["all of it", "one protocol", "one split", "one scene"]),
        (("houses-v9", "test", "multion-1on-v1"), ["all of it", "one scene"]),
        (("houses-v9", None, "", frozenset("b")), ["all of it", "one split"]),
        (("houses-v9", "test", "", frozenset("ab")), ["all of it", "one scene"]),
        (("houses-v8", "val"), []),
    ],
)
def test_what_concerns_a_list(monkeypatch, asked, problems):
    monkeypatch.setattr(errata, "load_errata", lambda: KNOWN)
    assert [one.problem for one in find_errata(*asked)] == problems


def test_info_shows_them(capsys, tmp_path):
    """A file of ObjectNav in one of the scenes whose television sets are not all listed."""
    episode = {
        "episode_id": "0",
        "scene_id": "hm3d_v0.2/val/00809-5cdEh9F2hJL/5cdEh9F2hJL.basis.glb",
        "start_position": [0.0, 0.0, 0.0],
        "start_rotation": [0.0, 0.0, 0.0, 1.0],
        "goals": [],
        "object_category": "bed",
        "info": {"geodesic_distance": 2.0},
    }
    goal = {"position": [1.0, 0.0, 0.0], "object_id": 1, "object_category": "bed", "view_points": []}
    content = {
        "episodes": [episode],
        "goals_by_category": {"5cdEh9F2hJL.basis.glb_bed": [goal]},
        "category_to_task_category_id": {"bed": 1},
        "category_to_scene_annotation_category_id": {"bed": 1},
    }
    path = tmp_path / "val.json"
    path.write_bytes(msgspec.json.encode(content))
    assert main(["episodes", "info", str(path), "--json"]) == 0
    scenes = [one["scene"] for one in json.loads(capsys.readouterr().out)["errata"]]
    assert scenes == ["5cdEh9F2hJL", ""]
    assert main(["episodes", "info", str(path)]) == 0
    assert "habitat-lab issue 889" in capsys.readouterr().out


def test_a_split_without_any(capsys):
    assert main(["episodes", "info", "mini"]) == 0
    assert "errata: none" in capsys.readouterr().out


def test_a_stream_cannot_be_summarised(capsys, monkeypatch):
    from navarena.episodes.dataset import EpisodeDataset

    monkeypatch.setattr(EpisodeDataset, "is_stream", property(lambda self: True))
    assert main(["episodes", "info", "mini"]) == 2
    assert "navarena episodes make pointnav-v1 --split mini --per-scene 10" in capsys.readouterr().err
