"""Which frontier a body goes to next: the nearest, with a preference for the one before."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.mapping.place_graph import carry
from navarena.mapping.terrain import Frontiers, Reach, Terrain, find_frontiers


@dataclass(frozen=True)
class FrontierSettings:
    """Settings of the choice of frontiers.

    Attributes:
        min_cells: least cells of a frontier; the next number holds when no such frontier is left.
        loyalty: factor of the cost of the frontier chosen before, so that the body does not oscillate between
            two equal ones.
        patience: steps near one frontier, after which it is left alone.
        nearness: metres that are near, for that.
    """

    min_cells: tuple[int, ...] = (8, 4, 2)
    loyalty: float = 0.6
    patience: int = 14
    nearness: float = 0.7


USUAL_FRONTIERS = FrontierSettings()
"""Our choices."""


class FrontierChoice:
    """The frontier that one body goes to, and those that it leaves alone because it was near them for long.

    Args:
        settings: how it chooses.

    Attributes:
        target: (3,) metres, in the frame of the map, the place that was chosen last; None before.
    """

    def __init__(self, settings: FrontierSettings = USUAL_FRONTIERS) -> None:
        self.settings = settings
        self.target: Float[np.ndarray, 3] | None = None
        self._left_alone: list[Float[np.ndarray, 3]] = []
        self._waits = 0

    def begin_anew(self) -> None:
        """Forget all frontiers, after the map was cleared."""
        self._left_alone.clear()
        self.target = None

    def leave_alone(self) -> None:
        """Exclude the frontier that was chosen last, because nothing new was seen for long."""
        if self.target is not None:
            self._left_alone.append(self.target)

    def change_frame(self, frame: Float[np.ndarray, "3"]) -> None:
        """Change the map frame; the previous one has the pose `frame` (3,) in it (see place graphs)."""
        self._left_alone = list(carry(frame, np.array(self._left_alone).reshape(-1, 3)))
        if self.target is not None:
            self.target = carry(frame, self.target[None])[0]

    def find(self, terrain: Terrain, reach: Reach) -> Frontiers:
        """Frontiers worth a visit: large ones, else small ones, without those left alone."""
        barred = self._barred(terrain)
        for min_cells in self.settings.min_cells:
            frontiers = find_frontiers(terrain, reach, min_cells, barred)
            if len(frontiers.costs):
                return frontiers
        return frontiers

    def choose(
        self, terrain: Terrain, frontiers: Frontiers, position: Float[np.ndarray, "3"]
    ) -> Int64[np.ndarray, "2"]:
        """(2,) row and column of the cell to go to: the cheapest of `frontiers`, at least one.

        Once for each step of the body, which stands at `position` (3,) metres.
        """
        costs, one = frontiers.costs.astype(float), self.settings
        if self.target is not None:
            places = terrain.grid.centers_of(frontiers.cells)
            apart = np.hypot(places[:, 0] - self.target[0], places[:, 2] - self.target[2])
            if apart.min() < one.nearness:
                costs[apart.argmin()] *= one.loyalty
        cell: Int64[np.ndarray, 2] = frontiers.cells[np.argmin(costs)]
        self.target = terrain.grid.centers_of(cell)
        self._waits = self._waits + 1 if self.is_near(position) else 0
        if self._waits > one.patience:
            self.leave_alone()
            self._waits = 0
        return cell

    def is_near(self, position: Float[np.ndarray, "3"]) -> bool:
        """Whether `position` (3,) metres is near the frontier that was chosen last."""
        if self.target is None:
            return False
        return math.hypot(*(self.target - position)[[0, 2]]) < self.settings.nearness

    def _barred(self, terrain: Terrain) -> Bool[np.ndarray, "a b"]:
        """(A, B) bool: cells around the frontiers that were left alone."""
        barred = np.zeros(terrain.states.shape, bool)
        reach = math.ceil(0.5 / terrain.grid.cell)
        for place in self._left_alone:
            row, column = terrain.grid.cells_of(place).tolist()
            top, left = max(0, row - reach), max(0, column - reach)
            barred[top : max(0, row + reach + 1), left : max(0, column + reach + 1)] = True
        return barred
