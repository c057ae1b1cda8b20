"""The corruptions, by name."""

from navarena.core.errors import InputError
from navarena.core.registry import Registry
from navarena.corruptions.corruption import SEVERITIES, Corruption

CORRUPTIONS = Registry(
    "corruption",
    {"speckle_noise": "navarena.corruptions.noise:SpeckleNoise"},
    "navarena.corruptions",
)
"""Name -> class (called as Class(severity)). Packages add theirs in the entry-point group."""


def find_corruption(text: str) -> Corruption:
    """The corruption that `text` names: "name:severity", or "name" for its default severity.

    Raises UnknownNameError with the nearest choice, InputError for a bad severity.
    """
    name, mark, severity = text.partition(":")
    kind = CORRUPTIONS.get(name)
    if mark and not severity.isdigit():
        raise InputError(f"expected {name}:severity with a severity among {SEVERITIES}, got {text!r}")
    corruption = kind(int(severity)) if mark else kind()
    if not isinstance(corruption, Corruption):
        raise InputError(f"expected {name!r} to name a Corruption, got {type(corruption).__name__}")
    return corruption
