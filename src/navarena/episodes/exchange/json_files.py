"""JSON files, plain or compressed: checked when they are read, deterministic when they are written."""

import codecs
import gzip
import json
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.errors import FileError
from navarena.core.files import read_bytes, translate_damage, write_atomic

COMPRESSION_LEVEL = 6
"""Of gzip; 9 takes several times as long for a few per cent."""

_NOT_A_NUMBER = object()


def read_json_bytes(path: Path, kind: str = "episode file") -> bytes:
    """The UTF-8 text of a JSON file, decompressed when its first bytes (not its name) say so.

    A byte order mark before it is left out. Raises FileError for a file that is missing, empty, cut off or
    other text.
    """
    data = read_bytes(path, kind).removeprefix(codecs.BOM_UTF8)
    if not data.isascii():
        with translate_damage(f"{kind} {path}"):
            data.decode()
    return data


def write_json_bytes(path: Path, data: bytes) -> None:
    """Write JSON text, compressed when `path` ends in .gz; equal text gives equal bytes."""
    write_atomic(path, gzip.compress(data, COMPRESSION_LEVEL, mtime=0) if path.suffix == ".gz" else data)


def explain_bad_json(path: Path, data: bytes, error: msgspec.DecodeError) -> FileError:
    """The error for text that is no JSON: Python writes NaN and Infinity, which JSON does not have."""
    place = _find_non_number(data) if b"NaN" in data or b"Infinity" in data else None
    if place is not None:
        return FileError(
            f"episode file {path}, field {place}: expected a number, got NaN or Infinity; that is no JSON "
            "and no distance: drop the episode, or make the file again"
        )
    return FileError(f"episode file {path} is no JSON ({error}); it is damaged or of another kind")


def _find_non_number(data: bytes) -> str | None:
    """Place of the first NaN or Infinity, such as "episodes[3].info.geodesic_distance"."""
    try:
        content = json.loads(data, parse_constant=lambda _: _NOT_A_NUMBER)
    except (ValueError, RecursionError):
        return None
    open_places: list[tuple[str, Any]] = [("", content)]
    while open_places:
        place, value = open_places.pop()
        if value is _NOT_A_NUMBER:
            return place.lstrip(".")
        if isinstance(value, dict):
            open_places += [(f"{place}.{key}", item) for key, item in reversed(value.items())]
        elif isinstance(value, list):
            open_places += [(f"{place}[{k}]", item) for k, item in reversed(list(enumerate(value)))]
    return None
