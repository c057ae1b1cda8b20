"""The table of contents: a public name that appears or disappears does so on purpose."""

import ast
import importlib
from pathlib import Path

import pytest

import navarena

from .sources import PACKAGE, sources

PINNED = Path(__file__).with_name("public_names.txt")
"""For each package a line "[module]", then its names. `scripts/pin-names` writes it anew."""


def pinned_names() -> dict[str, list[str]]:
    sections = PINNED.read_text().split("[")[1:]
    return {module: names.split() for module, _, names in (section.partition("]") for section in sections)}


NAMES = pinned_names()


def listed_names(module: str) -> list[str]:
    found: list[str] = importlib.import_module(module).__all__
    return found


def test_pinned_names() -> None:
    for module, names in NAMES.items():
        assert sorted(listed_names(module)) == sorted(names), f"{module}: scripts/pin-names accepts it"


def test_every_package_is_pinned() -> None:
    """A package that lists names must stand in the table above."""
    listing = {
        source.module
        for source in sources()
        if source.path.name == "__init__.py" and "__all__" in source.text
    }
    assert listing == set(NAMES)


def test_names_exist() -> None:
    for module in NAMES:
        for name in listed_names(module):
            assert getattr(importlib.import_module(module), name) is not None, f"{module}.{name}"


def test_lists_are_sorted() -> None:
    for module in NAMES:
        names = listed_names(module)
        assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n)), module


def test_type_checkers_see_the_lazy_names() -> None:
    """The imports under TYPE_CHECKING say the same as the table that works at run time."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    seen = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == navarena._PUBLIC


def test_lazy_names_behave() -> None:
    assert set(navarena.__all__) <= set(dir(navarena))
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(navarena, "no_such_" + "name")
