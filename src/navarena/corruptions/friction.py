"""Friction that depends on the floor: the zones that RobustNav wished for (section 3.2)."""

import numpy as np
from jaxtyping import Float, Int64

from navarena.corruptions.corruption import FLOORS, MotionCorruption
from navarena.corruptions.motion_kernels import scale_by_floor

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
"""By severity: the share by which carpet shortens a movement and tiles lengthen it.

Our choice: RobustNav's constant bias shortens or lengthens by 0.17 to 0.6 of a step.
"""

SIGNS = {"": 0.0, "wood": 0.0, "tiles": 1.0, "carpet": -1.0}
"""Direction of the change by floor: wood, and floors of which nothing is known, move as commanded."""


class FrictionZones(MotionCorruption):
    """Walks and turns are too short on carpet and too long on tiles, exact on wood.

    The floor is that of the room under the body before the step.
    """

    reads_floors = True

    def __init__(self, severity: int | None = None, *chosen: str) -> None:
        super().__init__(severity, *chosen)
        self._factors = 1 + self.of_severity(SHARES) * np.array([SIGNS[floor] for floor in FLOORS])

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 0"]:
        """(steps, 0): nothing is random."""
        return np.zeros((steps, 0))

    def change(
        self,
        movements: Float[np.ndarray, "n 4"],
        commanded: Float[np.ndarray, "n 4"],
        drawn: Float[np.ndarray, "n 0"],
        floors: Int64[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        scale_by_floor(movements, self._factors, floors)
        return movements
