"""Binary PLY whose faces differ in their number of corners, which trimesh cannot read.

Blender writes such files whenever a mesh mixes triangles and quads.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

from navarena.core.errors import FileError

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2",
    "ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "int64": "i8", "uint64": "u8", "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip


@dataclass
class _Property:
    name: str
    kind: np.dtype
    count_kind: np.dtype | None = None  # of lists


@dataclass
class _Element:
    name: str
    length: int
    properties: list[_Property] = field(default_factory=list)


Columns = dict[str, np.ndarray | list[np.ndarray]]


def read_binary_elements(data: bytes) -> dict[str, Columns]:
    """Element -> property -> values of all rows: (N,), or for lists N arrays.

    Raises FileError when the file is no binary PLY or cut short.
    """
    elements, position = _read_header(data)
    content = np.frombuffer(data, np.uint8)
    found: dict[str, Columns] = {}
    for element in elements:
        found[element.name], position = _read_element(content, element, position)
    if position != len(data):
        raise FileError(f"expected {position} bytes, got {len(data)}")
    return found


def _read_header(data: bytes) -> tuple[list[_Element], int]:
    """(elements in order, where the first row begins)."""
    head, end, _ = data.partition(b"end_header")
    lines = head.decode("ascii", errors="replace").split("\n")
    order = {"binary_little_endian": "<", "binary_big_endian": ">"}.get((lines[1].split() + ["", ""])[1])
    if order is None or not end:
        raise FileError("expected a binary PLY, got another kind or only its beginning")
    elements: list[_Element] = []
    for line in lines[2:]:
        words = line.split()
        if words[:1] == ["element"]:
            elements.append(_Element(words[1], int(words[2])))
        elif words[:1] == ["property"]:
            kinds = [np.dtype(order + _TYPES[word]) for word in words[1:-1] if word != "list"]
            listed = kinds[0] if words[1] == "list" else None
            elements[-1].properties.append(_Property(words[-1], kinds[-1], listed))
    return elements, data.index(b"\n", len(head)) + 1


def _read_element(content: np.ndarray, element: _Element, position: int) -> tuple[Columns, int]:
    """(columns of one element, where the next one begins)."""
    if not 0 <= element.length <= len(content) or not element.properties:
        raise FileError(f"expected {element.length} elements {element.name!r}, got a file too short for them")
    starts = np.zeros((element.length, len(element.properties)), np.int64)
    counts = np.ones_like(starts)
    if all(entry.count_kind is None for entry in element.properties):
        sizes = np.array([entry.kind.itemsize for entry in element.properties])
        starts += position + np.arange(element.length)[:, None] * sizes.sum() + np.cumsum(sizes) - sizes
        position += element.length * int(sizes.sum())
    else:
        position = _walk_rows(content, element, position, starts, counts)
    if position > len(content):
        raise FileError(f"expected at least {position} bytes, got {len(content)}; the file is cut short")
    columns: Columns = {}
    for index, entry in enumerate(element.properties):
        flat = _gather(content, starts[:, index], counts[:, index], entry.kind)
        listed = entry.count_kind is not None
        columns[entry.name] = np.split(flat, np.cumsum(counts[:-1, index])) if listed else flat
    return columns, position


def _walk_rows(
    content: np.ndarray,
    element: _Element,
    position: int,
    starts: Int[np.ndarray, "n p"],
    counts: Int[np.ndarray, "n p"],
) -> int:
    """Fill start and count of each value; returns the end of the rows."""
    memory = content.data
    for row in range(element.length):
        for index, entry in enumerate(element.properties):
            if entry.count_kind is not None:
                size = entry.count_kind.itemsize
                if position + size > len(memory):
                    raise FileError(f"the file is cut short in row {row} of element {element.name!r}")
                counts[row, index] = np.frombuffer(memory, entry.count_kind, 1, position)[0]
                position += size
            starts[row, index] = position
            position += int(counts[row, index]) * entry.kind.itemsize
    return position


def _gather(
    content: np.ndarray, starts: Int[np.ndarray, "n"], counts: Int[np.ndarray, "n"], kind: np.dtype
) -> np.ndarray:
    """All values of one property in a row: `counts` values of `kind` from each of `starts`."""
    first = np.repeat(starts, counts)
    within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = first + within * kind.itemsize
    pieces = content[places[:, None] + np.arange(kind.itemsize)]
    return np.ascontiguousarray(pieces).view(kind)[:, 0]
