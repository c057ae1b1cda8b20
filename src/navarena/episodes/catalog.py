"""Every episode list there is: by protocol, data set and split, or by file."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from navarena.core.errors import InputError, UnknownNameError, require_name, unknown_name
from navarena.core.protocol_ids import base_protocol, split_protocol
from navarena.core.registry import Registry
from navarena.episodes.compact import SUFFIX, read_list
from navarena.episodes.dataset import (
    EpisodeDataset,
    choose_stratified,
    is_own_file,
    load_episode_file,
)
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.episode_file import EpisodeFile, open_episode_file
from navarena.episodes.exchange.format import EpisodeFileWarning
from navarena.episodes.exchange.habitat_objectnav import HABITAT_OBJECTNAV_HM3D, HABITAT_OBJECTNAV_MP3D
from navarena.episodes.exchange.json_files import read_json_bytes
from navarena.episodes.exchange.multion import MULTION
from navarena.episodes.exchange.r2r_ce import R2R_CE, expert_file, follow_expert
from navarena.episodes.house_tours import order_dataset, read_file_tours
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.multi_on import MultiOnRecipe, require_counts
from navarena.episodes.recipe import EpisodeRecipe, SplitSize, Stream
from navarena.episodes.route_sets import load_routes
from navarena.episodes.routes import ROUTE_SET, RouteRecipe, TourRecipe
from navarena.episodes.tours import find_split
from navarena.episodes.twins import to_twins
from navarena.scenes.catalog import SCENE_SETS, is_file_path, scene_ids
from navarena.scenes.mesh_reference import join_reference, split_reference
from navarena.scenes.packs import content_hash
from navarena.scenes.twin_ids import APARTMENT_SET, TWIN_SET

RECIPES = Registry(
    "protocol with episodes",
    {
        "goat-v1": "navarena.episodes.goat.recipe:GOAT_V1",
        "instance-imagenav-v1": "navarena.episodes.goat.recipe:INSTANCE_IMAGENAV_V1",
        "languagenav-v1": "navarena.episodes.goat.recipe:LANGUAGENAV_V1",
        "ir2r-ce-v1": "navarena.episodes.routes:IR2R_CE_V1",
        "multion-1on-v1": "navarena.episodes.multi_on:MULTION_1ON_V1",
        "multion-2on-v1": "navarena.episodes.multi_on:MULTION_2ON_V1",
        "multion-3on-v1": "navarena.episodes.multi_on:MULTION_3ON_V1",
        "multion-shapes-1on-v1": "navarena.episodes.multi_on:MULTION_SHAPES_1ON_V1",
        "multion-shapes-2on-v1": "navarena.episodes.multi_on:MULTION_SHAPES_2ON_V1",
        "multion-shapes-3on-v1": "navarena.episodes.multi_on:MULTION_SHAPES_3ON_V1",
        "objectnav-habitat2020-v1": "navarena.episodes.object_nav:OBJECTNAV_HABITAT2020_V1",
        "objectnav-hm3d2022-v1": "navarena.episodes.object_nav:OBJECTNAV_HM3D2022_V1",
        "objectnav-robothor2020-v1": "navarena.episodes.object_nav_robothor:OBJECTNAV_ROBOTHOR2020_V1",
        "objectnav-robothor2021-v1": "navarena.episodes.object_nav_robothor:OBJECTNAV_ROBOTHOR2021_V1",
        "objectnav-stretch2023-v1": "navarena.episodes.object_nav:OBJECTNAV_STRETCH2023_V1",
        "ovon-v1": "navarena.episodes.goat.recipe:OVON_V1",
        "pointnav-habitat2020-v1": "navarena.episodes.point_nav:POINTNAV_HABITAT2020_V1",
        "pointnav-robothor-v1": "navarena.episodes.point_nav:POINTNAV_ROBOTHOR_V1",
        "pointnav-v1": "navarena.episodes.point_nav:POINTNAV_V1",
        "r2r-ce-v1": "navarena.episodes.routes:R2R_CE_V1",
        "robustnav-objectnav-v1": "navarena.episodes.robustnav:ROBUSTNAV_OBJECTNAV_V1",
        "robustnav-pointnav-v1": "navarena.episodes.robustnav:ROBUSTNAV_POINTNAV_V1",
    },
    "navarena.episodes",
)
"""Protocol id -> EpisodeRecipe. Packages add theirs in the entry-point group."""

SHIPPED_FOLDER = Path(__file__).parent / "data"
"""Lists that come with navarena: <data set>/<protocol>/<split>.list.xz."""


SPLITS = {
    "mini": SplitSize(4, part_of="val"),
    "lite": SplitSize(10, part_of="val", sample=200),
    "val": SplitSize(10),
    "test": SplitSize(10),
    "train": SplitSize(50_000, block=50),
}
"""Split -> its size, in sets of 100 houses to evaluate in: 1,000 episodes (Wani et al. 2020 and the Habitat
challenges evaluate on as many), and 50,000 for each house to train in (Wani et al. 2020, section 5.1)."""

APARTMENTS = {
    **SPLITS,
    "mini": SplitSize(4, part_of="val", scenes=10),
    "lite": SplitSize(120, part_of="val", sample=200),
    "val": SplitSize(120),
    "test-dev": SplitSize(146),
    "test": SplitSize(146),
}
"""Of RoboTHOR's 15 + 14 apartments: 1,800 episodes to validate on, 2,040 in its tests (challenge of 2021)."""

