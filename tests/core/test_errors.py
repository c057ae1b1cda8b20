"""The tree of errors, its exit codes, and its drawing."""

import inspect

import pytest

from navarena.core import errors


def error_classes() -> list[type[Exception]]:
    found = (value for _, value in inspect.getmembers(errors, inspect.isclass))
    return [value for value in found if issubclass(value, Exception)]


def test_every_error_descends_from_one() -> None:
    assert all(issubclass(error, errors.NavarenaError) for error in error_classes())


@pytest.mark.parametrize("error", error_classes())
def test_exit_codes(error: type[errors.NavarenaError]) -> None:
    assert error.exit_code == (1 if error is errors.CheckFailedError else 2)


def test_drawing_names_every_error() -> None:
    drawn = errors.__doc__ or ""
    assert all(error.__name__ in drawn for error in error_classes())
