"""Habitat's scene dataset configuration files, and the resolution of template names.

`X.scene_dataset_config.json` says where stages, objects and scene instances are (`paths`: kind of file ->
folders or patterns), gives defaults (`default_attributes`) and may define templates in place (`configs`).
A scene instance names a stage and objects by template: the path of their configuration file without its
suffix, or a part of it. The format is documented as "Using JSON Files to configure Attributes" by
habitat-sim.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from navarena.core.errors import FileError
from navarena.scenes.datasets.mesh_reader import read_json
from navarena.scenes.mesh_reference import NAVMESH_SUFFIX

DATASET_SUFFIX = ".scene_dataset_config.json"
INSTANCE_SUFFIX = ".scene_instance.json"
STAGE_SUFFIX = ".stage_config.json"
OBJECT_SUFFIX = ".object_config.json"
MESH_SUFFIXES = (".glb", ".gltf", ".ply", ".obj")
NO_STAGE = "NONE"
"""Name of a stage that is empty."""

OWN_NAME_TAGS = ("%%CONFIG_NAME_AS_ASSET_FILENAME%%", "%%USE_FILENAME%%")
"""Stand in values for the name of the configuration file."""


@dataclass(frozen=True)
class Template:
    """Something that can be placed: its name, its attributes and the folder they are relative to."""

    name: str
    attributes: Mapping[str, Any]
    folder: Path
    path: Path

    def asset(self, key: str = "render_asset") -> Path | None:
        """The mesh file that an attribute names, or None when it names none; raises FileError for no name."""
        value = self.attributes.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise FileError(f"{self.path}: expected the name of a mesh as {key!r}, got {value!r}")
        for tag in OWN_NAME_TAGS:
            value = value.replace(tag, self.name.rpartition("/")[2])
        return self.folder / value


class DatasetConfig:
    """A scene dataset configuration with everything it leads to; nothing is read before it is asked for.

    Args:
        path: the file `X.scene_dataset_config.json`.

    Raises FileError when it is missing or no JSON.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path.parent
        content = read_json(path, "scene dataset configuration")
        if not isinstance(content, Mapping):
            raise FileError(f"{path}: expected a JSON object, got {type(content).__name__}")
        self._content = content
        self._files: dict[tuple[str, str], dict[str, Path]] = {}

    def section(self, key: str) -> Mapping[str, Any]:
        """One part of the file, such as "stages"; empty when it is not there."""
        return _mapping(self._content, key, f"{self.path}")

    def defaults(self, key: str) -> Mapping[str, Any]:
        """The default attributes of a part."""
        return _mapping(self.section(key), "default_attributes", f"{self.path}: {key}")

    def files(self, key: str, suffix: str) -> dict[str, Path]:
        """Name -> file of a part: configuration files with `suffix`, else bare meshes."""
        if (key, suffix) not in self._files:
            self._files[key, suffix] = self._find_files(key, suffix)
        return self._files[key, suffix]

    def _find_files(self, key: str, suffix: str) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for kind, patterns in _mapping(self.section(key), "paths", f"{self.path}: {key}").items():
            ending = suffix if "json" in kind else kind
            for pattern in patterns if isinstance(patterns, list) else [patterns]:
                if not isinstance(pattern, str):
                    raise FileError(f"{self.path}: expected folders as {key}.paths{kind}, got {pattern!r}")
                for file in self._matching(pattern, ending):
                    name = _relative(file, self.folder).removesuffix(ending)
                    found.setdefault(name, file)
        return dict(sorted(found.items()))

    def _matching(self, pattern: str, ending: str) -> Iterator[Path]:
        """Files of a pattern; a folder means those in it."""
        base = self.folder
        while pattern.startswith("../"):
            base, pattern = base.parent, pattern[3:]
        for place in sorted(base.glob(pattern.strip("/"))) if pattern.strip("/.") else [base]:
            if place.is_dir():
                yield from sorted(file for file in place.iterdir() if file.name.endswith(ending))
            elif place.name.endswith(ending):
                yield place

    def template(self, key: str, suffix: str, name: str, asked_by: Path) -> Template:
        """The stage or object called `name`; raises FileError with the nearest name."""
        entry = self._defined(key, name)
        if entry is not None:
            own = _mapping(entry, "attributes", f"{self.path}: template {name!r} of {key}")
            original = entry.get("original_file")
            if isinstance(original, str):
                file = self.folder / original
                base = _object(file, "configuration")
                return Template(name, {**self.defaults(key), **base, **own}, file.parent, file)
            return Template(name, {**self.defaults(key), **own}, self.folder, self.path)
        files = self.files(key, suffix)
        found = _resolve(name, files)
        if found is None:
            known = [*files, *(key.rpartition("/")[2] for key in files)]
            close = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise FileError(
                f"{asked_by}: expected a template of {key} in {self.path.name}, got {name!r}.{hint} "
                f"{len(files)} files are known."
            )
        file = files[found]
        if file.name.endswith(suffix):
            return Template(found, {**self.defaults(key), **_object(file, key)}, file.parent, file)
        return Template(found, {**self.defaults(key), "render_asset": file.name}, file.parent, file)

    def _defined(self, key: str, name: str) -> Mapping[str, Any] | None:
        entries = self.section(key).get("configs", [])
        if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
            raise FileError(
                f"{self.path}: expected a list of objects as {key}.configs, got {str(entries)[:80]}"
            )
        return next((entry for entry in entries if entry.get("template_handle") == name), None)

    def lexicon(self, instance: Mapping[str, Any]) -> Path | None:
        """The file that names semantic ids in a scene instance, or None when there is none."""
        section = self.section("semantic_scene_descriptor_instances")
        defaults = self.defaults("scene_instances")
        name = instance.get("semantic_scene_instance", defaults.get("semantic_scene_instance"))
        value = section.get(name) if isinstance(name, str) else None
        if not isinstance(value, str):
            value = self.defaults("semantic_scene_descriptor_instances").get("semantic_descriptor_filename")
            if not isinstance(value, str):
                return None
            folders = {
                file.parent for file in self.files("semantic_scene_descriptor_instances", ".json").values()
            }
            candidates = [folder / value for folder in sorted(folders)] + [self.folder / value]
            return next((file for file in candidates if file.is_file()), None)
        return self.folder / value

    def navmesh(self, instance: Mapping[str, Any], asked_by: Path) -> Path | None:
        """The navmesh that a scene instance names, whether the file is there or not, or None.

        Raises FileError for a name that this file does not have.
        """
        name = instance.get("navmesh_instance", self.defaults("scene_instances").get("navmesh_instance"))
        if not isinstance(name, str) or not name:
            return None
        value = self.section("navmesh_instances").get(name)
        if isinstance(value, str):
            return self.folder / value
        files = self.files("navmesh_instances", NAVMESH_SUFFIX)
        found = _resolve(name.removesuffix(NAVMESH_SUFFIX), files)
        if found is None:
            raise FileError(
                f"{asked_by}: expected one of the navmesh_instances of {self.path.name} "
                f"({', '.join([*self.section('navmesh_instances'), *files][:5]) or 'none'}), got {name!r}"
            )
        return files[found]


