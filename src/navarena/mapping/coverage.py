"""Coverage: the share of the reachable floor of each storey that bodies have seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError
from navarena.core.geometry import episode_frame
from navarena.mapping.occupancy import OccupancyMaps
from navarena.mapping.storeys import LEVEL, SAMPLES_PER_SQUARE_METRE, STOREY, find_storeys, sample_floor
from navarena.simulation.navmesh.navmesh import NavMesh


@dataclass(frozen=True, eq=False)
class ReachableFloor:
    """The floor that a body can reach, storey by storey; stairs belong to none.

    Attributes:
        heights: (L,) metres, rising, of the storeys.
        points: (K, 3) metres, spread evenly; each stands for `area` square metres.
        storeys: (K,) int64, the storey of each point.
        area: square metres.
    """

    heights: Float[np.ndarray, "l"]
    points: Float[np.ndarray, "k 3"]
    storeys: Int64[np.ndarray, "k"]
    area: float = 1 / SAMPLES_PER_SQUARE_METRE

    def seen_from(self, start: Float[np.ndarray, "3"], yaw: float) -> "ReachableFloor":
        """A copy in the frame of a body that starts at `start` (3,) metres with `yaw` radians."""
        return replace(self, heights=self.heights - start[1], points=episode_frame(self.points, start, yaw))


def find_reachable_floor(navmesh: NavMesh, start: Float[np.ndarray, "3"]) -> ReachableFloor:
    """The storeys that a body can reach from `start` (3,) metres, world frame.

    Raises InputError for a start where no body can stand.
    """
    island = int(navmesh.island(start[None])[0])
    if island < 0:
        raise InputError(f"expected a start on the floor, got {start.tolist()} (metres)")
    points = sample_floor(navmesh, island)
    heights = find_storeys(points)
    apart = np.abs(points[:, 1, None] - heights)
    level = apart.min(1) < LEVEL
    return ReachableFloor(heights, points[level], apart[level].argmin(1))


class Coverage:
    """Coverage of the floors that N bodies can reach; cells stay covered once seen.

    Args:
        floors: one for each body, in the frame of its map.

    Attributes:
        seen: for each body (K,) bool, the points of its floor that it has seen.
    """

    def __init__(self, floors: Sequence[ReachableFloor]) -> None:
        self._floors = list(floors)
        self.seen: list[Bool[np.ndarray, k]] = [np.zeros(len(one.points), bool) for one in floors]

    def restart(self, body: int, floor: ReachableFloor) -> None:
        """Reset the coverage of `body` and set its reachable `floor`."""
        self._floors[body] = floor
        self.seen[body] = np.zeros(len(floor.points), bool)

    def note(self, maps: OccupancyMaps) -> None:
        """Add the free cells of the bodies' maps, on their current layers.

        Raises InputError for maps of another number of bodies.
        """
        if maps.agents != len(self._floors):
            raise InputError(f"expected maps of {len(self._floors)} bodies, got {maps.agents}")
        for body, floor in enumerate(self._floors):
            layer = maps.layer[body]
            here = np.abs(floor.heights - maps.floors[body, layer]) < STOREY / 2
            if not here.any():
                continue
            left = np.flatnonzero((floor.storeys == np.argmax(here)) & ~self.seen[body])
            grid = maps.grid(body)
            cells = grid.cells_of(floor.points[left])
            left, cells = left[grid.contains(cells)], cells[grid.contains(cells)]
            self.seen[body][left] = maps.scores[body, layer, cells[:, 0], cells[:, 1]] < 0

    def shares(self, body: int) -> Float[np.ndarray, "l"]:
        """(L,) share of each storey's floor that `body` has seen, 0 to 1."""
        floor = self._floors[body]
        storeys = len(floor.heights)
        seen = np.bincount(floor.storeys[self.seen[body]], minlength=storeys)
        return np.asarray(seen / np.bincount(floor.storeys, minlength=storeys))

    def areas(self, body: int) -> Float[np.ndarray, "l"]:
        """(L,) square metres of each storey's floor that `body` has seen."""
        floor = self._floors[body]
        seen = np.bincount(floor.storeys[self.seen[body]], minlength=len(floor.heights))
        return np.asarray(seen * floor.area)
