"""Runs an agent over tours, on navigation graphs or in continuous scenes: one loop for both.

What differs between them is a TourSource: which batch moves the bodies, and how a finished episode is
written down. `GraphTours` and `HouseTours` are the two.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Bool, Int

from navarena.agents.agent import Agent, Boundary, Start
from navarena.core.errors import InputError


@runtime_checkable
class TourEpisode(Protocol):
    """What the loop asks of an episode."""

    @property
    def episode_id(self) -> str:
        """Unique among the tours."""

    @property
    def scene_id(self) -> str:
        """Where it takes place."""


@runtime_checkable
class AnyTour(Protocol):
    """What the loop asks of a tour."""

    @property
    def tour_id(self) -> str:
        """Unique among the tours."""

    @property
    def scene_id(self) -> str:
        """Where it takes place."""

    @property
    def episodes(self) -> Sequence[TourEpisode]:
        """At least one."""


@runtime_checkable
class EndedEpisode(Protocol):
    """What the loop asks of a record."""

    @property
    def episode_id(self) -> str:
        """Whose record it is."""


@runtime_checkable
class TourStepLike(Protocol):
    """What the loop asks of a step."""

    @property
    def began(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool: the next episode of a tour begins."""


TourT = TypeVar("TourT", bound=AnyTour)
RecordT = TypeVar("RecordT", bound=EndedEpisode)
TourT_contra = TypeVar("TourT_contra", contravariant=True)
RecordT_co = TypeVar("RecordT_co", covariant=True)


@runtime_checkable
class ToursBatch(Protocol[TourT_contra, RecordT_co]):
    """N tours side by side, as `GraphBatch` and `TourBatch` run them."""

    @property
    def running(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool: slots whose tour has begun and not ended."""

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...), shapes and units by the sensors' specs."""

    def episode(self, slot: int) -> TourEpisode:
        """The current episode in `slot`."""

    def start(self, slots: Sequence[int], tours: Sequence[TourT_contra]) -> None:
        """Begin tours."""

    def step(self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> TourStepLike:
        """One action of `actions` (N,) in each `active` (N,) slot."""

    def take_records(self) -> Sequence[RecordT_co]:
        """Agent phases that have ended since the last call."""


class TourSource(ABC, Generic[TourT, RecordT]):
    """Tours to be run, and what runs them.

    Attributes:
        tours: each is run once, memory kept within it.
        slots: tours side by side, when nobody says otherwise; results do not depend on it.
    """

    tours: Sequence[TourT]
    slots: int

    @abstractmethod
    def open(self, agent: Agent, slots: int) -> ToursBatch[TourT, RecordT]:
        """A batch that observes what `agent` wants, with the agent attached to it."""

    @abstractmethod
    def save(self, record: RecordT) -> Any:
        """`record` as what JSON can hold; `restore` makes an equal one of it."""

    @abstractmethod
    def restore(self, saved: bytes) -> RecordT:
        """The record of which `saved` is the JSON; raises msgspec.MsgspecError for anything else."""


@runtime_checkable
class KeepsTours(Protocol):
    """Where finished tours go, and come from when a run is resumed (see TourJournal)."""

    def restore(self, source: TourSource[TourT, RecordT]) -> dict[str, RecordT]:
        """Episode id -> record of all that were finished before."""

    def append(self, tour: AnyTour, records: Sequence[Any]) -> None:
        """Keep one that has just been finished, as its source saves it."""


def run_tours(
    agent: Agent,
    source: TourSource[TourT, RecordT],
    slots: int | None = None,
    seed: int = 0,
    journal: KeepsTours | None = None,
    advance: Callable[[int], object] = lambda ended: None,
) -> dict[str, RecordT]:
    """Let `agent` run every tour once; agent phases only are kept.

    Args:
        agent: one for all slots.
        source: the tours.
        slots: tours side by side; None for the source's own number.
        seed: of the agent's streams.
        journal: keeps finished tours; those that it holds already are not run again.
        advance: called with the number of episodes that have just ended.

    Returns:
        Episode id -> record, in the order of the tours. Every episode is there.

    Raises InputError for an episode that occurs twice.
    """
    order = [episode.episode_id for tour in source.tours for episode in tour.episodes]
    if len(set(order)) != len(order):
        twice = next(name for name in order if order.count(name) > 1)
        raise InputError(f"expected each episode once in the tours, got {twice!r} twice")
    records: dict[str, RecordT] = {} if journal is None else journal.restore(source)
    advance(len(records))
    left = [tour for tour in source.tours if tour.episodes[0].episode_id not in records]
    if left:
        batch = source.open(agent, min(slots or source.slots, len(left)))
        _run_batch(agent, batch, left, seed, journal, source, records, advance)
    return {name: records[name] for name in order}


def _run_batch(
    agent: Agent,
    batch: ToursBatch[TourT, RecordT],
    tours: Sequence[TourT],
    seed: int,
    journal: KeepsTours | None,
    source: TourSource[TourT, RecordT],
    records: dict[str, RecordT],
    advance: Callable[[int], object],
) -> None:
    """Run `tours` in `batch`, and add a record of each episode to `records`."""
    waiting = deque(tours)
    on_the_way: dict[int, TourT] = {}
    while waiting or batch.running.any():
        free = np.flatnonzero(~batch.running)[: len(waiting)].tolist()
        if free:
            chosen = [waiting.popleft() for _ in free]
            batch.start(free, chosen)
            agent.reset(
                [_tour_start(slot, tour, on_the_way.get(slot), seed) for slot, tour in zip(free, chosen)]
            )
            on_the_way.update(zip(free, chosen))
        active = batch.running
        step = batch.step(np.asarray(agent.act(batch.observations, active)), active)
        ended = batch.take_records()
        records.update((record.episode_id, record) for record in ended)
        if ended:
            advance(len(ended))
        if journal is not None:
            for slot in np.flatnonzero(active & ~batch.running).tolist():
                tour = on_the_way[slot]
                journal.append(tour, [source.save(records[one.episode_id]) for one in tour.episodes])
        if step.began.any():
            agent.reset([_episode_start(batch, slot, seed) for slot in np.flatnonzero(step.began).tolist()])


def _tour_start(slot: int, tour: AnyTour, last: AnyTour | None, seed: int) -> Start:
    same_scene = last is not None and last.scene_id == tour.scene_id
    boundary = Boundary.TOUR if same_scene else Boundary.SCENE
    return Start(slot, tour.episodes[0].episode_id, tour.scene_id, boundary, seed)


def _episode_start(batch: ToursBatch[Any, Any], slot: int, seed: int) -> Start:
    episode = batch.episode(slot)
    return Start(slot, episode.episode_id, episode.scene_id, Boundary.EPISODE, seed)
