"""Streams of train episodes: a few houses at a time, the next ones prepared beside the run."""

import logging
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from navarena.core.errors import FileError, InputError, SceneError, UnknownNameError, require_name
from navarena.core.memo import Memo
from navarena.core.seeding import make_generator
from navarena.episodes.catalog import make_split
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.house_blocks import Groups, HouseBlocks, ListedBlocks
from navarena.episodes.house_tours import HouseTours
from navarena.episodes.lazy import SceneEpisodes
from navarena.episodes.prefetch import HouseJob, PrefetchError, Prefetchers
from navarena.episodes.recipe import EpisodeRecipe
from navarena.episodes.route_sets import route_episodes
from navarena.episodes.routes import RouteRecipe, TourRecipe
from navarena.episodes.sampler import EpisodeSampler, SamplerState
from navarena.simulation.world import WorldCache

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stay:
    """Bounds on a house's stay, which ends with a block of its episodes once one bound is reached.

    Attributes:
        episodes: begun in a house; a tour counts as one.
        steps: taken in it, in episodes that have ended: `max_scene_repeat_steps` of Habitat's episode
            iterator (habitat-lab v0.3, config/default_structured_configs.py).
        houses: that are drawn from at any time.

    Raises InputError unless all are at least 1.
    """

    episodes: int = 50
    steps: int = 10_000
    houses: int = 4

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise InputError(f"expected a stay of at least 1 in {name}, got {value}")


@dataclass(frozen=True)
class Curriculum:
    """Short episodes first: a limit of the geodesic distance that grows with the episodes begun.

    Of a block, the episodes within the limit are drawn (a tour when all of its episodes are), at least the
    shortest one.

    Attributes:
        start: metres, the limit at first.
        end: metres, the limit after `episodes`.
        episodes: begun in the stream, over which the limit grows in proportion; then there is none. 0 for no
            limit at all.

    Raises InputError unless 0 < start <= end and episodes >= 0.
    """

    start: float = 3.0
    end: float = 15.0
    episodes: int = 0

    def __post_init__(self) -> None:
        if not (0 < self.start <= self.end and self.episodes >= 0):
            raise InputError(
                "expected 0 < start <= end and no negative number of episodes of a curriculum, got "
                f"start={self.start}, end={self.end}, episodes={self.episodes}"
            )

    def limit(self, begun: int) -> float:
        """Greatest geodesic distance in metres after so many episodes; infinite at the end."""
        if begun >= self.episodes:
            return math.inf
        return self.start + (self.end - self.start) * begun / self.episodes

    def choose(self, groups: Groups, begun: int) -> Groups:
        """The `groups` within the limit after `begun` episodes, in order; at least the shortest."""
        limit, lengths = self.limit(begun), [_length(group) for group in groups]
        near = tuple(group for group, length in zip(groups, lengths) if length <= limit)
        return near or (groups[lengths.index(min(lengths))],)


def _length(group: tuple[Episode, ...]) -> float:
    """Metres, geodesic, of the longest episode of a group; 0 where a file hides it."""
    return max(0.0 if one.geodesic_distance is None else one.geodesic_distance for one in group)


@dataclass
class _Visit:
    """One stay in a house.

    Attributes:
        number: counts the stays of the stream from 0; it determines house and first block.
        blocks: of episodes used up before the current one.
        taken: of the current block, those that were begun.
        episodes: begun in this stay; a tour counts as one.
        steps: of those that have ended.
        level: episodes of the stream that had begun before the current block.
    """

    number: int
    blocks: int = 0
    taken: int = 0
    episodes: int = 0
    steps: int = 0
    level: int = 0


_NUMBERS = tuple(field.name for field in fields(_Visit))


