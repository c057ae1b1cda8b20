"""Wavefront OBJ. Read by trimesh, after correcting what trimesh would lose or misread."""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from navarena.core.errors import FileError
from navarena.core.files import LIMITS
from navarena.scenes.formats.part import (
    Label,
    Look,
    MeshFile,
    Part,
    bare_look,
    require_indices,
    vertex_color_bytes,
)
from navarena.scenes.formats.polygons import cut_polygons, split_polygons
from navarena.scenes.formats.references import material_libraries, plain_textures
from navarena.scenes.formats.texture_images import rgb_image

_NO_GROUP = ("", "default", "off", "(null)")
"""Names that say "no group": the format's own default, and what exporters write for it."""

_GROUPING = re.compile(r"^(o|g|usemtl)(?:[ \t]+(.*?))?[ \t]*$", re.M)
_SHORT_FACE = re.compile(r"^f(?:[ \t]+\S+){0,2}[ \t]*$", re.M)
_LONG_LINE = re.compile(rf"^f[^\n]{{{2 * LIMITS.face_corners},}}$", re.M)
"""The only lines in which a face can have more corners than LIMITS allows: each takes a blank and a digit."""
_LOW_INDEX = re.compile(r"^f(?:[^\n]*[ \t])?(?:0+|-\d+)(?:[/ \t\n]|$)", re.M)
_POLYGON = re.compile(r"^f(?:[ \t]+\S+){4,}[ \t]*$", re.M)
_POINT = re.compile(r"^v[ \t]+(\S+)[ \t]+(\S+)[ \t]+(\S+)", re.M)
_COLORED = re.compile(r"^v(?:[ \t]+\S+){6}", re.M)
_BARE = re.compile(r"^(v(?:[ \t]+\S+){3})(?:[ \t]+\S+){0,2}[ \t]*$", re.M)
"""Vertices with a colour, and without."""

_TEXTURE_OR_NORMAL = re.compile(r"/\S*")
_RELATIVE_INDEX = re.compile(r"^f[^\n]*[ \t/]-", re.M)


def read_obj(data: bytes, path: Path) -> MeshFile:
    """The parts of an OBJ file; its objects and groups become labels.

    trimesh keeps groups apart only on request (`split_objects`, `split_groups`), and then joins
    object, group and material into one name. So each combination of the three is numbered in
    the text first, and the numbers come back as names.
    """
    from trimesh.exchange.obj import load_obj

    text = _clean(data.decode("utf-8-sig", errors="replace"))
    if _RELATIVE_INDEX.search(text):
        text = _absolute_indices(text)
    _require_good_faces(text)
    if _COLORED.search(text):  # trimesh drops all colours where one is missing
        text = _BARE.sub(r"\1 nan nan nan", text)
    text = _cut_concave_faces(text)
    text, groups = _number_groups(text)
    loaded = load_obj(
        io.BytesIO(text.encode()),
        resolver=_resolver(text, path),
        split_objects=True,
        split_groups=True,
        group_material=True,
    )
    geometries = sorted(
        ((_group_number(name), item) for name, item in loaded.get("geometry", {}).items()),
        key=lambda numbered: numbered[0],
    )
    labels, keys = _label_groups(groups, [number for number, _ in geometries])
    white = _white([item for _, item in geometries])
    parts = [_part(item, groups[number].material, keys[number], white) for number, item in geometries]
    return MeshFile(parts, labels)


def _resolver(text: str, path: Path) -> Any:
    """Finds the files that `text` refers to, all material libraries as the first, which trimesh asks for."""
    from trimesh.resolvers import FilePathResolver

    places = [path.parent / name for name in material_libraries(text, path.parent)]
    known = [place.read_text(errors="replace") for place in places if place.is_file()]
    libraries = plain_textures("\n".join(known)).encode()

    class LibraryResolver(FilePathResolver):  # type: ignore[misc]
        def get(self, name: str) -> bytes:
            if known and text.partition("mtllib ")[2].startswith(name):
                return libraries
            data: bytes = super().get(name)
            return data

    return LibraryResolver(str(path))


def _group_number(name: str) -> int:
    found = re.match(r"part(\d+)", name)
    return int(found[1]) if found else 0


