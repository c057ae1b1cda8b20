"""Matterport3D's .house files: levels, regions, objects and segments, one to a line.

The format is described in `data_organization.md` of the Matterport3D repository ("house_segmentations").
Coordinates are metres with z up. Blanks in raw category names are written "#".
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError
from navarena.core.files import LIMITS, read_bytes
from navarena.scenes.datasets.mesh_reader import LARGEST_ID, require_new

HEADER = "ASCII 1.1"

Outline = tuple[tuple[float, float], ...]
"""Points (x, z) in metres, world frame, not closed."""

REGION_CATEGORIES: Mapping[str, str] = {
    "a": "bathroom", "b": "bedroom", "c": "closet", "d": "dining room", "e": "entryway", "f": "family room",
    "g": "garage", "h": "hallway", "i": "library", "j": "laundry room", "k": "kitchen", "l": "living room",
    "m": "meeting room", "n": "lounge", "o": "office", "p": "porch", "r": "recreation room", "s": "stairs",
    "t": "toilet", "u": "utility room", "v": "tv room", "w": "gym", "x": "outdoor", "y": "balcony",
    "z": "other room", "B": "bar", "C": "classroom", "D": "dining booth", "S": "spa", "Z": "junk",
    "-": "unlabeled",
}  # fmt: skip
"""Letter of a region -> room category."""


@dataclass(frozen=True)
class HouseRegion:
    """A room: its level, category and bounds (low and high corner)."""

    index: int
    level: int
    category: str
    low: Float[np.ndarray, "3"]
    high: Float[np.ndarray, "3"]


@dataclass(frozen=True)
class HouseObject:
    """An object: its region (-1 none), category index (-1 none) and the eight corners (8, 3) of its box."""

    index: int
    region: int
    category: int
    corners: Float[np.ndarray, "8 3"]


@dataclass
class House:
    """The records of a .house file, by index.

    Attributes:
        levels: indices of the storeys.
        regions, objects: rooms and objects.
        categories: index -> (raw name, mpcat40 name).
        segments: id of a segment of the mesh -> index of its object.
        surfaces: index -> index of its region.
        outlines: index of a surface -> its vertices in order.
    """

    levels: set[int] = field(default_factory=set)
    regions: dict[int, HouseRegion] = field(default_factory=dict)
    objects: dict[int, HouseObject] = field(default_factory=dict)
    categories: dict[int, tuple[str, str]] = field(default_factory=dict)
    segments: dict[int, int] = field(default_factory=dict)
    surfaces: dict[int, int] = field(default_factory=dict)
    outlines: dict[int, list[Float[np.ndarray, "3"]]] = field(default_factory=dict)


class _Line:
    """The fields of one line; a bad one is an error that names file and line."""

    def __init__(self, path: Path, number: int, text: str) -> None:
        self.where, self.text, self._fields = f"{path}:{number}", text, text.split()

    def _fail(self, what: str, index: int) -> FileError:
        got = self._fields[index] if index < len(self._fields) else "the end of the line"
        return FileError(f"{self.where}: expected {what} in field {index + 1}, got {got}: {self.text[:99]!r}")

    @property
    def length(self) -> int:
        return len(self._fields)

    def text_at(self, index: int) -> str:
        if index >= len(self._fields):
            raise self._fail("a name", index)
        return self._fields[index]

    def integer(self, index: int) -> int:
        try:
            value = int(self._fields[index])
        except (IndexError, ValueError) as error:
            raise self._fail("a whole number", index) from error
        if abs(value) >= LARGEST_ID:
            raise self._fail(f"a whole number below {LARGEST_ID}", index)
        return value

    def vector(self, index: int) -> Float[np.ndarray, "3"]:
        try:
            values = np.array([float(value) for value in self._fields[index : index + 3]])
        except ValueError as error:
            raise self._fail("three numbers", index) from error
        if len(values) != 3 or not (np.abs(values) <= LIMITS.number).all():
            raise self._fail("three finite numbers", index)
        return values

    def own_index(self, table: Container[int]) -> int:
        """The index of what the line describes, in field 2; that of an earlier line is an error."""
        return require_new(self.integer(1), table, self.where)

    def known(self, index: int, table: Mapping[int, object] | set[int], what: str, none: bool = True) -> int:
        """The index in `table` at a field; -1 is allowed for nothing."""
        value = self.integer(index)
        if value not in table and not (none and value < 0):
            raise FileError(f"{self.where}: expected the index of {what} of the file, got {value}")
        return value


def read_house(path: Path) -> House:
    """Read a .house file; raises FileError that names the line when it is damaged or cut short."""
    lines = read_bytes(path, "house file").decode("utf-8-sig", errors="replace").splitlines()
    if lines[0].strip() != HEADER:
        raise FileError(f"{path}:1: expected {HEADER!r}, got {lines[0][:60]!r}")
    house = House()
    by_letter: dict[str, list[_Line]] = {}
    for number, text in enumerate(lines[1:], 2):
        by_letter.setdefault(text[:1], []).append(_Line(path, number, text))
    if "H" not in by_letter:
        raise FileError(f"{path}: expected a line that begins with H, got none; the file is cut short")
    _check_counts(path, by_letter["H"][0], {letter: len(found) for letter, found in by_letter.items()})
    for letter, reader in _READERS.items():  # what others refer to comes first, wherever it stands
        for line in by_letter.get(letter, []):
            reader(house, line)
    return house


_COUNTS = {"E": ("segments", 7), "O": ("objects", 8), "C": ("categories", 9), "R": ("regions", 10)}
"""Letter of a line -> (what the H line calls it, the field of H that says how many there are)."""


def _check_counts(path: Path, header: "_Line", found_lines: Mapping[str, int]) -> None:
    for letter, (what, index) in _COUNTS.items():
        count, found = header.integer(index), found_lines.get(letter, 0)
        if found < count:
            raise FileError(
                f"{path}: expected {count} {what}, as its H line says, got {found}; the file is damaged or "
                "cut short"
            )


def _read_level(house: House, line: _Line) -> None:
    house.levels.add(line.integer(1))


def _read_region(house: House, line: _Line) -> None:
    index = line.own_index(house.regions)
    level = line.known(2, house.levels, "a level")
    category = REGION_CATEGORIES.get(line.text_at(5)[0], "unlabeled")
    house.regions[index] = HouseRegion(index, max(level, 0), category, line.vector(9), line.vector(12))


def _read_surface(house: House, line: _Line) -> None:
    house.surfaces[line.own_index(house.surfaces)] = line.known(2, house.regions, "a region")


def _read_vertex(house: House, line: _Line) -> None:
    surface = line.known(2, house.surfaces, "a surface")
    # Counted from the end: the label before the position may be missing.
    house.outlines.setdefault(surface, []).append(line.vector(max(3, line.length - 9)))


def _read_category(house: House, line: _Line) -> None:
    house.categories[line.own_index(house.categories)] = (line.text_at(3).replace("#", " "), line.text_at(5))


def _read_object(house: House, line: _Line) -> None:
    index = line.own_index(house.objects)
    region = line.known(2, house.regions, "a region")
    category = line.known(3, house.categories, "a category")
    center, first, second, radii = (line.vector(at) for at in (4, 7, 10, 13))
    axes = np.stack([first, second, np.cross(first, second)]) * radii[:, None]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    house.objects[index] = HouseObject(index, region, category, center + signs @ axes)


def _read_segment(house: House, line: _Line) -> None:
    house.segments[line.integer(3)] = line.known(2, house.objects, "an object")


_READERS: Mapping[str, Callable[[House, _Line], None]] = {
    "L": _read_level,
    "R": _read_region,
    "S": _read_surface,
    "V": _read_vertex,
    "C": _read_category,
    "O": _read_object,
    "E": _read_segment,
}


def region_outline(house: House, region: HouseRegion) -> Outline:
    """The outline of a region: that of its largest surface, or the rectangle of its bounds.

    Returns K points (x, z) in metres, world frame.
    """
    outlines = [
        np.array([(point[0], -point[1]) for point in house.outlines.get(surface, [])]).reshape(-1, 2)
        for surface, owner in house.surfaces.items()
        if owner == region.index
    ]
    (x0, y0, _), (x1, y1, _) = region.low.tolist(), region.high.tolist()
    bounds = np.array([(x0, -y0), (x1, -y0), (x1, -y1), (x0, -y1)])
    best = max((outline for outline in outlines if len(outline) >= 3), key=_plan_area, default=bounds)
    return tuple((float(x), float(z)) for x, z in best)


def _plan_area(outline: Float[np.ndarray, "k 2"]) -> float:
    following = np.roll(outline, -1, axis=0)
    return abs(float((outline[:, 0] * following[:, 1] - following[:, 0] * outline[:, 1]).sum())) / 2
