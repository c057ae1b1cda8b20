"""Protocol ids with options: `multion-3on-v1+found_budget=5` departs from `multion-3on-v1`."""

from collections.abc import Mapping

from navarena.core.errors import InputError

OPTION_MARK = "+"
"""Stands before every option in an id."""

CUSTOM = "custom"
"""The word that marks an id with options in results; it may be left out when an id is typed."""


def split_protocol(protocol_id: str) -> tuple[str, dict[str, str]]:
    """The id that binds the rules, and the options that depart from them, as text.

    Raises InputError for an option without a value or given twice.
    """
    base, *parts = protocol_id.split(OPTION_MARK)
    options: dict[str, str] = {}
    for part in parts:
        if part == CUSTOM:
            continue
        name, mark, value = part.partition("=")
        if not (name and mark and value) or name in options:
            raise InputError(
                f"expected options as {base}{OPTION_MARK}name=value, each once, got {part!r} in "
                f"{protocol_id!r}"
            )
        options[name] = value
    return base, options


def join_protocol(base: str, options: Mapping[str, str]) -> str:
    """The id of the rules `base` with `options`, marked as custom; `base` itself without any."""
    if not options:
        return base
    return OPTION_MARK.join([base, CUSTOM, *(f"{name}={options[name]}" for name in sorted(options))])


def base_protocol(protocol_id: str) -> str:
    """The id that binds the rules, without options."""
    return protocol_id.partition(OPTION_MARK)[0]
