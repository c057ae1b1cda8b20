"""Records the steps of each slot for its Trajectory."""

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.metrics.trajectory import BodyRates, ShortestPath, Trajectory
from navarena.simulation.bodies import Bodies
from navarena.tasks.task import Actions, TaskState


class Recorder:
    """Poses, actions, collisions and distances of N slots.

    Args:
        slots: N.
        max_steps: most actions of an episode.
        columns: numbers of a continuous action; None when actions are indices.
    """

    def __init__(self, slots: int, max_steps: int, columns: int | None = None) -> None:
        rows = max_steps + 1
        self._positions = np.zeros((slots, rows, 3))
        self._yaws = np.zeros((slots, rows))
        self._distances = np.zeros((slots, rows))
        self._actions: np.ndarray = np.zeros((slots, max_steps), np.int64)
        if columns is not None:
            self._actions = np.zeros((slots, max_steps, columns), np.float64)
        self._collided = np.zeros((slots, max_steps), bool)
        self._steps = np.zeros(slots, np.int64)

    def begin(self, slots: Int64[np.ndarray, "k"], bodies: Bodies, state: TaskState) -> None:
        """Start new records in `slots` (K,) at the present poses."""
        self._steps[slots] = 0
        self._write_poses(slots, bodies, state)

    def record(
        self,
        active: Bool[np.ndarray, "n"],
        actions: Actions,
        bodies: Bodies,
        state: TaskState,
    ) -> None:
        """Append the step that the `active` slots (N,) have just made by `actions` (N,) or (N, K)."""
        slots = active.nonzero()[0]
        steps = self._steps[slots]
        self._actions[slots, steps] = actions[slots]
        self._collided[slots, steps] = bodies.collided[slots]
        self._steps[slots] = steps + 1
        self._write_poses(slots, bodies, state)

    def _write_poses(self, slots: Int64[np.ndarray, "k"], bodies: Bodies, state: TaskState) -> None:
        steps = self._steps[slots]
        self._positions[slots, steps] = bodies.positions[slots]
        self._yaws[slots, steps] = bodies.yaws[slots]
        self._distances[slots, steps] = state.distance[slots]

    def start(self, slot: int) -> tuple[Float[np.ndarray, "3"], float]:
        """(3,) metres and radians, world frame: where the episode of `slot` began."""
        return self._positions[slot, 0].copy(), float(self._yaws[slot, 0])

    def trajectory(
        self,
        slot: int,
        state: TaskState,
        success_distance: float,
        rates: BodyRates | None = None,
        shortest: ShortestPath | None = None,
    ) -> Trajectory:
        """A copy of the trajectory in `slot` since its episode began; see Trajectory for the arguments."""
        steps = int(self._steps[slot])
        return Trajectory(
            positions=self._positions[slot, : steps + 1].copy(),
            yaws=self._yaws[slot, : steps + 1].copy(),
            actions=self._actions[slot, :steps].copy(),
            collided=self._collided[slot, :steps].copy(),
            distance_to_goal=self._distances[slot, : steps + 1].copy(),
            start_distance=float(state.start_distance[slot]),
            stopped=bool(state.stopped[slot]),
            success_distance=success_distance,
            rates=rates,
            shortest=shortest,
        )
