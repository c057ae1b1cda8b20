"""The kernel cache: reused when nothing changed, compiled anew when a callee in another file did."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from navarena.core.kernels import kernel

CALLER = """
from navarena.core.kernels import kernel
from kernelpack.callee import FACTOR, scale

@kernel
def total(x):
    return scale(x) + FACTOR
"""

CALLEE = """
from navarena.core.kernels import kernel

FACTOR = {factor}

@kernel
def scale(x):
    return {multiple} * x
"""

RUN = """
import kernelpack.caller as c
print(c.total(5.0), c.total.stats.cache_hits and "hit" or "miss")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernelpack").mkdir()
    (tmp_path / "kernelpack" / "__init__.py").write_text("")
    (tmp_path / "kernelpack" / "caller.py").write_text(CALLER)
    return tmp_path


def run_caller(folder: Path, factor: int, multiple: int, cache: str = "cache") -> str:
    (folder / "kernelpack" / "callee.py").write_text(CALLEE.format(factor=factor, multiple=multiple))
    environment = {
        "PYTHONPATH": str(folder),
        "NAVARENA_CACHE": str(folder / cache),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python's own cache misses an edit within the same second
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN], capture_output=True, text=True, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_an_edited_callee_is_noticed(folder: Path) -> None:
    assert run_caller(folder, factor=1, multiple=2) == "11.0 miss"
    assert run_caller(folder, factor=1, multiple=3) == "16.0 miss", "a function of another file changed"
    assert run_caller(folder, factor=7, multiple=3) == "22.0 miss", "a constant of another file changed"
    assert run_caller(folder, factor=1, multiple=2) == "11.0 hit", "the first state is still in the cache"


def test_a_folder_that_cannot_be_written_costs_only_time(folder: Path) -> None:
    (folder / "taken").write_text("a file, not a folder")
    assert run_caller(folder, factor=1, multiple=2, cache="taken") == "11.0 miss"


def test_wrapped_functions_compile() -> None:
    """The type-checking import hook wraps functions before `kernel` sees them."""
    import functools

    def double(x):
        return 2 * x

    @functools.wraps(double)
    def wrapper(*arguments, **keywords):
        return double(*arguments, **keywords)

    assert kernel(wrapper)(4.0) == 8.0


def test_division_follows_numpy() -> None:
    @kernel
    def divide_path(a, b):
        return a / b

    assert divide_path(1.0, 0.0) == np.inf
