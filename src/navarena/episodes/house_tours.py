"""Tours of episodes in continuous scenes: ordered with short gaps along the floor, or listed in a file.

A tour is a run of episodes of one scene that carry the same `tour_id`; the agent keeps its memory over it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import scene_name
from navarena.core.sources import source_fingerprint
from navarena.episodes.dataset import EpisodeDataset, hash_episodes
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.exchange.habitat import scene_stem
from navarena.episodes.graph_routes import GRAPH_ROUTE_SET, R2R_GRAPH_V1
from navarena.episodes.house_blocks import Groups, HouseBlocks
from navarena.episodes.route_sets import Recipe, find_route_split, house_episodes
from navarena.episodes.routes import R2R_CE_V1, end_to_start
from navarena.episodes.tour_order import ITERATIONS, Solver, order_paths
from navarena.episodes.tours import TourLists, lay_tours, load_tours, pick_split
from navarena.scenes.packs import content_hash, load_or_build
from navarena.simulation.body import Embodiment
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.world import World, WorldCache

_HERE = Path(__file__)


def make_scene_tours(
    navmesh: NavMesh,
    episodes: Sequence[Episode],
    solver: Solver = "pyvrp",
    seed: int = 0,
    iterations: int = ITERATIONS,
) -> list[list[str]]:
    """Tours through the paths of one scene, as `tours.make_tours` but over the floor.

    Paths are parted where none along the floor leads from one's end to another's start and back; each
    part is ordered with small gaps, and run once for each instruction of its paths.

    Args:
        navmesh: of the body that walks.
        episodes: of the scene; those with the same `path_id` follow the same path.
        solver: of the ordering.
        seed: of the solver; the same seed gives the same tours.
        iterations: of the solver; it never stops by time.

    Returns lists of episode ids. Raises InputError for an episode without instruction.
    """
    return order_scene(episodes, partial(end_to_start, navmesh), solver, seed, iterations)


def order_scene(
    episodes: Sequence[Episode],
    measure_gaps: Callable[[Sequence[Episode]], Float[np.ndarray, "p p"]],
    solver: Solver = "pyvrp",
    seed: int = 0,
    iterations: int = ITERATIONS,
) -> list[list[str]]:
    """`make_scene_tours`, with `measure_gaps`: P paths -> (P, P) metres from each end to each start."""
    names: dict[str, list[str]] = {}
    paths: dict[str, Episode] = {}
    for episode in episodes:
        path_id = require_instruction(episode).path_id
        names.setdefault(path_id, []).append(episode.episode_id)
        paths.setdefault(path_id, episode)
    if not paths:
        return []
    gaps = measure_gaps(list(paths.values()))
    copies = max(len(ids) for ids in names.values())
    return lay_tours(order_paths(gaps, solver, seed, iterations), list(names.values()), copies)


def make_episode_tours(
    episodes: Iterable[Episode],
    navmesh_of: Callable[[str], NavMesh],
    seed: int = 0,
    advance: Callable[[], object] | None = None,
    iterations: int = ITERATIONS,
) -> dict[str, list[list[str]]]:
    """Scene id -> tours -> episode ids, of all scenes.

    Args:
        episodes: with instructions, of any number of scenes.
        navmesh_of: scene id -> navmesh of the body that walks.
        seed: of the ordering.
        advance: called after each scene.
        iterations: of the ordering.
    """
    by_scene: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_scene.setdefault(episode.scene_id, []).append(episode)
    tours: dict[str, list[list[str]]] = {}
    for scene, own in by_scene.items():
        made = make_scene_tours(navmesh_of(scene), own, seed=seed, iterations=iterations)
        if made:
            tours[scene] = made
        if advance is not None:
            advance()
    return tours


def list_tours(lists: TourLists, episodes: Iterable[Episode], name: str) -> tuple[Episode, ...]:
    """The episodes of tours in their order; tour ids count the tours of all scenes in the order of the lists.

    Args:
        lists: scene -> tours -> episode ids.
        episodes: of the split; those in no tour are left out.
        name: of the tours, for messages.

    Raises InputError for an id without episode, and for an episode in another scene than its tour: files of
    IVLN-CE number the episodes of each split anew.
    """
    known = {episode.episode_id: episode for episode in episodes}
    ordered: list[Episode] = []
    number = 0
    for scene, members in lists.items():
        for ids in members:
            missing = [one for one in ids if one not in known]
            if missing:
                raise InputError(
                    f"expected the episodes of {name} in the data set, got none with id {missing[0]!r}; give "
                    "the tours of the same split"
                )
            for one in ids:
                if scene_stem(known[one].scene_id) != scene_stem(scene):
                    raise InputError(
                        f"expected tour {number} of {name} in {scene!r}, got episode {one!r} in "
                        f"{known[one].scene_id!r}; give the tours of the same split"
                    )
            ordered += [replace(known[one], tour_id=str(number)) for one in ids]
            number += 1
    return tuple(ordered)


def order_dataset(dataset: EpisodeDataset, embodiment: Embodiment, seed: int = 0) -> EpisodeDataset:
    """The episodes of `dataset` in tours, made once and kept in the cache.

    Raises InputError when no two paths of any scene can follow each other.
    """
    worlds = WorldCache(embodiment)

    def build() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        lists = make_episode_tours(dataset.episodes, lambda scene: worlds.get(scene).navmesh, seed)
        return {"tours": np.frombuffer(msgspec.json.encode(lists), np.uint8)}, {}

    key = content_hash(dataset.hash, repr(embodiment), str(seed), source_fingerprint(_HERE))
    pack = load_or_build("tours", key, build, f"of {dataset.name}/{dataset.split}")
    lists = msgspec.json.decode(pack.arrays["tours"].tobytes(), type=dict[str, list[list[str]]])
    if not lists:
        raise InputError(f"expected paths of {dataset.name} that can follow each other, got none")
    episodes = list_tours(lists, dataset.episodes, f"{dataset.name}/{dataset.split}")
    return replace(dataset, episodes=episodes, recipe_hash="")


def read_file_tours(dataset: EpisodeDataset, tours: Path, split: str | None = None) -> EpisodeDataset:
    """The episodes of a file of VLN-CE in the tours of a file of IVLN-CE.

    Args:
        dataset: of a file such as val_unseen.json.gz; its scenes must be at hand when they are run.
        tours: tours.json.
        split: of the tour file; None for the one that the episode file is named after, or the only one.

    Raises FileError or InputError naming the file and the reason.
    """
    splits = load_tours(Path(tours))
    named = dataset.split if split is None and dataset.split in splits else split
    name, lists = pick_split(splits, named, Path(tours))
    episodes = list_tours(lists, dataset.episodes, f"split {name!r} of {tours}")
    return replace(dataset, split=name, episodes=episodes, recipe_hash="")


class HouseTours(HouseBlocks):
    """The tours of each house of a split of r2r-houses-v1, which are made when they are asked for.

    A whole split to train in takes minutes to make; here the first tour needs one house only. Episodes and
    tours are kept in the cache. All tours of a house are one block.

    Args:
        split: of r2r-houses-v1; raises UnknownNameError for another.
        seed: of the order of the tours.
        recipe: makes the episodes.

    The tours are those of `make_episode_tours`; their ids count in each house, as "train/00003-1".
    """

    is_made = True

    def __init__(self, split: str, seed: int = 0, recipe: Recipe = R2R_CE_V1) -> None:
        size = find_route_split(split)
        self.houses, self.embodiment = tuple(size.scenes), recipe.embodiment
        self.block = size.paths * (1 if size.part_of else recipe.wordings)
        self._size, self._split, self._seed, self._recipe = size, split, seed, recipe

    def count(self, house: str) -> int:
        """One."""
        return 1

    def make(self, world: World | None, house: str, number: int) -> Groups:
        """All tours of a house; raises SceneError when no two of its paths can follow each other."""
        if world is None:
            raise TypeError("expected a world to order tours in, got none")
        recipe = self._recipe
        drawn = house_episodes(self._split, recipe).scene_batch(self.houses.index(house)).episodes
        made = self._size.choose(drawn)
        episodes = {one.episode_id: one for one in made}

        def build() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
            lists = order_scene(made, partial(recipe.measure_gaps, world), seed=self._seed)
            return {"tours": np.frombuffer(msgspec.json.encode(lists), np.uint8)}, {}

        key = content_hash(hash_episodes(made), repr(recipe), str(self._seed), source_fingerprint(_HERE))
        pack = load_or_build("tours", key, build)
        lists = msgspec.json.decode(pack.arrays["tours"].tobytes(), type=list[list[str]])
        if not lists:
            raise SceneError(f"expected paths of {house} that can follow each other, got none")
        name = scene_name(house).partition("/")[2]
        return tuple(
            tuple(replace(episodes[one], tour_id=f"{name}-{k}") for one in ids) for k, ids in enumerate(lists)
        )


def load_graph_tours(split: str, protocol_id: str) -> EpisodeDataset:
    """The episodes of a split of r2r-graph-houses-v1 in tours, house by house, kept in the cache.

    Raises UnknownNameError for another split, SceneError for a house without tours.
    """
    tours, worlds = HouseTours(split, recipe=R2R_GRAPH_V1), WorldCache(R2R_GRAPH_V1.embodiment)
    episodes = tuple(
        one for house in tours.houses for tour in tours.make(worlds.get(house), house, 0) for one in tour
    )
    return EpisodeDataset(protocol_id, GRAPH_ROUTE_SET, split, episodes)
