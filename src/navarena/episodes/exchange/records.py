"""Typed, lossless records of episode files: numbers as written, unknown fields kept.

A record is a msgspec Struct with the fields that its format documents. `int | float` keeps 0 and 0.0
apart; a field that is absent is UNSET, which is not null. Fields that the format does not
document are set aside under their place in the record, and put back when it is written.
"""

import math
import re
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta, UnsetType

from navarena.core.errors import FileError
from navarena.core.files import LIMITS, translate_damage

_SIZE, _RADIUS = int(LIMITS.number), int(LIMITS.radius)

Number = Annotated[int, Meta(ge=-_SIZE, le=_SIZE)] | Annotated[float, Meta(ge=-_SIZE, le=_SIZE)]
"""A JSON number within LIMITS, kept as it was written."""

Radius = Annotated[int, Meta(ge=0, le=_RADIUS)] | Annotated[float, Meta(ge=0, le=_RADIUS)]
"""Metres around a goal, kept as it was written."""

Vector = tuple[Number, Number, Number]
"""(x, y, z) metres."""

Quaternion = tuple[Number, Number, Number, Number]
"""[x, y, z, w]; files exist in which it is not of unit length."""

Value = TypeVar("Value")

Maybe: TypeAlias = Value | UnsetType | None
"""A field that may be null or absent."""


class Item(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A part of a record. Optional fields default to UNSET, so that absent ones stay absent."""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One episode or one goal of a file, with all its fields.

    Attributes:
        unknown: place ("/info/author") -> value of every field that the format does not document.
    """

    unknown: dict[str, Any] = msgspec.field(default_factory=dict, name="//unknown")


RecordType = TypeVar("RecordType", bound=Record)


@lru_cache(None)
def _decoder(kind: type[Record]) -> Any:
    return msgspec.json.Decoder(kind)


_ENCODER = msgspec.json.Encoder()


def decode_record(raw: bytes | msgspec.Raw, kind: type[RecordType], where: str) -> RecordType:
    """A record from its JSON text.

    Raises FileError that begins with `where` (file and episode) and names the field.
    """
    with translate_damage(where):
        try:
            try:
                record: RecordType = _decoder(kind).decode(raw)
                return record
            except msgspec.ValidationError as error:
                if "unknown field" not in str(error):
                    raise
            content = msgspec.json.decode(raw)
            unknown = dict(_take_unknown(content, kind, ""))
            return msgspec.structs.replace(msgspec.convert(content, kind), unknown=unknown)
        except msgspec.ValidationError as error:
            raise FileError(f"{where}, {describe_error(error)}") from error


def encode_record(record: Record) -> bytes:
    """The JSON text of a record, unknown fields in their places."""
    if not record.unknown:
        return _ENCODER.encode(record)
    content = msgspec.to_builtins(record)
    del content["//unknown"]
    for place, value in record.unknown.items():
        _put(content, place, value)
    return _ENCODER.encode(content)


def describe_error(error: msgspec.ValidationError) -> str:
    """Msgspec's message as "field a.b: expected ..., got ...; what to do"."""
    message, _, place = str(error).partition(" - at `")
    field = place.rstrip("`").removeprefix("$").lstrip(".")
    missing = re.match(r"Object missing required field `(.*)`", message)
    if missing:
        field = f"{field}.{missing[1]}".lstrip(".")
        problem = "expected a value, got none: it is missing"
    else:
        problem = message[:1].lower() + message[1:].replace("`", "")
    return f"field {field or '(the whole)'}: {problem}; mend the file or download it again"


def _take_unknown(content: Any, kind: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Remove from `content` what `kind` does not document, and yield (place, value) of it."""
    kind = _member_for(content, kind)
    if isinstance(content, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        known = _field_types(kind)
        for name in [name for name in content if name not in known]:
            yield f"{place}/{_escape(name)}", content.pop(name)
        for name, value in content.items():
            yield from _take_unknown(value, known[name], f"{place}/{_escape(name)}")
    elif isinstance(content, list) and get_origin(kind) is list:
        for index, value in enumerate(content):
            yield from _take_unknown(value, get_args(kind)[0], f"{place}/{index}")


def _member_for(content: Any, kind: Any) -> Any:
    """The member of a union that describes a JSON object or array such as `content`."""
    if get_origin(kind) not in (Union, types.UnionType):
        return kind
    wanted = dict if isinstance(content, dict) else list
    for member in get_args(kind):
        is_struct = isinstance(member, type) and issubclass(member, msgspec.Struct)
        if get_origin(member) is wanted or (is_struct and wanted is dict):
            return member
    return Any


@lru_cache(None)
def _field_types(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Name in the file -> type; the place of unknown fields is none of them."""
    hints = get_type_hints(kind)
    return {
        field.encode_name: hints[field.name]
        for field in msgspec.structs.fields(kind)
        if not field.encode_name.startswith("//")
    }


def _put(content: Any, place: str, value: Any) -> None:
    """Set the field at `place`; one whose surroundings were removed is dropped with them."""
    *path, name = place.split("/")[1:]
    for step in path:
        try:
            content = content[int(step) if isinstance(content, list | tuple) else _unescape(step)]
        except (KeyError, IndexError):
            return
    if isinstance(content, dict):
        content[_unescape(name)] = value


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescape(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def present(value: Any, default: Any = None) -> Any:
    """`value`, or `default` where the file has null or nothing."""
    return default if value is None or value is UNSET else value


def yaw_of(rotation: Quaternion) -> float:
    """Yaw in radians of a rotation of any non-zero length: where its forward axis points.

    For upright rotations this is what habitat-lab's sensors take it for, which use the inverse of the
    quaternion and so normalise it.
    """
    x, y, z, w = rotation
    forward_x = -2.0 * (x * z + w * y)
    forward_z = -(w * w - x * x - y * y + z * z)
    return math.atan2(-forward_x, -forward_z)


def tilt_of(rotation: Quaternion) -> float:
    """Angle in radians between the vertical and the up axis of a rotation of any non-zero length."""
    x, y, z, w = rotation
    upright, all_of_it = w * w - x * x + y * y - z * z, w * w + x * x + y * y + z * z
    return math.acos(max(-1.0, min(1.0, upright / all_of_it)))


def raw_yaw_of(rotation: Quaternion) -> float:
    """Yaw in radians as the pinned habitat-sim of MultiON rendered it: the quaternion is not normalised.

    It did so until the first turn, which normalised it; sensors always saw `yaw_of`. For rotations of
    unit length both agree.
    """
    x, y, z, w = rotation
    return math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))
