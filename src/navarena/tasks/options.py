"""Options of protocols: the knobs of the papers, by name. A value that departs makes a result custom."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import msgspec

from navarena.core.errors import InputError
from navarena.core.suggest import require_name

OptionsType = TypeVar("OptionsType")


def read_options(kind: type[OptionsType], texts: Mapping[str, str]) -> OptionsType:
    """Options of the frozen dataclass `kind` from their texts, as they stand in an id.

    Raises UnknownNameError for an unknown name, InputError for a value that does not fit.
    """
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    values = {require_name("option", name, known): text for name, text in texts.items()}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"options {dict(texts)}: {error}") from error


def find_departures(options: Any) -> dict[str, str]:
    """Name -> text of the fields of `options` that differ from the protocol's own (the defaults)."""
    return {
        field.name: _write(value)
        for field in fields(options)
        if (value := getattr(options, field.name)) != field.default
    }


def _write(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
