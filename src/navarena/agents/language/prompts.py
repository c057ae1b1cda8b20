"""Prompts of language-model agents: one readable file, checked when it is read."""

import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.errors import FileError
from navarena.core.files import read_text
from navarena.core.protocol_ids import base_protocol

FILE = Path(__file__).with_name("prompts.toml")
"""The prompts of navarena."""

DEFAULT = "default"
"""The section of tasks that have none of their own."""

RULES = ("declaration", "success_cm", "success_m", "max_steps")
ACTION = ("step_cm", "turn_deg", "tilt_deg")
POLAR = ("metres", "degrees", "side")
GOALS = {
    "objectgoal": ("value",),
    "multiobjectgoal": ("value",),
    "language_goal": ("value",),
    "instruction": ("value",),
    "image_goal": (),
    "pointgoal": POLAR,
    "pointgoal_with_gps_compass": POLAR,
}
READINGS = {"gps": ("ahead", "right"), "compass": ("degrees", "side")}
PARTS = {
    "system": ("camera_height", "rules", "actions", "format"),
    "format": ("example",),
    "reasoned_format": ("example",),
    "earlier": ("step", "action"),
    "map": ("map_metres",),
    "now": ("step", "max_steps"),
    "question": ("readings", "last"),
    "again": ("said", "names"),
}
"""What may stand in braces, by part."""


class TaskPrompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one task as given to a model."""

    rules: str


class Prompts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of prompts; its comments say what each part is."""

    system: str
    format: str
    reasoned_format: str
    earlier: str
    map: str
    now: str
    question: str
    again: str
    actions: dict[str, str]
    goals: dict[str, str]
    readings: dict[str, str]
    tasks: dict[str, TaskPrompt]

    def find_task(self, protocol_id: str) -> TaskPrompt:
        """The section of a protocol: the longest name by which its id begins, else the default's."""
        base = base_protocol(protocol_id)
        fitting = [name for name in self.tasks if base == name or base.startswith(f"{name}-")]
        return self.tasks[max(fitting, key=len, default=DEFAULT)]


def read_prompts(path: Path = FILE) -> Prompts:
    """The prompts in `path`; FileError for a missing or damaged file, and for unknown words in braces."""
    text = read_text(path, "prompts")
    try:
        found = msgspec.toml.decode(text, type=Prompts)
    except msgspec.MsgspecError as error:
        raise FileError(
            f"prompts {path} are damaged ({error}); write them as in {FILE.name} of this package"
        ) from error
    if DEFAULT not in found.tasks:
        raise FileError(f"expected a section [tasks.{DEFAULT}] in {path}, got {', '.join(found.tasks)}")
    for name, known in PARTS.items():
        _require_words(path, name, getattr(found, name), known)
    for name, one in found.actions.items():
        _require_words(path, f"actions.{name}", one, ACTION)
    for kind, parts, lines in (("goals", GOALS, found.goals), ("readings", READINGS, found.readings)):
        if set(parts) != set(lines):
            raise FileError(
                f"expected the lines {', '.join(parts)} in [{kind}] of {path}, got {', '.join(lines)}"
            )
        for name, line in lines.items():
            _require_words(path, f"{kind}.{name}", line, parts[name])
    for name, task in found.tasks.items():
        _require_words(path, f"tasks.{name}.rules", task.rules, RULES)
    return found


def fill(text: str, values: Mapping[str, Any]) -> str:
    """`text` with its words in braces replaced, and no space around it."""
    return text.format_map(values).strip()


class _Anything(str):
    """Takes every format, to try one out."""

    def __format__(self, spec: str) -> str:
        return ""


def _require_words(path: Path, name: str, text: str, known: tuple[str, ...]) -> None:
    """Raise FileError unless `text` can be filled with the words `known`."""
    try:
        used = {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
        problem = ", ".join(f"{{{one}}}" for one in sorted(used - set(known)))
        if not problem:
            text.format_map(dict.fromkeys(known, _Anything()))
    except (ValueError, IndexError) as error:
        problem = str(error)
    if problem:
        words = ", ".join(known) or "none"
        raise FileError(f"expected in {name} of the prompts {path} no braces but of {words}, got {problem}")
