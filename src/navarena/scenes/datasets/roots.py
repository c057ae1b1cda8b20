"""The folders of the user's datasets.

Two places name them: the folder NAVARENA_DATA, which holds one folder for each dataset (directly or in
`scene_datasets`, as Habitat has it), and a list that `navarena scene import --dataset` adds to. The list
is kept in the user's configuration folder, since it is not derived from anything; NAVARENA_CONFIG names
another one.
"""

import os
import sys
from pathlib import Path

import msgspec

from navarena.core.files import read_json, write_atomic

DATA_VARIABLE = "NAVARENA_DATA"
CONFIG_VARIABLE = "NAVARENA_CONFIG"
LIST_NAME = "datasets.json"
SUBFOLDER = "scene_datasets"


class Root(msgspec.Struct, frozen=True):
    """A registered folder (or configuration file) and the dataset that it holds."""

    dataset: str
    path: str


def data_folder() -> Path | None:
    """The folder that NAVARENA_DATA names, or None."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named).expanduser().absolute() if named else None


def config_folder() -> Path:
    """$NAVARENA_CONFIG, else `navarena` in the user's configuration folder."""
    chosen = os.environ.get(CONFIG_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "navarena"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", str(Path.home() / "AppData" / "Roaming"))) / "navarena"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "navarena"


def registered_roots() -> dict[str, Root]:
    """Name, as the first part of scene ids -> root; raises FileError when the list is damaged."""
    path = config_folder() / LIST_NAME
    if not path.exists():
        return {}
    roots: dict[str, Root] = read_json(
        path, "list of datasets", dict[str, Root], "delete it and import again"
    )
    return roots


def register_root(name: str, dataset: str, path: Path) -> None:
    """Register `path` as the root of scene ids that begin with `name`; raises StorageError."""
    roots = registered_roots()
    entry = Root(dataset, str(path.resolve()))
    if roots.get(name) != entry:
        listed = dict(sorted({**roots, name: entry}.items()))
        write_atomic(config_folder() / LIST_NAME, msgspec.json.format(msgspec.json.encode(listed)) + b"\n")


def candidate_roots(folder: str, dataset: str) -> list[Path]:
    """Possible paths of the folder `folder` of a dataset, most likely first.

    Folders below NAVARENA_DATA come whether they exist or not, so that messages can name them.
    """
    roots = registered_roots()
    found = []
    data = data_folder()
    if data is not None:
        found += [data / folder, data / SUBFOLDER / folder]
        if folder != dataset:
            found += [data / dataset, data / SUBFOLDER / dataset]
    names = [folder, dataset, *(name for name, root in roots.items() if root.dataset == dataset)]
    found += [Path(roots[name].path) for name in names if name in roots]
    return list(dict.fromkeys(found))
