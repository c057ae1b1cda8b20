"""Distances that are looked up by the decimetre, as in allenact."""

import numpy as np
from jaxtyping import Float, Int64

from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.simulator import Simulator
from navarena.tasks.task import TaskState

DECIMALS = 1
"""Positions are rounded to so many decimals of a metre (spec 3.3, "Distance cache")."""


class CachedDistances(TaskState):
    """A state whose distances are those of the first position measured in each cell of 0.1 m.

    The original shares its cache among all episodes of a worker, so that a distance depends on what ran
    before; here each episode has its own.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self._cells: list[dict[tuple[float, ...], float]] = [{} for _ in range(slots)]

    def set_goal(self, slot: int, navmesh: NavMesh, places: Float[np.ndarray, "g 3"]) -> None:
        """As of TaskState; forgets what was measured."""
        super().set_goal(slot, navmesh, places)
        self._cells[slot] = {}

    def measure(self, slots: Int64[np.ndarray, "k"], simulator: Simulator) -> None:
        """As of TaskState, to the precision of the cache."""
        super().measure(slots, simulator)
        cells = np.round(simulator.positions[slots], DECIMALS) + 0.0
        for slot, cell in zip(slots.tolist(), cells.tolist()):
            self.distance[slot] = self._cells[slot].setdefault(tuple(cell), float(self.distance[slot]))
