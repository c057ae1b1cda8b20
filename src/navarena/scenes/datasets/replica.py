"""Replica: a folder for each scene, such as `apartment_0`.

`mesh.ply` is the coloured mesh: quads with colours of vertices, z up. `habitat/info_semantic.json` lists
classes and objects with oriented boxes, and `habitat/mesh_semantic.ply` is the mesh whose faces carry
`object_id`. Files that were put beside `mesh.ply`, and a `mesh.ply` with object ids of its own, are read too.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np

from navarena.core.errors import FileError
from navarena.core.geometry import rotation_from_quaternion
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles, folders_named
from navarena.scenes.datasets.mesh_reader import (
    ObjectRecord,
    known_owners,
    label_scene,
    numbers,
    plain_mesh,
    read_json,
    read_labelled_ply,
    require_id,
    require_new,
    with_objects,
    world_points,
)
from navarena.scenes.labelling import OrientedBox, SurfacePart, upright_box
from navarena.scenes.scene import Scene

UP_AXIS = "z"

_SCENE = re.compile(r"(apartment|frl_apartment|hotel|office|room)_\d+")
_TAILS = ("/mesh.ply", "/habitat/mesh_semantic.ply", "/habitat/mesh_preseg_semantic.ply")


@final
class Replica(SceneDataset):
    """Replica: 18 scanned rooms and apartments with labelled objects."""

    name: ClassVar[str] = "replica"
    title: ClassVar[str] = "Replica"
    offer: ClassVar[str] = (
        "its owner offers it at https://github.com/facebookresearch/Replica-Dataset (download.sh)"
    )
    layout: ClassVar[str] = "apartment_0/{mesh.ply, habitat/info_semantic.json, habitat/mesh_semantic.ply}"

    def scene_name(self, rest: str) -> str | None:
        name = next((rest.removesuffix(tail) for tail in _TAILS if rest.endswith(tail)), rest.rstrip("/"))
        return name if _SCENE.fullmatch(name) else None

    def list_scenes(self, root: Path) -> list[str]:
        return folders_named(root, _SCENE)

    def locate(self, root: Path, name: str) -> SceneFiles:
        folder = root / name
        paths = {"mesh": self.require_file(folder / "mesh.ply", "mesh")}
        table = _first(folder / "habitat" / "info_semantic.json", folder / "info_semantic.json")
        paths["table"] = self.require_file(table, "list of objects")
        labels = _first(folder / "habitat" / "mesh_semantic.ply", folder / "mesh_semantic.ply")
        if labels.is_file():
            paths["labels"] = labels
        elif not _has_object_ids(paths["mesh"]):
            raise self.missing(labels, "mesh with labels (the faces of mesh.ply carry none)")
        return SceneFiles(name, paths)

    def build(self, files: SceneFiles, scene_id: str) -> Scene:
        scene = plain_mesh(files.paths["mesh"], UP_AXIS, scene_id)
        records = read_objects(files.paths["table"])
        labels = files.paths.get("labels", files.paths["mesh"])
        mesh = read_labelled_ply(labels, ("object_id",), UP_AXIS)
        owners = known_owners(mesh.values, records, labels, files.paths["table"])
        if "labels" in files.paths:
            scene = label_scene(scene, [SurfacePart(mesh.corners, owners)], files.paths["mesh"], labels)
        else:
            scene = replace(scene, triangle_object=owners.astype(np.int32))
        return with_objects(scene, records)


def _first(*paths: Path) -> Path:
    return next((path for path in paths if path.is_file()), paths[0])


def _has_object_ids(path: Path) -> bool:
    with path.open("rb") as file:
        return b"object_id" in file.read(1 << 14).partition(b"end_header")[0]


def read_objects(path: Path) -> dict[int, ObjectRecord]:
    """Object id -> record of an info_semantic.json; raises FileError that names the entry.

    Objects without a class, and id 0, are left out.
    """
    content = read_json(path, "list of objects")
    for part in ("classes", "objects"):
        if not isinstance(content, Mapping) or not isinstance(content.get(part), list):
            raise FileError(f"{path}: expected a list {part!r}, got none")
    classes: dict[int, str] = {}
    for index, entry in enumerate(content["classes"]):
        if not isinstance(entry, Mapping) or "id" not in entry or not entry.get("name"):
            raise FileError(f"{path}: classes[{index}]: expected 'id' and 'name', got {entry!r}")
        classes[require_id(entry["id"], f"{path}: classes[{index}]")] = str(entry["name"])
    records: dict[int, ObjectRecord] = {}
    for index, entry in enumerate(content["objects"]):
        where = f"{path}: objects[{index}]"
        if not isinstance(entry, Mapping):
            raise FileError(f"{where}: expected an object, got {entry!r}")
        key, kind = require_id(entry.get("id"), where), entry.get("class_id", -1)
        require_new(key, records, where)
        if kind == -1 or not key:
            continue
        if not isinstance(kind, int) or kind not in classes:
            raise FileError(
                f"{where} (id {key}): expected the id of one of the classes, got class_id {kind!r}"
            )
        records[key] = ObjectRecord(classes[kind], {"name": f"{classes[kind]}_{key}"}, _box(entry, where))
    return records


def _box(entry: Mapping[str, Any], where: str) -> OrientedBox | None:
    """The box of an object: an axis-aligned one, turned and moved."""
    if "oriented_bbox" not in entry:
        return None
    try:
        bounds, pose = entry["oriented_bbox"]["abb"], entry["oriented_bbox"]["orientation"]
        lists = bounds["center"], bounds["sizes"], pose["rotation"], pose["translation"]
    except (KeyError, TypeError) as error:
        raise FileError(f"{where}.oriented_bbox: expected abb and orientation, got no {error}") from error
    center, sizes, rotation, translation = (
        numbers(values, count, f"{where}.oriented_bbox") for values, count in zip(lists, (3, 3, 4, 3))
    )
    if not np.linalg.norm(rotation) > 0:
        raise FileError(f"{where}.oriented_bbox: expected a quaternion x, y, z, w, got {rotation.tolist()}")
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = (center + signs * sizes / 2) @ rotation_from_quaternion(rotation).T + translation
    return upright_box(world_points(corners, UP_AXIS))
