"""The tree of errors, and the checks of names and optional dependencies that raise them.

    NavarenaError
    ├── InputError            unusable input from the user (exit code 2)
    │   ├── UnknownNameError  a name under which nothing is registered
    │   ├── FileError         a file is missing, empty, truncated or of another kind
    │   ├── SceneError        a scene cannot serve what was asked of it
    │   ├── ActionError       an action outside the action space, or a step at the wrong time
    │   ├── StorageError      the disk refused a write
    │   └── MissingExtraError an optional dependency is not installed
    ├── AgentTimeoutError     an agent took longer than it may
    ├── AgentUnreachableError an agent in another process or on another machine does not answer
    │   └── ServiceUnreachableError a service that an agent asks, such as a model's server, does not answer
    └── CheckFailedError      a check ran and found a difference (exit code 1)

Every message says what was expected, what came, and what to do about it.
"""

import importlib
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType


class NavarenaError(Exception):
    """Base of every error that navarena raises on purpose."""

    exit_code = 2


class InputError(NavarenaError):
    """Unusable input from the user."""


class UnknownNameError(InputError):
    """A name under which nothing is registered."""


class FileError(InputError):
    """A file is missing, empty, truncated, or not of the expected kind."""


class SceneError(InputError):
    """A scene lacks something that was requested of it (floor, semantics, valid geometry)."""


class ActionError(InputError):
    """An action outside the action space, or a step before reset or after the end."""


class StorageError(InputError):
    """The disk refused a write; nothing half-written was left behind."""


class MissingExtraError(InputError):
    """An optional dependency is not installed."""


class AgentTimeoutError(NavarenaError):
    """An agent took longer than it may; its episode counts as a failure."""


class AgentUnreachableError(NavarenaError):
    """An agent in another process or on another machine does not answer: no fault of an episode."""


class ServiceUnreachableError(AgentUnreachableError):
    """A service that an agent asks does not answer: however often, it is no fault of an episode."""


class CheckFailedError(NavarenaError):
    """A check ran to its end and found a difference."""

    exit_code = 1


MAX_LISTED = 12

MAX_LETTERS = 20_000
"""Letters that are kept of what foreign code says."""


def describe_error(error: BaseException) -> str:
    """One line about an exception that foreign code raised: its type, its text, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = (frames[-1].filename, frames[-1].lineno) if frames else None
    if isinstance(error, SyntaxError) and error.filename is not None:
        place = error.filename, error.lineno  # the frame is that of the import system
    where = f" ({Path(place[0]).name}, line {place[1]})" if place else ""
    said = traceback.format_exception_only(type(error), error)[-1]
    return readable(" ".join(said.split())) + where


def readable(text: str) -> str:
    """`text` as UTF-8 can hold it, its middle left out where it is longer than MAX_LETTERS."""
    if len(text) > MAX_LETTERS:
        left_out = f"\n... {len(text) - MAX_LETTERS:,} letters ...\n"
        text = text[: MAX_LETTERS // 2] + left_out + text[-MAX_LETTERS // 2 :]
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def describe_choices(names: Iterable[str]) -> str:
    """The known names as one readable phrase, at most MAX_LISTED of them."""
    known = sorted(names)
    if not known:
        return "none is registered"
    listed = ", ".join(known[:MAX_LISTED])
    return listed if len(known) <= MAX_LISTED else f"{listed}, ... ({len(known)} in all)"


def unknown_name(kind: str, name: str, names: Iterable[str], otherwise: str = "") -> UnknownNameError:
    """The error for `name`, a `kind` (such as "protocol") that is not among `names`.

    otherwise: a sentence of what to do if the name was meant.
    """
    known = sorted(names)
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    remedy = f" {otherwise}." if otherwise else ""
    return UnknownNameError(f"unknown {kind} {name!r}.{hint} Known: {describe_choices(known)}.{remedy}")


def require_name(kind: str, name: str, names: Iterable[str]) -> str:
    """Return `name` if it is among `names`, else raise UnknownNameError."""
    known = list(names)
    if name not in known:
        raise unknown_name(kind, name, known)
    return name


MAX_SECONDS = 10**9
"""Of a limit of time; the system's clocks count no further than ten times as much."""


def require_seconds(name: str, seconds: float | None) -> None:
    """Raise InputError unless a limit called `name` is positive and at most MAX_SECONDS, or None."""
    if seconds is not None and not 0 < seconds <= MAX_SECONDS:
        raise InputError(f"expected positive {name} of at most {MAX_SECONDS:,}, got {seconds:g}")


def require_extra(module: str, extra: str) -> ModuleType:
    """Import `module`, which the extra `extra` installs.

    Raises MissingExtraError with the install command when it is absent.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not module.startswith(error.name):
            raise
        raise MissingExtraError(f"{module} is not installed; run: pip install 'navarena[{extra}]'") from error
