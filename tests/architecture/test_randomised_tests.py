"""Examples of randomised tests: the same in every default run, anew by a printed seed with the slow tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

import conftest

DRAWING = """
import pytest
from hypothesis import given, settings, strategies as st

@pytest.mark.parametrize("log", ["usual", pytest.param("slow", marks=pytest.mark.slow)])
@settings(max_examples=20)
@given(number=st.integers(0, 2**60))
def test_drawn(log, number):
    with open(f"{log}.txt", "a") as file:
        print(number, file=file)
"""


@pytest.mark.parametrize(
    ("chosen", "given", "in_environment", "profile"),
    [
        ("not slow and not learn", None, "5", "repeatable"),
        ("", None, None, "repeatable"),
        ("slow", None, None, "random"),
        ("slow or hypothesis", None, None, "random"),
        ("slow or hypothesis", None, "5", "random"),
        ("slow or hypothesis", "7", "5", "random"),
    ],
)
def test_how_examples_are_drawn(monkeypatch, chosen, given, in_environment, profile) -> None:
    loaded: list[str] = []
    monkeypatch.setenv(conftest.WORKERS_SEED, "0")
    monkeypatch.delenv(conftest.WORKERS_SEED)  # and afterwards, whatever is set here
    if in_environment is not None:
        monkeypatch.setenv(conftest.WORKERS_SEED, in_environment)
    monkeypatch.setattr(conftest, "settings", SimpleNamespace(load_profile=loaded.append))
    option = SimpleNamespace(markexpr=chosen, hypothesis_seed=given)
    conftest.pytest_configure(SimpleNamespace(option=option))
    assert loaded == [profile] and (option.hypothesis_seed is None) == (profile == "repeatable")
    if profile == "random" and (given or in_environment):
        assert option.hypothesis_seed == (given or in_environment)
    assert settings.get_profile(profile).derandomize == (profile == "repeatable")
    assert settings.get_profile(profile).database is None, "a seed repeats, whatever ran before"


@pytest.mark.slow
def test_examples_change_only_in_the_slow_stage(root: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "pyproject.toml", tmp_path)
    for name in ("conftest.py", "turns.py"):
        shutil.copy(root / "tests" / name, tmp_path / "tests")
    (tmp_path / "tests" / "test_drawn.py").write_text(DRAWING)
    (tmp_path / "cache" / "kernels").mkdir(parents=True)  # a cache that is not empty: nothing is compiled

    def draw(log: str, *options: str) -> tuple[str, list[str]]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "NAVARENA_TEST_SEED"))
        }
        environment["NAVARENA_CACHE"] = str(tmp_path / "cache")
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout, (tmp_path / f"{log}.txt").read_text().split()

    output, usual = draw("usual", "-n", "0")
    assert len(usual) >= 20 and "--hypothesis-seed" not in output
    assert draw("usual", "-n", "0")[1] == usual * 2
    assert len(draw("usual", "-n", "0", "--examples", "50")[1]) == 2 * len(usual) + 50
    output, slow = draw("slow", "-n", "1", "-m", "slow or hypothesis")
    (seed,) = re.findall(r"--hypothesis-seed=\d+", output)
    shared = set(slow) & set(usual)  # small numbers are drawn often, whatever the seed is
    assert len(shared) < len(set(usual)) / 2, shared
    assert draw("slow", "-n", "1", "-m", "slow or hypothesis", seed)[1] == slow * 2
