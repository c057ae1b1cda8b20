"""A dataset of scans or houses that a user may have, with the files of one scene."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from navarena.core.errors import FileError
from navarena.scenes.scene import Scene


@dataclass(frozen=True)
class SceneFiles:
    """The files of one scene.

    Attributes:
        name: of the scene within its dataset, such as "val/00800-TEEsavR23oF".
        paths: role, such as "mesh" -> file; all exist.
        entry: which scene of a file that holds many, such as "12"; else empty.
    """

    name: str
    paths: Mapping[str, Path]
    entry: str = ""


class SceneDataset(ABC):
    """A scene dataset: finds, names and reads its scenes. Subclasses are final.

    Attributes:
        name: such as "hm3d", the first part of its scene ids.
        title: what people call it.
        offer: where its owner offers it, for messages.
        layout: what its folder looks like, one line.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    offer: ClassVar[str]
    layout: ClassVar[str]

    @abstractmethod
    def scene_name(self, rest: str) -> str | None:
        """The scene named by the end of an id or file name, such as "val/00800-X/X.basis.glb".

        None when it cannot be a name of this dataset. Nothing is looked up on disk.
        """

    @abstractmethod
    def list_scenes(self, root: Path) -> list[str]:
        """The names of the scenes below `root`, sorted."""

    @abstractmethod
    def locate(self, root: Path, name: str) -> SceneFiles:
        """The files of a scene; raises FileError that names the exact missing one and its source."""

    @abstractmethod
    def build(self, files: SceneFiles, scene_id: str) -> Scene:
        """Read a scene; raises FileError or SceneError that names the file and the line or id."""

    def sources(self) -> Sequence[str]:
        """Modules whose source decides what `build` returns; their imports are followed."""
        return (type(self).__module__,)

    def missing(self, path: Path, what: str) -> FileError:
        """The error for a file that is not where it should be."""
        return FileError(f"{self.title}: expected the {what} {path}, found no such file; {self.offer}")

    def require_both(self, labels: Path, table: Path) -> bool:
        """Whether a scene has labels: a labelled mesh and a list of its objects.

        Raises FileError when only one of the two is there.
        """
        if not labels.is_file() and not table.is_file():
            return False
        self.require_file(labels, f"mesh with labels, which {table.name} needs,")
        self.require_file(table, f"list of objects, which {labels.name} needs,")
        return True

    def require_file(self, path: Path, what: str) -> Path:
        """Return `path` if it is a file, else raise FileError with the page that offers it."""
        if not path.is_file():
            raise self.missing(path, what)
        return path


def folders_named(root: Path, pattern: re.Pattern[str]) -> list[str]:
    """Names of the folders in `root` that match as a whole, sorted."""
    return sorted(child.name for child in root.iterdir() if child.is_dir() and pattern.fullmatch(child.name))


def split_mesh_name(rest: str, *endings: str) -> tuple[list[str], str | None]:
    """(folders, stem of the mesh file behind them) of a name; the stem is None where a folder is named.

    `endings` are those of mesh files, longest first.
    """
    folders = [part for part in rest.split("/") if part]
    for ending in endings:
        if folders and folders[-1].endswith(ending):
            return folders[:-1], folders[-1].removesuffix(ending)
    return folders, None
