"""Every test runs with shapes and types checked at run time, and with a cache that persists.

The hook must be installed before anything imports navarena; with it, an int passes where a float is
wanted, and nothing else is lenient. Compiled kernels are kept between runs in a folder of the tree
unless NAVARENA_CACHE says otherwise.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parents[1]

os.environ.setdefault("NAVARENA_CACHE", str(ROOT / "build" / "test-cache"))
jaxtyping.install_import_hook(
    "navarena", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
)


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def dungeon_folder() -> Path:
    """Where the dungeon mesh and what the field's standard simulator says of it stand."""
    return ROOT / "tests" / "data" / "dungeon"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder named by NAVARENA_TEST_DATA; without it the test is skipped, or fails where CI wants it."""
    named = os.environ.get("NAVARENA_TEST_DATA")
    if not named:
        if os.environ.get("NAVARENA_REQUIRE_DATA"):
            pytest.fail("NAVARENA_TEST_DATA is not set, and NAVARENA_REQUIRE_DATA wants these tests to run")
        pytest.skip("NAVARENA_TEST_DATA is not set")
    return Path(named)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of the test's own, empty at the start."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("NAVARENA_CACHE", str(folder))
    yield folder
