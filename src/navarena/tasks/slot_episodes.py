"""Sequence of the episodes that environments run, and the infos about them."""

import pickle
from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from jaxtyping import Bool

from navarena.core.errors import ActionError, InputError
from navarena.episodes.episode import Episode
from navarena.episodes.route_sets import list_houses
from navarena.episodes.sampler import EpisodeSampler, MakeSampler, UniformSampler
from navarena.episodes.stream import TRAIN, EpisodeStream
from navarena.metrics.catalog import choose_metrics, compute_metrics, reads_path
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_task
from navarena.tasks.sources import Batch, load_blocks, load_task_episodes
from navarena.tasks.task import Phase, StepResult, Task, TaskRules, find_metrics
from navarena.tasks.user_files import NO_SOURCES, Sources


def find_task(task: str | TaskRules) -> TaskRules:
    """The task of a protocol id, or the task itself."""
    return task if isinstance(task, TaskRules) else get_task(task)


def find_sampler(
    task: TaskRules,
    split: str,
    dataset: str | None,
    episodes: Sequence[Episode] | None,
    sources: Sources,
    sampler: MakeSampler | None,
) -> EpisodeSampler:
    """A sampler of the given episodes, else of the split's; raises InputError when there are none.

    Without a `sampler`, train splits (a file says which split it holds) are streams (EpisodeStream); other
    episodes are drawn with equal probability.
    """
    if episodes is not None:
        return (sampler or UniformSampler)(episodes)
    if sampler is None and split.startswith(TRAIN) and dataset is None and sources == NO_SOURCES:
        return EpisodeStream(load_blocks(task, split))
    found = load_task_episodes(task, split, dataset, sources)
    default = EpisodeStream if found.split.startswith(TRAIN) else UniformSampler
    return (sampler or default)(found.episodes)


def find_worlds(task: TaskRules, worlds: WorldCache | None) -> WorldCache | None:
    """World cache of a task: `worlds`, else a new one; None on graphs."""
    return WorldCache(task.embodiment) if worlds is None and isinstance(task, Task) else worlds


def find_scans(
    task: TaskRules, split: str, episodes: Sequence[Episode] | None, sources: Sources
) -> tuple[str, ...] | None:
    """Houses of a batch on their graphs: of the splits that R2R has, of `split` and of a list of `episodes`.

    None elsewhere.
    """
    if isinstance(task, Task) or sources.scenes is not None:
        return None
    listed = [one.scene_id for one in episodes] if isinstance(episodes, list | tuple) else []
    return tuple(dict.fromkeys([*list_houses(split), *listed]))


class SlotEpisodes:
    """The episodes of N slots: tours or single episodes from a sampler, one after the other.

    Args:
        batch: which runs them.
        sampler: from which they are drawn.
        worlds: of the batch, in which the sampler opens what it prepares in advance.
        metrics: names of what is computed when an episode ends; None for the protocol's. Raises
            UnknownNameError.
    """

    def __init__(
        self,
        batch: Batch,
        sampler: EpisodeSampler,
        worlds: WorldCache | None = None,
        metrics: Sequence[str] | None = None,
    ) -> None:
        self._batch, self._sampler = batch, sampler
        self._metrics = None if metrics is None else choose_metrics(metrics)
        if worlds is not None:
            sampler.open_in(worlds)
        self._rest: list[deque[Episode]] = [deque() for _ in range(batch.slots)]
        self._is_begun = self._is_closed = False

    def close(self) -> None:
        """End for good what runs, and the processes of the sampler."""
        self._is_closed = True
        self._sampler.close()

    def require_open(self) -> None:
        """Raise ActionError after `close`."""
        if self._is_closed:
            raise ActionError("expected an open environment, got a closed one; make another")

    def restart(self, generator: np.random.Generator, is_seeded: bool) -> None:
        """Abort running episodes; the sampler restarts after seeding and at the first call."""
        for slot in np.flatnonzero(self._batch.running).tolist():
            self._finish(slot)
        if is_seeded or not self._is_begun:
            self._sampler.restart(generator)
        self._is_begun = True

    def draw(self, generator: np.random.Generator) -> Sequence[Episode]:
        """The next tour or episode."""
        return self._sampler.draw(generator)

    def start(self, slots: Sequence[int], tours: Sequence[Sequence[Episode]]) -> None:
        """Begin `tours` (K), or single episodes, in `slots` (K).

        Raises FileError and InputError as the batch.
        """
        for slot, tour in zip(slots, tours):
            self._rest[slot] = deque(tour)
        self._batch.start(slots, [self._rest[slot].popleft() for slot in slots])

    def follow(
        self, result: StepResult
    ) -> tuple[dict[int, dict[str, Any]], Bool[np.ndarray, "n"], Bool[np.ndarray, "n"]]:
        """Continue tours whose episode ended in the step with this `result`.

        Returns what `describe_end` says of ended episodes, by slot, and (N,) bool, terminated and truncated;
        a tour ends with its last episode.
        """
        ends = {}
        for slot in np.flatnonzero(result.terminated | result.truncated).tolist():
            ends[slot] = describe_end(self._batch, slot, self._metrics)
            self._finish(slot)
        if not ends:
            return ends, result.terminated, result.truncated
        going_on = [slot for slot in ends if self._rest[slot]]
        self._batch.follow(going_on, [self._rest[slot].popleft() for slot in going_on])
        terminated, truncated = result.terminated.copy(), result.truncated.copy()
        terminated[going_on] = truncated[going_on] = False
        return ends, terminated, truncated

    def _finish(self, slot: int) -> None:
        self._sampler.finish(self._batch.episode(slot), int(self._batch.state.steps[slot]))

    def save_state(self, more: object) -> bytes:
        """State of the batch, its tours and the sampler, and `more`, as a pickle."""
        own = self._batch.save_state(), self._rest, self._sampler.state(), self._is_begun
        return pickle.dumps((own, more))

    def restore_state(self, saved: bytes) -> Any:
        """Restore `saved`; returns its `more`.

        Raises InputError for a state of another sampler, and what opening a scene raises.
        """
        (batch, rest, sampler, is_begun), more = pickle.loads(saved)
        self._sampler.restore(sampler)
        self._batch.restore_state(batch)
        self._rest, self._is_begun = rest, is_begun
        return more


