"""Options of protocols, by name. A value that departs from the protocol makes a result custom."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from navarena.core.errors import InputError, require_name, unknown_name
from navarena.core.protocol_ids import join_protocol
from navarena.simulation.body import Embodiment
from navarena.tasks.task import Task

OptionsType = TypeVar("OptionsType")

_WORDS: Mapping[Any, str] = {int: "a whole number", float: "a number", bool: "true or false"}


MAX_OFFSET = 0.5
"""Metres; navmeshes of Habitat float 0.10 to 0.19 m above the floor."""


@dataclass(frozen=True)
class RunOptions:
    """Options of most protocols; the defaults are the protocol.

    Attributes:
        track: the RGB track has no depth.
        sliding: whether blocked steps slide along obstacles.
        max_steps: actions after which the episode is truncated.
        floor_offset: metres by which cameras are higher above the floor, as on a navmesh that floats over it;
            for scenes without a navmesh file.

    Raises InputError for a max_steps below 1 and for a floor_offset outside 0 to MAX_OFFSET.
    """

    track: Literal["rgbd", "rgb"] = "rgbd"
    sliding: bool = False
    max_steps: int = 500
    floor_offset: float = 0.0

    def __post_init__(self) -> None:
        if self.max_steps < 1:
            raise InputError(f"expected max_steps of at least 1, got {self.max_steps}")
        if not 0.0 <= self.floor_offset <= MAX_OFFSET:
            raise InputError(
                f"expected a floor_offset of 0 to {MAX_OFFSET} metres, got {self.floor_offset:g}; navmeshes "
                "of Habitat float 0.10 to 0.19 above the floor"
            )


def apply_options(task: Task, options: RunOptions) -> None:
    """Make `task`, which is being made, the variant of its class that `options` name, its id included."""
    task.protocol_id = join_protocol(type(task).protocol_id, find_departures(options))
    task.max_steps = options.max_steps
    if options.track == "rgb":
        task.sensors = tuple(name for name in task.sensors if name != "depth")
    if options.sliding:
        task.embodiment = replace(task.embodiment, slides=True)
    if options.floor_offset:
        task.embodiment = raise_cameras(task.embodiment, options.floor_offset)


def raise_cameras(embodiment: Embodiment, metres: float) -> Embodiment:
    """The body with every camera raised by `metres`."""
    cameras = (
        replace(one, mount=(one.mount[0], one.mount[1] + metres, one.mount[2])) for one in embodiment.cameras
    )
    return replace(embodiment, cameras=tuple(cameras))


def require_positive(options: RunOptions, *names: str) -> None:
    """Raise InputError unless the fields `names` of `options` are above 0."""
    for name in names:
        value = getattr(options, name)
        if not value > 0:
            raise InputError(f"expected a positive {name}, got {value:g}")


def read_options(kind: type[OptionsType], texts: Mapping[str, str], owner: str = "") -> OptionsType:
    """Options of the frozen dataclass `kind` from their texts in an id, or behind the agent `owner`.

    Raises UnknownNameError for an unknown name or choice, InputError for a value that does not fit.
    """
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    what = f"option of {owner}" if owner else "option"
    values = {require_name(what, name, known): _read(name, text, hints[name]) for name, text in texts.items()}
    return kind(**values)


def _read(name: str, text: str, kind: Any) -> Any:
    """The value of one option; `kind` is its type."""
    if get_origin(kind) is Literal and text not in get_args(kind):
        raise unknown_name(f"value of {name}", text, map(str, get_args(kind)))
    try:
        value = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"option {name}: expected {_WORDS.get(kind, kind)}, got {text!r}") from error
    if isinstance(value, float) and not isfinite(value):
        raise InputError(f"option {name}: expected a finite number, got {text!r}")
    if value == "":
        raise InputError(f"option {name}: expected a text, got none; leave it out")
    return value


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
