"""Tours in houses to draw from: of r2r-houses-v1, made house by house, and of VLN-CE's files."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from navarena.core.errors import InputError
from navarena.core.seeding import scene_name
from navarena.episodes.catalog import load_community_file
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.route_sets import find_route_split, house_episodes
from navarena.episodes.route_tours import EpisodeTour, build_episode_tours, make_scene_tours
from navarena.episodes.tours import load_tours, pick_split
from navarena.simulation.world import WorldCache

PROTOCOL = "r2r-ce-v1"
"""Whose episodes tours in houses are made of."""


class DrawnHouseTours:
    """Tours of a split of r2r-houses-v1, made when a house is drawn for the first time.

    A whole split to train in takes minutes to make; here the first tour needs one house only. Episodes are
    kept in the cache, tours in memory.

    Args:
        split: of r2r-houses-v1; raises UnknownNameError for another.
        worlds: of the body that walks.
        seed: of the order of the tours.

    The tours are those of `make_episode_tours`; their ids count in each house, as "train/00003-1".
    """

    def __init__(self, split: str, worlds: WorldCache, seed: int = 0) -> None:
        size = find_route_split(split)
        self._episodes, self._scenes = house_episodes(split), size.scenes
        self._worlds, self._seed = worlds, seed
        self._kept = lru_cache(len(self._scenes))(self._make)

    def draw(self, generator: np.random.Generator) -> EpisodeTour:
        """A tour of a house: each house with equal probability, and so each tour in it."""
        tours = self.of_house(int(generator.integers(len(self._scenes))))
        return tours[int(generator.integers(len(tours)))]

    def of_house(self, index: int) -> tuple[EpisodeTour, ...]:
        """The tours of house `index` of the split, made when nobody has asked for them before.

        Raises InputError when no two ways of the house can follow each other.
        """
        return self._kept(index)

    def _make(self, index: int) -> tuple[EpisodeTour, ...]:
        scene = self._scenes[index]
        episodes = {one.episode_id: one for one in self._episodes.scene_batch(index).episodes}
        lists = make_scene_tours(self._worlds.get(scene).navmesh, list(episodes.values()), seed=self._seed)
        if not lists:
            raise InputError(f"expected ways of {scene} that can follow each other, got none")
        name = scene_name(scene).partition("/")[2]
        return tuple(
            EpisodeTour(f"{name}-{k}", tuple(episodes[one] for one in ids)) for k, ids in enumerate(lists)
        )


class ListedTours:
    """Tours to draw from, each with equal probability; raises InputError for none."""

    def __init__(self, tours: Sequence[EpisodeTour]) -> None:
        if not tours:
            raise InputError("expected at least one tour, got none")
        self._tours = tuple(tours)

    def draw(self, generator: np.random.Generator) -> EpisodeTour:
        """One of them."""
        return self._tours[int(generator.integers(len(self._tours)))]


def load_file_tours(
    episodes: Path, tours: Path, split: str | None = None
) -> tuple[EpisodeDataset, str, tuple[EpisodeTour, ...]]:
    """The episodes of a file of VLN-CE, the split, and the tours of a file of IVLN-CE through them.

    Args:
        episodes: such as val_unseen.json.gz; its scenes must be at hand when they are run.
        tours: tours.json.
        split: of the tour file; None for the one that the episode file is named after, or the only one.

    Raises FileError or InputError naming the file and the reason.
    """
    dataset = load_community_file(Path(episodes), PROTOCOL)
    splits = load_tours(Path(tours))
    named = dataset.split if split is None and dataset.split in splits else split
    name, lists = pick_split(splits, named, Path(tours))
    return dataset, name, build_episode_tours(lists, dataset.episodes, f"split {name!r} of {tours}")
