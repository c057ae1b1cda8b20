"""The table of contents: a public name that appears or disappears does so on purpose."""

import importlib
from pathlib import Path

import pytest

import navarena
from navarena.core.lazy import find_lazy_imports

from .sources import sources

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


LAZY = [source for source in sources() if "lazy_names(__name__)" in source.text]


@pytest.mark.parametrize("source", LAZY, ids=lambda source: source.module)
def test_lazy_packages_list_what_they_import(source) -> None:
    """`__all__` says the same as the imports under TYPE_CHECKING, and no name is that of a module."""
    names = find_lazy_imports(source.text)
    listed = set(importlib.import_module(source.module).__all__) - {"__version__"}
    assert set(names) == listed
    modules = {path.stem for path in source.path.parent.iterdir()}
    assert not modules & listed, "importing the module would hide the name"


def test_some_packages_are_lazy() -> None:
    assert {"navarena", "navarena.evaluation", "navarena.tasks"} <= {source.module for source in LAZY}


def test_lazy_names_behave() -> None:
    assert set(navarena.__all__) <= set(dir(navarena))
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(navarena, "no_such_" + "name")