SET_SIZES = {"robothor-like-v1": APARTMENTS, "robothor-like-v1-twin": APARTMENTS}
"""Data set -> sizes other than SPLITS."""

DRAWING_OPTIONS: Mapping[str, Callable[[EpisodeRecipe, int], EpisodeRecipe]] = {
    "objects": lambda recipe, count: recipe.with_goal_count(count),
    "path_actions": lambda recipe, count: recipe.with_max_actions(count),
    "subtasks": lambda recipe, count: recipe.with_goal_count(count),
}
"""The options of protocols that move the episodes."""


@runtime_checkable
class HasProtocol(Protocol):
    """Anything with a protocol id, such as a task."""

    @property
    def protocol_id(self) -> str:
        """Such as "pointnav-v1"."""
        ...


def load_episodes(
    task: str | HasProtocol,
    split: str = "val",
    dataset: str | Path | None = None,
    tours: str | Path | None = None,
) -> EpisodeDataset:
    """The episodes of a protocol; those of protocols with tours come tour by tour.

    Args:
        task: a protocol id, or a task.
        split: of the data set. A file holds one split, and it only tells which tours are meant, when the tour
            file has several and the episode file is named after none.
        dataset: name of a set of scenes such as "houses-v1", or an episode file: ours, or one in a format
            of the community (a folder with one file for each scene, too). None for the protocol's own.
        tours: tour file (tours.json of IVLN-CE) of an episode file; None for tours that are made here.

    With the option path_actions (`multion-3on-v1+path_actions=750`) they are drawn anew, so that the planner
    solves each in at most so many actions, with `multion-3on-v1+objects=5` with five goals, and with
    `goat-v1+subtasks=200` with 200; of a file, `objects` says how many goals its episodes have. Episodes of
    "robothor-like-v1-twin" are those of "robothor-like-v1" in the twins of their apartments.
    Lists that come with navarena are read; others are made by the protocol's recipe once and kept
    in the cache. Episodes of the training split are made scene by scene, when they are read.

    Raises UnknownNameError for an unknown protocol, data set or split, FileError for a bad file, InputError
    for a file with another such option, since nothing is drawn there, or with another number of goals.
    """
    named_id = task if isinstance(task, str) else task.protocol_id
    protocol_id = base_protocol(named_id)
    recipe = get_recipe(named_id)
    own = get_recipe(protocol_id)
    is_own = recipe == own
    is_listed = is_own or (isinstance(recipe, MultiOnRecipe) and recipe == own.with_goal_count(recipe.goals))
    name = recipe.default_dataset if dataset is None else str(dataset)
    if tours is not None and not (isinstance(recipe, TourRecipe) and _is_file(name)):
        raise InputError(
            f"expected an episode file and a protocol with tours for the tour file {tours}, got {name!r} for "
            f"{named_id}"
        )
    if isinstance(recipe, TourRecipe):
        if tours is None and Path(name).is_file() and is_own_file(Path(name)):
            listed = load_episode_file(Path(name))
            if listed.protocol_id == protocol_id:
                return listed
        single = load_episodes(recipe.protocol_id, split, dataset)
        if tours is not None:
            named = find_split(Path(tours), single.split, split)
            return replace(read_file_tours(single, Path(tours), named), protocol_id=protocol_id)
        if name == ROUTE_SET:
            single = load_routes(split, whole=True)
        return order_tours(single, protocol_id)
    if name not in SCENE_SETS and not is_listed:
        raise InputError(
            f"expected a set of scenes to draw episodes in for {named_id!r}, got {name!r}; leave out "
            f"{' and '.join(DRAWING_OPTIONS)}, or choose of {', '.join(SCENE_SETS.names())}"
        )
    if name == ROUTE_SET and isinstance(get_recipe(protocol_id), RouteRecipe):
        return load_routes(split)
    if _is_file(name) or (name not in SCENE_SETS and Path(name).is_dir()):
        listed = _load_file(Path(name), protocol_id)
        if isinstance(recipe, MultiOnRecipe):
            counted = require_counts(listed.episodes, recipe.goals, listed.protocol_id, name, RECIPES.names())
            return replace(listed, episodes=counted)
        return listed
    if name not in SCENE_SETS:
        error = unknown_name("dataset", name, SCENE_SETS.names())
        raise UnknownNameError(
            f"{error}; of scans, name an episode file, and where they are by NAVARENA_DATA or --scenes"
        )
    if name == TWIN_SET:
        return to_twins(load_episodes(named_id, split, APARTMENT_SET))
    require_name("split", split, split_sizes(name, recipe))
    shipped = shipped_path(recipe, split, name)
    if is_own and shipped.is_file():
        found = read_list(shipped)
        return replace(found, protocol_id=protocol_id, episodes=recipe.translate(found.episodes))
    return make_split(recipe, split, name)


