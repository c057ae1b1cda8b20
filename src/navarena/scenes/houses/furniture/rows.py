"""Rows of the furniture tables: the statements that draw one instance of a family."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any, Protocol, runtime_checkable

from navarena.core.errors import SceneError, UnknownNameError
from navarena.scenes.houses.furniture.builders import BUILDERS
from navarena.scenes.houses.furniture.expressions import compile_expression
from navarena.scenes.houses.furniture.names import NAMES, room_names
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.parts import Assembly, Model

ASSIGNMENT = re.compile(r"(\w+(?:, *\w+)*) = (.+)")
BLOCK = re.compile(r"(if|elif|else|for)\b(.*?):(?:\s+(.*))?")


@dataclass
class Drawing:
    """One model while it is drawn.

    Attributes:
        made: its parts so far.
        room: values and functions that every row may use.
        names: what its rows have named.
        given: names whose assignments are skipped, because the caller gave their values.
    """

    made: Assembly
    room: dict[str, Any]
    names: dict[str, Any]
    given: frozenset[str]

    def value(self, code: CodeType) -> Any:
        """The value of an expression."""
        return eval(code, self.room, self.names)

    def name(self, names: Sequence[str], value: Any) -> None:
        """Give a value its name, or the members of a tuple theirs."""
        self.names.update(zip(names, value if len(names) > 1 else (value,), strict=True))


@runtime_checkable
class Statement(Protocol):
    """What a row does to the drawing."""

    def run(self, drawing: Drawing) -> None:
        """Add parts or names."""


@dataclass(frozen=True)
class Assign:
    """`name = expression`; `a, b = expression` for the members of a tuple."""

    names: Sequence[str]
    code: CodeType

    def run(self, drawing: Drawing) -> None:
        if self.names[0] not in drawing.given:
            drawing.name(self.names, drawing.value(self.code))


@dataclass(frozen=True)
class Place:
    """A function that adds parts and the fields of its row; run for both signs where the row has a `±`."""

    add: Callable[..., None]
    fields: CodeType
    mirrored: bool

    def run(self, drawing: Drawing) -> None:
        for side in (-1, 1) if self.mirrored else (0,):
            drawing.names["side"] = side
            self.add(drawing.made, *drawing.value(self.fields))


@dataclass(frozen=True)
class Repeat:
    """`for names in items:`; a whole number n stands for 0 .. n - 1."""

    names: Sequence[str]
    items: CodeType
    body: Sequence[Statement]

    def run(self, drawing: Drawing) -> None:
        items = drawing.value(self.items)
        for item in range(items) if isinstance(items, int) else items:
            drawing.name(self.names, item)
            for statement in self.body:
                statement.run(drawing)


@dataclass
class Branch:
    """`if condition:` with what follows it and its `else:`."""

    condition: CodeType
    body: Sequence[Statement]
    otherwise: Sequence[Statement] = ()

    def run(self, drawing: Drawing) -> None:
        for statement in self.body if drawing.value(self.condition) else self.otherwise:
            statement.run(drawing)


@dataclass(frozen=True)
class Same:
    """`as family`: the rows of another family; names set so far keep their values."""

    family: "Body"

    def run(self, drawing: Drawing) -> None:
        drawing.given = frozenset(drawing.names)
        for statement in self.family.statements:
            statement.run(drawing)


@dataclass(frozen=True)
class Body:
    """The rows of one family, compiled when first used.

    Attributes:
        place: file and line of the family.
        rows: indented lines.
        bodies: all families by name, for `as`.
    """

    place: str
    rows: Sequence[str]
    bodies: Mapping[str, "Body"]

    @cached_property
    def statements(self) -> Sequence[Statement]:
        """The rows as statements; raises SceneError for one that cannot be read."""
        try:
            return list(self._block(list(self.rows)))
        except (KeyError, SyntaxError, ValueError, UnknownNameError) as error:
            raise SceneError(f"{self.place}: expected rows of a furniture table, got {error}") from error

    def draw(self, room: RoomStyle, hangs: bool, given: Mapping[str, Any]) -> Model:
        """One instance; its look and what it is called are the names look, shape, pattern and detail.

        Args:
            room: colours, materials and the stream of draws.
            hangs: it is seen from below.
            given: values of names that are not drawn.
        """
        drawing = Drawing(Assembly(hangs), {**NAMES, **room_names(room)}, dict(given), frozenset(given))
        for statement in self.statements:
            statement.run(drawing)
        called = {name: drawing.names[name] for name in ("detail", "pattern") if name in drawing.names}
        return drawing.made.model(drawing.names["look"], drawing.names["shape"], **called)

    def _block(self, rows: list[str]) -> Iterator[Statement]:
        """Statements of rows of one depth; deeper rows belong to the row before them."""
        branch: Branch | None = None
        while rows:
            row, inner = rows.pop(0), []
            while rows and _depth(rows[0]) > _depth(row):
                inner.append(rows.pop(0))
            head = BLOCK.fullmatch(row.strip())
            if head is None:
                yield from map(self._simple, row.split(";"))
                continue
            word, condition, same_row = head.groups()
            body = list(self._block([same_row] if same_row else inner))
            if word == "for":
                yield _repeat(condition, body)
            elif word == "if":
                branch = Branch(compile_expression(condition), body)
                yield branch
            elif branch is None:
                raise SyntaxError(f"{word} without if")
            elif word == "else":
                branch.otherwise = body
            else:
                branch.otherwise = [following := Branch(compile_expression(condition), body)]
                branch = following

    def _simple(self, text: str) -> Statement:
        text = text.strip()
        assignment = ASSIGNMENT.fullmatch(text)
        if assignment:
            return Assign(_names(assignment[1]), compile_expression(assignment[2]))
        word, *fields = split_fields(text)
        if word == "as":
            return Same(self.bodies[fields[0]])
        if word in BUILDERS:
            return Place(BUILDERS[word], compile_expression(",".join(fields)), "±" in text)
        return Place(Assembly.add, compile_expression(_solid(word, fields)), "±" in text)


def _repeat(condition: str, body: Sequence[Statement]) -> Repeat:
    names, _, items = condition.partition(" in ")
    return Repeat(_names(names), compile_expression(items), body)


def _names(text: str) -> list[str]:
    return text.replace(" ", "").split(",")


def _depth(row: str) -> int:
    return len(row) - len(row.lstrip())


def split_fields(text: str) -> list[str]:
    """The fields of a row: what stands between blanks that are in no bracket and no text."""
    fields, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == " " and depth == 0 and fields[-1].count('"') % 2 == 0:
            fields += [""] if fields[-1] else []
        else:
            fields[-1] += letter
    return fields


def _solid(solid: str, fields: Sequence[str]) -> str:
    """Arguments of Assembly.add: `solid look width height depth [x y z] [turn=expression] [fit] [thin]`."""
    options = {"turn": "STRAIGHT", "fit": "False", "thin": "False"}
    look, *numbers = fields
    while numbers and (numbers[-1] in options or numbers[-1].startswith("turn=")):
        name, _, value = numbers.pop().partition("=")
        options[name] = value or "True"
    width, height, depth, *at = numbers
    x, y, z = at or "000"
    return ", ".join((solid, look, f"({width}, {height}, {depth}), ({x}, {y}, {z})", *options.values()))
