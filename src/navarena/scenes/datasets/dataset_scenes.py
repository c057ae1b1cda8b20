"""Names of scenes in datasets, as ids and as episode files write them, and the files they mean.

All of these name one scene:

    hm3d/val/00800-TEEsavR23oF
    hm3d_v0.2/val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb
    data/scene_datasets/hm3d/val/00800-TEEsavR23oF/TEEsavR23oF.basis.glb
    /disk/hm3d/val/00800-TEEsavR23oF/TEEsavR23oF.glb
"""

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from navarena.core.errors import FileError, require_name
from navarena.core.sources import source_fingerprint
from navarena.scenes.datasets.catalog import dataset_of_folder, get_dataset
from navarena.scenes.datasets.dataset import SceneDataset, SceneFiles
from navarena.scenes.datasets.roots import (
    DATA_VARIABLE,
    SUBFOLDER,
    Root,
    candidate_roots,
    data_folder,
    registered_roots,
)
from navarena.scenes.fingerprints import file_fingerprint
from navarena.scenes.mesh_reference import navmesh_beside
from navarena.scenes.scene import Scene

CONFIG_SUFFIXES = (".scene_instance.json", ".stage_config.json")
"""Files of Habitat scene datasets that stand for a scene themselves."""

NAVMESH_ROLES = ("mesh", "labels")
"""Files of a scene beside which its navmesh may be; Replica has it beside the mesh with labels."""


@dataclass(frozen=True)
class DatasetScene:
    """A scene of a dataset, found by its name.

    Attributes:
        text: the name as it was given.
        dataset: name of the dataset.
        folder: name of its folder, as the first part of the name.
        scene: name of the scene within it.
        root: the folder (or configuration file) when the name itself gives it, else None.
    """

    text: str
    dataset: str
    folder: str
    scene: str
    root: Path | None = None


def find_dataset_scene(text: str) -> DatasetScene | None:
    """The scene of a dataset that `text` names, or None. Nothing is read."""
    if text.endswith(CONFIG_SUFFIXES):
        path = _below_data(Path(text))
        return DatasetScene(text, "habitat", path.parent.name, str(path), path.parent)
    parts = text.replace(os.sep, "/").split("/")
    for index, part in enumerate(parts[:-1]):
        name = dataset_of_folder(part)
        if name is None:
            continue
        scene = get_dataset(name).scene_name("/".join(parts[index + 1 :]))
        if scene is not None:
            root = Path("/".join(parts[: index + 1])) if index or text.startswith("/") else None
            return DatasetScene(text, name, part, scene, root)
    return _below_registered(text, parts)


def _below_data(path: Path) -> Path:
    """The path below NAVARENA_DATA, without a leading `data`, if it does not exist as given."""
    data = data_folder()
    if path.exists() or path.is_absolute() or data is None:
        return path
    parts = list(path.parts)
    candidates = [data.joinpath(*parts)]
    for head in ("data", SUBFOLDER):
        if parts[:1] == [head]:
            parts = parts[1:]
            candidates += [data.joinpath(*parts), data.joinpath(SUBFOLDER, *parts)]
    return next((candidate for candidate in candidates if candidate.exists()), candidates[-1])


def _below_registered(text: str, parts: list[str]) -> DatasetScene | None:
    """A name that begins with, or a path below, a root that was registered under a name of its own."""
    roots = registered_roots()
    if len(parts) > 1 and parts[0] in roots:
        root = roots[parts[0]]
        scene = get_dataset(root.dataset).scene_name("/".join(parts[1:]))
        if scene is not None:
            return DatasetScene(text, root.dataset, parts[0], scene, Path(root.path))
    if not os.path.exists(text):
        return None
    path = Path(text).resolve()
    for name, root in roots.items():
        found = _scene_below(text, path, name, root)
        if found is not None:
            return found
    return None


def _scene_below(text: str, path: Path, name: str, root: Root) -> DatasetScene | None:
    top = Path(root.path)
    if top == path or not path.is_relative_to(top):
        return None
    scene = get_dataset(root.dataset).scene_name(path.relative_to(top).as_posix())
    return None if scene is None else DatasetScene(text, root.dataset, name, scene, top)


