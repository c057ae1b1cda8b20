"""Every test runs with shapes and types checked at run time, and with a cache that persists.

The hook must be installed before anything imports navarena; with it, an int passes where a float is
wanted, and nothing else is lenient. Compiled kernels are kept between runs in a folder of the tree
unless NAVARENA_CACHE says otherwise.

Randomised tests draw the same examples in every default run. Where slow tests are asked for (`-m slow`,
`-m "slow or hypothesis"`) they draw new ones, by the seed in NAVARENA_TEST_SEED or one that is printed first.
`--examples 2000` draws as many in each of them.
"""

import gc
import inspect
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any, get_args

import jaxtyping
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from jaxtyping._decorator import _destring_annotation
from jaxtyping._storage import pop_shape_memo, push_shape_memo

from turns import SHARE, has_turn

# how long examples take to draw says how busy the machine is
_ANY_SPEED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", derandomize=True, **_ANY_SPEED)
settings.register_profile("random", derandomize=False, database=None, **_ANY_SPEED)  # CI derandomises

WORKERS_SEED = "NAVARENA_TEST_SEED"

ROOT = Path(__file__).resolve().parents[1]

os.environ.setdefault("NAVARENA_CACHE", str(ROOT / "build" / "test-cache"))
os.environ["NAVARENA_QUIET"] = "1"  # what is compiled or built depends on the cache, not on the test
_jaxtyped = jaxtyping.jaxtyped


def _has_shapes(hint: object) -> bool:
    if isinstance(hint, type) and issubclass(hint, jaxtyping.AbstractArray):
        return True
    return any(map(_has_shapes, hint if isinstance(hint, list) else get_args(hint)))


def _check_calls(function: Any = None, *, typechecker: Callable[..., Any]) -> Any:
    """jaxtyping's decorator for functions, at a tenth of its time.

    It binds the arguments of each call to their names, for shapes such as "{count} 3", which we have
    not. Names of dimensions are still the same throughout a call, and what a name in quotes stands for
    is checked where it is known already, as it does.
    """
    if function is None:
        return partial(_check_calls, typechecker=typechecker)
    if getattr(sys.modules.get(function.__module__), "wp", None) is not None:
        return function  # Warp compiles it from its source; its annotations are no kinds of Python's
    if not inspect.isfunction(function) or inspect.isgeneratorfunction(function):
        return _jaxtyped(
            function, typechecker=typechecker
        )  # classes and methods come back with their functions
    written = function.__annotations__
    hints = {name: _destring_annotation(hint, function.__globals__) for name, hint in written.items()}
    function.__annotations__ = hints
    checked = typechecker(function)
    function.__annotations__ = checked.__annotations__ = written
    if not any(map(_has_shapes, hints.values())):
        return checked

    @wraps(function)
    def check_in_one_context(*arguments: Any, **keywords: Any) -> Any:
        push_shape_memo({})
        try:
            return checked(*arguments, **keywords)
        finally:
            pop_shape_memo()

    return check_in_one_context


jaxtyping.jaxtyped = jaxtyping._decorator.jaxtyped = _check_calls
jaxtyping.install_import_hook(
    "navarena", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let searches for counterexamples choose how long they take."""
    parser.addoption(
        "--examples", type=int, help="examples of each randomised test, in place of its own number"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage: all that is imported and collected stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files in which no test can have a mark of `-m "a or b"`; to import all takes a minute."""
    marks = config.option.markexpr.split(" or ")
    if not collection_path.match("test_*.py") or not all(map(str.isidentifier, marks)):
        return None
    return re.search(rf"\b(mark\.|from )({'|'.join(marks)})\b", collection_path.read_text()) is None or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip slow tests whose turn it is not, and set the number of examples that is asked for."""
    for item in items:
        mark = item.get_closest_marker("turns")
        if mark and SHARE and not has_turn(item.nodeid, mark.args[0]):
            item.add_marker(
                pytest.mark.skip(reason=f"runs once in {mark.args[0]} values of NAVARENA_TEST_SHARE")
            )
    for item in items if config.option.examples else ():
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test):
            test = getattr(test, "__func__", test)
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            test._hypothesis_internal_use_settings = settings(own, max_examples=config.option.examples)


def _draws_anew(config: pytest.Config) -> bool:
    return re.search(r"(?<!not )\bslow\b", config.option.markexpr) is not None


@pytest.hookimpl(tryfirst=True)  # before hypothesis reads its options, and workers copy them
def pytest_configure(config: pytest.Config) -> None:
    """Choose how examples are drawn; workers find the seed of the process that started them."""
    settings.load_profile("random" if _draws_anew(config) else "repeatable")
    if _draws_anew(config) and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = os.environ.setdefault(WORKERS_SEED, str(secrets.randbelow(2**32)))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before workers start: print the seed, also where `-q` leaves out the header; compile kernels once."""
    config = session.config
    if hasattr(config, "workerinput"):
        return
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if _draws_anew(config) and reporter:
        reporter.write_line(f"examples drawn with --hypothesis-seed={config.option.hypothesis_seed}")
    empty = not (Path(os.environ["NAVARENA_CACHE"]) / "kernels").exists()
    if getattr(config.option, "numprocesses", None) and empty and not config.option.collectonly:
        code = "from navarena.cli.warming import warm_side_by_side; warm_side_by_side()"
        subprocess.run([sys.executable, "-c", code], check=True)


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