class SlotGenerators:
    """The generators of N environments; there are none before the first seeding.

    Args:
        count: N.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._generators: list[np.random.Generator] = []

    def __getitem__(self, slot: int) -> np.random.Generator:
        return self._generators[slot]

    def seed(self, seed: int | Sequence[int | None] | None) -> None:
        """Seed: s stands for s, s + 1, ..., s + N - 1; a sequence holds one seed per environment.

        None keeps a generator that is there, and otherwise makes an unforeseeable one. Raises InputError
        for a sequence of another length.
        """
        if isinstance(seed, int | np.integer):
            seeds: Sequence[int | None] = [int(seed) + slot for slot in range(self._count)]
        else:
            seeds = [None] * self._count if seed is None else list(seed)
        if len(seeds) != self._count:
            raise InputError(f"expected {self._count} seeds, one for each environment, got {len(seeds)}")
        self._generators = [
            self._generators[slot] if one is None and self._generators else seeding.np_random(one)[0]
            for slot, one in enumerate(seeds)
        ]

    def require_seeded(self, what: str) -> None:
        """Raise ActionError before the first seeding; `what` runs in every environment."""
        if not self._generators:
            raise ActionError(f"expected a running {what} in every environment, got a step before reset")

    def save_state(self) -> list[np.random.Generator]:
        """Copies of the generators, which can be pickled; for `restore_state`."""
        return deepcopy(self._generators)

    def restore_state(self, saved: list[np.random.Generator]) -> None:
        """Draw on as the generators that `save_state` copied."""
        self._generators = deepcopy(saved)


def describe_slot(batch: Batch, slot: int, result: StepResult | None = None) -> dict[str, Any]:
    """The info of one slot, after a start or the step of `result`: what runs there."""
    episode = batch.episode(slot)
    began = result is not None and result.began is not None and bool(result.began[slot])
    info: dict[str, Any] = {"episode_id": episode.episode_id, "scene_id": episode.scene_id, "began": began}
    if episode.tour_id:
        phase = Phase(int(batch.state.phase[slot])).name.lower()
        info |= {"tour_id": episode.tour_id, "phase": phase}
    return info


def describe_end(batch: Batch, slot: int, metrics: Sequence[str] | None = None) -> dict[str, Any]:
    """Additional infos of the last step of an episode: its metrics, and on tours its id as "ended".

    metrics: names; None for those of the protocol. Those that an episode with a hidden goal cannot have are
        left out.
    """
    episode = batch.episode(slot)
    ended = {"ended": episode.episode_id} if episode.tour_id else {}
    if metrics is not None and not len(metrics):
        return ended
    names = find_metrics(batch.task, episode)
    if metrics is not None:
        names = tuple(name for name in metrics if names is batch.task.metrics or name in names)
    track = batch.trajectory(slot, reads_path(names))
    return {"metrics": compute_metrics(names, track), **ended}
