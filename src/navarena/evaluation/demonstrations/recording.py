"""Observations of a run, recorded by executing its logged actions again with sensors.

Frame t holds what was seen before action t, the action, and the reward that it brought; what is seen after
the last action belongs to no frame.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import CheckFailedError
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Batch, BatchAgent, Benchmark, Setup
from navarena.evaluation.records.journal import Row
from navarena.evaluation.running.replay import compare_row, execute_actions, redo_row
from navarena.metrics.trajectory import Trajectory
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Actions, StepResult


@runtime_checkable
class FrameSink(Protocol):
    """Takes the observations of one episode, frame by frame."""

    def add(self, seen: Mapping[str, np.ndarray]) -> None:
        """Add a frame: name -> array (...) of its column's shape and dtype, to be copied if kept."""
        ...


@dataclass
class Demonstration:
    """One episode as it was executed, with K steps.

    Attributes:
        row: of the journal.
        episode: what it was.
        sink: has taken its K frames.
        rewards: K numbers.
        ended: K pairs, whether the task came to its end and whether the step limit cut it off.
        tilts: K radians of the camera, upwards; 0 on graphs.
        trajectory: its poses and actions.
    """

    row: Row
    episode: Episode
    sink: FrameSink
    rewards: list[float] = field(default_factory=list)
    ended: list[tuple[bool, bool]] = field(default_factory=list)
    tilts: list[float] = field(default_factory=list)
    trajectory: Trajectory | None = None

    @property
    def poses(self) -> Float[np.ndarray, "k 5"]:
        """(K, 5) float64: x, y, z (metres, world frame), yaw and tilt (radians) before each action."""
        if self.trajectory is None:
            raise RuntimeError("poses are known when the episode has ended")
        steps = len(self.rewards)
        track = self.trajectory
        columns = (track.positions[:steps], track.yaws[:steps, None], np.array(self.tilts)[:, None])
        return np.concatenate(columns, axis=1)


class _ObservedBatch:
    """A batch that remembers the result of its last step."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self.privileged_sensors = batch.privileged_sensors
        self.result: StepResult | None = None

    @property
    def observations(self) -> Mapping[str, Any]:
        return self._batch.observations

    def start(self, slots: Sequence[int], episodes: Sequence[Episode]) -> object:
        return self._batch.start(slots, episodes)

    def follow(self, slots: Sequence[int], episodes: Sequence[Episode]) -> Bool[np.ndarray, "k"]:
        return self._batch.follow(slots, episodes)

    def oracle_steps(self, slot: int) -> tuple[int, int]:
        return self._batch.oracle_steps(slot)

    def step(self, actions: Actions, active: Bool[np.ndarray, "n"]) -> StepResult:
        self.result = self._batch.step(actions, active)
        return self.result

    def trajectory(self, slot: int) -> Trajectory:
        return self._batch.trajectory(slot)

    def tilt(self, slot: int) -> float:
        is_body = isinstance(self._batch, NavigationBatch)
        return float(self._batch.simulator.bodies.tilts[slot]) if is_body else 0.0  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _ObservedSetup:
    """A setup whose batches remember the results of their steps."""

    setup: Setup

    def make_batch(self, slots: int, sensors: tuple[str, ...], threads: int | None) -> Batch:
        return _ObservedBatch(self.setup.make_batch(slots, sensors, threads or 1))

    def make_agent(self) -> BatchAgent:
        return self.setup.make_agent()


def record_demonstrations(
    benchmark: Benchmark,
    pairs: Sequence[tuple[Row, Episode]],
    sensors: tuple[str, ...],
    make_sink: Callable[[Row], FrameSink],
    exact: bool = True,
) -> Iterator[Demonstration]:
    """Execute the actions of each (row, episode) again, and yield demonstrations as the episodes end.

    Args:
        benchmark: what the rows were made on.
        pairs: rows with their episodes; those of a tour in their order.
        sensors: names of what is observed.
        make_sink: of a row, takes its frames.
        exact: whether every number must be that of the row (see `navarena replay`).

    Raises CheckFailedError where the actions lead to anything else than the row says.
    """
    begun: dict[str, Demonstration] = {}
    episodes = {episode.episode_id: episode for _, episode in pairs}

    def watch(batch: Batch, rows: Mapping[int, Row]) -> None:
        assert isinstance(batch, _ObservedBatch)
        seen: Mapping[str, Any] | None = None
        for slot, row in rows.items():
            one = begun.get(row.episode_id)
            if one is None:
                one = Demonstration(row, episodes[row.episode_id], make_sink(row))
                begun[row.episode_id] = one
            else:
                result = batch.result
                assert result is not None
                one.rewards.append(float(result.reward[slot]))
                one.ended.append((bool(result.terminated[slot]), bool(result.truncated[slot])))
            if len(one.rewards) < len(row.actions):
                seen = batch.observations if seen is None else seen
                one.sink.add({name: np.asarray(seen[name][slot]) for name in sensors})
                one.tilts.append(batch.tilt(slot))

    observed = replace(benchmark, setup=_ObservedSetup(benchmark.setup))
    for row, episode, outcome in execute_actions(observed, pairs, sensors, watch):
        differences = compare_row(row, redo_row(benchmark, row, episode, outcome), outcome, exact)
        if differences:
            raise CheckFailedError(
                f"expected the actions of episode {row.episode_id} to lead to what its row says, got "
                f"{differences[0]}; `navarena replay` checks the whole run"
            )
        one = begun.pop(row.episode_id)
        one.trajectory = outcome.trajectory
        yield one
