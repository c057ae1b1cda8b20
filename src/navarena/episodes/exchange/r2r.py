"""Room-to-Room files: `R2R_{split}.json`, plain or gzipped, with raw or encoded instructions.

A file is a JSON list with one item per path:

    {"distance": 11.66, "scan": "VLzqgDo317F", "path_id": 6250, "path": [viewpoint ids],
     "heading": 3.751, "instructions": ["Walk down one flight ...", ...]}

Test splits have no distance, and of the path only its start. Encoded variants (`R2R_{split}_enc.json`)
add `instr_encodings`: one list of token ids per instruction. Whatever else an item holds is kept.
"""

import gzip
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.errors import FileError
from navarena.core.files import read_json, write_atomic

KIND = "R2R file"

MAX_HEADING = 4 * math.pi
"""Radians; headings of R2R lie within one turn, and degrees do not stay within two."""

_ENDINGS = re.compile(r"(\.json|\.gz|_enc)+$")


@dataclass(frozen=True)
class R2RPath:
    """A path and the instructions that describe it.

    Attributes:
        path_id: unique across the splits of R2R; text in some derived files.
        scan: id of the scan.
        path: ids of the viewpoints along it, joined by edges; only the start in test splits.
        heading: radians at the start, clockwise from Matterport's +y.
        instructions: one text each.
        distance: metres along the path; None where the file has none.
        encodings: token ids of each instruction; empty where the file has none.
        extra: further members of the item, as they were.
    """

    path_id: int | str
    scan: str
    path: tuple[str, ...]
    heading: float
    instructions: tuple[str, ...]
    distance: float | None = None
    encodings: tuple[tuple[int, ...], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    def instruction_id(self, index: int) -> str:
        """Id of the instruction `index`: "{path_id}_{index}"."""
        return f"{self.path_id}_{index}"


@dataclass(frozen=True)
class R2RFile:
    """The paths of one split.

    Attributes:
        name: of the file, for messages.
        split: such as "val_seen".
        paths: in the file's order.
    """

    name: str
    split: str
    paths: tuple[R2RPath, ...]

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def scans(self) -> tuple[str, ...]:
        """Ids of the scans, in order of first appearance."""
        return tuple(dict.fromkeys(path.scan for path in self.paths))

    @property
    def has_goals(self) -> bool:
        """Whether the paths are known beyond their start (not so in test splits)."""
        return any(len(path.path) > 1 for path in self.paths)

    def instruction_ids(self, max_count: int | None = None) -> Iterator[str]:
        """Ids of all instructions, or of the first `max_count` of each path."""
        for path in self.paths:
            for index in range(len(path.instructions[:max_count])):
                yield path.instruction_id(index)


class _Item(msgspec.Struct):
    path_id: int | str
    scan: str
    path: list[str]
    heading: float
    instructions: list[str]
    distance: float | None = None
    instr_encodings: list[list[int]] | None = None


_OBJECT = "objId"
"""Member of items of REVERIE, of which several share a path: the object to be found at its end."""

_KNOWN = frozenset(_Item.__struct_fields__)


def split_of(path: Path) -> str:
    """The split that a file is named after: `R2R_val_seen_enc.json.gz` -> "val_seen"."""
    name = _ENDINGS.sub("", Path(path).name)
    return name.partition("R2R_")[2] or name


def load_r2r(path: Path, split: str | None = None) -> R2RFile:
    """Read a file of paths and instructions.

    Args:
        path: .json or .json.gz.
        split: of the paths; None for the one in the file's name.

    Raises FileError naming the file, the item and the reason: damaged data, a missing or wrong
    member, an empty path, no instruction, a heading in degrees, a path id that occurs twice, encodings
    that do not match the instructions, items of REVERIE.
    """
    raw = read_json(path, KIND)
    if not isinstance(raw, list) or not raw:
        raise FileError(f"{KIND} {path}: expected a list of at least one path, got {_describe(raw)}")
    paths = tuple(_read_item(item, row, path) for row, item in enumerate(raw))
    seen: set[int | str] = set()
    for item in paths:
        if item.path_id in seen:
            raise FileError(f"{KIND} {path}: expected each path_id once, got {item.path_id!r} twice")
        seen.add(item.path_id)
    return R2RFile(str(path), split_of(path) if split is None else split, paths)


def require_heading(heading: float, where: str) -> None:
    """Raise FileError, beginning with `where`, for a heading that is none in radians."""
    if not abs(heading) <= MAX_HEADING:
        raise FileError(
            f"{where}: expected a heading in radians, within two turns, got {heading:g}; are these degrees?"
        )


def _describe(raw: Any) -> str:
    return "an empty list" if isinstance(raw, list) else type(raw).__name__


def _read_item(raw: Any, row: int, file: Path) -> R2RPath:
    where = f"{KIND} {file}, item {row}"
    if isinstance(raw, dict) and "path_id" in raw:
        where += f" (path_id {raw['path_id']})"
    try:
        item = msgspec.convert(raw, _Item)
    except msgspec.ValidationError as error:
        raise FileError(f"{where}: {error}") from error
    if _OBJECT in raw:
        raise FileError(
            f"{where}: expected an item of R2R, got one of REVERIE ({_OBJECT}), whose goal is an object; to "
            f"follow its paths alone, write its id as path_id, and leave {_OBJECT} out"
        )
    if not item.path or not item.instructions:
        missing = "viewpoint" if not item.path else "instruction"
        raise FileError(f"{where}: expected at least one {missing}, got none")
    require_heading(item.heading, where)
    encodings = item.instr_encodings or []
    if encodings and len(encodings) != len(item.instructions):
        raise FileError(
            f"{where}: expected one encoding for each of {len(item.instructions)} instructions, "
            f"got {len(encodings)}"
        )
    return R2RPath(
        item.path_id,
        item.scan,
        tuple(item.path),
        item.heading,
        tuple(item.instructions),
        item.distance,
        tuple(tuple(tokens) for tokens in encodings),
        {key: value for key, value in raw.items() if key not in _KNOWN},
    )


def save_r2r(paths: Sequence[R2RPath], path: Path) -> None:
    """Write what `load_r2r` reads back as the same paths; gzipped when `path` ends in .gz.

    Equal paths give equal bytes. Raises StorageError when the disk refuses.
    """
    items = []
    for one in paths:
        item: dict[str, Any] = {} if one.distance is None else {"distance": one.distance}
        item |= {"scan": one.scan, "path_id": one.path_id, "path": one.path, "heading": one.heading}
        item["instructions"] = one.instructions
        if one.encodings:
            item["instr_encodings"] = one.encodings
        items.append(item | one.extra)
    data = msgspec.json.encode(items)
    write_atomic(Path(path), gzip.compress(data, mtime=0) if Path(path).suffix == ".gz" else data)