def locate_scene(named: DatasetScene) -> tuple[SceneDataset, SceneFiles]:
    """The dataset of a scene and its files.

    Raises FileError that names the exact file that was expected, where it is offered and how to say
    where it is.
    """
    dataset = get_dataset(named.dataset)
    roots = _roots(named)
    existing = [root for root in roots if root.exists()]
    first: FileError | None = None
    for root in existing or roots[:1]:
        try:
            return dataset, dataset.locate(root, named.scene)
        except FileError as error:
            first = first or error
    if first is None:
        raise FileError(
            f"scene {named.text!r} is one of {dataset.title}, and nothing says where that is; "
            f"{dataset.offer}; then set {DATA_VARIABLE} to the folder that holds "
            f"{named.folder}/{named.scene} (layout: {dataset.layout}), name it by --scenes of navarena "
            f"evaluate, or run: navarena scene import --dataset {dataset.name} FOLDER"
        )
    raise FileError(
        f"scene {named.text!r}: {first}; if it is elsewhere, set {DATA_VARIABLE} to the folder that holds "
        f"{named.folder}/, name it by --scenes of navarena evaluate, or run: "
        f"navarena scene import --dataset {dataset.name} FOLDER"
    ) from first


def dataset_scene_ids(folder: str, split: str) -> list[str] | None:
    """The ids of a dataset's scenes that the user has, or None when `folder` is no name of a dataset.

    Args:
        folder: first part of the ids, such as "hm3d" or "mp3d".
        split: their second part; "all" takes every scene, for datasets without splits.

    Raises FileError when the dataset is nowhere, UnknownNameError when it has no such split.
    """
    roots = registered_roots()
    name = dataset_of_folder(folder) or (roots[folder].dataset if folder in roots else None)
    if name is None:
        return None
    dataset = get_dataset(name)
    existing = [root for root in candidate_roots(folder, name) if root.exists()]
    if not existing:
        raise FileError(
            f"expected the folder of {dataset.title} ({dataset.layout}), and nothing says where it is; "
            f"{dataset.offer}; then run: navarena scene import --dataset {dataset.name} FOLDER"
        )
    names = dataset.list_scenes(existing[0])
    splits = {"all", *(scene.split("/")[0] for scene in names if "/" in scene)}
    require_name(f"split of {folder}", split, splits)
    return [f"{folder}/{scene}" for scene in names if split in ("all", scene.split("/")[0])]


def _roots(named: DatasetScene) -> list[Path]:
    """The roots to search: the one in the name if it exists, else the registered ones."""
    given = [] if named.root is None else [named.root]
    if given and given[0].exists():
        return given
    return candidate_roots(named.folder, named.dataset) or given


def dataset_fingerprint(named: DatasetScene) -> list[str]:
    """Texts that change whenever the built scene, or its navmesh, could: its files' content and its
    reader's source.

    Raises FileError that names the exact missing file.
    """
    from navarena.scenes.formats.references import referenced_files

    dataset, files = locate_scene(named)
    parts = [dataset.name, files.entry]
    for module in dataset.sources():
        found = importlib.util.find_spec(module)
        if found is not None and found.origin is not None:
            parts.append(source_fingerprint(Path(found.origin)))
    for role, path in sorted(files.paths.items()):
        parts += [role, file_fingerprint(path)]
        for name, file in referenced_files(path):
            parts += [name, file_fingerprint(file) if file.is_file() else "missing"]
    navmesh = _navmesh_of(files)
    return parts if navmesh is None else [*parts, "navmesh", file_fingerprint(navmesh)]


def dataset_navmesh(named: DatasetScene) -> Path | None:
    """Habitat's navmesh of a scene, which it names or has beside one of its meshes, or None.

    Raises FileError as `locate_scene`.
    """
    return _navmesh_of(locate_scene(named)[1])


def _navmesh_of(files: SceneFiles) -> Path | None:
    if "navmesh" in files.paths:  # that the scene itself names
        return files.paths["navmesh"]
    found = (navmesh_beside(files.paths[role]) for role in NAVMESH_ROLES if role in files.paths)
    return next((path for path in found if path is not None), None)


def dataset_builder(named: DatasetScene) -> Callable[[], Scene]:
    """A function that reads the scene; raises FileError at once when a file of it is missing."""
    dataset, files = locate_scene(named)
    return lambda: dataset.build(files, named.text)