def split_sizes(dataset: str, recipe: EpisodeRecipe | None = None) -> Mapping[str, SplitSize]:
    """Split -> size, of a set of scenes; of a recipe's own data set as the recipe has it."""
    if recipe is not None and recipe.splits and dataset == recipe.default_dataset:
        return recipe.splits
    return {**SET_SIZES.get(dataset, SPLITS), **(recipe.further_splits if recipe is not None else {})}


def shipped_path(recipe: EpisodeRecipe, split: str, dataset: str) -> Path:
    """Path of an episode list that comes with navarena; None for others."""
    return SHIPPED_FOLDER / dataset / recipe.stream_protocol / f"{split}{SUFFIX}"


def split_scenes(split: str, dataset: str, recipe: EpisodeRecipe | None = None) -> list[str]:
    """The scenes of the episodes of a split.

    Raises UnknownNameError for an unknown split, InputError for instructions, which are drawn elsewhere.
    """
    if dataset == ROUTE_SET:
        raise InputError(
            f"expected a set of scenes to draw episodes in, got {ROUTE_SET!r}; write one of its splits with: "
            "navarena tours houses SPLIT --out FOLDER, or choose of " + ", ".join(SCENE_SETS.names())
        )
    sizes = split_sizes(dataset, recipe)
    size = sizes[require_name("split", split, sizes)]
    whole = size.scenes is not None or size.sample is not None or size.rest is not None
    return scene_ids(dataset, size.scenes_of or (size.part_of if whole else split))[: size.scenes]


def make_split(
    recipe: EpisodeRecipe,
    split: str,
    dataset: str,
    progress: Callable[[int], None] = lambda done: None,
    workers: int = 1,
    per_scene: int | None = None,
    seed: int = 0,
) -> EpisodeDataset:
    """The episodes of a split as the recipe makes them, from the cache where it has made them before.

    Of a training split they are made when they are read; those in twins are those of the apartments.

    Args:
        recipe: makes them.
        split: of the data set.
        dataset: name of a set of scenes.
        progress: called with the number of scenes done since the last call.
        workers: processes that share the scenes; the episodes do not depend on it.
        per_scene: the first so many of each of the split's scenes, in the place of its own choice.
        seed: another seed, other episodes in the same scenes.

    Raises as `split_scenes`, and InputError for a number below 1.
    """
    if dataset == TWIN_SET:
        return to_twins(make_split(recipe, split, APARTMENT_SET, progress, workers, per_scene, seed))
    sizes = split_sizes(dataset, recipe)
    size = sizes[require_name("split", split, sizes)]
    if per_scene is not None:
        size = SplitSize(per_scene, size.part_of)
    stream = Stream(dataset, size.part_of or split, seed)
    scenes = split_scenes(split, dataset, recipe)
    _require_counts(scenes, size.per_scene, workers)
    made = SceneEpisodes(recipe, scenes, size.per_scene, stream, size.block)
    if size.block is not None:
        return EpisodeDataset(recipe.protocol_id, dataset, split, made, seed, recipe_hash=made.recipe_hash)
    made.make_all(workers, progress)
    episodes = tuple(made)
    if size.sample is not None:
        episodes = tuple(episodes[row] for row in choose_stratified(episodes, size.sample))
    if size.rest is not None:
        left = set(range(len(episodes))).difference(choose_stratified(episodes, size.rest))
        episodes = tuple(episodes[row] for row in sorted(left))
    return EpisodeDataset(recipe.protocol_id, dataset, split, episodes, seed, made.dropped)


