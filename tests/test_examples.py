"""The examples run as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run_example(name: str, folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_tested() -> None:
    here = Path(__file__).read_text()
    assert all(path.name in here for path in EXAMPLES.glob("*.py"))


def test_random_walk(tmp_path: Path) -> None:
    from PIL import Image

    assert "from the start" in run_example("random_walk.py", tmp_path, "walk.png")
    image = Image.open(tmp_path / "walk.png")
    assert image.size == (256, 256) and len(image.getcolors(2**16) or ()) > 50, "an image of something"


def test_own_agent(tmp_path: Path) -> None:
    out = run_example("own_agent.py", tmp_path)
    assert "success" in out and list(tmp_path.glob("navarena-runs/*/summary.json"))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_say_how_to_run_them(path: Path) -> None:
    assert f"python examples/{path.name}" in path.read_text()
