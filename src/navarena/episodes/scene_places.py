"""Finds the scenes of an episode file in the folder that --scenes names."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from navarena.core.errors import FileError, InputError

SCENE_ROOT = "data/scene_datasets/"
"""Prefix of scene ids in files of Habitat; its loaders take it off, and put the user's folder on."""


def place_scenes(scene_ids: Iterable[str], scenes: str | None) -> dict[str, str]:
    """Scene id of a file -> scene id or path that can be opened.

    Args:
        scene_ids: as written in episodes.
        scenes: a folder that holds them, a mesh file or the id of one scene that stands for all; None
            leaves them as they are.

    Raises FileError with the exact expected path for a scene that is not in the folder, InputError for
    one scene in the place of several.
    """
    names = list(dict.fromkeys(scene_ids))
    if scenes is None:
        return {name: name for name in names}
    if Path(scenes).is_dir():
        return {name: _find_in_folder(Path(scenes), name) for name in names}
    is_path = "/" not in scenes or scenes.startswith(("/", ".", "~"))
    if is_path and not Path(scenes).is_file():
        raise FileError(
            f"expected --scenes to name a folder, a mesh file or a scene id, got {scenes!r} "
            f"({Path(scenes).absolute()} is not there)"
        )
    if len(names) > 1:
        raise InputError(
            f"expected episodes of one scene for {scenes}, got {len(names)} scenes ({', '.join(names[:3])}, "
            "...); name the folder that holds them"
        )
    return dict.fromkeys(names, scenes)


def _find_in_folder(folder: Path, name: str) -> str:
    """The scene's file below `folder`: at its own path, or with leading folders of it left out.

    Names without a suffix, as files of RoboTHOR have them, are tried with that of each kind of mesh.
    """
    from navarena.scenes.formats import SUFFIXES  # loads the readers

    parts = PurePosixPath(name.removeprefix(SCENE_ROOT).lstrip("/")).parts
    suffixes = ("",) if PurePosixPath(name).suffix else ("", *SUFFIXES)
    for skipped in range(len(parts)):
        for suffix in suffixes:
            path = folder.joinpath(*parts[skipped:-1], parts[-1] + suffix)
            if path.is_file():
                return str(path)
    expected = str(folder.joinpath(*parts))
    if len(suffixes) > 1:
        expected += f"{SUFFIXES[0]} (or {', '.join(SUFFIXES[1:])})"
    raise FileError(
        f"scene {name!r}: expected the file {expected}, got none (nor with its leading folders left out); "
        "put it there, or name the folder that holds it with --scenes"
    )
