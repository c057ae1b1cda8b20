"""A navigation graph: places of one scan, and which of them are joined."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import SceneError, unknown_name

SHORTEST_EDGE = 1e-9
"""Metres given to an edge between two places that coincide; sparse matrices drop zeros."""


@dataclass(frozen=True, eq=False)
class NavGraph:
    """Places (V) of one scan and the undirected edges (E) between them.

    Attributes:
        scan: id of the scan, such as "17DRP5sb8fy".
        viewpoints: id of each place, V of them.
        positions: (V, 3) float64 metres, world frame: where the camera stands.
        edges: (E, 2) int64 indices of places, lower first, sorted.
        camera_heights: (V,) float64 metres of the camera above the floor.
    """

    scan: str
    viewpoints: tuple[str, ...]
    positions: Float[np.ndarray, "v 3"]
    edges: Int[np.ndarray, "e 2"]
    camera_heights: Float[np.ndarray, "v"]

    def __post_init__(self) -> None:
        if len(set(self.viewpoints)) != len(self.viewpoints):
            raise SceneError(f"expected each viewpoint of graph {self.scan!r} once, got one twice")
        if not np.isfinite(self.positions).all():
            row = int(np.argwhere(~np.isfinite(self.positions))[0, 0])
            raise SceneError(
                f"expected finite positions in graph {self.scan!r}, got {self.positions[row]} "
                f"at viewpoint {self.viewpoints[row]}"
            )

    def __len__(self) -> int:
        return len(self.viewpoints)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {viewpoint: row for row, viewpoint in enumerate(self.viewpoints)}

    def __contains__(self, viewpoint: object) -> bool:
        return viewpoint in self._rows

    def index(self, viewpoint: str) -> int:
        """Row of a viewpoint; raises UnknownNameError, naming the scan, when it is not in the graph."""
        row = self._rows.get(viewpoint)
        if row is None:
            raise unknown_name(f"viewpoint of scan {self.scan}", viewpoint, self.viewpoints)
        return row

    def indices(self, viewpoints: Sequence[str]) -> Int[np.ndarray, "k"]:
        """(K,) int64 rows of K viewpoint ids; raises UnknownNameError as `index` does."""
        rows = self._rows
        try:
            return np.array([rows[viewpoint] for viewpoint in viewpoints], np.int64)
        except KeyError as error:
            raise unknown_name(f"viewpoint of scan {self.scan}", error.args[0], self.viewpoints) from None

    @cached_property
    def lengths(self) -> Float[np.ndarray, "e"]:
        """(E,) float64 metres: length of each edge, straight in 3-D."""
        a, b = self.positions[self.edges[:, 0]], self.positions[self.edges[:, 1]]
        return np.linalg.norm(a - b, axis=1)

    @cached_property
    def _shortest(self) -> tuple[np.ndarray, np.ndarray]:
        size, edges = len(self), self.edges
        weights = np.maximum(self.lengths, SHORTEST_EDGE)
        from scipy.sparse import csr_array  # SciPy's graphs: slow to import, and needed for few runs
        from scipy.sparse.csgraph import dijkstra

        matrix = csr_array((weights, (edges[:, 0], edges[:, 1])), shape=(size, size))
        distances, before = dijkstra(matrix, directed=False, return_predecessors=True)
        # One matrix serves both directions: the last bits of a sum depend on where it began.
        return np.minimum(distances, distances.T), before

    @property
    def distances(self) -> Float[np.ndarray, "v v"]:
        """(V, V) float64 metres along the edges between all pairs; infinite where there is no path."""
        return self._shortest[0]

    @property
    def next_places(self) -> Int[np.ndarray, "v v"]:
        """(V, V) int: [a, b] is the place after a on a shortest path to b; a itself at b; -1 without one."""
        nearer = self._shortest[1].T.copy()  # the predecessor of a on the path from b
        nearer[nearer < 0] = -1
        np.fill_diagonal(nearer, np.arange(len(self)))
        return nearer

    def shortest_path(self, start: int, goal: int) -> Int[np.ndarray, "k"]:
        """(K,) int64 indices of places from `start` to `goal`, both included; (0,) without a path."""
        if start != goal and self._shortest[1][goal, start] < 0:
            return np.zeros(0, np.int64)
        path = [start]
        while path[-1] != goal:
            path.append(int(self._shortest[1][goal, path[-1]]))
        return np.array(path, np.int64)

    @cached_property
    def neighbors(self) -> tuple[Int[np.ndarray, "d"], ...]:
        """For each place, (D,) int64 indices of the places joined to it, ascending."""
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        both = both[np.lexsort((both[:, 1], both[:, 0]))]
        borders = np.searchsorted(both[:, 0], np.arange(len(self) + 1))
        return tuple(both[a:b, 1] for a, b in pairwise(borders))

    def is_edge(self, first: int, second: int) -> bool:
        """Whether two places, by index, are joined."""
        return bool((self.neighbors[first] == second).any())

    @cached_property
    def components(self) -> Int[np.ndarray, "v"]:
        """(V,) int: index of the connected component of each place."""
        size, edges = len(self), self.edges
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        matrix = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(size, size))
        return np.asarray(connected_components(matrix, directed=False)[1])
