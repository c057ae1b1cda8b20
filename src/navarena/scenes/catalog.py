"""Scenes by id or by file, compiled once and mapped from the cache.

A scene id reads "<set>/<split>/<index>", such as "houses-v1/val/00017", or names a scene of a dataset
that the user has, such as "hm3d/val/00800-TEEsavR23oF"; the names that episode files write, such as
"hm3d_v0.2/val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb", mean the same. Anything else is the path of a
mesh file, which may say how it is read (see mesh_reference): "scan.ply?up=z&scale=0.01".
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from navarena.core.errors import InputError, UnknownNameError, unknown_name
from navarena.core.registry import Registry
from navarena.core.sources import source_fingerprint
from navarena.scenes.datasets.dataset_scenes import (
    DatasetScene,
    dataset_builder,
    dataset_fingerprint,
    dataset_navmesh,
    dataset_scene_ids,
    find_dataset_scene,
)
from navarena.scenes.fingerprints import file_fingerprint
from navarena.scenes.mesh_reference import MeshReference, navmesh_beside, split_reference
from navarena.scenes.packs import content_hash, load_or_build
from navarena.scenes.scene import Scene
from navarena.scenes.scene_set import SceneSet
from navarena.scenes.storage import scene_from_pack, scene_to_arrays
from navarena.scenes.validation import validate_scene

SCENE_SETS = Registry(
    "scene set",
    {
        "houses-v0": "navarena.scenes.houses.house_sets:HOUSES_V0",
        "houses-v1": "navarena.scenes.houses.house_sets:HOUSES_V1",
        "robothor-like-v1": "navarena.scenes.apartments.apartment_sets:ROBOTHOR_LIKE_V1",
        "robothor-like-v1-twin": "navarena.scenes.apartments.apartment_sets:ROBOTHOR_LIKE_V1_TWIN",
    },
    "navarena.scenes",
)

_HERE = Path(__file__).parent
_COMPILER = (_HERE / "storage.py", _HERE / "validation.py")
_IMPORTER = _HERE / "formats" / "importing.py"
_GENERATOR = _HERE / "houses" / "generator.py"

PLAN_SUFFIX = ".json"
"""Files with this ending are floor plans of houses (scenes.houses.plan_file)."""


def scene_sets() -> dict[str, SceneSet]:
    """Name -> set, those of installed packages included."""
    return {name: SCENE_SETS.get(name) for name in SCENE_SETS.names()}


def scene_ids(set_name: str, split: str) -> list[str]:
    """The ids of the scenes of `split`, in order; raises UnknownNameError with the nearest name.

    Of a dataset of the user's, such as "hm3d", these are the scenes that are there; "all" is a split of
    every dataset. Raises FileError when nothing says where it is.
    """
    if set_name not in SCENE_SETS:
        found = dataset_scene_ids(set_name, split)
        if found is not None:
            return found
    scene_set: SceneSet = SCENE_SETS.get(set_name)
    return scene_set.scene_ids(split)


def scene_corruptions(scene_ids: Iterable[str]) -> tuple[str, ...]:
    """Corruptions of evaluations in these scenes (see SceneSet.corruptions); none for files and datasets.

    Raises InputError for scenes of sets that differ in it.
    """
    names = {scene_id.split("/")[0] for scene_id in scene_ids}
    found = {SCENE_SETS.get(name).corruptions if name in SCENE_SETS else () for name in names}
    if len(found) > 1:
        raise InputError(
            f"expected scenes in which a robot suffers the same, got {', '.join(sorted(names))}; evaluate "
            "in one of them at a time"
        )
    return next(iter(found), ())


def load_scene(scene_id_or_path: str | Path, up_axis: str = "y", scale: float = 1.0) -> Scene:
    """The scene with this id, or of this mesh file, from its pack, which is compiled if missing.

    Args:
        scene_id_or_path: such as "houses-v1/val/00017", "mp3d/17DRP5sb8fy" or "meshes/dungeon.obj".
        up_axis: axis of the file that points up, as in `import_mesh`; without meaning for ids.
        scale: metres for one unit of the file; without meaning for ids.

    Raises UnknownNameError for an unknown id, FileError and SceneError for a file that cannot be
    used, StorageError when the cache cannot be written.
    """
    name = str(scene_id_or_path)
    build = _builder(split_reference(name, up_axis, scale))
    key = scene_hash(name, up_axis, scale)

    def compile_scene() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        scene = build()
        validate_scene(scene)
        return scene_to_arrays(scene)

    scene = scene_from_pack(load_or_build("scene", key, compile_scene, name))
    # Equal files share one pack, whatever their paths.
    return scene if scene.scene_id == name else replace(scene, scene_id=name)


def scene_hash(scene_id_or_path: str | Path, up_axis: str = "y", scale: float = 1.0) -> str:
    """32 hexadecimal digits that change whenever the compiled scene could, or its navmesh file does.

    They cover the content of a file with everything it refers to (materials, textures, buffers),
    or seed and settings of a generated scene, and the source code that compiles it.
    """
    reference = split_reference(str(scene_id_or_path), up_axis, scale)
    text = reference.path
    compiler = [source_fingerprint(file) for file in _COMPILER]
    named = _named(text)
    if named is not None:
        return content_hash("dataset", *compiler, *dataset_fingerprint(named))
    if not is_file_path(text):
        return content_hash("set", *compiler, _set_of(text).fingerprint(text))
    from navarena.scenes.formats.references import referenced_files

    path = Path(text)
    parts = [file_fingerprint(path)]
    for name, file in referenced_files(path):
        parts += [name, file_fingerprint(file) if file.is_file() else "missing"]
    options = f"{path.suffix.lower()} {reference.up_axis} {float(reference.scale)!r}"
    if reference.sides != "front":
        parts.append(reference.sides)
    if reference.categories:
        parts += ["categories", file_fingerprint(Path(reference.categories))]
    reader = _GENERATOR if path.suffix.lower() == PLAN_SUFFIX else _IMPORTER
    navmesh = navmesh_file(text)
    if navmesh is not None:
        parts += ["navmesh", file_fingerprint(navmesh)]
    return content_hash("file", *compiler, source_fingerprint(reader), options, *parts)


def navmesh_file(scene_id_or_path: str) -> Path | None:
    """Habitat's `.navmesh` file beside the mesh of a scene, or None.

    Raises FileError for a scene of a dataset whose mesh is missing.
    """
    text = split_reference(scene_id_or_path).path
    named = _named(text)
    if named is not None:
        return dataset_navmesh(named)
    is_mesh = is_file_path(text) and Path(text).suffix.lower() != PLAN_SUFFIX
    return navmesh_beside(Path(text)) if is_mesh else None


def is_file_path(scene_id_or_path: str) -> bool:
    """Whether this names a mesh file: it has a suffix, or exists, and is no id of a set or dataset."""
    path = Path(split_reference(scene_id_or_path).path)
    if _named(scene_id_or_path) is not None:
        return False
    if path.suffix:
        return True
    return bool(scene_id_or_path) and scene_id_or_path.split("/")[0] not in SCENE_SETS and path.exists()


def _set_of(scene_id: str) -> SceneSet:
    """The set that `scene_id` belongs to; raises UnknownNameError."""
    name = scene_id.split("/")[0]
    if name not in SCENE_SETS:
        error = unknown_name("scene set", name, SCENE_SETS.names())
        expected = Path(scene_id).absolute()
        raise UnknownNameError(
            f"{scene_id!r} is neither a file nor a scene id: {expected} is not there; {error}; where scenes "
            "are elsewhere, set NAVARENA_DATA, or name their folder by --scenes of navarena evaluate"
        )
    scene_set: SceneSet = SCENE_SETS.get(name)
    scene_set.require_scene(scene_id)
    return scene_set


def _named(text: str) -> DatasetScene | None:
    """The scene of a dataset that `text` names, or None."""
    return None if text.split("/")[0] in SCENE_SETS else find_dataset_scene(text)


def _builder(reference: MeshReference) -> Callable[[], Scene]:
    named = _named(reference.path)
    if named is not None:
        return dataset_builder(named)
    return _file_builder(reference) if is_file_path(reference.path) else _set_builder(reference.path)


def _set_builder(scene_id: str) -> Callable[[], Scene]:
    scene_set = _set_of(scene_id)
    return lambda: scene_set.build(scene_id)


def _file_builder(reference: MeshReference) -> Callable[[], Scene]:
    def build() -> Scene:
        if Path(reference.path).suffix.lower() == PLAN_SUFFIX:
            from navarena.scenes.houses.generator import build_plan  # compiles kernels

            return build_plan(Path(reference.path))
        from navarena.scenes.formats import import_mesh  # trimesh: only when something is compiled

        return import_mesh(*reference)

    return build
