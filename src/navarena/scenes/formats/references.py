"""The other files that a mesh file refers to, found without loading it."""

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from navarena.core.errors import FileError
from navarena.core.files import DAMAGE

_GLB_MAGIC = 0x46546C67
_GLB_JSON = 0x4E4F534A
_PLY_HEADER_BYTES = 1 << 16
_OBJ_HEADER_BYTES = 1 << 22
"""Material libraries are named before they are used: no need to read a large file to its end."""


def referenced_files(path: Path) -> list[tuple[str, Path]]:
    """(name in the file, path) of material libraries, images and buffers that `path` refers to.

    The files may be missing. A file of another format, or one that cannot be read, has none:
    reading it will say what is wrong.
    """
    finders = {".obj": _of_obj, ".gltf": _of_gltf, ".glb": _of_gltf, ".ply": _of_ply}
    finder = finders.get(path.suffix.lower())
    if finder is None or not path.is_file():
        return []
    try:
        return [(name, path.parent / name) for name in dict.fromkeys(finder(path))]
    except (FileError, *DAMAGE):
        return []


def read_gltf_header(data: bytes) -> dict[str, Any]:
    """The JSON part of a glTF file, binary or text; raises FileError."""
    try:
        if len(data) >= 20 and struct.unpack_from("<I", data)[0] == _GLB_MAGIC:
            _, version, _, length, kind = struct.unpack_from("<5I", data)
            if version != 2 or kind != _GLB_JSON:
                raise FileError(f"expected glTF of version 2, got version {version}")
            data = data[20 : 20 + length]
        header = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FileError(f"expected a glTF file, got something else or part of one ({error})") from error
    if not isinstance(header, dict):
        raise FileError("expected a glTF file, got other JSON")
    return header


def material_libraries(text: str, folder: Path) -> list[str]:
    """Names of the files that the `mtllib` lines of an OBJ file name, of which one may name several."""
    names: list[str] = []
    for line in re.findall(r"^[ \t]*mtllib[ \t]+(.*?)[ \t\r]*$", text, re.M):
        words = line.split()
        is_list = not (folder / line).is_file() and all(one.lower().endswith(".mtl") for one in words)
        names += words if is_list else [line]
    return list(dict.fromkeys(names))


def _of_gltf(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        start = file.read(20)
        if len(start) == 20 and struct.unpack_from("<I", start)[0] == _GLB_MAGIC:
            start += file.read(struct.unpack_from("<I", start, 12)[0])
        else:
            start += file.read()
    header = read_gltf_header(start)
    for item in [*header.get("buffers", []), *header.get("images", [])]:
        uri = item.get("uri", "data:")
        if not uri.startswith("data:"):
            yield unquote(uri)


def _of_obj(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        start = file.read(_OBJ_HEADER_BYTES)
    for name in material_libraries(start.decode(errors="replace"), path.parent):
        yield name
        library = path.parent / name
        if library.is_file():
            text = library.read_text(errors="replace")
            yield from re.findall(r"^[ \t]*map_Kd[ \t]+(.*?)[ \t\r]*$", text, re.M | re.I)


def _of_ply(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        header = file.read(_PLY_HEADER_BYTES).partition(b"end_header")[0]
    for name in re.findall(rb"^comment[ \t]+TextureFile[ \t]+(.*?)[ \t\r]*$", header, re.M | re.I):
        yield name.decode(errors="replace")
