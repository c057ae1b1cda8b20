"""Every episode list there is: by protocol, data set and split, or by file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from navarena.core.errors import InputError
from navarena.core.protocol_ids import base_protocol
from navarena.core.registry import Registry
from navarena.core.suggest import require_name, unknown_name
from navarena.episodes.dataset import EpisodeDataset, is_own_file, load_episode_file, require_unique_ids
from navarena.episodes.exchange.episode_file import open_episode_file
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.recipe import EpisodeRecipe, Stream
from navarena.scenes.catalog import SCENE_SETS, is_file_path, scene_ids
from navarena.scenes.mesh_reference import join_reference

RECIPES = Registry(
    "protocol with episodes",
    {
        "multion-1on-v1": "navarena.episodes.multi_on:MULTION_1ON_V1",
        "multion-2on-v1": "navarena.episodes.multi_on:MULTION_2ON_V1",
        "multion-3on-v1": "navarena.episodes.multi_on:MULTION_3ON_V1",
        "multion-shapes-1on-v1": "navarena.episodes.multi_on:MULTION_SHAPES_1ON_V1",
        "multion-shapes-2on-v1": "navarena.episodes.multi_on:MULTION_SHAPES_2ON_V1",
        "multion-shapes-3on-v1": "navarena.episodes.multi_on:MULTION_SHAPES_3ON_V1",
        "objectnav-habitat2020-v1": "navarena.episodes.object_nav:OBJECTNAV_HABITAT2020_V1",
        "objectnav-hm3d2022-v1": "navarena.episodes.object_nav:OBJECTNAV_HM3D2022_V1",
        "pointnav-robothor-v1": "navarena.episodes.point_nav:POINTNAV_ROBOTHOR_V1",
        "pointnav-v1": "navarena.episodes.point_nav:POINTNAV_V1",
        "objectnav-robothor2020-v1": "navarena.episodes.object_nav_robothor:OBJECTNAV_ROBOTHOR2020_V1",
        "objectnav-robothor2021-v1": "navarena.episodes.object_nav_robothor:OBJECTNAV_ROBOTHOR2021_V1",
    },
    "navarena.episodes",
)
"""Protocol id -> EpisodeRecipe. Packages add theirs in the entry-point group."""

DEFAULT_DATASET = "houses-v0"

SHIPPED_FOLDER = Path(__file__).parent / "data"
"""Lists that come with navarena: <data set>/<protocol>/<split>.json.gz."""


@dataclass(frozen=True)
class SplitSize:
    """How many episodes a scene of a split has, and whether they are made only when read."""

    per_scene: int
    is_lazy: bool = False


SPLITS = {
    "mini": SplitSize(4),
    "val": SplitSize(3),
    "test": SplitSize(3),
    "train": SplitSize(50, is_lazy=True),
}


@runtime_checkable
class HasProtocol(Protocol):
    """Anything with a protocol id, such as a task."""

    @property
    def protocol_id(self) -> str:
        """Such as "pointnav-v1"."""
        ...


def load_episodes(
    task: str | HasProtocol, split: str = "val", dataset: str | Path | None = None
) -> EpisodeDataset:
    """The episodes of a protocol.

    Args:
        task: a protocol id, or a task.
        split: of the data set; of a file, which holds one split, it is ignored.
        dataset: name of a set of scenes such as "houses-v0" (the default), or an episode file: ours, or
            one in a format of the community (a folder with one file for each scene, too).

    Lists that come with navarena are read; others are made by the protocol's recipe once and kept
    in the cache. Episodes of the training split are made scene by scene, when they are read.

    Raises UnknownNameError for an unknown protocol, data set or split, FileError for a bad file.
    """
    protocol_id = base_protocol(task if isinstance(task, str) else task.protocol_id)
    name = DEFAULT_DATASET if dataset is None else str(dataset)
    if _is_file(name):
        return _load_file(Path(name), protocol_id)
    if name not in SCENE_SETS and Path(name).is_dir():
        return load_community_file(Path(name), protocol_id)
    if name not in SCENE_SETS:
        raise unknown_name("dataset", name, SCENE_SETS.names())
    scenes = scene_ids(name, split)
    size = SPLITS[require_name("split", split, SPLITS)]
    shipped = SHIPPED_FOLDER / name / protocol_id / f"{split}.json.gz"
    if shipped.is_file():
        return load_episode_file(shipped)
    lazy = SceneEpisodes(get_recipe(protocol_id), scenes, size.per_scene, Stream(name, split))
    if size.is_lazy:
        return EpisodeDataset(protocol_id, name, split, lazy, recipe_hash=lazy.recipe_hash)
    return EpisodeDataset(protocol_id, name, split, tuple(lazy), dropped=lazy.dropped)


def make_episodes(
    protocol_id: str,
    scenes: Sequence[str],
    per_scene: int,
    seed: int = 0,
    name: str = "custom",
    split: str = "custom",
    up_axis: str = "y",
    scale: float = 1.0,
    progress: Callable[[int], None] | None = None,
) -> EpisodeDataset:
    """Episodes of a protocol in any scenes, imported meshes included.

    Args:
        protocol_id: whose rules hold.
        scenes: scene ids or paths of mesh files.
        per_scene: episodes in each of them.
        seed: another seed, other episodes.
        name: of the data set; a part of the random streams' names.
        split: likewise.
        up_axis: of mesh files; the episodes name their scene with it ("scan.ply?up=z").
        scale: of mesh files, metres per unit; likewise.
        progress: called with the number of scenes done since the last call.

    Raises UnknownNameError, FileError or SceneError for a scene that cannot serve.
    """
    if per_scene < 1 or not scenes:
        raise InputError(
            f"expected at least one scene and one episode in each, got {len(scenes)} scenes and {per_scene} "
            "episodes"
        )
    named = [join_reference(scene, up_axis, scale) if is_file_path(scene) else scene for scene in scenes]
    lazy = SceneEpisodes(get_recipe(protocol_id), named, per_scene, Stream(name, split, seed))
    for index in range(len(scenes)):
        lazy.scene_batch(index)
        if progress is not None:
            progress(1)
    return EpisodeDataset(base_protocol(protocol_id), name, split, tuple(lazy), seed, lazy.dropped)


def get_recipe(protocol_id: str) -> EpisodeRecipe:
    """How the episodes of a protocol are made, whatever its options; raises UnknownNameError."""
    recipe: EpisodeRecipe = RECIPES.get(base_protocol(protocol_id))
    return recipe


def _is_file(name: str) -> bool:
    return name.endswith((".json", ".json.gz")) or Path(name).is_file()


def load_community_file(path: Path, protocol_id: str) -> EpisodeDataset:
    """The episodes of a file (or folder) in a format of the community, read when they are asked for.

    Raises FileError for a bad file, InputError when its task is not the protocol's or ids repeat.
    """
    file = open_episode_file(path)
    if protocol_id.split("-")[0] != file.format.task:
        raise InputError(
            f"expected episodes of {protocol_id!r}, got those of {file.format.title} in {path}; name a "
            f"protocol whose id begins with {file.format.task}-"
        )
    dataset = EpisodeDataset(protocol_id, file.format.name, file.split, file.episodes, recipe_hash=file.hash)
    if len(file.parts) == 1:
        require_unique_ids(dataset)
    return dataset


def _load_file(path: Path, protocol_id: str) -> EpisodeDataset:
    if not is_own_file(path):
        return load_community_file(path, protocol_id)
    dataset = load_episode_file(path)
    if dataset.protocol_id != protocol_id:
        raise InputError(
            f"expected episodes of {protocol_id!r}, got those of {dataset.protocol_id!r} in {path}; name the "
            "right protocol, or make episodes for this one with: navarena episodes make"
        )
    return dataset