def _mapping(content: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    """The JSON object under a key, empty when there is none; raises FileError for anything else."""
    found = content.get(key, {})
    if not isinstance(found, Mapping):
        raise FileError(f"{where}: expected an object as {key!r}, got {type(found).__name__}")
    return found


def _object(path: Path, what: str) -> Mapping[str, Any]:
    content = read_json(path, f"{what} file")
    if not isinstance(content, Mapping):
        raise FileError(f"{path}: expected a JSON object, got {type(content).__name__}")
    return content


def _relative(file: Path, folder: Path) -> str:
    try:
        return file.relative_to(folder).as_posix()
    except ValueError:
        return file.name


def _resolve(name: str, files: Mapping[str, Path]) -> str | None:
    """The key of `files` that a template's name means: itself, its end, else the only one with it inside."""
    for suffix in (STAGE_SUFFIX, OBJECT_SUFFIX, INSTANCE_SUFFIX, *MESH_SUFFIXES):
        name = name.removesuffix(suffix)
    if name in files:
        return name
    ends = [key for key in files if key.endswith("/" + name) or name.endswith("/" + key)]
    inside = ends or [key for key in files if name in key]
    return inside[0] if ends or len(inside) == 1 else None


def find_config(path: Path) -> Path:
    """The scene dataset configuration that a file belongs to: in its folder or the nearest above.

    Raises FileError when there is none.
    """
    for folder in path.resolve().parents:
        found = sorted(folder.glob(f"*{DATASET_SUFFIX}"))
        if found:
            return found[0]
    raise FileError(
        f"{path}: expected a file *{DATASET_SUFFIX} in its folder or one above, found none; a scene of "
        "Habitat needs the configuration of its dataset"
    )
