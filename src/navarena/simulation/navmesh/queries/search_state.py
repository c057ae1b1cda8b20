"""Search states that grow: a kernel that runs out of room says so and is called again."""

from collections.abc import Callable

import numpy as np

from navarena.core.pointers import AddressTable
from navarena.simulation.navmesh.queries.distance_fields import field_arrays

FIRST_CAPACITY = 2048
"""Windows that a fresh state holds; the longest paths of a furnished house need a few hundred."""


class SearchState:
    """One row of search arrays, for one thread; see `search_arrays` and `distance_fields` for the arrays.

    Args:
        vertex_count, triangle_count: of the largest navmesh that it will serve.
        capacity: windows at first.

    Attributes:
        path: (V + 2, 3) metres, room for the points of one path.
    """

    def __init__(self, vertex_count: int, triangle_count: int, capacity: int = FIRST_CAPACITY) -> None:
        self.vertex_count, self.triangle_count, self.capacity = vertex_count, triangle_count, capacity
        self.path = np.zeros((vertex_count + 2, 3))
        self._make(field_arrays(capacity, vertex_count, triangle_count))

    def _make(self, arrays: tuple[np.ndarray, ...]) -> None:
        self.arrays = arrays
        self._addresses = AddressTable([arrays])
        self.table = self._addresses.table

    def fits(self, vertex_count: int, triangle_count: int) -> bool:
        """Whether navmeshes of that size can be searched with it."""
        return vertex_count <= self.vertex_count and triangle_count <= self.triangle_count

    def grow(self) -> None:
        """Double the capacity and keep the contents."""
        self.capacity *= 2
        larger = field_arrays(self.capacity, self.vertex_count, self.triangle_count)
        for old, new in zip(self.arrays, larger, strict=True):
            new[: len(old)] = old
        self._make(larger)

    def run(self, work: Callable[[np.ndarray], int], count: int) -> None:
        """Call `work(state table)` until it has done all `count` rows, with more room each time."""
        while work(self.table) < count:
            self.grow()