def _clean(text: str) -> str:
    """Normalised text for trimesh: plain line breaks, no comments, no blanks before keywords."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    text = re.sub(r"^[ \t]+", "", text, flags=re.M)
    return re.sub(r"^#.*$", "", re.sub(r"^(\w+)\t", r"\1 ", text, flags=re.M), flags=re.M)


def _require_good_faces(text: str) -> None:
    short = _SHORT_FACE.search(text)
    if short:
        raise FileError(
            f"expected at least three corners in every face, got {short[0].strip()!r} in line "
            f"{text.count(chr(10), 0, short.start()) + 1}; the file is damaged or cut short"
        )
    for long in _LONG_LINE.finditer(text):
        corners = len(long[0].split()) - 1
        if corners > LIMITS.face_corners:
            raise FileError(
                f"expected at most {LIMITS.face_corners} corners in a face, got {corners} in line "
                f"{text.count(chr(10), 0, long.start()) + 1}; triangulate the mesh where it was made"
            )
    low = _LOW_INDEX.search(text)
    if low:
        raise FileError(
            f"expected indices from 1 upwards, or back to the first vertex, got {low[0].strip()!r} in line "
            f"{text.count(chr(10), 0, low.start()) + 1}"
        )


def _absolute_indices(text: str) -> str:
    """Replace negative indices, which count back from the last vertex so far."""
    seen = {"v": 0, "vt": 0, "vn": 0}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        keyword = line.split(" ", 1)[0]
        if keyword in seen:
            seen[keyword] += 1
        elif keyword == "f":
            counts = tuple(seen.values())
            corners = [
                "/".join(
                    str(count + 1 + int(index)) if index.startswith("-") else index
                    for index, count in zip(corner.split("/"), counts)
                )
                for corner in line.split()[1:]
            ]
            lines[number] = "f " + " ".join(corners)
    return "\n".join(lines)


def _cut_concave_faces(text: str) -> str:
    """Replace faces that leave their outline when trimesh cuts them into fans by triangles."""
    lines = list(_POLYGON.finditer(text))
    if not lines:
        return text
    points = np.array(_POINT.findall(text), float).reshape(-1, 3)
    sizes = np.array([len(line[0].split()) - 1 for line in lines])
    corners = np.array(_TEXTURE_OR_NORMAL.sub("", " ".join(line[0][1:] for line in lines)).split(), np.int64)
    starts = np.cumsum(sizes) - sizes
    changed: dict[int, str] = {}
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        rings = corners[starts[rows][:, None] + np.arange(size)] - 1
        _, polygon, corner = cut_polygons(rings, points)
        for row in np.unique(polygon[(corner != split_polygons(rings)[2]).any(1)]).tolist():
            face = lines[rows[row]][0].split()[1:]
            triangles = [" ".join(face[k] for k in three) for three in corner[polygon == row].tolist()]
            changed[int(rows[row])] = "\n".join(f"f {one}" for one in triangles)
    written, end = [], 0
    for row in sorted(changed):
        written += [text[end : lines[row].start()], changed[row]]
        end = lines[row].end()
    return "".join((*written, text[end:]))


class _Group(NamedTuple):
    """Object, group and material of a face, with counters for repeated names."""

    object_name: str
    object_copy: int
    group: str
    group_copy: int
    material: str


def _number_groups(text: str) -> tuple[str, list[_Group]]:
    """Write "g part<k>" wherever object, group or material changes; the k-th is the k-th of the list.

    An object that is named again is another one. So is a group with vertices of its own; without, it
    goes on, as the format says.
    """
    now = _Group("", 0, "", 0, "")
    numbers = {now: 0}
    vertices = 0  # blocks of vertices so far
    faces_at: dict[tuple[str, ...], int] = {}  # names -> block of vertices before their last face
    copies: dict[tuple[str, ...], int] = {}
    written, end = [], 0
    statements = list(_GROUPING.finditer(text))
    for found, follower in zip(statements, [*(one.start() for one in statements[1:]), len(text)]):
        keyword, name = found[1], (found[2] or "").strip()
        first_face = text.find("\nf ", found.end(), follower)
        vertices += text.find("\nv ", found.end(), follower if first_face < 0 else first_face) >= 0
        if keyword == "usemtl":
            now = now._replace(material=name)
        elif keyword == "o":
            copies[(name,)] = copies.get((name,), -1) + ((name,) in faces_at or (name,) not in copies)
            faces_at.pop((name,), None)
            now = _Group(name, copies[(name,)], "", 0, now.material)
        else:
            named = (now.object_name, str(now.object_copy), name)
            again = faces_at.get(named, vertices) < vertices
            copies[named] = copies.get(named, 0) + again
            now = now._replace(group=name, group_copy=copies[named])
        if first_face >= 0:
            last_face = text.rfind("\nf ", found.end(), follower)
            vertices += text.find("\nv ", first_face, last_face) >= 0
            faces_at[(now.object_name,)] = vertices
            faces_at[(now.object_name, str(now.object_copy), now.group)] = vertices
            vertices += text.find("\nv ", last_face, follower) >= 0
        group = f"g part{numbers.setdefault(now, len(numbers))}"
        written += [text[end : found.start()], f"usemtl {name}\n{group}" if keyword == "usemtl" else group]
        end = found.end()
    return "".join((*written, text[end:])), list(numbers)


def _label_groups(
    groups: Sequence[_Group], used: Sequence[int]
) -> tuple[dict[int, Label], dict[int, int | None]]:
    """(labels, group number -> key of its label) of the groups `used`, which have faces.

    The category is the group's name, else the object's.
    """
    keys: dict[_Group, int] = {}
    key_of: dict[int, int | None] = {}
    for number in used:
        one = groups[number]._replace(material="")
        if one.group.lower() in _NO_GROUP:
            one = one._replace(group="", group_copy=0)
        named = one.object_name or one.group
        key_of[number] = keys.setdefault(one, len(keys) + 1) if named else None
    labels = {
        key: Label(
            one.group or one.object_name, {"object": one.object_name} if one.object_name and one.group else {}
        )
        for one, key in keys.items()
    }
    return labels, key_of


def _part(geometry: Mapping[str, Any], material_name: str, key: int | None, white: float) -> Part:
    vertices = np.asarray(geometry["vertices"], float)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise FileError(f"expected three coordinates for each vertex, got {vertices.shape[1:]}")
    triangles, _, _ = split_polygons(np.asarray(geometry["faces"]))
    require_indices(triangles, len(vertices), "OBJ faces")
    visual, colors = geometry.get("visual"), _vertex_colors(geometry, white)
    uv = getattr(visual, "uv", None)
    return Part(
        vertices,
        triangles,
        _look(getattr(visual, "material", None), material_name, bare_look(colors)),
        None if uv is None else np.asarray(uv, float)[triangles],
        None if colors is None else vertex_color_bytes(colors, len(vertices)),
        object_key=key,
    )


def _white(geometries: Sequence[Mapping[str, Any]]) -> float:
    """What the vertex colours of a file call white: 255 where a number of them exceeds 1, else 1."""
    numbers = [np.asarray(one.get("vertex_colors", ()), np.float64).ravel() for one in geometries]
    return 255.0 if (np.concatenate([*numbers, np.zeros(1)]) > 1).any() else 1.0


def _vertex_colors(geometry: Mapping[str, Any], white: float) -> np.ndarray | None:
    """(V, 3) colours of 0 to 1, white where a vertex has none; None where no vertex has one."""
    colors = np.array(geometry.get("vertex_colors", ()), np.float64) / white
    bare = np.isnan(colors).all(-1)
    if bare.all():
        return None
    colors[bare] = 1.0
    return colors


def _look(material: Any, name: str, bare: Look) -> Look:
    """The look of a material of the .mtl file; `bare` where it is missing, or has no colour."""
    if material is None or material.name != name:  # the .mtl file is missing, or does not know it
        return Look(name, bare.color) if name else bare
    image = None if material.image is None else rgb_image(material.image, name)
    if "kd" in material.kwargs:
        color = tuple(round(255 * min(max(float(c), 0), 1)) for c in material.kwargs["kd"][:3])
    else:
        color = bare.color if image is None else (255, 255, 255)
    return Look(name, (color[0], color[1], color[2]), image)
