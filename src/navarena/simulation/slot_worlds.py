"""The worlds of a simulator's slots, as rows of the tables that kernels read."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int64

from navarena.simulation.navmesh.queries.navmesh_table import NavMeshTable
from navarena.simulation.world import World


class SlotWorlds:
    """The worlds of N slots, without repetition.

    Attributes:
        worlds: those that some slot stands in, and at times some that were just left.
        row: (N,) int64, index into `worlds` of each slot; -1 before the first placement.
        table: the navmeshes of `worlds`; there is none before the first placement.
        version: grows whenever `worlds` changes.
    """

    table: NavMeshTable

    def __init__(self, slots: int) -> None:
        self.worlds: list[World] = []
        self.row = np.full(slots, -1, np.int64)
        self.version = 0

    def assign(self, slots: Int64[np.ndarray, "k"], worlds: Sequence[World]) -> None:
        """Assign `worlds` (K) to `slots` (K,)."""
        if any(world not in self.worlds for world in worlds):
            self._renew(slots, worlds)
        for slot, world in zip(slots, worlds):
            self.row[slot] = self.worlds.index(world)

    def _renew(self, slots: Int64[np.ndarray, "k"], worlds: Sequence[World]) -> None:
        """Keep the worlds of the other slots, add the new ones, and drop the rest."""
        staying = np.ones(len(self.row), bool)
        staying[slots] = False
        kept = [self.worlds[row] for row in np.unique(self.row[staying]) if row >= 0]
        renewed = list(dict.fromkeys([*kept, *worlds]))
        for slot in np.flatnonzero(staying & (self.row >= 0)):
            self.row[slot] = renewed.index(self.worlds[self.row[slot]])
        self.worlds = renewed
        self.table = NavMeshTable([world.navmesh for world in renewed])
        self.version += 1

    def world(self, slot: int) -> World | None:
        """The world of one slot; None before the first placement."""
        return self.worlds[self.row[slot]] if self.row[slot] >= 0 else None

    def geodesic_distance(
        self,
        slots: Int64[np.ndarray, "k"],
        starts: Float[np.ndarray, "k 3"],
        goals: Float[np.ndarray, "k 3"],
    ) -> Float[np.ndarray, "k"]:
        """(K,) metres from `starts` to `goals` in the worlds of `slots`; infinite without a path."""
        return self.table.geodesic_distance(self.row[slots], starts, goals)
