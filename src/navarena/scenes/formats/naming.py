"""Categories of the objects of a mesh file, by a table of the names that the file gives them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from navarena.core.errors import FileError, SceneError
from navarena.core.files import read_bytes
from navarena.scenes.formats.part import Label


def read_category_map(path: Path) -> dict[str, str]:
    """Name of an object, or pattern such as "chair_*", -> category, from a JSON file; raises FileError."""
    try:
        table = json.loads(read_bytes(path, "map of categories"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"expected a JSON file as map of categories, got {path}: {error}") from error
    texts = isinstance(table, dict) and all(isinstance(one, str) and one for one in table.values())
    if not texts:
        raise FileError(
            f'expected names and their categories in {path}, as in {{"chair_fmx_4": "chair"}}, got something '
            "else; write one with: navarena scene import MESH --propose FILE"
        )
    return table


def rename_labels(labels: Mapping[int, Label], table: Mapping[str, str]) -> dict[int, Label]:
    """The labels with the categories of `table`; the file's names become the attribute "name".

    An entry with the whole name comes before patterns, and these in their order; objects that no entry
    names keep their name. Raises SceneError when no entry names any.
    """
    renamed = {key: _renamed(label, table) for key, label in labels.items()}
    if all(renamed[key] is label for key, label in labels.items()):
        names = ", ".join(sorted({label.category for label in labels.values()})[:5]) or "no objects"
        raise SceneError(
            f"expected names of objects of the mesh in the map of categories, got {', '.join([*table][:5])}; "
            f"the mesh has {names}"
        )
    return renamed


def _renamed(label: Label, table: Mapping[str, str]) -> Label:
    name = label.category
    category = table.get(name) or next((table[one] for one in table if fnmatchcase(name, one)), None)
    return (
        label
        if category is None
        else replace(label, category=category, attributes={**label.attributes, "name": name})
    )
