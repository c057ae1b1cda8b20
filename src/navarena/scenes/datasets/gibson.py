"""Gibson, with the objects and rooms of 3DSceneGraph where the user has converted them.

A scene is `Adrian.glb` (z up); `Adrian.scn` lists objects and rooms (JSON, z up), and `Adrian_semantic.ply`
is the mesh whose faces carry their object ids (y up). Both come from 3DSceneGraph through Habitat's tool
`gen_gibson_semantics.sh`. With the list but without the mesh, triangles take the object whose box they lie
in; that is less exact and is warned of.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles
from navarena.scenes.datasets.mesh_reader import (
    LabelledMesh,
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
from navarena.scenes.datasets.rooms import MIN_HEIGHT, with_rooms
from navarena.scenes.labelling import OrientedBox, SurfacePart
from navarena.scenes.scene import Room, Scene

UP_AXIS = "z"
BOX_MARGIN = 0.01
"""Metres by which a triangle may stick out of the box of its object."""

FLOOR_DEPTH = 0.03
"""Metres above the bottom of a box up to which what lies flat is the floor under the object."""

_NAME = re.compile(r"[A-Z][A-Za-z0-9_-]*")
_log = logging.getLogger(__name__)


@final
class Gibson(SceneDataset):
    """Gibson: 572 scanned buildings; objects and rooms for some of them by 3DSceneGraph."""

    name: ClassVar[str] = "gibson"
    title: ClassVar[str] = "Gibson"
    offer: ClassVar[str] = (
        "its owner offers it at https://github.com/StanfordVL/GibsonEnv#database (the archive for Habitat; "
        "objects: https://3dscenegraph.stanford.edu)"
    )
    layout: ClassVar[str] = "Adrian.glb, and Adrian.scn with Adrian_semantic.ply for objects"

    def scene_name(self, rest: str) -> str | None:
        stem = rest.rstrip("/").removesuffix(".glb")
        return stem if _NAME.fullmatch(stem) and not stem.endswith("_semantic") else None

    def list_scenes(self, root: Path) -> list[str]:
        return sorted(path.stem for path in root.glob("*.glb") if self.scene_name(path.name))

    def locate(self, root: Path, name: str) -> SceneFiles:
        paths = {"mesh": self.require_file(root / f"{name}.glb", "mesh")}
        table, labels = root / f"{name}.scn", root / f"{name}_semantic.ply"
        if labels.is_file():
            self.require_file(table, f"list of objects, which {labels.name} needs,")
            paths["labels"] = labels
        if table.is_file():
            paths["table"] = table
        return SceneFiles(name, paths)

    def build(self, files: SceneFiles, scene_id: str) -> Scene:
        scene = plain_mesh(files.paths["mesh"], UP_AXIS, scene_id)
        if "table" not in files.paths:
            return scene
        table = files.paths["table"]
        content = read_json(table, "list of objects")
        records, room_of = _object_records(content, table)
        if "labels" in files.paths:
            labels = files.paths["labels"]
            mesh = _upright(labels, scene)
            parts = [SurfacePart(mesh.corners, known_owners(mesh.values, records, labels, table))]
            scene = label_scene(scene, parts, files.paths["mesh"], labels)
        else:
            scene = label_by_boxes(scene, records, table)
        return with_rooms(with_objects(scene, records), _rooms(content, table), room_of)


def _upright(labels: Path, scene: Scene) -> LabelledMesh:
    """Labelled mesh: y up as Habitat's tool writes it, or z up if that fits the textured mesh better."""
    meshes = [read_labelled_ply(labels, ("object_id",), axis) for axis in ("y", "z")]
    low, high = scene.bounds

    def misfit(mesh: LabelledMesh) -> float:
        corners = mesh.corners.reshape(-1, 3)
        return float(np.abs(corners.min(0) - low).sum() + np.abs(corners.max(0) - high).sum())

    return min(meshes, key=misfit)


def label_by_boxes(scene: Scene, records: Mapping[int, ObjectRecord], table: Path) -> Scene:
    """(T,) object ids: the smallest box that contains each triangle."""
    boxes = {key: record.box for key, record in records.items() if record.box is not None}
    corners = scene.vertices[scene.triangles]
    low, high = corners.min(1), corners.max(1)
    owner = np.zeros(len(corners), np.int32)
    for key, box in sorted(boxes.items(), key=lambda item: -float(np.prod(item[1].half_size))):
        center, half = np.array(box.center), np.array(box.half_size) + BOX_MARGIN
        inside = ((low >= center - half) & (high <= center + half)).all(1)
        owner[inside & (high[:, 1] > center[1] - half[1] + FLOOR_DEPTH)] = key
    _log.warning("%s: no mesh with labels beside it; objects are cut out of the scan by their boxes", table)
    return replace(scene, triangle_object=owner)


def _entries(content: Any, key: str, path: Path) -> list[Mapping[str, Any]]:
    found = content.get(key, []) if isinstance(content, Mapping) else None
    if not isinstance(found, list) or not all(isinstance(entry, Mapping) for entry in found):
        raise FileError(f"{path}: expected a list {key!r} of objects, got something else")
    return found


def _object_records(content: Any, path: Path) -> tuple[dict[int, ObjectRecord], dict[int, int]]:
    """(object id -> record, object id -> room id)."""
    records: dict[int, ObjectRecord] = {}
    room_of: dict[int, int] = {}
    for index, entry in enumerate(_entries(content, "objects", path)):
        where = f"{path}: objects[{index}]"
        key, category = require_id(entry.get("id"), where), entry.get("class_")
        if not isinstance(category, str) or not category:
            raise FileError(f"{where}: expected a name 'class_', got {category!r}")
        require_new(key, records, where)
        if not key:
            continue
        attributes = {"name": f"{category}_{key}"}
        material = entry.get("material")
        if isinstance(material, list) and material:
            attributes["material"] = str(material[0])
        records[key] = ObjectRecord(category, attributes, _box(entry, where))
        if isinstance(entry.get("parent_room"), int):
            room_of[key] = entry["parent_room"]
    return records, room_of


def _box(entry: Mapping[str, Any], where: str) -> OrientedBox | None:
    if entry.get("location") is None or entry.get("size") is None:
        return None
    center, size = _placed(entry, where)
    (x, y, z), (a, b, c) = center.tolist(), (size / 2).tolist()
    return OrientedBox((x, y, z), (a, b, c), 0.0)


def _placed(entry: Mapping[str, Any], where: str) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """(centre, size) in metres, world frame."""
    center = world_points(numbers(entry["location"], 3, f"{where}.location"), UP_AXIS)
    return center, np.abs(world_points(numbers(entry["size"], 3, f"{where}.size"), UP_AXIS))


def _rooms(content: Any, path: Path) -> list[Room]:
    rooms: dict[int, Room] = {}
    for index, entry in enumerate(_entries(content, "rooms", path)):
        where = f"{path}: rooms[{index}]"
        key = require_new(require_id(entry.get("id"), where), rooms, where)
        if entry.get("location") is None or entry.get("size") is None:
            continue
        center, size = _placed(entry, where)
        low, high = center - size / 2, center + size / 2
        if size[0] <= 0 or size[2] <= 0:
            continue
        (x0, y0, z0), (x1, y1, z1) = low.tolist(), high.tolist()
        category = str(entry.get("scene_category") or "room").replace("_", " ")
        outline = ((x0, z0), (x1, z0), (x1, z1), (x0, z1))
        rooms[key] = Room(key, category, outline, 0, y0, max(y1, y0 + MIN_HEIGHT))
    return [rooms[key] for key in sorted(rooms)]
