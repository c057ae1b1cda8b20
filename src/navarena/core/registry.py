"""Registries of names: those of navarena, and those that installed packages add through entry points.

A registry maps a name to a target string "module:attribute", so that listing names imports
nothing. A package adds its own by an entry point in the registry's group:

    [project.entry-points."navarena.agents"]
    my-agent = "my_package.agents:MyAgent"
"""

import importlib
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

from navarena.core.errors import InputError, NavarenaError, describe_error, unknown_name


def load_target(target: str) -> Any:
    """The object that "module:attribute" names; raises InputError when there is none."""
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute:
        raise InputError(f"expected module:attribute, got {target!r}")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        remedy = "check the name and PYTHONPATH"
        if module_name.endswith(".py"):
            remedy = f"write the module, not its file: {module_name.removesuffix('.py')}:{attribute}"
        raise InputError(f"cannot import {module_name!r} of {target!r}: {error}; {remedy}") from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        public = [name for name in vars(module) if not name.startswith("_")]
        raise unknown_name(f"attribute of {module_name}", attribute, public) from error


def _describe_path() -> tuple[tuple[str, int | None], ...]:
    """Folders of sys.path with the time of their last change, ns, or None: installing changes one."""
    found: list[tuple[str, int | None]] = []
    for name in sys.path:
        folder = os.path.abspath(name)
        try:
            found.append((folder, os.stat(folder).st_mtime_ns))
        except OSError:
            found.append((folder, None))
    return tuple(found)


@lru_cache(maxsize=128)
def _read_entry_points(group: str, path: tuple[tuple[str, int | None], ...]) -> dict[str, tuple[str, ...]]:
    """Name -> each "module:attribute" that installed packages give it, read once while `path` stays.

    Reading takes tens of milliseconds: importlib opens a file of every installed package.
    """
    found: dict[str, tuple[str, ...]] = {}
    for point in entry_points(group=group):
        found[point.name] = tuple(dict.fromkeys((*found.get(point.name, ()), point.value)))
    return found


class Registry:
    """The names of one kind.

    Args:
        kind: singular noun for messages, such as "agent".
        builtin: name -> "module:attribute".
        group: entry-point group through which other packages add names.
    """

    def __init__(self, kind: str, builtin: Mapping[str, str], group: str) -> None:
        self.kind, self.group = kind, group
        self._targets = dict(builtin)
        self._objects: dict[str, Any] = {}

    def targets(self) -> dict[str, str]:
        """Name -> "module:attribute" of everything known, entry points included, by name."""
        found = _read_entry_points(self.group, _describe_path())
        named = {name: " or ".join(values) for name, values in found.items()}
        return dict(sorted((named | self._targets).items()))

    def __contains__(self, name: str) -> bool:
        return name in self._objects or name in self._targets or name in self.targets()

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self.targets(), *self._objects})

    def own_names(self) -> list[str]:
        """The names that navarena brings, whichever packages are installed, sorted."""
        return sorted(self._targets)

    def register(self, name: str, value: Any) -> None:
        """Add an object under `name` for this process; raises InputError when it is taken."""
        if name in self.names():
            raise InputError(f"{self.kind} {name!r} is already registered; choose another name")
        self._objects[name] = value

    def get(self, name: str) -> Any:
        """The object called `name`.

        Raises UnknownNameError with the nearest choice, and InputError for a package that cannot be imported
        and for two packages that add different objects of the name.
        """
        if name in self._objects:
            return self._objects[name]
        if name in self._targets:
            return load_target(self._targets[name])
        targets = self.targets()
        if name not in targets:
            remedy = f"If a package adds this name, install it (entry points {self.group!r})"
            raise unknown_name(self.kind, name, self.names(), remedy)
        if len(_read_entry_points(self.group, _describe_path())[name]) > 1:
            raise InputError(
                f"expected one package that adds the {self.kind} {name!r}, got {targets[name]}; uninstall one"
            )
        try:
            return load_target(targets[name])
        except NavarenaError:
            raise
        except Exception as error:
            raise InputError(
                f"cannot import the {self.kind} {name!r} ({targets[name]}); it raised "
                f"{describe_error(error)}; mend its package, or uninstall it"
            ) from error
