"""Naming of the installed package whose code raised an exception.

Agents fail in their own episodes; what else a package adds (metrics, sensors, corruptions, tasks, scenes)
runs in the midst of navarena's code, and its exceptions end the command.
"""

import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint, distributions
from types import FrameType

from navarena.core.errors import InputError, NavarenaError, describe_error, readable

_GROUPS = "navarena."
"""How the names of entry-point groups begin, and those of navarena's own modules."""


@contextmanager
def naming_packages() -> Iterator[None]:
    """Raise InputError, which names package and entry point, for an exception of a package's code.

    Its traceback is a note of the error. Those of navarena's code alone, and errors made on purpose, pass.
    """
    try:
        yield
    except NavarenaError:
        raise
    except Exception as error:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        culprit = _describe_culprit(frames)
        if culprit is None:
            raise
        named = InputError(
            f"{culprit} failed; it raised {describe_error(error)}; mend the package, or uninstall it"
        )
        named.add_note(readable("".join(traceback.format_exception(error))))
        raise named from error


def _describe_culprit(frames: Sequence[FrameType]) -> str | None:
    """The package of the innermost of `frames` that is one's, with its entry point; None where none is.

    frames: of a traceback, the innermost last.
    """
    points: dict[str, list[EntryPoint]] = {}
    for installed in distributions():
        for point in installed.entry_points:
            if point.group.startswith(_GROUPS) and not point.value.startswith(_GROUPS):
                points.setdefault(_first_part(point.value), []).append(point)
    theirs = [k for k, frame in enumerate(frames) if _package_of(frame) in points]
    if not theirs:
        return None
    own = points[_package_of(frames[theirs[-1]])]
    package = own[0].dist
    name = f"the package {package.name} {package.version}" if package else f"the package of {own[0].value}"
    for frame in reversed(frames[: theirs[-1] + 1]):
        for point in own:
            if _runs(frame, point):
                return f"{point.name!r} (entry points {point.group!r}) of {name}"
    return name


def _first_part(module: str) -> str:
    return module.partition(":")[0].partition(".")[0]


def _package_of(frame: FrameType) -> str:
    return _first_part(str(frame.f_globals.get("__name__", "")))


def _runs(frame: FrameType, point: EntryPoint) -> bool:
    """Whether `frame` is a call of what `point` names: a function, or a method of an object or class."""
    target = getattr(sys.modules.get(point.module), point.attr, None)
    if target is None:
        return False
    owner = frame.f_locals.get("self")
    return owner is target or type(owner) is target or getattr(target, "__code__", None) is frame.f_code
