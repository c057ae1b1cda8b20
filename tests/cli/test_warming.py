"""`navarena doctor --warm` leaves nothing to compile for the commands after it."""

import subprocess
import sys
from pathlib import Path

import pytest

from navarena.cli.warming import warm_corruptions, warm_protocols
from navarena.corruptions.catalog import CORRUPTIONS
from navarena.tasks.catalog import TASKS


def compiled(cache: Path) -> set[str]:
    return {path.name for path in (cache / "kernels").rglob("*.nbc")}


def run(cache: Path, folder: Path, *arguments: str) -> None:
    import os

    environment = {**os.environ, "NAVARENA_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-m", "navarena", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_parts_of_packages_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in (TASKS, CORRUPTIONS):
        monkeypatch.setattr(registry, "_targets", {})
        monkeypatch.setitem(registry._objects, "broken", None)
        assert "broken" in registry.names()
    warm_corruptions()
    warm_protocols()


@pytest.mark.slow
@pytest.mark.turns(8)
def test_nothing_is_left_to_compile(tmp_path: Path, dungeon_folder: Path) -> None:
    cache, mesh = tmp_path / "cache", str(dungeon_folder / "dungeon.obj")
    run(cache, tmp_path, "doctor", "--warm")
    warm = compiled(cache)
    assert len(warm) > 20
    run(cache, tmp_path, "evaluate", "pointnav-v1", "--agent", "random", "--episodes", "2", "--out", "run")
    run(cache, tmp_path, "replay", "run")
    run(cache, tmp_path, "scene", "preview", "houses-v0/val/00001", "--out", "house.png")
    run(cache, tmp_path, "evaluate", "pointnav-v1", "--dataset", mesh, "--agent", "expert", "--episodes", "2")
    run(cache, tmp_path, "scene", "preview", mesh, "--out", "dungeon.png")
    assert compiled(cache) - warm == set()
