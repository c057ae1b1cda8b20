"""Shared parts of the dataset readers: meshes as scenes, JSON files, objects with boxes."""

import json
import logging
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import FileError, SceneError
from navarena.core.files import LIMITS, MAX_QUOTED, read_bytes
from navarena.scenes.formats import read_mesh, read_ply_property
from navarena.scenes.formats.assembling import assemble_scene
from navarena.scenes.formats.importing import UP_AXES
from navarena.scenes.formats.part import MeshFile, Part
from navarena.scenes.labelling import (
    LabelledSurface,
    LabelReport,
    OrientedBox,
    SurfacePart,
    transfer_labels,
    upright_box,
)
from navarena.scenes.scene import Scene, SceneObject
from navarena.scenes.validation import validate_scene

MAX_AMBIGUOUS_SHARE = 0.02
"""Share of the area above which ambiguous labels are warned of."""

MAX_FAR_SHARE = 0.5
"""Share of the area without labelled surface nearby above which two meshes are not of one place."""

LARGEST_ID = int(np.iinfo(np.int32).max)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ObjectRecord:
    """One object as a dataset describes it: category, attributes, and a box and a room if they are known."""

    category: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    box: OrientedBox | None = None
    room: int | None = None
    level: int = 0


def read_json(path: Path, what: str) -> Any:
    """The content of a JSON file; raises FileError with line and column."""
    data = read_bytes(path, what)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{what} {path} is no JSON file, or only a part of one: {error}") from error


def plain_mesh(path: Path, up_axis: str, scene_id: str) -> Scene:
    """The mesh alone, under the scene's id; names of its parts are not taken for objects.

    Raises FileError also when an image of it is missing or cannot be decoded.
    """
    mesh = whole_mesh(path)
    scene = assemble_scene(scene_id, mesh, UP_AXES[up_axis], 1.0)
    validate_scene(scene)
    return replace(scene, triangle_object=np.zeros(len(scene.triangles), np.int32), objects=())


def whole_mesh(path: Path) -> MeshFile:
    """The content of a mesh file; raises FileError when it, or an image of it, cannot be had."""
    mesh = read_mesh(path)
    if mesh.lost:
        raise FileError(f"{path}: {'; '.join(mesh.lost)}; a scene of a dataset needs all of its textures")
    return mesh


def semantic_parts(path: Path, up_axis: str) -> list[tuple[Part, Float[np.ndarray, "t 3 3"]]]:
    """(part, its corners (T, 3, 3) in metres, world frame) of each part of a mesh with labels."""
    parts = whole_mesh(path).parts
    return [(part, world_points(part.vertices, up_axis)[part.triangles]) for part in parts]


def world_points(points: Float[np.ndarray, "*n 3"], up_axis: str) -> Float[np.ndarray, "*n 3"]:
    """Points (..., 3) of a file with this up axis as world points, metres."""
    return np.stack([points[..., axis] * sign for axis, sign in UP_AXES[up_axis]], -1)


@dataclass(frozen=True)
class LabelledMesh:
    """Triangles (T, 3, 3), metres, world frame, with the value (T,) of one property of their faces."""

    corners: Float[np.ndarray, "t 3 3"]
    values: Int[np.ndarray, "t"]


def read_labelled_ply(path: Path, properties: Sequence[str], up_axis: str) -> LabelledMesh:
    """The triangles of a PLY file with the first of `properties` that its faces have.

    Raises FileError when the file is damaged or its faces have none of them.
    """
    vertices, faces, values = read_ply_property(path, properties)
    return LabelledMesh(world_points(vertices, up_axis)[faces], values)


def known_owners(
    values: Int[np.ndarray, "t"], records: Mapping[int, ObjectRecord], labels: Path, table: Path
) -> Int[np.ndarray, "t"]:
    """(T,) object id of each face, 0 for ids that are not among `records`.

    Raises SceneError when none of them is: then the two files are of different scenes.
    """
    known = np.isin(values, list(records))
    if not known.any():
        raise SceneError(f"{labels}: expected the object ids listed in {table}, got none of them")
    return np.where(known, values, 0)


