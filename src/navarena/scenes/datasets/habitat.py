"""Habitat scene datasets (ReplicaCAD, HSSD, and one's own): a stage and objects placed on it.

Rigid objects stand where the scene instance puts them; articulated ones are left out and warned of.
Categories come from the objects' `semantic_id` through the dataset's lexicon, else from their names.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError, SceneError
from navarena.core.geometry import rotation_from_quaternion
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles
from navarena.scenes.datasets.habitat_config import (
    DATASET_SUFFIX,
    INSTANCE_SUFFIX,
    NO_STAGE,
    OBJECT_SUFFIX,
    STAGE_SUFFIX,
    DatasetConfig,
    Template,
    find_config,
)
from navarena.scenes.datasets.mesh_reader import (
    ObjectRecord,
    numbers,
    read_json,
    require_id,
    whole_mesh,
    with_objects,
)
from navarena.scenes.formats.assembling import assemble_scene
from navarena.scenes.formats.importing import UP_AXES
from navarena.scenes.formats.part import MeshFile, Part
from navarena.scenes.scene import Scene

ORIGINS: Mapping[str, bool | None] = {"default": None, "unknown": None, "com": False, "asset_local": True}
"""What `translation_origin` may say -> whether that is the asset's own origin; None: as its scene says."""

_log = logging.getLogger(__name__)


@final
class Habitat(SceneDataset):
    """Scene datasets in Habitat's configuration files; ids begin with the dataset's own name."""

    name: ClassVar[str] = "habitat"
    title: ClassVar[str] = "Habitat scene dataset"
    offer: ClassVar[str] = (
        "such datasets are offered at https://aihabitat.org/datasets (ReplicaCAD, HSSD, ...)"
    )
    layout: ClassVar[str] = "X.scene_dataset_config.json with its stages, objects and scene instances"

    def scene_name(self, rest: str) -> str | None:
        return rest.rstrip("/").removesuffix(INSTANCE_SUFFIX) or None

    def list_scenes(self, root: Path) -> list[str]:
        config = DatasetConfig(_config_file(root))
        scenes = config.files("scene_instances", INSTANCE_SUFFIX)
        return list(scenes) or list(config.files("stages", STAGE_SUFFIX))

    def locate(self, root: Path, name: str) -> SceneFiles:
        path = Path(name) if name.endswith((INSTANCE_SUFFIX, STAGE_SUFFIX)) else None
        if path is not None:
            self.require_file(path, "scene")
            config = DatasetConfig(find_config(path))
        else:
            config = DatasetConfig(_config_file(root))
            scenes = {
                **config.files("stages", STAGE_SUFFIX),
                **config.files("scene_instances", INSTANCE_SUFFIX),
            }
            ends = [key for key in scenes if key == name or key.endswith("/" + name)]
            if not ends:
                some = ", ".join(list(scenes)[:5])
                raise FileError(f"{config.path}: expected one of its scenes ({some}, ...), got {name!r}")
            path = scenes[ends[-1]]
        assembly = _assemble(config, path)
        paths = {"config": config.path, "scene": path}
        paths |= {f"file {index}": file for index, file in enumerate(sorted(assembly.files))}
        if assembly.navmesh is not None:
            paths["navmesh"] = assembly.navmesh
        for file in paths.values():
            self.require_file(file, "asset")
        return SceneFiles(name, paths)

    def build(self, files: SceneFiles, scene_id: str) -> Scene:
        config = DatasetConfig(files.paths["config"])
        assembly = _assemble(config, files.paths["scene"])
        for remark in assembly.remarks:
            _log.warning("%s", remark)
        return _build(assembly, scene_id)


