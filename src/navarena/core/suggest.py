"""Unknown names are answered with the nearest known one and the list."""

from collections.abc import Iterable
from difflib import get_close_matches

from navarena.core.errors import UnknownNameError

MAX_LISTED = 12


def describe_choices(names: Iterable[str]) -> str:
    """The known names as one readable phrase, at most MAX_LISTED of them."""
    known = sorted(names)
    if not known:
        return "none is registered"
    listed = ", ".join(known[:MAX_LISTED])
    return listed if len(known) <= MAX_LISTED else f"{listed}, ... ({len(known)} in all)"


def unknown_name(kind: str, name: str, names: Iterable[str]) -> UnknownNameError:
    """The error for `name`, a `kind` (such as "protocol") that is not among `names`."""
    known = sorted(names)
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return UnknownNameError(f"unknown {kind} {name!r}.{hint} Known: {describe_choices(known)}.")


def require_name(kind: str, name: str, names: Iterable[str]) -> str:
    """Return `name` if it is among `names`, else raise UnknownNameError."""
    known = list(names)
    if name not in known:
        raise unknown_name(kind, name, known)
    return name
