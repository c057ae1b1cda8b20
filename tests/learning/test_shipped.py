"""Trained agents by name: found where the distribution is installed, else the command that installs it."""

import importlib
import json
import sys
import tomllib
from pathlib import Path

import pytest

from navarena.agents import catalog, loading
from navarena.agents.loading import find_agent
from navarena.cli.listing import list_items
from navarena.core.errors import InputError
from navarena.mapping.labellers import SHIPPED_SEGMENTERS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "checkpoints" / "navarena_checkpoints"
MAX_BYTES = 30_000_000


def shipped_folders():
    return {one.name for one in PACKAGE.iterdir() if one.is_dir() and one.name != "__pycache__"}


def test_all_of_them_are_small_and_named():
    """The distribution, the names that navarena knows, and the folders agree."""
    project = tomllib.loads((ROOT / "checkpoints" / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["navarena.agents"]
    assert tuple(points) == catalog.SHIPPED
    for name, target in points.items():
        assert target == f"navarena.learning.shipped:{name.replace('-', '_')}"
    agents, segmenters = (
        {name.replace("-", "_") for name in names} for names in (points, SHIPPED_SEGMENTERS)
    )
    assert shipped_folders() == agents | segmenters
    readme = (ROOT / "checkpoints" / "README.md").read_text()
    assert all(f"`{name}`" in readme for name in (*points, *SHIPPED_SEGMENTERS))
    files = [one for one in PACKAGE.rglob("*") if one.is_file() and one.suffix != ".pyc"]
    assert sum(one.stat().st_size for one in files) <= MAX_BYTES
    for folder in shipped_folders():
        info = json.loads((PACKAGE / folder / "checkpoint.json").read_text())
        heads = ["heads.safetensors"] if info.get("heads_sha256") else []
        found = sorted(one.name for one in (PACKAGE / folder).iterdir())
        assert found == ["checkpoint.json", *heads, "model.safetensors"]
        assert info["frames"] > 0 and (folder in segmenters or info["selection"] == "train")
        assert "frames" not in info["recipe"]["description"]  # lists name those that were learned from


def test_one_that_is_not_installed_says_how(monkeypatch):
    monkeypatch.setattr(loading, "SHIPPED", ("pointnav-tiny",))
    with pytest.raises(InputError, match=r"'pointnav-tiny' .* pip install \./checkpoints"):
        find_agent("pointnav-tiny")
    with pytest.raises(InputError, match="expected no options behind StopAgent, got 'sample=true'"):
        find_agent("stop?sample=true")


@pytest.mark.learn
def test_an_installed_one_is_listed_and_plays(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    from navarena.cli.main import main
    from navarena.learning.checkpoints.exporting import export_checkpoint

    from .rooms import WATCHED, train_in_rooms

    train_in_rooms(tmp_path / "run", WATCHED, updates=0).run()
    site = tmp_path / "site"
    export_checkpoint(tmp_path / "run", site / "navarena_checkpoints" / "pointnav_tiny")
    (site / "navarena_checkpoints" / "__init__.py").write_text("")
    told = site / "navarena_checkpoints-0.1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: navarena-checkpoints\nVersion: 0.1.0\n")
    (told / "entry_points.txt").write_text(
        "[navarena.agents]\npointnav-tiny = navarena.learning.shipped:pointnav_tiny\n"
        "pointnav-gone = navarena.learning.shipped:pointnav_gone\n"
    )
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    monkeypatch.delitem(sys.modules, "navarena_checkpoints", raising=False)
    importlib.invalidate_caches()
    listed = {one["name"]: one["description"] for one in list_items("agents")}
    assert listed["pointnav-tiny"] == "Trained policy: rooms; 256 frames."
    assert listed["pointnav-gone"].startswith("cannot be loaded")
    assert [
        find_agent(f"pointnav-tiny{options}").temperature
        for options in ("", "?sample=true", "?sample=false", "?temperature=0.5")
    ] == [0.0, 1.0, 0.0, 0.5]
    with pytest.raises(InputError, match="Did you mean 'sample'"):
        find_agent("pointnav-tiny?smaple=true")
    command = ["evaluate", "pointnav-v1+max_steps=5", "--split", "mini", "--episodes", "1", "--quiet"]
    assert main([*command, "--agent", "pointnav-tiny", "--out", str(tmp_path / "out")]) == 0
    assert "pointnav-tiny on pointnav-v1" in capsys.readouterr().out
    sys.modules.pop("navarena_checkpoints", None)
