"""The examples run as they stand."""

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

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


LEARNING = {
    "cleanrl_ppo.py": (("torch",), "1", r"update 0: \d+ steps, mean reward"),
    "rllib_ppo.py": (("torch", "ray", "tree", "tensorboardX"), "1", r"^64 steps in"),
    "sb3_ppo.py": (("torch", "stable_baselines3"), "128", r"^128 steps, \d+ episodes ended"),
    "torchrl_rollouts.py": (("torch", "torchrl"), "1", r"^64 steps, \d+ episodes ended"),
}
"""Example -> the libraries that it needs, its argument, and what it prints."""


@pytest.mark.learn
@pytest.mark.turns(4)
@pytest.mark.parametrize("name", LEARNING)
def test_examples_of_learning_libraries(name: str, tmp_path: Path) -> None:
    libraries, argument, printed = LEARNING[name]
    for library in libraries:
        pytest.importorskip(library, reason="pip install 'navarena[examples]'")
    assert re.search(printed, run_example(name, tmp_path, argument), re.MULTILINE)


@pytest.mark.learn
def test_checker_of_stable_baselines3() -> None:
    """It warns of nothing where observations are arrays, and refuses texts."""
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs navarena[examples]")
    from navarena.tasks.env import NavigationEnv

    options: dict[str, Any] = {"split": "mini", "image_size": (64, 64), "depth_dtype": "uint8", "threads": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(NavigationEnv("pointnav-v1", **options))
    with pytest.raises(AssertionError, match="must be a numpy array"):
        checker.check_env(NavigationEnv("r2r-ce-v1", text=True, **options))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_say_how_to_run_them(path: Path) -> None:
    assert f"python examples/{path.name}" in path.read_text()
