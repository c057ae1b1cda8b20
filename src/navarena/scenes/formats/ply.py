"""Stanford PLY, by the elements that trimesh reads from it.

trimesh's own meshes forget the properties of faces when it cuts polygons into triangles, so
the elements are taken as they stand in the file and cut here, with every property repeated
for each triangle of its face.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8

from navarena.core.errors import FileError
from navarena.scenes.formats.part import (
    Label,
    Look,
    MeshFile,
    Part,
    bare_look,
    color_bytes,
    require_indices,
)
from navarena.scenes.formats.ply_binary import Columns, read_binary_elements
from navarena.scenes.formats.polygons import cut_polygons
from navarena.scenes.formats.references import referenced_files
from navarena.scenes.formats.texture_images import rgb_image

_INDICES = ("vertex_indices", "vertex_index")
_OBJECTS = ("object_id", "instance_id", "objectid")
_CATEGORIES = ("category_id", "class_id", "label")
_UV = (("texture_u", "texture_v"), ("u", "v"), ("s", "t"))
_COLORS = (("red", "green", "blue"), ("diffuse_red", "diffuse_green", "diffuse_blue"))


def read_ply(data: bytes, path: Path) -> MeshFile:
    """The parts of a PLY file.

    The face property `object_id` (Replica, Gibson) becomes labels, with `category_id` as their
    category when faces have it; 0 and negative ids mean nothing. Colours of faces, or else of
    vertices, become vertex colours.
    """
    vertex, face = _read_columns(data, path)
    vertices, triangles, polygon, corner = _geometry(vertex, face)
    colors = _colors(vertex)
    uv = _coordinates(vertex, face, triangles, polygon, corner)
    face_colors = _colors(face)
    if face_colors is not None:  # colours belong to vertices: give every triangle its own
        vertices, colors = vertices[triangles].reshape(-1, 3), np.repeat(face_colors[polygon], 3, 0)
        triangles = np.arange(len(vertices)).reshape(-1, 3)
    look = (None if uv is None else _image_look(path)) or bare_look(colors)
    keys, labels = _labels(face)
    part = Part(vertices, triangles, look, uv, colors, triangle_key=None if keys is None else keys[polygon])
    return MeshFile([part], labels)


def read_face_property(
    data: bytes, path: Path, names: Sequence[str]
) -> tuple[Float[np.ndarray, "v 3"], Int[np.ndarray, "t 3"], Int[np.ndarray, "t"]]:
    """(vertices (V, 3), triangles (T, 3) of vertex indices, (T,) the value of each triangle's face).

    The value is that of the first of `names` that faces have; raises FileError when they have none.
    """
    vertex, face = _read_columns(data, path)
    vertices, triangles, polygon, _ = _geometry(vertex, face)
    values = next((face[name] for name in names if name in face), None)
    if values is None:
        raise FileError(f"expected faces with the property {names[0]!r}, got {', '.join(face)}")
    return vertices, triangles, np.asarray(values).astype(np.int64)[polygon]


def _geometry(
    vertex: Columns, face: Columns
) -> tuple[Float[np.ndarray, "v 3"], Int[np.ndarray, "t 3"], Int[np.ndarray, "t"], Int[np.ndarray, "t 3"]]:
    """(vertices, triangles, face of each triangle, which corners of the face it took)."""
    missing = [axis for axis in "xyz" if axis not in vertex]
    if missing:
        raise FileError(f"expected vertices with x, y and z, got none of {', '.join(missing)}")
    vertices = np.stack([np.asarray(vertex[axis], float) for axis in "xyz"], 1)
    triangles, polygon, corner = cut_polygons(_polygons(face), vertices)
    require_indices(triangles, len(vertices), "PLY faces")
    return vertices, triangles, polygon, corner


def _read_columns(data: bytes, path: Path) -> tuple[Columns, Columns]:
    """Property -> values of vertices and of faces; lists are (N, K), or N rows of various lengths."""
    from trimesh.exchange.ply import load_ply
    from trimesh.resolvers import FilePathResolver

    try:
        loaded = load_ply(io.BytesIO(data), resolver=FilePathResolver(str(path)), skip_materials=True)
    except ValueError as error:
        if "unexpected length" not in str(error):
            raise
        elements = read_binary_elements(data)
        return _require_rows(elements, "vertex"), _require_rows(elements, "face")
    raw = loaded["metadata"]["_ply_raw"]
    return _columns(raw, "vertex"), _columns(raw, "face")


def _require_rows(elements: Mapping[str, Columns], name: str) -> Columns:
    columns = elements.get(name, {})
    if not columns or not len(next(iter(columns.values()))):
        raise FileError(f"expected elements {name!r}, got none; is it a point cloud?")
    return columns


def _columns(elements: Mapping[str, Any], name: str) -> Columns:
    """The columns of one element as trimesh read it."""
    element = elements.get(name) or {"length": 0}
    data = element.get("data")
    columns: Columns = {}
    if isinstance(data, Mapping):  # ASCII
        for key, values in data.items():
            columns[key] = values[:, 0] if values.ndim == 2 and not _is_list(element, key) else values
    elif data is not None:
        for key in data.dtype.names:
            values = data[key]
            columns[key] = values if values.dtype.names is None else values["f1"]
    short = [key for key, values in columns.items() if len(values) != element["length"]]
    if element["length"] and (short or not columns):
        raise FileError(f"expected {element['length']} elements {name!r}, got fewer; the file is cut short")
    return _require_rows({name: columns}, name)


def _is_list(element: Mapping[str, Any], key: str) -> bool:
    return "," in element["properties"][key]


def _polygons(face: Columns) -> Any:
    for name in _INDICES:
        if name in face:
            values = face[name]
            return list(values) if isinstance(values, list) or values.dtype == object else values
    raise FileError(f"expected faces with {_INDICES[0]}, got {', '.join(face)}")


def _colors(columns: Columns) -> UInt8[np.ndarray, "n 3"] | None:
    for names in _COLORS:
        if all(name in columns for name in names):
            return color_bytes(np.stack([columns[name] for name in names], 1))
    return None


def _coordinates(
    vertex: Columns,
    face: Columns,
    triangles: Int[np.ndarray, "t 3"],
    polygon: Int[np.ndarray, "t"],
    corner: Int[np.ndarray, "t 3"],
) -> Float[np.ndarray, "t 3 2"] | None:
    """Texture coordinates: of the faces' corners (`texcoord`) or of the vertices."""
    of_faces = face.get("texcoord")
    if isinstance(of_faces, list) or (of_faces is not None and of_faces.dtype == object):
        ends = np.cumsum([len(row) for row in of_faces]) // 2
        pairs = np.concatenate(list(of_faces)).astype(float).reshape(-1, 2)
        return pairs[np.concatenate([[0], ends[:-1]])[polygon][:, None] + corner]
    if of_faces is not None and of_faces.ndim == 2:
        return of_faces.astype(float).reshape(len(of_faces), -1, 2)[polygon[:, None], corner]
    for u, v in _UV:
        if u in vertex and v in vertex:
            return np.stack([vertex[u], vertex[v]], 1).astype(float)[triangles]
    return None


def _image_look(path: Path) -> Look | None:
    """The image that the header names, if it is there."""
    from PIL import Image

    for name, file in referenced_files(path):
        if file.is_file():
            try:
                with Image.open(file) as image:
                    return Look("texture", (255, 255, 255), rgb_image(image, name))
            except OSError as error:
                raise FileError(f"the image {file} cannot be read: {error}") from error
    return None


def _labels(face: Columns) -> tuple[np.ndarray | None, dict[int, Label]]:
    """((F,) object key of each face, labels), or (None, {}) when faces have no object."""
    ids = next((face[name] for name in _OBJECTS if name in face), None)
    categories = next((face[name] for name in _CATEGORIES if name in face), None)
    if ids is None:
        return None, {}
    keys = np.maximum(np.asarray(ids).astype(np.int64), 0)
    found, first = np.unique(keys, return_index=True)
    labels = {}
    for key, index in zip(found.tolist(), first.tolist()):
        if key > 0:
            named = "object" if categories is None else f"category {int(categories[index])}"
            labels[key] = Label(named)
    return keys, labels
