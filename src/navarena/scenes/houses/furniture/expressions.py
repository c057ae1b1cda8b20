"""Expressions of the furniture tables, compiled to Python.

They are Python's over whole numbers and known names, with these tokens added: `a..b/step` (a drawn
number), `n%` (True in n of 100 cases), `a | b` (one of them), `finish/finish:color/color` (a look of
drawn finish and colour), `a/b` (division rounded down), `±a` (the row stands twice, for -a and a) and
"{name}" in texts.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from types import CodeType

from navarena.core.suggest import require_name
from navarena.scenes.houses.looks import COLORS, FINISHES

ROOM_COLORS = ("accent", "any_accent", "textile", "metal_color")
"""Colours of looks that depend on the room."""

DRAWN = frozenset({"any_wood", "any_accent", "any_front", "any_top", "upholstery"})
"""Names that are drawn anew wherever they stand."""

TOKEN = re.compile(
    r'(?P<text>"[^"]*")|(?P<look>[a-z]\w*(?:/[a-z]\w*)*:[a-z]\w*(?:/[a-z]\w*)*)'
    r"|(?P<range>(?<![\w)])-?\d+\.\.-?\d+(?:/\d+)?)|(?P<chance>\d+%)|(?P<divide>/)|(?P<mirror>±)"
)
BRACES = re.compile(r"\{[^}]*\}")


def compile_expression(source: str) -> CodeType:
    """An expression of the tables as code; raises UnknownNameError for an unknown finish or colour."""
    tree = ast.parse(TOKEN.sub(_python, source.strip()), mode="eval")
    return compile(ast.fix_missing_locations(_Choices().visit(tree)), source, "eval")


def _python(match: re.Match[str]) -> str:
    token = match[0]
    match match.lastgroup:
        case "text":
            return "f" + BRACES.sub(lambda braces: TOKEN.sub(_python, braces[0]), token)
        case "look":
            finish, color = (
                [_quoted(name, known) for name in side.split("/")]
                for side, known in zip(token.split(":"), (FINISHES, COLORS), strict=True)
            )
            return f"Look({_one_of(finish)}, {_one_of(color)})"
        case "range":
            low, high, *step = re.split(r"\.\.|/", token)
            return f"draw({low}, {high}, {step[0] if step else 1})"
        case "chance":
            return f"chance({token[:-1]})"
    return "//" if token == "/" else "side*"


def _quoted(word: str, known: Mapping[str, object]) -> str:
    if word in ROOM_COLORS and known is COLORS:
        return word
    name = word.replace("_", " ")
    require_name("finish or colour", name, known)
    return repr(name)


def _one_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"choose({', '.join(names)})"


class _Choices(ast.NodeTransformer):
    """Makes `a | b | c` a call of `choose`, and the names of DRAWN calls."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr):
            return node
        first = node.left
        flat = isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == "choose"
        choices = [*(first.args if flat and isinstance(first, ast.Call) else [first]), node.right]
        return ast.Call(ast.Name("choose", ast.Load()), choices, [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(arg) for arg in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Call(node, [], []) if node.id in DRAWN else node
