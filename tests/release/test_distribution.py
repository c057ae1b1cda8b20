"""What is published: the wheel is small and whole, works where nothing else is, and knows its version."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import navarena
from turns import TURN

ROOT = Path(__file__).resolve().parents[2]
MAX_BYTES = 15_000_000


def run(*command: object, cwd: Path | None = None) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, f"$ {' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def supported() -> list[int]:
    """Minor versions of Python 3 that pyproject.toml admits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    low, high = re.findall(r"3\.(\d+)", project["requires-python"])
    return list(range(int(low), int(high)))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, made of a copy of the sources, and the wheel, made of the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    copy = folder / "tree"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, copy)
    maker = "import sys; from setuptools import build_meta as b; print(b.build_sdist(sys.argv[1]))"
    backend = folder / "backend"
    venv.create(backend, with_pip=True)
    run(backend / "bin" / "pip", "install", "--quiet", "setuptools>=77")
    sdist = folder / run(backend / "bin" / "python", "-c", maker, folder, cwd=copy).split()[-1]
    pip = (backend / "bin" / "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*pip, "-w", folder, sdist)
    (wheel,) = folder.glob("*.whl")
    return {"sdist": sdist, "wheel": wheel}


@pytest.mark.slow
def test_the_wheel_is_small_and_whole(built: dict[str, Path]) -> None:
    assert built["wheel"].stat().st_size < MAX_BYTES
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = set(wheel.namelist())
    package = ROOT / "src" / "navarena"
    kept = {str(path.relative_to(package.parent)) for path in package.rglob("*") if path.is_file()}
    missing = {name for name in kept - names if "__pycache__" not in name}
    assert not missing
    assert not [name for name in names if name.endswith((".safetensors", ".pt", ".png"))]
    with tarfile.open(built["sdist"]) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "src/navarena/py.typed"} <= held


def find_interpreters() -> list[Path]:
    """Those that run here of the Pythons that are supported, oldest first; PYENV_ROOT's are found, too."""
    found = []
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in supported():
        name = f"python3.{minor}"
        held = sorted(pyenv.glob(f"versions/3.{minor}.*/bin/{name}"))
        for path in (shutil.which(name), *held):
            if path and subprocess.run([path, "-c", "import venv"], capture_output=True).returncode == 0:
                found.append(Path(path))
                break
    return found


@pytest.mark.slow
@pytest.mark.turns(7)
def test_a_clean_environment_evaluates(built: dict[str, Path], tmp_path: Path) -> None:
    """In one of the Pythons of this machine, by turns; their number has no divisor in common with those."""
    interpreters = find_interpreters() or [Path(sys.executable)]
    run(interpreters[TURN % len(interpreters)], "-m", "venv", tmp_path / "venv")
    binaries = tmp_path / "venv" / "bin"
    run(binaries / "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", built["wheel"])
    assert run(binaries / "navarena", "--version", cwd=tmp_path) == f"navarena {navarena.__version__}\n"
    where = run(binaries / "python", "-c", "import navarena; print(navarena.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path)
    arguments = ("evaluate", "pointnav-v1", "--agent", "expert", "--episodes", "2", "--json")
    printed = json.loads(run(binaries / "navarena", *arguments, cwd=tmp_path))
    assert printed["episodes"] == 2 and printed["metrics"]["success"]["mean"] == 1.0


def test_the_version_stands_everywhere() -> None:
    version = navarena.__version__
    cited = (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^version: {re.escape(version)}$", cited, re.M) and "license: MIT" in cited
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [int(one) for text in project["classifiers"] for one in re.findall(r":: 3\.(\d+)$", text)]
    assert named == supported() and sys.version_info[1] in named


def test_the_sources_are_small_enough_for_the_wheel() -> None:
    """Uncompressed data files alone would have to fit: they are compressed already."""
    package = ROOT / "src" / "navarena"
    packed = [path for path in package.rglob("*") if path.suffix in (".gz", ".xz")]
    assert packed and sum(path.stat().st_size for path in packed) < MAX_BYTES - 4_000_000
