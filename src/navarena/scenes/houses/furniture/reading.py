"""Reading the furniture tables: text files of families, described in docs/catalogue.md."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

from navarena.core.errors import SceneError
from navarena.core.suggest import require_name
from navarena.scenes.houses.furniture.family import Carry, Family
from navarena.scenes.houses.furniture.rows import Body

PACKAGE = "navarena.scenes.houses.furniture"
FILES = (
    "surfaces",
    "seating",
    "tables",
    "storage",
    "kitchen",
    "bathroom",
    "household",
    "decoration",
    "leisure",
    "office",
)
STANDS = ("wall", "corner", "floor", "hung", "top", "ceiling")
LIST = re.compile(r"([A-Z_]+): (.+)")
FAMILY = re.compile(r'(\w+)(?: \((\w+)\))?: (\w+)(?: (\d+))?, (\d+)\.\.(\d+)(, upright)?(?:, "(.*)")?')


def read_families() -> dict[str, Family]:
    """All families by name; raises SceneError for a line that cannot be read."""
    lists: dict[str, list[str]] = {}
    bodies: dict[str, Body] = {}
    families: dict[str, Family] = {}
    for file in FILES:
        text = resources.files(PACKAGE).joinpath(f"{file}.txt").read_text(encoding="utf-8")
        for place, line, rows in split_entries(f"{file}.txt", text.splitlines()):
            if listed := LIST.fullmatch(line):
                lists[listed[1]] = [word for name in listed[2].split() for word in lists.get(name, [name])]
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