class _Placed:
    """A template with where it stands."""

    def __init__(
        self, template: Template, instance: Mapping[str, Any], asset_local: bool, where: str
    ) -> None:
        self.template, self.where = template, where
        attributes = template.attributes
        scale = _triple(attributes, "scale", 1.0, f"{template.path}")
        scale = scale * _triple(instance, "non_uniform_scale", 1.0, where)
        scale = scale * _number(instance, "uniform_scale", 1.0, where)
        self.scale = scale * _number(attributes, "units_to_meters", 1.0, f"{template.path}")
        if not self.scale.all():
            raise FileError(
                f"{where}: expected a size other than 0 along each axis, got {self.scale.tolist()}"
            )
        self.frame = _frame(attributes, template.path)
        quaternion = numbers(instance.get("rotation", (1, 0, 0, 0)), 4, f"{where}.rotation")
        if not np.linalg.norm(quaternion) > 0:
            raise FileError(f"{where}.rotation: expected a quaternion w, x, y, z, got {quaternion.tolist()}")
        self.rotation = rotation_from_quaternion(quaternion[[1, 2, 3, 0]])
        self.translation = _triple(instance, "translation", 0.0, where)
        self.asset_local = _is_asset_local(instance, asset_local, where)

    def place(
        self, vertices: Float[np.ndarray, "v 3"], middle: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "v 3"]:
        """World points of the asset's vertices; `middle` is the centre of its bounds."""
        origin = np.zeros(3)
        if not self.asset_local:
            given = self.template.attributes.get("COM")
            origin = middle if given is None else numbers(given, 3, f"{self.template.path}.COM")
        local = (vertices - origin) @ self.frame.T * self.scale
        return local @ self.rotation.T + self.translation

    @property
    def mirrors(self) -> bool:
        return float(np.prod(self.scale)) < 0


class _Assembly:
    """A stage (or none) and objects, their files, the navmesh, and the missing files."""

    def __init__(self) -> None:
        self.placed: list[tuple[_Placed, ObjectRecord | None]] = []
        self.files: set[Path] = set()
        self.navmesh: Path | None = None
        self.remarks: list[str] = []


def _assemble(config: DatasetConfig, path: Path) -> _Assembly:
    """Stage and objects of a scene, with their files."""
    if path.name.endswith(INSTANCE_SUFFIX):
        instance = read_json(path, "scene instance")
    else:
        instance = {"stage_instance": {"template_name": path.name}}
    if not isinstance(instance, Mapping):
        raise FileError(f"{path}: expected a JSON object, got {type(instance).__name__}")
    assembly = _Assembly()
    lexicon = config.lexicon(instance)
    names: dict[int, str] = {}
    if lexicon is not None and lexicon.is_file():
        names = _class_names(lexicon)
        assembly.files.add(lexicon)
    elif lexicon is not None:
        assembly.remarks.append(f"{config.path}: {lexicon} is missing; objects are called by their templates")
    navmesh = config.navmesh(instance, path)
    if navmesh is not None and navmesh.is_file():
        assembly.navmesh = navmesh
    elif navmesh is not None:
        assembly.remarks.append(f"{path}: {navmesh} is missing; a navmesh is built from the meshes")
    asset_local = _is_asset_local(instance, False, f"{path}")
    stage = _placed_entry(instance.get("stage_instance"), f"{path}: stage_instance")
    if stage["template_name"] != NO_STAGE:
        template = config.template("stages", STAGE_SUFFIX, stage["template_name"], path)
        origin = _triple(template.attributes, "origin", 0.0, f"{template.path}")
        moved = {**stage, "translation": (_triple(stage, "translation", 0.0, f"{path}") + origin).tolist()}
        _add(assembly, _Placed(template, moved, True, f"{path}: stage_instance"), None)
    for index, listed in enumerate(_list(instance, "object_instances", path)):
        where = f"{path}: object_instances[{index}]"
        entry = _placed_entry(listed, where)
        template = config.template("objects", OBJECT_SUFFIX, entry["template_name"], path)
        placed = _Placed(template, entry, asset_local, where)
        _add(assembly, placed, _object_record(template, names, index))
    left_out = len(_list(instance, "articulated_object_instances", path))
    if left_out:
        assembly.remarks.append(f"{path}: {left_out} articulated objects are left out")
    return assembly


def _placed_entry(entry: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("template_name"), str):
        raise FileError(f"{where}: expected an object with 'template_name', got {str(entry)[:80]}")
    return entry


def _list(instance: Mapping[str, Any], key: str, path: Path) -> list[Any]:
    found = instance.get(key, [])
    if not isinstance(found, list):
        raise FileError(f"{path}: expected a list as {key!r}, got {type(found).__name__}")
    return found


def _add(assembly: _Assembly, placed: _Placed, record: ObjectRecord | None) -> None:
    asset = placed.template.asset()
    if asset is None:
        raise FileError(f"{placed.template.path}: expected the name of a mesh as 'render_asset', got none")
    assembly.placed.append((placed, record))
    assembly.files |= {asset, placed.template.path}


