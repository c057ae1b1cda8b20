"""The tree of errors, its exit codes, and its drawing."""

import importlib
import inspect
import math
from pathlib import Path

import pytest

from navarena.core import errors
from navarena.core.errors import (
    MAX_LISTED,
    InputError,
    MissingExtraError,
    UnknownNameError,
    describe_choices,
    describe_error,
    require_extra,
    require_name,
    require_seconds,
    unknown_name,
)


def error_classes() -> list[type[Exception]]:
    found = (value for _, value in inspect.getmembers(errors, inspect.isclass))
    return [value for value in found if issubclass(value, Exception)]


def test_a_fault_of_syntax_is_where_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "someones_typo.py").write_text("x = 1\nclass X(:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SyntaxError) as caught:
        importlib.import_module("someones_typo")
    assert describe_error(caught.value) == "SyntaxError: invalid syntax (someones_typo.py, line 2)"


def test_every_error_descends_from_one() -> None:
    assert all(issubclass(error, errors.NavarenaError) for error in error_classes())


@pytest.mark.parametrize("error", error_classes())
def test_exit_codes(error: type[errors.NavarenaError]) -> None:
    assert error.exit_code == (1 if error is errors.CheckFailedError else 2)


def test_drawing_names_every_error() -> None:
    drawn = errors.__doc__ or ""
    assert all(error.__name__ in drawn for error in error_classes())


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("goto-v2", ["goto-v1"], "unknown protocol 'goto-v2'. Did you mean 'goto-v1'? Known: goto-v1."),
        ("xyz", ["b", "a"], "unknown protocol 'xyz'. Known: a, b."),
        ("a", [], "unknown protocol 'a'. Known: none is registered."),
    ],
)
def test_messages(name: str, known: list[str], message: str) -> None:
    assert str(unknown_name("protocol", name, known)) == message


def test_long_lists_are_cut() -> None:
    names = [f"n{i:02d}" for i in range(MAX_LISTED + 8)]
    text = describe_choices(names)
    assert text.startswith("n00, n01") and text.endswith("n11, ... (20 in all)")


def test_require_name() -> None:
    assert require_name("agent", "expert", ["expert"]) == "expert"
    with pytest.raises(UnknownNameError, match="Did you mean 'expert'"):
        require_name("agent", "exprt", iter(["expert", "random"]))


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf, 1e10])
def test_limits_of_time_fit_the_clocks_of_the_system(seconds: float) -> None:
    require_seconds("patience", None)
    require_seconds("patience", 1e9)
    with pytest.raises(InputError, match=r"expected positive patience of at most 1,000,000,000, got "):
        require_seconds("patience", seconds)


def test_present() -> None:
    assert require_extra("math", "learn") is math


def test_absent() -> None:
    with pytest.raises(
        MissingExtraError, match=r"no_such_library is not installed; run: pip install 'navarena\[learn\]'"
    ):
        require_extra("no_such_library", "learn")


def test_absent_submodule() -> None:
    with pytest.raises(MissingExtraError, match="no_such_library"):
        require_extra("no_such_library.part", "learn")
