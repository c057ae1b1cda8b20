"""`navarena list`: everything registered, with descriptions."""

import json
from typing import Any

import pytest

from navarena.cli.listing import LISTINGS, List
from navarena.cli.main import main
from navarena.core.registry import load_target

KEYS = {
    "protocols": {"name", "description", "target", "dataset", "max_steps", "actions", "sensors", "metrics"},
    "agents": {"name", "description", "target"},
    "recipes": {"name", "description", "target", "protocol", "frames", "core_hours"},
    "sensors": {"name", "description", "target", "of"},
    "encoders": {"name", "description", "target", "needs"},
    "scenes": {"name", "description", "target", "splits", "example"},
    "scene-datasets": {"name", "description", "target", "layout"},
    "episode-formats": {"name", "description", "target", "task"},
    "metrics": {"name", "description", "target", "unit", "better"},
    "corruptions": {"name", "description", "target"},
    "augmentations": {"name", "description", "target"},
    "labellers": {"name", "description", "target"},
    "gymnasium": {"name", "description", "target", "protocol"},
}
EXPECTED = {
    "protocols": {"pointnav-v1", "r2r-v1", "ir2r-v1"},
    "agents": {"random", "forward", "expert", "path", "explorer"},
    "recipes": {"objectnav-stretch-small", "pointnav-bc-small", "pointnav-dagger-small", "pointnav-small"},
    "sensors": {"rgb", "depth", "semantic", "instance", "gps", "compass", "heading", "position", "collided",
                "pointgoal_with_gps_compass"},
    "encoders": {"words", "one-hot", "images", "clip"},
    "scenes": {"houses-v0"},
    "scene-datasets": {"hm3d", "mp3d", "gibson", "replica", "procthor", "habitat"},
    "episode-formats": {"habitat-pointnav", "goat-bench", "multion", "r2r-ce", "robothor-2021"},
    "metrics": {"success", "spl", "soft_spl", "distance_to_goal", "path_length", "collisions", "num_actions"},
    "corruptions": {"camera_crack", "defocus_blur", "motion_blur", "lighting", "spatter", "speckle_noise",
                    "lower_fov", "gaussian_noise", "redwood_depth", "depth_holes", "depth_range"},
    "augmentations": {"random_crop", "random_shift", "color_jitter"},
    "labellers": {"segmenter"},
    "gymnasium": {"navarena/PointNav-v1", "navarena/IR2RCE-v1", "navarena/R2R-v1"},
}  # fmt: skip


def listed(kind: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["list", kind, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == kind and set(document) == {"kind", "items"}
    items: list[dict[str, Any]] = document["items"]
    return items


def test_table_covers_every_kind() -> None:
    assert set(LISTINGS) == set(KEYS)
    assert ", ".join(LISTINGS) in " ".join(str(List.__doc__).split()), "the help names every kind"


def test_gymnasium_ids_are_those_that_are_registered(capsys: pytest.CaptureFixture[str]) -> None:
    from navarena.gym import IDS

    items = listed("gymnasium", capsys)
    assert {item["name"] for item in items} == set(IDS) and len(items) == len(listed("protocols", capsys))


@pytest.mark.parametrize("kind", KEYS)
def test_json(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    items = listed(kind, capsys)
    assert {item["name"] for item in items} >= EXPECTED[kind]
    unfit = [item for item in items if item["description"].startswith("cannot")]
    assert all(set(item) == KEYS[kind] for item in items if item not in unfit)
    # the segmenter and the joint space are there where PyTorch is
    assert all("pip install 'navarena[learn]'" in item["description"] for item in unfit)
    assert not unfit or kind in ("labellers", "encoders")
    assert all(item["description"] for item in items)


@pytest.mark.parametrize("kind", KEYS)
def test_tables(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", kind]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EXPECTED[kind])


@pytest.mark.parametrize("kind", KEYS)
def test_a_broken_plugin_is_shown_and_not_fatal(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = load_target(next(iter(LISTINGS[kind].registries.values())))
    monkeypatch.setitem(registry._targets, "broken-v1", "no_such_module_here:Broken")
    broken = next(item for item in listed(kind, capsys) if item["name"] == "broken-v1")
    assert broken["description"].startswith("cannot be loaded: cannot import 'no_such_module_here'")
    assert main(["list", kind]) == 0 and "broken-v1" in capsys.readouterr().out


@pytest.mark.parametrize("kind", KEYS)
def test_an_object_of_another_kind_is_shown_and_not_fatal(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = load_target(next(iter(LISTINGS[kind].registries.values())))
    monkeypatch.setitem(registry._targets, "odd-v1", "math:pi")
    assert main(["list", kind]) == 0 and "odd-v1" in capsys.readouterr().out


def test_unknown_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "agent"]) == 2
    assert "Did you mean 'agents'?" in capsys.readouterr().err