def _object_record(template: Template, names: Mapping[int, str], index: int) -> ObjectRecord:
    stem = template.name.rpartition("/")[2]
    semantic = int(_number(template.attributes, "semantic_id", 0, f"{template.path}"))
    category = names.get(semantic, "") or stem
    return ObjectRecord(category, {"name": f"{stem}_{index}", "template": stem})


def _build(assembly: _Assembly, scene_id: str) -> Scene:
    @cache
    def parts_of(asset: Path) -> tuple[list[Part], Float[np.ndarray, "3"]]:
        parts = [part for part in whole_mesh(asset).parts if len(part.triangles)]
        if not parts:
            raise SceneError(f"{asset}: expected triangles, got none")
        low = np.min([part.vertices.min(0) for part in parts], axis=0)
        high = np.max([part.vertices.max(0) for part in parts], axis=0)
        return parts, (low + high) / 2

    placed_parts: list[Part] = []
    owners: list[int] = []
    records: dict[int, ObjectRecord] = {}
    for placed, record in assembly.placed:
        key = 0
        if record is not None:
            key = len(records) + 1
            records[key] = record
        asset = placed.template.asset()
        if asset is None:
            continue
        parts, middle = parts_of(asset)
        for part in parts:
            triangles = part.triangles[:, ::-1] if placed.mirrors else part.triangles
            uv = part.uv[:, ::-1] if placed.mirrors and part.uv is not None else part.uv
            vertices = placed.place(part.vertices, middle)
            moved = replace(
                part, vertices=vertices, triangles=triangles, uv=uv, object_key=None, triangle_key=None
            )
            placed_parts.append(moved)
            owners += [key] * len(triangles)
    scene = assemble_scene(scene_id, MeshFile(placed_parts), UP_AXES["y"], 1.0)
    return with_objects(replace(scene, triangle_object=np.array(owners, np.int32)), records)


def _frame(attributes: Mapping[str, Any], path: Path) -> Float[np.ndarray, "3 3"]:
    """(3, 3) rotation that turns the asset's up and front into +y and -z."""
    up = numbers(attributes.get("up", (0, 1, 0)), 3, f"{path}.up")
    front = numbers(attributes.get("front", (0, 0, -1)), 3, f"{path}.front")
    lengths = np.linalg.norm(up), np.linalg.norm(front)
    if min(lengths) == 0 or abs(up @ front) > 1e-3 * lengths[0] * lengths[1]:
        raise FileError(
            f"{path}: expected 'up' and 'front' at a right angle, got {up.tolist()} and {front.tolist()}"
        )
    up, front = up / lengths[0], front / lengths[1]
    return np.stack([np.cross(front, up), up, -front])


def _is_asset_local(entry: Mapping[str, Any], usual: bool, where: str) -> bool:
    """Whether a translation places the asset's own origin, not the middle of its mass."""
    kind = str(entry.get("translation_origin", "default")).lower()
    if kind not in ORIGINS:
        names = ", ".join(sorted(ORIGINS))
        raise FileError(f"{where}.translation_origin: expected one of {names}, got {kind!r}")
    return usual if ORIGINS[kind] is None else ORIGINS[kind] is True


def _triple(entry: Mapping[str, Any], key: str, default: float, where: str) -> Float[np.ndarray, "3"]:
    value = entry.get(key)
    return np.full(3, default) if value is None else numbers(value, 3, f"{where}.{key}")


def _number(entry: Mapping[str, Any], key: str, default: float, where: str) -> float:
    return float(numbers([entry.get(key, default)], 1, f"{where}.{key}")[0])


def _class_names(path: Path) -> dict[int, str]:
    """Semantic id -> name, from a lexicon with `classes`."""
    content = read_json(path, "list of semantic classes")
    entries = content.get("classes") if isinstance(content, Mapping) else None
    if not isinstance(entries, list):
        raise FileError(f"{path}: expected a list 'classes', got none")
    names = {}
    for index, entry in enumerate(entries):
        where = f"{path}: classes[{index}]"
        if not isinstance(entry, Mapping) or not entry.get("name"):
            raise FileError(f"{where}: expected 'id' and 'name', got {entry!r}")
        names[require_id(entry.get("id"), where)] = str(entry["name"])
    return names


def _config_file(root: Path) -> Path:
    """The configuration that a root means: itself, or the one in the folder."""
    if root.is_file():
        return root
    found = sorted(root.glob(f"*{DATASET_SUFFIX}"))
    if not found:
        raise FileError(f"Habitat scene dataset: expected a file {root / ('*' + DATASET_SUFFIX)}, found none")
    return found[0]