class EpisodeStream(EpisodeSampler):
    """Draws train episodes from a few houses, which stay for a while, and prepares the next ones in advance.

    The houses follow a random order in which each comes once before any comes again. Of each, blocks of
    episodes are drawn in random order, used up before the house leaves; the next stay goes on with the next
    block. What is drawn depends on the seed, the houses and the steps of the episodes that ended alone:
    neither on the number of prefetchers nor on who is faster.

    A house that cannot be prepared (no room for episodes, a broken file) is left out, logged, and named in
    `dropped`.

    Args:
        recipe: makes the episodes: a recipe, whose train split is drawn; episodes of a train split or of a
            file; or blocks of your own.
        houses: scene ids to draw from; None for all.
        stay: how long they stay, and how many at a time.
        rank: of this process among `world_size`, 0 first.
        world_size: processes that share the houses: each has every `world_size`-th, and no other.
        curriculum: which episodes of a block are drawn; all by default.
        seed: of the orders and first blocks, until `restart`.
        prefetchers: processes of low priority that open houses and make their episodes in advance, at most
            `stay.houses` at a time; 0 for none. They start when the first house has been used for a while.

    Attributes:
        dropped: scene id -> reason, of houses that were left out.

    Raises InputError without episodes or with more processes than houses, UnknownNameError for a house of
    another set.
    """

    def __init__(
        self,
        recipe: EpisodeRecipe | EpisodeDataset | Sequence[Episode] | HouseBlocks,
        houses: Sequence[str] | None = None,
        stay: Stay = Stay(),
        rank: int = 0,
        world_size: int = 1,
        curriculum: Curriculum = Curriculum(),
        seed: int = 0,
        prefetchers: int = 1,
    ) -> None:
        self._blocks = find_blocks(recipe)
        chosen = self._blocks.houses if houses is None else tuple(houses)
        for house in chosen if houses is not None else ():
            require_name("house", house, self._blocks.houses)
        if not 0 <= rank < world_size or prefetchers < 0:
            raise InputError(
                f"expected a rank within 0..world_size - 1 and 0 prefetchers or more, got rank={rank}, "
                f"world_size={world_size}, prefetchers={prefetchers}"
            )
        if not chosen or world_size > len(chosen):
            raise InputError(
                f"expected at least one house for each of {world_size} processes, got {len(chosen)} houses; "
                "name a split with episodes, or use fewer processes"
            )
        self.houses = chosen[rank::world_size]
        self.dropped: dict[str, str] = {}
        self._stay, self._curriculum, self._rank = stay, curriculum, rank
        self._resident = min(stay.houses, len(self.houses))
        body = self._blocks.embodiment
        self._worlds = None if body is None else WorldCache(body)
        self._count = prefetchers
        self._prefetchers: Prefetchers | None = None
        self._waiting: dict[tuple[int, int], Future[Groups | None]] = {}
        self._begin(seed)

    @property
    def scenes(self) -> tuple[str, ...]:
        """Ids of the houses that are drawn from now."""
        return tuple(self._house(visit.number) for visit in self._visits)

    def open_in(self, worlds: WorldCache) -> None:
        """See EpisodeSampler."""
        self._worlds = worlds

    def draw(self, generator: np.random.Generator) -> tuple[Episode, ...]:
        place = int(generator.integers(self._resident))
        order: Groups = ()
        while not order:
            visit = self._visits[place]
            order = self._order(visit)
            if visit.taken >= len(order):
                self._turn_over(place)
                order = ()
        group = order[visit.taken]
        visit.taken += 1
        visit.episodes += 1
        self._drawn += 1
        self._look_ahead()
        return group

    def restart(self, generator: np.random.Generator) -> None:
        self._begin(int(generator.integers(2**63)))

    def finish(self, episode: Episode, steps: int) -> None:
        for visit in self._visits:
            if self._house(visit.number) == episode.scene_id:
                visit.steps += steps
                return

    def state(self) -> SamplerState:
        rows = {name: [vars(visit)[name] for visit in self._visits] for name in _NUMBERS}
        return {"seed": [self._seed], "begun": [self._begun], "drawn": [self._drawn], **rows}

    def restore(self, state: Mapping[str, Sequence[int]]) -> None:
        expected = {name: len(numbers) for name, numbers in self.state().items()}
        got = {name: len(numbers) for name, numbers in state.items()}
        if got != expected:
            raise InputError(
                f"expected a state with as many integers as {expected}, of {self._resident} houses at a "
                f"time, got {got}; choose the sampler of the run that is resumed"
            )
        self._begin(int(state["seed"][0]))
        self._begun, self._drawn = int(state["begun"][0]), int(state["drawn"][0])
        rows = zip(*(state[name] for name in _NUMBERS))
        self._visits = [_Visit(*(int(number) for number in row)) for row in rows]

    def close(self) -> None:
        """End the prefetchers."""
        self._forget()
        if self._prefetchers is not None:
            self._prefetchers.close()
        self._prefetchers = None

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles have prefetchers of their own."""
        return {**vars(self), "_prefetchers": None, "_waiting": {}, "_orders": {}}

    def _begin(self, seed: int) -> None:
        self._forget()
        self._seed, self._begun, self._drawn = seed, 0, 0
        self._turns = Memo(self._draw_turn, 2)
        self._orders: dict[int, tuple[int, Groups]] = {}
        self._visits = [self._begin_visit() for _ in range(self._resident)]

    def _forget(self) -> None:
        """Cancel the jobs that were submitted to prefetchers."""
        for future in self._waiting.values():
            future.cancel()
        self._waiting = {}

    def _house(self, number: int) -> str:
        """House of visit `number`."""
        turn, place = divmod(number, len(self.houses))
        return self.houses[int(self._turns(turn)[place])]

    def _draw_turn(self, turn: int) -> np.ndarray:
        """Order of all houses in turn `turn`."""
        generator = make_generator("episode-stream", self._seed, "turn", self._rank, turn)
        return generator.permutation(len(self.houses))

    def _begin_visit(self) -> _Visit:
        """The next visit, to a house that may turn out to be unfit; raises SceneError when all are."""
        if len(self.dropped) == len(self.houses):
            house, reason = next(iter(self.dropped.items()))
            raise SceneError(
                f"expected a house in which episodes can be drawn, got none among {len(self.houses)}; "
                f"{house}: {reason}"
            )
        self._begun += 1
        return _Visit(self._begun - 1, level=self._drawn)

    def _turn_over(self, place: int) -> None:
        """Go on with the next block of a house whose block is used up, or with the next house."""
        visit = self._visits[place]
        is_over = visit.episodes >= self._stay.episodes or visit.steps >= self._stay.steps
        if is_over or self._house(visit.number) in self.dropped:
            self._orders.pop(visit.number, None)
            self._visits[place] = self._begin_visit()
        else:
            visit.blocks, visit.taken, visit.level = visit.blocks + 1, 0, self._drawn

    def _order(self, visit: _Visit) -> Groups:
        """Drawing order of the visit's current block; empty for an unsuitable house."""
        kept = self._orders.get(visit.number)
        if kept is None or kept[0] != visit.blocks:
            groups = self._make(visit.number, visit.blocks)
            names = ("episode-stream", self._seed, "order", self._rank, visit.number, visit.blocks)
            order = tuple(groups[row] for row in make_generator(*names).permutation(len(groups)))
            if order:
                order = self._curriculum.choose(order, visit.level)
            kept = self._orders[visit.number] = visit.blocks, order
        return kept[1]

    def _number(self, number: int, blocks: int) -> int:
        """Number of the block that visit `number` draws from after `blocks` others."""
        house, turn = self._house(number), number // len(self.houses)
        count = self._blocks.count(house)
        first = make_generator("episode-stream", self._seed, "first block", house).integers(count)
        each = -(-self._stay.episodes // self._blocks.block)
        return int(first + turn * each + blocks) % count

    def _make(self, number: int, blocks: int) -> Groups:
        """The episodes of a block, from a prefetcher or made here; none of a house that is unfit."""
        house = self._house(number)
        if house in self.dropped:
            return ()
        made = self._collect(number, blocks)
        try:
            world = None if self._worlds is None else self._worlds.get(house)
            return self._blocks.make(world, house, self._number(number, blocks)) if made is None else made
        except (SceneError, FileError, UnknownNameError) as error:
            self.dropped[house] = str(error)
            _log.warning("left out %s (%d of %d): %s", house, len(self.dropped), len(self.houses), error)
            return ()

    def _collect(self, number: int, blocks: int) -> Groups | None:
        """A prefetcher's result for a block; None if there is none or it is made in this process."""
        future = self._waiting.pop((number, blocks), None)
        if future is None or future.cancel():
            return None
        try:
            return future.result()
        except PrefetchError as error:
            _log.info("a prefetcher did not prepare %s: %s", self._house(number), error)
            return None

    def _look_ahead(self) -> None:
        """Order what will be needed next, once a quarter of the first stay is used."""
        if self._worlds is None or not self._count:
            return
        if self._prefetchers is None:
            if self._begun == self._resident and not any(map(self._is_used, self._visits)):
                return
            self._prefetchers = Prefetchers(self._count)
        wanted = self._list_coming()
        self._waiting = {key: future for key, future in self._waiting.items() if key in wanted}
        for number, blocks in wanted:
            if (number, blocks) not in self._waiting:
                job = self._job(self._worlds, number, blocks)
                self._waiting[number, blocks] = self._prefetchers.submit(job)

    def _list_coming(self) -> list[tuple[int, int]]:
        """Visits and blocks that will be needed next, at most one for each house that is drawn from."""
        coming = []
        for visit in self._visits:
            _, order = self._orders.get(visit.number, (0, ()))
            left = visit.episodes + len(order) - visit.taken
            if order and left < self._stay.episodes and self._blocks.is_made:
                coming.append((visit.number, visit.blocks + 1))
        next_visits = range(self._begun, self._begun + self._resident)
        coming += [(number, 0) for number in next_visits if self._house(number) not in self.dropped]
        return coming[: self._resident]

    def _is_used(self, visit: _Visit) -> bool:
        return 4 * visit.episodes >= self._stay.episodes or 4 * visit.steps >= self._stay.steps

    def _job(self, worlds: WorldCache, number: int, blocks: int) -> HouseJob:
        house, own = self._house(number), self._blocks if self._blocks.is_made else None
        return HouseJob(worlds.open, worlds.embodiment, house, own, self._number(number, blocks))


TRAIN = "train"
"""The split of a recipe that streams draw from."""


def find_blocks(source: EpisodeRecipe | EpisodeDataset | Sequence[Episode] | HouseBlocks) -> HouseBlocks:
    """The blocks of a recipe's train split, of a data set or a list; raises InputError without episodes."""
    if isinstance(source, HouseBlocks):
        return source
    if isinstance(source, EpisodeRecipe):
        if isinstance(source, TourRecipe):
            return HouseTours(TRAIN)
        is_route = isinstance(source, RouteRecipe)
        source = route_episodes(TRAIN) if is_route else make_split(source, TRAIN, source.default_dataset)
    episodes = source.episodes if isinstance(source, EpisodeDataset) else source
    blocks = episodes.blocks if isinstance(episodes, SceneEpisodes) else None
    return blocks or ListedBlocks(episodes)
