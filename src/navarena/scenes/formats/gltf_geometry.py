"""Rewrites what trimesh skips or misreads of the geometry in glTF files.

These are sparse accessors, integer positions and texture coordinates, colours of 16 bits, texture coordinates
other than the first, KHR_texture_transform, and triangle fans.
"""

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

import numpy as np
from jaxtyping import Float, Num

from navarena.core.errors import FileError
from navarena.scenes.formats.part import vertex_color_bytes
from navarena.scenes.formats.polygons import split_polygons

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_TYPES = {np.dtype(dtype): component for component, dtype in _COMPONENTS.items()}
_FLOAT = 5126
_COLUMNS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_KINDS = {columns: kind for kind, columns in _COLUMNS.items()}
_TRIANGLES, _FAN = 4, 6
"""Modes of primitives."""

_DRACO = "KHR_draco_mesh_compression"
_TRANSFORM = "KHR_texture_transform"


def plain_geometry(data: bytes, header: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The header of a file in which all primitives that trimesh would misread name accessors of their own.

    These stand in one more buffer, within the header. Raises FileError for texture coordinates that are
    missing, or that need more than decompression where they are Draco-compressed.
    """
    accessors = Accessors(data, header, path)
    materials = dictionaries(header, "materials")
    meshes = [
        {
            **mesh,
            "primitives": [_plain(one, materials, accessors) for one in dictionaries(mesh, "primitives")],
        }
        for mesh in dictionaries(header, "meshes")
    ]
    return {**header, "meshes": meshes, **accessors.lists()}


def dictionaries(header: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """The entries of a list of the file, such as "nodes"; raises FileError unless it is a list of objects."""
    entries = header.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise FileError(f"expected a list of objects as {key!r} of the glTF file, got something else")
    return entries


def view_bytes(data: bytes, header: Mapping[str, Any], index: int, path: Path) -> bytes:
    """The content of a buffer view; its buffer is the binary chunk, a data URI or a file beside `path`."""
    view = dictionaries(header, "bufferViews")[index]
    return _cut(_buffer_bytes(data, header, view["buffer"], path), view)


def _buffer_bytes(data: bytes, header: Mapping[str, Any], index: int, path: Path) -> bytes:
    buffer = dictionaries(header, "buffers")[index]
    return uri_bytes(buffer["uri"], path) if "uri" in buffer else _binary_chunk(data)


def _cut(content: bytes, view: Mapping[str, Any]) -> bytes:
    start = int(view.get("byteOffset", 0))
    return content[start : start + int(view["byteLength"])]


def uri_bytes(uri: str, path: Path) -> bytes:
    """The content of a data URI, or of the file beside `path` that `uri` names."""
    if uri.startswith("data:"):
        return base64.b64decode(uri.partition(",")[2])
    return (path.parent / unquote(uri)).read_bytes()


def _binary_chunk(data: bytes) -> bytes:
    start = 20 + struct.unpack_from("<I", data, 12)[0]
    (size,) = struct.unpack_from("<I", data, start)
    return data[start + 8 : start + 8 + size]


class Accessors:
    """The accessors of a file, and those that are added to it."""

    def __init__(self, data: bytes, header: Mapping[str, Any], path: Path) -> None:
        self._entries = list(dictionaries(header, "accessors"))
        self._views = list(dictionaries(header, "bufferViews"))
        self._buffers = list(dictionaries(header, "buffers"))
        self._content = cache(lambda index: _buffer_bytes(data, header, index, path))
        self._added = bytearray()
        self._known: dict[tuple[int, str], int] = {}  # primitives share accessors

    def lists(self) -> dict[str, Any]:
        """The lists of the header, with what was added."""
        if not self._added:
            return {}
        uri = "data:application/octet-stream;base64," + base64.b64encode(self._added).decode()
        buffers = [*self._buffers, {"byteLength": len(self._added), "uri": uri}]
        return {"accessors": self._entries, "bufferViews": self._views, "buffers": buffers}

    def count(self, index: int) -> int:
        """How many rows an accessor has."""
        return int(self._entries[index]["count"])

    def dense(self, index: int) -> int:
        """The number of an accessor with the same values, none of them sparse."""
        if "sparse" not in self._entries[index]:
            return index
        return self._keep((index, "dense"), lambda: self.read(index))

    def floats(self, index: int, transform: Mapping[str, Any] = MappingProxyType({})) -> int:
        """The number of an accessor with the same values, or transformed ones, as floats."""
        entry = self._entries[index]
        if entry["componentType"] == _FLOAT and "sparse" not in entry and not transform:
            return index

        def make() -> Num[np.ndarray, "n k"]:
            values = self.read_floats(index)
            return (_transformed(values, transform) if transform else values).astype(np.float32)

        return self._keep((index, str(transform)), make)

    def colors(self, index: int) -> int:
        """The number of an accessor with the same colours, those of 16 bits as bytes."""
        if _COMPONENTS[self._entries[index]["componentType"]] != "<u2":
            return self.dense(index)
        return self._keep((index, "bytes"), lambda: vertex_color_bytes(self.read(index), self.count(index)))

    def read(self, index: int) -> Num[np.ndarray, "n k"]:
        """(N, K) values as they are stored, sparse ones filled in."""
        entry = self._entries[index]
        component, columns = entry["componentType"], _COLUMNS[entry["type"]]
        values = np.zeros((int(entry["count"]), columns), _COMPONENTS[component])
        if "bufferView" in entry:
            values[:] = self._rows(entry, component, len(values), columns)
        if "sparse" in entry:
            sparse = entry["sparse"]
            count, places = int(sparse["count"]), sparse["indices"]
            rows = self._rows(places, places["componentType"], count, 1)[:, 0]
            values[rows] = self._rows(sparse["values"], component, count, columns)
        return values

    def read_floats(self, index: int) -> Float[np.ndarray, "n k"]:
        """(N, K) float64; normalised integers run from -1 or 0 to 1."""
        values = self.read(index)
        if values.dtype.kind != "f" and self._entries[index].get("normalized") is True:
            return np.maximum(values / np.iinfo(values.dtype).max, -1.0)
        return values.astype(np.float64)

    def add(self, values: Num[np.ndarray, "n k"]) -> int:
        """The number of a new accessor with (N, K) `values`."""
        view = {"buffer": len(self._buffers), "byteOffset": len(self._added), "byteLength": values.nbytes}
        entry = {
            "bufferView": len(self._views),
            "componentType": _TYPES[values.dtype],
            "count": len(values),
            "type": _KINDS[values.shape[1]],
        }
        self._added += values.tobytes() + bytes(-values.nbytes % 4)
        self._views.append(view)
        self._entries.append(entry)
        return len(self._entries) - 1

    def _keep(self, key: tuple[int, str], make: Callable[[], Num[np.ndarray, "n k"]]) -> int:
        if key not in self._known:
            self._known[key] = self.add(make())
        return self._known[key]

    def _rows(
        self, place: Mapping[str, Any], component: int, count: int, columns: int
    ) -> Num[np.ndarray, "n k"]:
        dtype, view = np.dtype(_COMPONENTS[component]), self._views[place["bufferView"]]
        strides = int(view.get("byteStride", dtype.itemsize * columns)), dtype.itemsize
        content = _cut(self._content(view["buffer"]), view)
        return np.ndarray((count, columns), dtype, content, int(place.get("byteOffset", 0)), strides)


def _plain(
    primitive: Mapping[str, Any], materials: Sequence[Mapping[str, Any]], accessors: Accessors
) -> dict[str, Any]:
    """The primitive with accessors and a mode that trimesh reads."""
    attributes = dict(primitive["attributes"])
    texture = _base_texture(materials[primitive["material"]]) if "material" in primitive else {}
    transform = texture.get("extensions", {}).get(_TRANSFORM, {})
    chosen = f"TEXCOORD_{int(transform.get('texCoord', texture.get('texCoord', 0)))}"
    if chosen != "TEXCOORD_0" and chosen not in attributes:
        raise FileError(
            f"expected the texture coordinates {chosen} that the material names, got "
            f"{', '.join(attributes)}; export it again"
        )
    if _DRACO in primitive.get("extensions", {}):
        if transform or chosen != "TEXCOORD_0":
            raise FileError(
                f"expected Draco-compressed primitives to use TEXCOORD_0 as it is, got {chosen} with "
                f"{_TRANSFORM if transform else 'no transform'}; export it again without Draco compression"
            )
        return dict(primitive)
    attributes["POSITION"] = accessors.floats(attributes["POSITION"])
    if chosen in attributes:
        attributes["TEXCOORD_0"] = accessors.floats(attributes[chosen], transform)
    if "COLOR_0" in attributes:
        attributes["COLOR_0"] = accessors.colors(attributes["COLOR_0"])
    changed: dict[str, Any] = {**primitive, "attributes": attributes}
    if "indices" in primitive:
        changed["indices"] = accessors.dense(primitive["indices"])
    if primitive.get("mode") == _FAN:
        count = accessors.count(attributes["POSITION"])
        corners = accessors.read(changed["indices"])[:, 0] if "indices" in changed else np.arange(count)
        triangles, _, _ = split_polygons(corners[None].astype(np.int64))
        flat = triangles.reshape(-1, 1).astype(np.uint32)
        changed |= {"mode": _TRIANGLES, "indices": accessors.add(flat)}
    return changed


def _base_texture(material: Mapping[str, Any]) -> Mapping[str, Any]:
    """What says which texture is the base colour of a material, and how it lies; empty without one."""
    found = material.get("pbrMetallicRoughness", {}).get("baseColorTexture")
    return found if isinstance(found, Mapping) else {}


def _transformed(uv: Float[np.ndarray, "n 2"], transform: Mapping[str, Any]) -> Float[np.ndarray, "n 2"]:
    """Texture coordinates, v downwards, after KHR_texture_transform: scale, turn to the left, move."""
    angle = float(transform.get("rotation", 0.0))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return uv * np.array(transform.get("scale", (1, 1)), float) @ turn.T + transform.get("offset", (0, 0))
