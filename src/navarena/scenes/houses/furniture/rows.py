"""Rows of the furniture tables, translated to Python; docs/catalogue.md describes the language.

A row is a Python statement or places parts. Its expressions are Python's over whole numbers and known
names, with these tokens added: `a..b/step` (a drawn number), `n%` (True in n of 100 cases), `a | b` (one
of them), `finish/finish:color/color` (a look of drawn finish and colour), `a/b` (division rounded down)
and `±a` (the row stands twice, for -a and a).
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

from navarena.core.errors import SceneError, UnknownNameError, require_name
from navarena.scenes.houses.appearance.finishes import COLORS, FINISHES
from navarena.scenes.houses.furniture.names import BUILDERS
from navarena.scenes.houses.furniture.room_style import RoomStyle
from navarena.scenes.houses.solids.models import Assembly, Model

ROOM_COLORS = ("accent", "any_accent", "textile", "metal_color")
"""Colours of looks that depend on the room."""

DRAWN = ("any_wood", "any_accent", "any_front", "any_top", "upholstery")
"""Names that are drawn anew wherever they stand."""

BLOCK = re.compile(r"(if|elif|else|for)\b(.*?):(?:\s+(.*))?")
ASSIGNMENT = re.compile(r"(\w+)((?:, *\w+)*) = (.+)")
TOKEN = re.compile(
    r'(?P<text>"[^"]*")|(?P<look>[a-z]\w*(?:/[a-z]\w*)*:[a-z]\w*(?:/[a-z]\w*)*)'
    r"|(?P<range>(?<![\w)])-?\d+\.\.-?\d+(?:/\d+)?)|(?P<chance>\d+%)|(?P<divide>/)|(?P<mirror>±)"
)
BRACES = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True)
class Body:
    """The rows of one family, compiled when first used.

    Attributes:
        place: file and line of the family.
        rows: with their indentation.
        bodies: all families by name, for `as`.
    """

    place: str
    rows: Sequence[str]
    bodies: Mapping[str, "Body"]

    @cached_property
    def code(self) -> CodeType:
        """The rows as Python; raises SceneError where one cannot be read."""
        try:
            tree = ast.parse("\n".join(self._python_lines()))
            return compile(ast.fix_missing_locations(_Choices().visit(tree)), self.place, "exec")
        except (SyntaxError, ValueError, UnknownNameError) as error:
            raise SceneError(f"{self.place}: expected rows of a furniture table, got {error}") from error

    def draw(self, room: RoomStyle, hangs: bool, given: Mapping[str, Any]) -> Model:
        """One instance; the names look, shape, pattern and detail of its rows describe it.

        Args:
            room: colours, materials and the stream of draws.
            hangs: it is seen from below.
            given: values of names that are not drawn.
        """
        names, made = dict(given), Assembly(hangs)
        scope = {**room.names, "BUILDERS": BUILDERS, "made": made, "given": frozenset(given)}

        def run_same(family: str) -> None:
            scope["given"] = frozenset(names)
            exec(self.bodies[family].code, scope, names)

        scope["run_same"] = run_same
        exec(self.code, scope, names)
        called = {name: names[name] for name in ("detail", "pattern") if name in names}
        return made.model(names["look"], names["shape"], **called)

    def _python_lines(self) -> Iterator[str]:
        for row in self.rows:
            indent, text = row[: len(row) - len(row.lstrip())], row.strip()
            block = BLOCK.fullmatch(text)
            if block:
                word, condition, text = block.groups()
                if word == "for":
                    names, _, items = condition.partition(" in ")
                    condition = f"{names} in members({items})"
                yield f"{indent}{word}{TOKEN.sub(_python_token, condition)}:"
                indent += " "
            if text:
                yield from (indent + self._python_statement(part.strip()) for part in text.split(";"))

    def _python_statement(self, text: str) -> str:
        assignment = ASSIGNMENT.fullmatch(text)
        if assignment:
            first, others, value = assignment.groups()
            text = f"if {first!r} not in given: {first}{others} = {value}"
        else:
            word, *fields = split_fields(text)
            if word == "as":
                return f"run_same({require_name('family', fields[0], self.bodies)!r})"
            call = (
                f"BUILDERS[{word!r}](made, {', '.join(fields)})" if word in BUILDERS else _part(word, fields)
            )
            text = f"for side in (-1, 1): {call}" if "±" in text else call
        return TOKEN.sub(_python_token, text)


def split_fields(text: str) -> list[str]:
    """The fields of a row, separated by blanks outside brackets and quoted texts."""
    fields, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == " " and depth == 0 and fields[-1].count('"') % 2 == 0:
            fields += [""] if fields[-1] else []
        else:
            fields[-1] += letter
    return fields


def _part(solid: str, fields: Sequence[str]) -> str:
    """`solid look width height depth [x y z] [turn=expression] [fit] [thin]` as a call of Assembly.add."""
    look, *numbers = fields
    options = []
    while numbers and (numbers[-1] in ("fit", "thin") or numbers[-1].startswith("turn=")):
        name, _, value = numbers.pop().partition("=")
        options.append(f"{name}={value or True}")
    width, height, depth, *at = numbers
    x, y, z = at or "000"
    size = f"({width}, {height}, {depth}), ({x}, {y}, {z})"
    return f"made.add({', '.join((solid, look, size, *options))})"


def _python_token(match: re.Match[str]) -> str:
    token = match[0]
    match match.lastgroup:
        case "text":
            return "f" + BRACES.sub(lambda braces: TOKEN.sub(_python_token, braces[0]), token)
        case "look":
            finishes, colors = (side.split("/") for side in token.split(":"))
            finish = _one_of([_quoted("finish", name, FINISHES) for name in finishes])
            color = [name if name in ROOM_COLORS else _quoted("colour", name, COLORS) for name in colors]
            return f"Look({finish}, {_one_of(color)})"
        case "range":
            low, high, *step = re.split(r"\.\.|/", token)
            return f"draw({low}, {high}, {step[0] if step else 1})"
        case "chance":
            return f"chance({token[:-1]})"
    return "//" if token == "/" else "side*"


def _quoted(kind: str, word: str, known: Mapping[str, object]) -> str:
    return repr(require_name(kind, word.replace("_", " "), known))


def _one_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"choose({', '.join(names)})"


class _Choices(ast.NodeTransformer):
    """Makes `a | b | c` a call of `choose`, and the names of DRAWN calls."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not isinstance(node.op, ast.BitOr):
            return self.generic_visit(node)
        choices: list[ast.expr] = [node.right]
        while isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.BitOr):
            node = node.left
            choices.insert(0, node.right)
        return ast.Call(ast.Name("choose", ast.Load()), [self.visit(x) for x in (node.left, *choices)], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(argument) for argument in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Call(node, [], []) if node.id in DRAWN else node
