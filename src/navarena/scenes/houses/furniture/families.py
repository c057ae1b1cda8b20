"""Families of objects, read from the furniture tables (*.txt beside this file; see docs/catalogue.md)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from navarena.core.errors import SceneError, require_name
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.furniture.rows import Body
from navarena.scenes.houses.solids.models import Model

PACKAGE = "navarena.scenes.houses.furniture"
FILES = ("tables", "seating", "storage", "kitchen", "household", "decoration", "leisure", "office")
STANDS = ("wall", "corner", "floor", "hung", "top", "ceiling")
LIST = re.compile(r"([A-Z_]+): (.+)")
FAMILY = re.compile(r'(\w+)(?: \((\w+)\))?: (\w+)(?: (\d+))?, (\d+)\.\.(\d+)(, upright)?(?:, "(.*)")?')


@dataclass(frozen=True)
class Carry:
    """Small objects that are put on a family's surfaces.

    Attributes:
        limit: on one surface.
        percent: chance of each.
        families: what may stand there.
    """

    limit: int
    percent: int
    families: Sequence[str]


@dataclass(frozen=True)
class Family:
    """A parametric kind of object.

    Attributes:
        category: its name in scenes; several families may share one.
        stands: "wall" (its back to a wall), "corner" (the same, at a wall's end), "floor" (anywhere),
            "hung" (on a wall, its lowest point at `hung_at`), "top" (on another object), "ceiling".
        size_limits: millimetres of the longest side: shorter is small, at least the second is large.
        body: the rows that draw an instance.
        clearance: millimetres in front that no other object stands in.
        hung_at: millimetres above the floor.
        carries: what stands on its surfaces.
        upright: faces the front of what carries it instead of lying at an angle.
    """

    category: str
    stands: str
    size_limits: tuple[int, int]
    body: Body
    clearance: int = 0
    hung_at: int = 0
    carries: Carry | None = None
    upright: bool = False

    def build(self, room: RoomStyle, **given: int) -> Model:
        """One instance; lengths in `given` (millimetres, by their name in the table) are not drawn."""
        return self.body.draw(room, self.stands in ("hung", "ceiling"), given)


def read_families() -> dict[str, Family]:
    """All families by name; raises SceneError for a line that cannot be read."""
    lists: dict[str, list[str]] = {}
    bodies: dict[str, Body] = {}
    families: dict[str, Family] = {}
    for file in FILES:
        text = resources.files(PACKAGE).joinpath(f"{file}.txt").read_text(encoding="utf-8")
        for place, line, rows in split_entries(f"{file}.txt", text.splitlines()):
            if listed := LIST.fullmatch(line):
                words = " ".join([listed[2], *rows]).split()
                lists[listed[1]] = [word for name in words for word in lists.get(name, [name])]
                continue
            head, _, carried = line.partition(", carries ")
            family = FAMILY.fullmatch(head)
            if family is None:
                raise SceneError(f"{place}: expected `name: where it stands, size limits`, got {line!r}")
            name, category, stands, distance, small, large, upright, shape = family.groups()
            require_name(f"place of {name} ({place})", stands, STANDS)
            if shape:
                rows = [f'shape = "{shape}"', *rows]
            bodies[name] = Body(place, rows, bodies)
            families[name] = Family(
                category or name,
                stands,
                (int(small), int(large)),
                bodies[name],
                clearance=0 if stands == "hung" else int(distance or 0),
                hung_at=int(distance or 0) if stands == "hung" else 0,
                carries=_carry(carried.split(), lists) if carried else None,
                upright=upright is not None,
            )
    return families


def split_entries(file: str, lines: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    """(file and line number, line, indented lines below it) of every entry; `#` begins a comment."""
    entry: tuple[str, str, list[str]] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith(" "):
            if entry:
                yield entry
            entry = (f"{file}, line {number}", line, [])
        elif entry:
            entry[2].append(line[4:])
    if entry:
        yield entry


def _carry(words: Sequence[str], lists: Mapping[str, Sequence[str]]) -> Carry:
    """`limit percent% family ...`, or the name of a list of them."""
    limit, percent, *families = [word for name in words for word in lists.get(name, [name])]
    return Carry(int(limit), int(percent.removesuffix("%")), tuple(families))
