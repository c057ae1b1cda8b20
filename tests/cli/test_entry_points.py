"""Another package adds an agent, a sensor, a task, a metric, scenes and a corruption, without a fork."""

import json
import sys
from pathlib import Path

import pytest

from navarena.cli.main import main

MODULE = '''
import numpy as np

from navarena.agents import SingleAgent
from navarena.corruptions import ImageCorruption
from navarena.episodes.point_nav import PointNavRecipe
from navarena.metrics import Metric
from navarena.scenes import SceneSet
from navarena.scenes.formats import import_mesh
from navarena.simulation import get_body
from navarena.simulation.sensors.pose import Heading
from navarena.tasks.protocols.point_nav import PointNav

MESH = {mesh!r}


class Walker(SingleAgent):
    """Walks ahead for three steps, then stops."""

    sensors = ("their-heading", "rgb")

    def reset(self):
        self.steps = 0

    def act(self, observations):
        assert not observations["rgb"].any(), "their corruption turned off the light"
        assert observations["their-heading"].shape == (1,)
        self.steps += 1
        return 0 if self.steps > 3 else 1


class TheirHeading(Heading):
    """The heading again, under another name."""

    name = "their-heading"


class TheirTask(PointNav):
    """PointNav with a shorter limit and one more metric."""

    protocol_id = "theirs-v1"
    metrics = (*PointNav.metrics, "turns")
    max_steps = 10


def turns(trajectory):
    """How many actions were turns."""
    return float((trajectory.actions >= 2).sum())


EPISODES = PointNavRecipe("theirs-v1", get_body("locobot"), 0.2, 500)
TURNS = Metric("turns", "Turns", turns)
SCENES = SceneSet(
    "theirs",
    {{"all": ("theirs/all/0",)}},
    lambda scene_id: import_mesh(MESH),
    lambda scene_id: "1",
    "one dungeon",
)


class Night(ImageCorruption):
    """Turns off the light."""

    def corrupt(self, images, generators):
        return np.zeros_like(images)
'''

ENTRY_POINTS = """
[navarena.agents]
their-walker = their_package:Walker
[navarena.sensors]
their-heading = their_package:TheirHeading
[navarena.tasks]
theirs-v1 = their_package:TheirTask
[navarena.episodes]
theirs-v1 = their_package:EPISODES
[navarena.metrics]
turns = their_package:TURNS
[navarena.scenes]
theirs = their_package:SCENES
[navarena.corruptions]
night = their_package:Night
"""


@pytest.fixture
def their_package(tmp_path: Path, dungeon_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution as pip would install it, on the path."""
    folder = tmp_path / "site"
    info = folder / "their_package-1.0.dist-info"
    info.mkdir(parents=True)
    mesh = str(dungeon_folder / "dungeon.obj")
    (folder / "their_package.py").write_text(MODULE.format(mesh=mesh))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "their_package", raising=False)
    return folder


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("agents", "their-walker"),
        ("sensors", "their-heading"),
        ("protocols", "theirs-v1"),
        ("metrics", "turns"),
        ("scenes", "theirs"),
        ("corruptions", "night"),
    ],
)
def test_names_are_listed(
    kind: str, name: str, their_package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", kind, "--json"]) == 0
    items = {item["name"]: item for item in json.loads(capsys.readouterr().out)["items"]}
    assert items[name]["target"].startswith("their_package:")
    assert not items[name]["description"].startswith("cannot")


def test_their_task_is_evaluated_in_their_scene(
    their_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    arguments = ["--dataset", "theirs/all/0", "--agent", "their-walker", "--episodes", "2", "--out", str(out)]
    assert main(["evaluate", "theirs-v1", *arguments, "--corrupt", "night:2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["identity"].startswith("theirs-v1+custom+corrupt=night:2@")
    assert result["statuses"] == {"ok": 2}
    assert result["metrics"]["turns"]["mean"] == 0 and result["metrics"]["num_actions"]["mean"] == 4
    assert main(["replay", str(out)]) == 0


@pytest.mark.parametrize(
    ("line", "group", "name"),
    [
        ("return float((trajectory.actions >= 2).sum())", "metrics", "turns"),
        ("return np.zeros_like(images)", "corruptions", "night"),
    ],
)
def test_an_exception_of_their_code_names_them(
    line: str,
    group: str,
    name: str,
    their_package: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = their_package / "their_package.py"
    assert line in module.read_text()
    module.write_text(module.read_text().replace(line, "raise LookupError('in the dark')"))
    out = tmp_path / "run"
    arguments = ["--dataset", "theirs/all/0", "--agent", "their-walker", "--episodes", "2", "--out", str(out)]
    assert main(["evaluate", "theirs-v1", *arguments, "--corrupt", "night:2"]) == 2
    said = capsys.readouterr().err
    assert "Traceback (most recent call last)" in said
    last = said.strip().splitlines()[-1]
    assert last.startswith(
        f"error: {name!r} (entry points 'navarena.{group}') of the package their-package 1.0 failed; "
        "it raised LookupError: "
    )
    assert "in the dark (their_package.py, line " in last
    assert not out.exists()


def test_a_worker_process_names_them_too(
    their_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = their_package / "their_package.py"
    module.write_text(module.read_text().replace("return np.zeros_like(images)", "return 1 / 0"))
    monkeypatch.setenv("PYTHONPATH", str(their_package))
    arguments = ["--dataset", "theirs/all/0", "--agent", "their-walker", "--episodes", "2", "--workers", "2"]
    out = str(tmp_path / "run")
    assert main(["evaluate", "theirs-v1", *arguments, "--corrupt", "night:2", "--out", out]) == 2
    said = capsys.readouterr().err
    assert "return 1 / 0" in said
    assert said.strip().splitlines()[-1].startswith("error: 'night' (entry points 'navarena.corruptions')")