def make_episodes(
    protocol_id: str,
    scenes: Sequence[str],
    per_scene: int,
    seed: int = 0,
    name: str = "custom",
    split: str = "custom",
    up_axis: str = "y",
    scale: float = 1.0,
    progress: Callable[[int], None] = lambda done: None,
    workers: int = 1,
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
        workers: processes that share the scenes; the episodes do not depend on it.

    Raises UnknownNameError, FileError or SceneError for a scene that cannot serve, InputError for up axis
    or scale of what is no mesh file.
    """
    _require_counts(scenes, per_scene, workers)
    named = [_name_scene(scene, up_axis, scale) for scene in scenes]
    recipe = get_recipe(protocol_id)
    lazy = SceneEpisodes(recipe, named, per_scene, Stream(name, split, seed))
    lazy.make_all(workers, progress)
    made = EpisodeDataset(recipe.protocol_id, name, split, tuple(lazy), seed, lazy.dropped)
    return order_tours(made, protocol_id)


def order_tours(dataset: EpisodeDataset, protocol_id: str) -> EpisodeDataset:
    """The episodes as those of a protocol: tour by tour, where it has tours.

    Raises InputError when no two paths of any scene can follow each other.
    """
    recipe = get_recipe(protocol_id)
    ordered = order_dataset(dataset, recipe.embodiment) if isinstance(recipe, TourRecipe) else dataset
    return replace(ordered, protocol_id=base_protocol(protocol_id))


def _require_counts(scenes: Sequence[str], per_scene: int, workers: int) -> None:
    if per_scene < 1 or not scenes or workers < 1:
        raise InputError(
            f"expected at least one scene, one episode in each and one worker, got {len(scenes)} scenes, "
            f"{per_scene} episodes and {workers} workers"
        )


def _name_scene(scene: str, up_axis: str, scale: float) -> str:
    """The scene with the options by which its mesh file is read."""
    named = join_reference(*split_reference(scene, up_axis, scale))
    if named != scene and not is_file_path(scene):
        raise InputError(f"expected a mesh file for options of mesh files, got {scene!r}; leave them out")
    return named


def get_recipe(protocol_id: str) -> EpisodeRecipe:
    """The episode recipe of a protocol; of its options only DRAWING_OPTIONS change the episodes.

    Raises UnknownNameError, and InputError for an option of these that is no number.
    """
    base, options = split_protocol(protocol_id)
    recipe: EpisodeRecipe = RECIPES.get(base)
    for name, change in DRAWING_OPTIONS.items():
        if name not in options:
            continue
        if not options[name].isdecimal():
            raise InputError(f"expected a number as {name} of {base!r}, got {options[name]!r}")
        recipe = change(recipe, int(options[name]))
    return recipe


def _is_file(name: str) -> bool:
    return name.endswith((".json", ".json.gz")) or Path(name).is_file()


def load_community_file(path: Path, protocol_id: str) -> EpisodeDataset:
    """The episodes of a file (or folder) in a format of the community, read when they are asked for.

    Raises FileError for a bad file or one with repeated ids, InputError when its task is not the protocol's.
    """
    file = open_episode_file(path)
    if file.format.task not in protocol_id.split("-"):
        raise InputError(
            f"expected episodes of {protocol_id!r}, got those of {file.format.title} in {path}; name a "
            f"protocol with {file.format.task} in its id"
        )
    file.require_unique_ids()
    if file.format in (HABITAT_OBJECTNAV_HM3D, HABITAT_OBJECTNAV_MP3D, MULTION):
        _compare_numbers(file, protocol_id)
    episodes: Sequence[Episode] = file.episodes
    digest, expert = file.hash, expert_file(file.parts[0]) if file.format == R2R_CE else None
    if expert is not None:
        episodes = follow_expert(episodes, expert)
        digest = content_hash(digest, read_json_bytes(expert))[:16]
    return EpisodeDataset(protocol_id, file.format.name, file.split, episodes, recipe_hash=digest)


def _compare_numbers(file: EpisodeFile, protocol_id: str) -> None:
    """Warn of categories with other numbers than those that agents observe by the protocol."""
    own = get_recipe(protocol_id).words
    theirs = file.document(0).header_numbers("category_to_task_category_id")
    other = [f"{name} {theirs[name]}" for name in own if theirs.get(name, own.index(name)) != own.index(name)]
    if other:
        warnings.warn(
            f"{file.path} numbers categories otherwise than {protocol_id} ({', '.join(other[:3])} there); "
            "agents observe the protocol's numbers",
            EpisodeFileWarning,
            stacklevel=2,
        )


def _load_file(path: Path, protocol_id: str) -> EpisodeDataset:
    if path.is_dir() or not is_own_file(path):
        return load_community_file(path, protocol_id)
    dataset = load_episode_file(path)
    if dataset.protocol_id != protocol_id:
        raise InputError(
            f"expected episodes of {protocol_id!r}, got those of {dataset.protocol_id!r} in {path}; name the "
            "right protocol, or make episodes for this one with: navarena episodes make"
        )
    return dataset
