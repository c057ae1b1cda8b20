"""`r2r-houses-v1`: instructions through houses of `houses-v1`, in splits as large as those of R2R.

| split              | houses                | paths | episodes |
|--------------------|-----------------------|-------|----------|
| train              | the first 61 of train | 4697  | 14091    |
| val_seen           | the first 56 of them  | 336   | 1008     |
| val_unseen         | the first 11 of val   | 781   | 2343     |
| val_unseen_further | the next 60 of val    | 720   | 2160     |
| train_aug          | the 61 of train       | 48800 | 146400   |

`val_seen_lite`, `val_unseen_lite` and `val_unseen_further_lite` have all paths of these splits, each by the
first of its three instructions: 336, 781 and 720 episodes, one tour where the split has three.

R2R has 4675 paths and 14039 instructions in 61 scans, 340 in 56, 783 in 11, and IVLN's augmentation 146304
(spec ivln_goat 1, 2.2). Splits draw from streams of their own; nothing is shipped: houses are made from
their seeds and described when they are asked for, scene by scene, and kept in the cache.
`r2r-graph-houses-v1` has the same splits on navigation graphs (see `graph_routes`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from navarena.core.errors import require_name
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.graph_routes import GraphRouteRecipe
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.recipe import Stream
from navarena.episodes.routes import R2R_CE_V1, ROUTE_SET, RouteRecipe
from navarena.scenes.catalog import scene_ids

HOUSES = "houses-v1"

Recipe = RouteRecipe | GraphRouteRecipe
"""How the paths and instructions of a split are made: along the floor, or on graphs."""


@dataclass(frozen=True)
class RouteSplit:
    """Definition of a split.

    Attributes:
        houses: split of `houses-v1` of which it takes some.
        count: of them.
        paths: in each of them, each described by three instructions.
        block: paths of one house in a row, made when they are read; None for lists.
        first: of them, by its place in the split of `houses-v1`.
        part_of: split whose paths these are, each by the first of its instructions alone; empty for none.
    """

    houses: str
    count: int
    paths: int
    block: int | None = None
    first: int = 0
    part_of: str = ""

    @property
    def scenes(self) -> list[str]:
        """Scene ids."""
        return scene_ids(HOUSES, self.houses)[self.first : self.first + self.count]

    def choose(self, episodes: Iterable[Episode]) -> tuple[Episode, ...]:
        """The episodes of this split among those drawn for its paths: all, or the first of each path."""
        if not self.part_of:
            return tuple(episodes)
        first: dict[str, Episode] = {}
        for one in episodes:
            first.setdefault(require_instruction(one).path_id, one)
        return tuple(first.values())


ROUTE_SPLITS = {
    "mini": RouteSplit("val", 2, 4),
    "train": RouteSplit("train", 61, 77, block=11),
    "val_seen": RouteSplit("train", 56, 6),
    "val_unseen": RouteSplit("val", 11, 71),
    "val_unseen_further": RouteSplit("val", 60, 12, first=11),
    "train_aug": RouteSplit("train", 61, 800, block=10),
}
ROUTE_SPLITS |= {
    f"{name}_lite": replace(split, part_of=name)
    for name, split in ROUTE_SPLITS.items()
    if name.startswith("val_")
}


def find_route_split(split: str) -> RouteSplit:
    """The split of that name; raises UnknownNameError with the nearest choice."""
    return ROUTE_SPLITS[require_name(f"split of {ROUTE_SET}", split, ROUTE_SPLITS)]


def list_houses(split: str = "") -> list[str]:
    """Scene ids of the splits that R2R has, too, and of `split`, each once; others take minutes to open."""
    own = (one for name, one in ROUTE_SPLITS.items() if one.first == 0 or name == split)
    return list(dict.fromkeys(scene for one in own for scene in one.scenes))


def _find_stream(split: str, recipe: Recipe) -> tuple[RouteSplit, Stream]:
    """A split, and the stream in which its paths are drawn."""
    size = find_route_split(split)
    return size, Stream(recipe.default_dataset, size.part_of or split)


def route_episodes(split: str, recipe: Recipe = R2R_CE_V1) -> SceneEpisodes:
    """The episodes of a split, made scene by scene when they are read; raises UnknownNameError.

    Of a lite split all that are drawn for its paths, of which `RouteSplit.choose` takes some.
    """
    size, stream = _find_stream(split, recipe)
    block = None if size.block is None else size.block * recipe.wordings
    return SceneEpisodes(recipe, size.scenes, size.paths * recipe.wordings, stream, block)


def house_episodes(split: str, recipe: Recipe = R2R_CE_V1) -> SceneEpisodes:
    """As `route_episodes`, house by house, each house kept in the cache."""
    size, stream = _find_stream(split, recipe)
    return SceneEpisodes(recipe, size.scenes, size.paths * recipe.wordings, stream)


def load_routes(
    split: str,
    progress: Callable[[int], None] = lambda done: None,
    workers: int = 1,
    whole: bool = False,
    recipe: Recipe = R2R_CE_V1,
) -> EpisodeDataset:
    """The data set `r2r-houses-v1`, or `r2r-graph-houses-v1` by its recipe.

    Args:
        split: of ROUTE_SPLITS; "train" and "train_aug" make their episodes when they are read.
        progress: called with the number of houses done since the last call.
        workers: processes that share the houses; the episodes do not depend on it.
        whole: make all episodes of these two now, too, for whoever needs every one of them: the same
            episodes in the same order, made house by house and kept in the cache.
        recipe: makes the episodes.

    Raises UnknownNameError.
    """
    size, lazy = find_route_split(split), route_episodes(split, recipe)
    protocol, name = recipe.protocol_id, recipe.default_dataset
    if size.block is None:
        lazy.make_all(workers, progress)
        return EpisodeDataset(protocol, name, split, size.choose(lazy), dropped=lazy.dropped)
    streamed = EpisodeDataset(protocol, name, split, lazy, recipe_hash=lazy.recipe_hash)
    if not whole:
        return streamed
    houses = house_episodes(split, recipe)
    houses.make_all(workers, progress)
    listed = [houses.scene_batch(index).episodes for index in range(size.count)]
    step = size.block * recipe.wordings
    rows = range(0, len(listed[0]), step)
    ordered = tuple(one for first in rows for own in listed for one in own[first : first + step])
    return replace(streamed, episodes=ordered, dropped=houses.dropped)
