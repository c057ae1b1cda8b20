"""Protocol ids with options: `multion-3on-v1+found_budget=5` departs from `multion-3on-v1`."""

import re
from collections.abc import Mapping

from navarena.core.errors import InputError

OPTION_MARK = "+"
"""Stands before every option in an id."""

IMAGE_SIZE = re.compile(r"\d+x\d+")
SIZE_MARK = " size"
"""Ends the names of options whose value is an image size."""

CUSTOM = "custom"
"""The word that marks an id with options in results; it may be left out when an id is typed."""


def split_protocol(protocol_id: str) -> tuple[str, dict[str, str]]:
    """The id that binds the rules, and the options that depart from them, as text.

    A value may be an image size, as in `depth=64x64`; then the option is called "depth size", so that it
    stands beside another one of its name, as in `depth=64x64+depth=far`.

    Raises InputError for an option without a value or given twice.
    """
    base, *parts = protocol_id.split(OPTION_MARK)
    options: dict[str, str] = {}
    for part in parts:
        if part == CUSTOM:
            continue
        name, mark, value = part.partition("=")
        name += SIZE_MARK if IMAGE_SIZE.fullmatch(value) else ""
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
    written = [f"{name.removesuffix(SIZE_MARK)}={options[name]}" for name in sorted(options)]
    return OPTION_MARK.join([base, CUSTOM, *written])


def base_protocol(protocol_id: str) -> str:
    """The id that binds the rules, without options."""
    return protocol_id.partition(OPTION_MARK)[0]
