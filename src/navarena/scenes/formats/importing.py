"""Mesh files as scenes; every exception of trimesh is translated here.

A table of names (`--categories`) gives the objects of a file their categories.
"""

import json
import logging
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import FileError, InputError, NavarenaError, SceneError, require_name, unknown_name
from navarena.core.files import read_bytes
from navarena.scenes.formats.assembling import assemble_scene
from navarena.scenes.formats.gltf import read_gltf
from navarena.scenes.formats.obj import read_obj
from navarena.scenes.formats.part import Label, MeshFile, choose_sides
from navarena.scenes.formats.ply import read_face_property, read_ply
from navarena.scenes.formats.references import referenced_files
from navarena.scenes.mesh_reference import SIDES
from navarena.scenes.scene import Scene
from navarena.scenes.validation import validate_scene


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


_READERS: Mapping[str, Callable[[bytes, Path], MeshFile]] = {
    ".glb": read_gltf,
    ".gltf": read_gltf,
    ".obj": read_obj,
    ".ply": read_ply,
}

SUFFIXES = tuple(sorted(_READERS))
"""Of the files that can be imported."""

UP_AXES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "y": ((0, 1), (1, 1), (2, 1)),
    "-y": ((0, 1), (1, -1), (2, -1)),
    "z": ((0, 1), (2, 1), (1, -1)),
    "-z": ((0, 1), (2, -1), (1, 1)),
    "x": ((1, -1), (0, 1), (2, 1)),
    "-x": ((1, 1), (0, -1), (2, 1)),
}
"""Which axis of the file points up -> for world x, y and z: (axis of the file, sign). All are turns."""

MATERIAL_LIBRARY = ".mtl"
"""Many OBJ files of the web name one that nobody kept; their shape is of use without."""

_log = logging.getLogger(__name__)


def import_mesh(
    path: str | Path, up_axis: str = "y", scale: float = 1.0, sides: str = "front", categories: str = ""
) -> Scene:
    """Read a glTF (.glb, .gltf), OBJ or PLY file as a scene.

    Args:
        path: the file; what it refers to (materials, images, buffers) is looked for beside it. A missing
            file of materials (.mtl), and images that cannot be decoded, are logged and replaced by plain
            colours.
        up_axis: the axis of the file that points up: "y", "z", "x", or one with a minus sign.
        scale: metres for one unit of the file.
        sides: which sides of its triangles are surfaces: "front", "back" (it was modelled inside out)
            or "both".
        categories: path of a JSON file that maps names of objects to categories (see
            `read_category_map`); "" for none.

    Returns:
        A validated scene whose id is the path. Objects and groups of OBJ files, face properties
        `object_id` of PLY files and nodes of glTF files (those with a category in their `extras`,
        else those with a name) become objects; `walkable` is empty.

    Raises:
        FileError: the file, or an image or buffer that it names, is missing; it is empty, cut short, or of
            another kind.
        SceneError: it holds no triangles, or numbers that are not finite.
        UnknownNameError, InputError: for another up axis, or a scale that is not above 0.
    """
    path = Path(path)
    require_name("up axis", up_axis, UP_AXES)
    if not (scale > 0 and math.isfinite(scale)):
        raise InputError(f"expected a scale above 0 (metres for one unit of the file), got {scale}")
    require_name("sides of a mesh", sides, SIDES)
    mesh = read_mesh(path)
    if sides != "front":
        mesh = replace(mesh, parts=[choose_sides(part, sides == "both") for part in mesh.parts])
    if categories:
        mesh = replace(mesh, labels=rename_labels(mesh.labels, read_category_map(Path(categories))))
    for what in mesh.lost:
        _log.warning("%s: %s; using plain colours", path, what)
    scene = assemble_scene(str(path), mesh, UP_AXES[up_axis], scale)
    validate_scene(scene)
    return scene


def read_mesh(path: Path) -> MeshFile:
    """The parts of a mesh file in its own frame and unit; raises FileError as `import_mesh` does.

    A missing file of materials, and images that cannot be decoded, are listed in `lost`.
    """
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        if path.exists() and path.is_dir():
            raise FileError(f"expected a mesh file ({', '.join(SUFFIXES)}), got the folder {path}")
        raise FileError(f"cannot import {path}: {unknown_name('mesh suffix', suffix, SUFFIXES)}")
    data = read_bytes(path, "mesh file")
    missing = {name: file for name, file in referenced_files(path) if not file.is_file()}
    for name, file in missing.items():
        if file.suffix.lower() != MATERIAL_LIBRARY:
            raise FileError(
                f"cannot import {path}: expected the file {name!r} that it names at {file}, found none; put "
                "it there, or export the scene as one .glb"
            )
    mesh = _read(path, data)
    return replace(mesh, lost=(f"{', '.join(missing)} not found", *mesh.lost)) if missing else mesh


def read_ply_property(
    path: Path, names: Sequence[str]
) -> tuple[Float[np.ndarray, "v 3"], Int[np.ndarray, "t 3"], Int[np.ndarray, "t"]]:
    """Geometry and one whole-number property of the faces of a PLY file.

    Args:
        path: the file.
        names: of the property; the first that the faces have is read.

    Returns (vertices (V, 3) in the file's frame and unit, triangles (T, 3) of vertex indices, the
    value (T,) of the face that each triangle is a part of). Raises FileError when there is none.
    """
    return _translated(path, read_face_property, read_bytes(path, "mesh file"), path, names)


def _read(path: Path, data: bytes) -> MeshFile:
    """Let the reader of the file's kind have it."""
    mesh: MeshFile = _translated(path, _READERS[path.suffix.lower()], data, path)
    return mesh


def _translated(path: Path, reader: Callable[..., Any], *arguments: Any) -> Any:
    """The result of `reader`; its exceptions become FileError."""
    kind = path.suffix[1:].upper()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reader(*arguments)
    except NavarenaError as error:
        raise type(error)(f"cannot import {path}: {error}") from error
    except MemoryError as error:
        raise FileError(
            f"cannot import {path}: it asks for more memory than there is; simplify it, split it, or "
            "check that it is not damaged"
        ) from error
    except Exception as error:  # trimesh raises whatever a damaged file happens to cause
        raise FileError(
            f"cannot import {path}: this is no {kind} file, or only a part of one "
            f"({type(error).__name__}: {error}); open it in a mesh viewer, or export it again"
        ) from error
