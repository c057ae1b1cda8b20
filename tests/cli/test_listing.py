"""`navarena list`: everything registered, with descriptions."""

import json
from typing import Any, get_args

import pytest

from navarena.cli.listing import Kind
from navarena.cli.main import main

KEYS = {
    "protocols": {"name", "description", "target", "dataset", "max_steps", "actions", "sensors", "metrics"},
    "agents": {"name", "description", "target"},
    "sensors": {"name", "description", "target", "of"},
    "scenes": {"name", "description", "target", "splits", "example"},
    "metrics": {"name", "description", "target", "unit", "better"},
    "corruptions": {"name", "description", "target"},
    "augmentations": {"name", "description", "target"},
}
EXPECTED = {
    "protocols": {"pointnav-v1", "r2r-v1", "ir2r-v1"},
    "agents": {"random", "forward", "expert", "path", "explorer"},
    "sensors": {"rgb", "depth", "semantic", "instance", "gps", "compass", "heading", "position", "collided",
                "pointgoal_with_gps_compass"},
    "scenes": {"houses-v0"},
    "metrics": {"success", "spl", "soft_spl", "distance_to_goal", "path_length", "collisions", "num_actions"},
    "corruptions": {"camera_crack", "defocus_blur", "motion_blur", "lighting", "spatter", "speckle_noise",
                    "lower_fov", "gaussian_noise", "redwood_depth", "depth_holes", "depth_range"},
    "augmentations": {"random_crop", "random_shift", "color_jitter"},
}  # fmt: skip


def listed(kind: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["list", kind, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == kind and set(document) == {"kind", "items"}
    items: list[dict[str, Any]] = document["items"]
    return items


def test_table_covers_every_kind() -> None:
    assert set(get_args(Kind)) == set(KEYS)


@pytest.mark.parametrize("kind", KEYS)
def test_json(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    items = listed(kind, capsys)
    assert all(set(item) == KEYS[kind] for item in items)
    assert {item["name"] for item in items} >= EXPECTED[kind]
    assert all(item["description"] and not item["description"].startswith("cannot") for item in items)


@pytest.mark.parametrize("kind", KEYS)
def test_tables(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", kind]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EXPECTED[kind])


def test_a_broken_plugin_is_shown_and_not_fatal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from navarena.agents.catalog import AGENTS

    monkeypatch.setitem(AGENTS._targets, "broken", "no_such_module_here:Agent")
    broken = next(item for item in listed("agents", capsys) if item["name"] == "broken")
    assert broken["description"].startswith("cannot be loaded: cannot import 'no_such_module_here'")


def test_unknown_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "agent"]) == 2 and "'agents'" in capsys.readouterr().err
