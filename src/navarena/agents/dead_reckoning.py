"""Where bodies would be, had they carried out their actions exactly."""

import numpy as np
from jaxtyping import Float, Int64

from navarena.simulation.bodies import Bodies
from navarena.simulation.motion import execute, movement_table
from navarena.simulation.simulator import Simulator


class DeadReckoning:
    """Follows the bodies of a simulator by their actions alone.

    Args:
        simulator: whose bodies walk by discrete actions.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._movements = movement_table(simulator.embodiment, simulator.actions)
        self._bodies = Bodies(simulator.slots)

    def begin(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Start from where the bodies in `slots` (K,) are."""
        true = self._simulator.bodies
        self._bodies.place(slots, true.positions[slots], true.yaws[slots])

    def advance(self, actions: Int64[np.ndarray, "n"]) -> None:
        """Carry out `actions` (N,), indices into those of the simulator, in all slots."""
        simulator, bodies = self._simulator, self._bodies
        directions, distances = np.zeros(len(actions)), np.zeros(len(actions))
        low, high = simulator.embodiment.tilt_range
        movements = self._movements[actions]
        execute(movements, low, high, bodies.yaws, bodies.tilts, directions, distances)
        simulator.stage.table.step_bodies(
            simulator.stage.row,
            bodies.triangles,
            bodies.positions,
            directions,
            distances,
            simulator.embodiment.slides,
            bodies.collided,
        )

    def errors(self, slots: Int64[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
        """(K,) metres between the true bodies in `slots` (K,) and these."""
        off = self._simulator.positions[slots] - self._bodies.positions[slots]
        return np.asarray(np.linalg.norm(off, axis=1))
