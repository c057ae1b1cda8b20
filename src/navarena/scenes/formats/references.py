"""The other files that a mesh file refers to, found without loading it."""

import itertools
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

_TEXTURE = re.compile(r"^([ \t]*map_Kd[ \t]+)(.*?)(?=[ \t\r]*$)", re.M | re.I)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TEXTURE_OPTIONS: dict[str, tuple[int, float | None]] = {
    "-s": (3, 1.0),
    "-o": (3, 0.0),
    "-t": (3, 0.0),
    "-mm": (2, None),
    **dict.fromkeys(("-blendu", "-blendv", "-bm", "-cc", "-clamp", "-imfchan", "-texres"), (1, None)),
}
"""Options of map_Kd -> how many values they have at most, and the number that changes nothing; None where no
value changes where the image lies."""


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


def plain_textures(library: str) -> str:
    """The text of a material library (.mtl) with the names of images (`map_Kd`) behind no options.

    Raises FileError for options that scale or move an image.
    """
    return _TEXTURE.sub(lambda line: line[1] + _texture_name(line[2]), library)


def _texture_name(text: str) -> str:
    """The name in "-s 1 1 1 wood.png"."""
    words = re.findall(r"\S+[ \t]*", text)
    while words and words[0].strip().lower() in _TEXTURE_OPTIONS:
        option, words = words[0].strip().lower(), words[1:]
        most, kept = _TEXTURE_OPTIONS[option]
        given = list(itertools.takewhile(_NUMBER.fullmatch, (one.strip() for one in words[:most])))
        count = len(given) if kept is not None else most
        if kept is not None and any(float(one) != kept for one in given):
            raise FileError(
                f"expected images that are neither scaled nor moved, got map_Kd {text!r}; apply "
                f"{option} to the texture coordinates where the mesh was made"
            )
        words = words[count:]
    return "".join(words)


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
            yield from (name for _, name in _TEXTURE.findall(plain_textures(text)))


def _of_ply(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        header = file.read(_PLY_HEADER_BYTES).partition(b"end_header")[0]
    for name in re.findall(rb"^comment[ \t]+TextureFile[ \t]+(.*?)[ \t\r]*$", header, re.M | re.I):
        yield name.decode(errors="replace")
