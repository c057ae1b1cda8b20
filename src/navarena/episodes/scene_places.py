"""Finds the scenes of an episode file in the folder that --scenes names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from navarena.core.errors import FileError, InputError
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.habitat import scene_stem
from navarena.episodes.sequence import MappedEpisodes
from navarena.scenes.datasets.habitat_config import INSTANCE_SUFFIX, MESH_SUFFIXES
from navarena.scenes.mesh_reference import MARK, split_reference


def place_scenes(scene_ids: Iterable[str], scenes: str | None) -> dict[str, str]:
    """Scene id of a file -> scene id or path that can be opened.

    Args:
        scene_ids: as written in episodes.
        scenes: a folder that holds them (see SceneFolder), a mesh file or the id of one scene that stands
            for all; None leaves them as they are.

    Raises FileError as SceneFolder does, InputError for one scene in the place of several.
    """
    names = list(dict.fromkeys(scene_ids))
    if scenes is None:
        return {name: name for name in names}
    if Path(scenes.partition(MARK)[0]).is_dir():
        folder = SceneFolder(Path(scenes))
        return {name: folder.find(name) for name in names}
    is_path = "/" not in scenes or scenes.startswith(("/", ".", "~"))
    if is_path and not Path(scenes.partition(MARK)[0]).is_file():
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


class SceneFolder:
    """A folder with the scenes of an episode file: meshes and scene instances that are called as they are.

    Args:
        path: of the folder; options behind it, as in "scans?up=z", are those of all its meshes. Raises
            FileError when it is not there, InputError for options that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        folder, mark, options = str(path).partition(MARK)
        split_reference(str(path))
        self._path, self._options = Path(folder), mark + options
        if not self._path.is_dir():
            raise FileError(f"expected a folder of meshes, got {folder}; check --scenes")
        self._files: dict[str, list[Path]] = {}
        self._found: dict[str, str] = {}
        for file in sorted(self._path.rglob("*")):
            if file.suffix in MESH_SUFFIXES or file.name.endswith(INSTANCE_SUFFIX):
                self._files.setdefault(_scene_name(file.name), []).append(file)

    def find(self, scene_id: str) -> str:
        """The path of the file of a scene.

        Of several with one name, that in the folder which is called as the scene's, or below most such
        folders. Raises FileError for a scene without a file, or with several that fit it equally well.
        """
        if scene_id not in self._found:
            found = _find_file(scene_id, self._files, self._path)
            self._found[scene_id] = found if found.endswith(INSTANCE_SUFFIX) else found + self._options
        return self._found[scene_id]


def move_episodes(episodes: Sequence[Episode], folder: Path) -> MappedEpisodes:
    """Episodes in the scenes of a folder; each is moved when it is read.

    Args:
        episodes: in the scenes that their file names.
        folder: that has these scenes; an episode in another one raises FileError when it is read.
    """
    return MappedEpisodes(episodes, partial(_move, scenes=SceneFolder(folder)))


def _move(episode: Episode, scenes: SceneFolder) -> Episode:
    return replace(episode, scene_id=scenes.find(episode.scene_id))


def _scene_name(scene_id: str) -> str:
    return scene_stem(scene_id).removesuffix(".gltf")


def _find_file(scene_id: str, files: Mapping[str, Sequence[Path]], folder: Path) -> str:
    """The path of a scene among the `files` of `folder` by name.

    A name without a suffix means the scene instance, if there is one: its mesh is an empty house.
    """
    name, scene = _scene_name(scene_id), Path(scene_id)
    known = files.get(name, ())
    instances = [path for path in known if path.name.endswith(INSTANCE_SUFFIX)]
    is_instance = scene_id.endswith(INSTANCE_SUFFIX) or (scene.suffix not in MESH_SUFFIXES and instances)
    fitting = instances if is_instance else [path for path in known if path not in instances]
    what, endings = ("scene", [INSTANCE_SUFFIX]) if is_instance else ("mesh", MESH_SUFFIXES)
    if not fitting:
        raise FileError(
            f"expected a {what} called {name} ({', '.join(endings)}) in {folder} for scene {scene_id!r}, "
            "got none; put it there, or name the folder that holds it with --scenes"
        )

    def likeness(path: Path) -> tuple[int, bool, bool]:
        pairs = zip(path.parts[-2::-1], scene.parts[-2::-1])
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return same, ".basis" not in path.suffixes, path.name == scene.name

    most = max(map(likeness, fitting))
    best = [str(path) for path in fitting if likeness(path) == most]
    if len(best) > 1:
        raise FileError(
            f"expected one {what} called {name} in {folder} for scene {scene_id!r}, got {', '.join(best)}; "
            "name their folders as the scene's are, or give --scenes a folder with one of them"
        )
    return best[0]