def label_scene(scene: Scene, parts: Sequence[SurfacePart], mesh: Path, labels: Path) -> Scene:
    """The scene with object ids from the nearest labelled surface; warns of ambiguous area.

    Args:
        scene: of the textured mesh.
        parts: the labelled surface.
        mesh: file of the textured mesh, for messages.
        labels: file of the labels, likewise.

    Raises SceneError when the two meshes are not of the same place.
    """
    if not any(len(part.corners) for part in parts):
        raise SceneError(f"{labels}: expected triangles with labels, got none")
    labelled, report = transfer_labels(scene, LabelledSurface(parts))
    _check_report(report, mesh, labels)
    return replace(labelled, ambiguous_share=report.ambiguous_share)


def _check_report(report: LabelReport, mesh: Path, labels: Path) -> None:
    if report.far_share > MAX_FAR_SHARE:
        raise SceneError(
            f"{labels} does not fit {mesh}: {report.far_share:.0%} of the surface has no labelled surface "
            "nearby; are both of the same scene and the same version of the dataset?"
        )
    text = "%s: labels of %s are ambiguous on %.2f %% of the area, absent on %.2f %%"
    level = logging.WARNING if report.ambiguous_share > MAX_AMBIGUOUS_SHARE else logging.INFO
    _log.log(level, text, mesh, labels.name, 100 * report.ambiguous_share, 100 * report.far_share)


def with_objects(scene: Scene, records: Mapping[int, ObjectRecord]) -> Scene:
    """The scene with an object for each of `records` (object id -> record) that has triangles or a box.

    Boxes that are not given are the smallest upright ones around the triangles. Triangles of ids
    that are not among `records` become part of nothing.
    """
    known = np.isin(scene.triangle_object, list(records))
    owner = np.where(known, scene.triangle_object, 0).astype(np.int32)
    order = np.argsort(owner, kind="stable")
    ids, starts = np.unique(owner[order], return_index=True)
    ends = dict(zip(ids.tolist(), zip(starts, [*starts[1:], len(order)])))
    objects = []
    for key in sorted(records):
        record, box = records[key], records[key].box
        if box is None and key in ends:
            first, last = ends[key]
            corners = np.unique(scene.triangles[order[first:last]])
            box = upright_box(scene.vertices[corners])
        if box is None:
            continue
        objects.append(
            SceneObject(
                key,
                record.category,
                box.center,
                box.half_size,
                box.yaw,
                record.room,
                record.level,
                dict(record.attributes),
            )
        )
    held = {obj.object_id for obj in objects}
    owner = np.where(np.isin(owner, sorted(held)), owner, 0).astype(np.int32)
    return replace(scene, triangle_object=owner, objects=tuple(objects))


def _quote(value: Any) -> str:
    return repr(value)[:MAX_QUOTED]


def numbers(values: Any, count: int, where: str) -> Float[np.ndarray, "k"]:
    """(K,) finite floats, values of any unit, out of a list of a file; raises FileError with `where`."""
    try:
        found = np.array([float(value) for value in values], np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise FileError(f"{where}: expected {count} numbers, got {_quote(values)}") from error
    if len(found) != count or not (np.abs(found) <= LIMITS.number).all():
        got = _quote(values)
        raise FileError(f"{where}: expected {count} numbers of at most {LIMITS.number:g}, got {got}")
    return found


def require_new(key: int, known: Container[int], where: str) -> int:
    """Return an id that is not among those `known` already, else raise FileError."""
    if key in known:
        raise FileError(f"{where}: expected each id once, got {key} again")
    return key


def require_id(value: Any, where: str) -> int:
    """Return `value` if it can be the id of an object or room, else raise FileError."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_ID:
        raise FileError(f"{where}: expected a whole number from 0 to {LARGEST_ID} as id, got {value!r}")
    return value
