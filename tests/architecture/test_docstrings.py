"""A public docstring is a contract: it exists, and it states shapes and units of arrays."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from .sources import Source, sources, where

ARRAY = re.compile(
    r"\b(Float\d*|Int\d*|UInt\d*|Bool|Shaped|Num|Integer|Real)\[|\bnp\.ndarray\b|\bnumpy\.ndarray\b"
)
ALIASES = "navarena.core.arrays"
"""Where names of array types stand; the names are taken from each file's imports."""
SHAPE = re.compile(r"\((\.\.\.|[A-Za-z0-9_ +*\-/.]+)(, *[A-Za-z0-9_ +*\-/.]+)*,?\)")
UNIT = re.compile(
    r"\b(milli)?metres?\b|\b(m|cm|mm|m\^2|m2|radians?|degrees?|seconds?|ms|us|pixels?|px|bytes?|ind(ex|ices)|ids?|"
    r"bool|boolean|mask|true|false|whether|count|number|quaternions?|dtypes?|units?|u?int\d+|float\d+|normali[sz]ed|"
    r"probabilit(y|ies)|fraction|share|ratio|colou?rs?|sRGB|actions?|rotation|rewards?|"
    r"dimensionless|none|steps|times|cells?|values?|percent|per cent|weights?)\b|1/m|K\b",
    re.I,
)

KERNELS = ("kernel", "intrinsic", "wp.kernel", "wp.func")
"""Decorators of what is compiled from its source."""

Definition = ast.FunctionDef | ast.ClassDef


def public_definitions(source: Source) -> Iterator[tuple[str, Definition, ast.ClassDef | None]]:
    """(qualified name, definition, class around it) of every public function, class and method."""
    for node in source.tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        yield node.name, node, None
        if isinstance(node, ast.ClassDef):
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and not child.name.startswith("_"):
                    yield f"{node.name}.{child.name}", child, node


def is_overload(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(d).split(".")[-1] in ("overload", "setter") for d in node.decorator_list)


def is_kernel(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(d).split("(")[0] in KERNELS for d in node.decorator_list)


def inherits_contract(name: str, owner: ast.ClassDef | None) -> bool:
    """Whether a method without a docstring implements one documented in a base class of ours."""
    if owner is None or not owner.bases:
        return False
    bases = {ast.unparse(base).split("[")[0].split(".")[-1] for base in owner.bases}
    for base in (node for one in bases for node in classes_by_name().get(one, ())):
        documented = {c.name for c in base.body if isinstance(c, ast.FunctionDef) and ast.get_docstring(c)}
        if name in documented or inherits_contract(name, base):
            return True
    return False


@cache
def classes_by_name() -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for source in sources():
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


FOREIGN_BASES = re.compile(r"\b(gymnasium|gym)\b|\b(Env|VectorEnv)\b")


def test_everything_public_is_documented() -> None:
    wrong = []
    for source in sources():
        if not ast.get_docstring(source.tree):
            wrong.append(f"{where(source, 1)}: module")
        for name, node, owner in public_definitions(source):
            if ast.get_docstring(node):
                continue
            if isinstance(node, ast.FunctionDef):
                foreign = owner is not None and any(FOREIGN_BASES.search(ast.unparse(b)) for b in owner.bases)
                if is_overload(node) or foreign or inherits_contract(node.name, owner):
                    continue
            wrong.append(f"{where(source, node.lineno)}: {name}")
    assert not wrong, f"{len(wrong)} without docstring:\n" + "\n".join(wrong)


def array_rule(source: Source) -> re.Pattern[str]:
    """What an annotation with an array looks like in this file."""
    names = {
        alias.name
        for node in source.tree.body
        if isinstance(node, ast.ImportFrom) and node.module == ALIASES
        for alias in node.names
    }
    return re.compile("|".join([ARRAY.pattern, *(rf"\b{name}\b" for name in sorted(names))]))


def array_annotations(node: ast.FunctionDef, rule: re.Pattern[str]) -> list[str]:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    notes = [a.annotation for a in arguments if a.annotation is not None]
    if node.returns is not None:
        notes.append(node.returns)
    return [text for note in notes if rule.search(text := ast.unparse(note))]


def test_array_functions_state_shapes_and_units() -> None:
    wrong = []
    for source in sources():
        rule = array_rule(source)
        for name, node, owner in public_definitions(source):
            if (
                not isinstance(node, ast.FunctionDef)
                or is_overload(node)
                or not array_annotations(node, rule)
            ):
                continue
            text = ast.get_docstring(node) or ""
            if owner is not None:
                text += ast.get_docstring(owner) or ""
            if not text or inherits_contract(node.name, owner):
                continue
            missing = [what for what, rule in (("shape", SHAPE), ("unit", UNIT)) if not rule.search(text)]
            if missing:
                wrong.append(f"{where(source, node.lineno)}: {name} states no {' and no '.join(missing)}")
    assert not wrong, f"{len(wrong)} docstrings:\n" + "\n".join(wrong)


def test_public_signatures_are_typed() -> None:
    wrong = []
    for source in sources():
        for name, node, _ in public_definitions(source):
            if not isinstance(node, ast.FunctionDef) or is_kernel(node):
                continue
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            untyped = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
            if untyped or node.returns is None:
                wrong.append(f"{where(source, node.lineno)}: {name}")
    assert not wrong, "\n".join(wrong)


def test_rules_recognise_shapes_and_units() -> None:
    assert SHAPE.search("points: (N, 3) float32, metres") and SHAPE.search("(..., 3) unit vectors")
    assert not SHAPE.search("the points, in metres")
    assert UNIT.search("metres") and not UNIT.search("the points of the object")
