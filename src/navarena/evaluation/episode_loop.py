"""Runs episodes through one batch with one agent, and journals each as it ends.

Every episode is a fresh start for the agent (Boundary.SCENE ends all memory), so that its
outcome depends neither on what ran before it nor on what runs beside it. When the agent
raises while several episodes are in flight, nobody knows whose fault it was: each of them
is run again, alone and with a fresh agent, and only those that raise again are failures.
"""

import math
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Boundary, Start
from navarena.core.errors import ActionError
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.journal import JournalWriter, Row, Status
from navarena.evaluation.traits import find_traits, record_goals
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.trajectory import Trajectory
from navarena.tasks.task import Actions


class EpisodeLoop:
    """One worker's batch and agent.

    Args:
        benchmark: what is evaluated; its setup makes the batch and the agent here.
        slots: episodes side by side.
        seed: of the agent's streams.
        journal: where finished episodes go.
        on_row: called after a row is on the disk.
        before_step: called before every step; may raise to end the loop.
        threads: of the batch; None for all cores.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        slots: int,
        seed: int,
        journal: JournalWriter,
        on_row: Callable[[Row], object],
        before_step: Callable[[], object] = lambda: None,
        threads: int | None = None,
    ) -> None:
        self._benchmark, self._seed = benchmark, seed
        self._journal, self._on_row, self._before_step = journal, on_row, before_step
        self._agent = benchmark.setup.make_agent()
        self._batch = benchmark.setup.make_batch(slots, tuple(self._agent.sensors), threads)
        self._agent.attach(self._batch)
        self._active = np.zeros(slots, bool)
        self._episodes: list[Episode | None] = [None] * slots
        self._suspects: deque[Episode] = deque()

    def run(self, episodes: Iterator[Episode]) -> None:
        """Run everything that `episodes` yields; it is asked whenever slots are free."""
        while True:
            self._fill(episodes)
            if not self._active.any():
                return
            self._before_step()
            self._step()

    def _fill(self, episodes: Iterator[Episode]) -> None:
        """Start episodes in the free slots until something runs or nothing is left."""
        while True:
            if self._suspects:
                if self._active.any():
                    return
                slots, chosen = [0], [self._suspects.popleft()]
            else:
                free = [int(slot) for slot in np.flatnonzero(~self._active)]
                chosen = list(islice(episodes, len(free)))
                slots = free[: len(chosen)]
            if not chosen:
                return
            self._start(slots, chosen)
            if self._active.any():
                return

    def _start(self, slots: Sequence[int], episodes: Sequence[Episode]) -> None:
        self._batch.start(slots, episodes)
        for slot, episode in zip(slots, episodes):
            self._episodes[slot] = episode
            self._active[slot] = True
        starts = [
            Start(slot, episode.episode_id, episode.scene_id, Boundary.SCENE, self._seed)
            for slot, episode in zip(slots, episodes)
        ]
        try:
            self._agent.reset(starts)
        except Exception as error:
            self._blame(error)

    def _step(self) -> None:
        """One action in every running slot."""
        observations = self._batch.observations  # a scene that cannot show them is not the agent's fault
        try:
            chosen = self._agent.act(observations, self._active.copy())
        except Exception as error:
            self._blame(error)
            return
        actions = require_actions(chosen, len(self._active), self._benchmark)
        for slot in np.flatnonzero(self._active & ~find_legal(actions, self._benchmark)):
            legal = describe_legal(self._benchmark)
            self._finish(int(slot), "illegal_action", f"expected {legal}, got {actions[slot]}")
        if not self._active.any():
            return
        actions[~self._active] = 0
        result = self._batch.step(actions, self._active.copy())
        for slot in np.flatnonzero(self._active & (result.terminated | result.truncated)):
            self._finish(int(slot), "ok")

    def _blame(self, error: Exception) -> None:
        """Find out whose fault an exception of the agent is; the agent is replaced by a fresh one."""
        running = [int(slot) for slot in np.flatnonzero(self._active)]
        if len(running) == 1:
            self._finish(running[0], "crashed", format_traceback(error))
        else:
            self._suspects.extend(episode for slot in running if (episode := self._episodes[slot]))
            self._active[:] = False
        self._agent = self._benchmark.setup.make_agent()
        self._agent.attach(self._batch)

    def _finish(self, slot: int, status: Status, problem: str | None = None) -> None:
        """Journal the episode in `slot` and free the slot."""
        episode = self._episodes[slot]
        if episode is None:
            raise RuntimeError(f"slot {slot} ended without an episode")
        row = make_row(self._benchmark, episode, self._batch.trajectory(slot), status, problem)
        self._journal.append(row)
        self._active[slot] = False
        self._on_row(row)


def make_row(
    benchmark: Benchmark,
    episode: Episode,
    trajectory: Trajectory,
    status: Status,
    problem: str | None = None,
) -> Row:
    """The journal's row of a finished episode; `problem` says what the agent did wrong."""
    metrics = compute_metrics(benchmark.metrics, trajectory, failed=status != "ok")
    start = float(trajectory.start_distance)
    return Row(
        identity=str(benchmark.identity),
        episode_id=episode.episode_id,
        scene_id=episode.scene_id,
        status=status,
        steps=len(trajectory.actions),
        start_distance=start if math.isfinite(start) else None,
        actions=trajectory.actions.tolist(),
        metrics={name: value if math.isfinite(value) else None for name, value in metrics.items()},
        traceback=problem,
        traits=find_traits(episode, trajectory),
        goals=record_goals(trajectory),
    )


def require_actions(chosen: object, slots: int, benchmark: Benchmark) -> Actions:
    """What an agent returned, a copy: (N,) int64, or (N, K) float64 of a continuous benchmark.

    Raises ActionError for another shape or for numbers that are not integers: that is a
    mistake of the program, not the failure of an episode.
    """
    array = np.asarray(chosen)
    shape = (slots, len(benchmark.actions)) if benchmark.is_continuous else (slots,)
    if array.shape != shape or array.dtype.kind not in ("iuf" if benchmark.is_continuous else "iu"):
        kind = "rows of numbers" if benchmark.is_continuous else "integer actions"
        raise ActionError(
            f"expected the agent to return {slots} {kind}, shape {shape}, got shape "
            f"{array.shape} of {array.dtype}; mend its act()"
        )
    return array.astype(np.float64 if benchmark.is_continuous else np.int64)


def find_legal(actions: Actions, benchmark: Benchmark) -> Bool[np.ndarray, "n"]:
    """(N,) bool: which of `actions` (N,) or (N, K) the rules know."""
    if benchmark.is_continuous:
        return np.asarray((np.abs(actions) <= 1).all(1))
    return np.asarray((actions >= 0) & (actions < len(benchmark.actions)))


def describe_legal(benchmark: Benchmark) -> str:
    """What `find_legal` asks for, in words."""
    last = len(benchmark.actions) - 1
    return "numbers within [-1, 1]" if benchmark.is_continuous else f"an action from 0 to {last}"


def format_traceback(error: Exception) -> str:
    """The traceback of what an agent raised, without the runner's own frame."""
    inner = error.__traceback__.tb_next if error.__traceback__ else None
    return "".join(traceback.format_exception(type(error), error, inner))
