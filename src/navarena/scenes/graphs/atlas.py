"""Many navigation graphs in flat arrays, so that one call serves a batch spread over scans.

A *node* is a place of any scan: the scan's places follow each other, scan after scan.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.errors import InputError, unknown_name
from navarena.scenes.graphs.candidates import MAX_CANDIDATES, Candidates, build_candidates
from navarena.scenes.graphs.graph import NavGraph

Nodes = Int[np.ndarray, "..."] | np.integer | int
"""Node numbers, one or an array of them."""


class GraphAtlas:
    """The graphs of some scans, side by side.

    Args:
        graphs: one of each scan.
        columns: largest number of neighbours of a place.

    Attributes:
        graphs: by scan.
        candidates: of all T nodes; `places` hold node numbers.
        positions: (T, 3) float64 metres, world frame.
        scan_of_node: (T,) int64 index into `scans`.
    """

    def __init__(self, graphs: Iterable[NavGraph], columns: int = MAX_CANDIDATES) -> None:
        self.graphs = {graph.scan: graph for graph in graphs}
        if not self.graphs:
            raise InputError("expected at least one navigation graph, got none")
        members = list(self.graphs.values())
        sizes = np.array([len(graph) for graph in members])
        self._first = np.concatenate([[0], np.cumsum(sizes)])
        self._first_of = dict(zip(self.graphs, self._first.tolist()))
        self._sizes = sizes
        self._corner = np.concatenate([[0], np.cumsum(sizes**2)])
        self.scan_of_node = np.repeat(np.arange(len(members)), sizes)
        self.positions = np.concatenate([graph.positions for graph in members])
        self._distances = np.concatenate([graph.distances.ravel() for graph in members])
        self._next = np.concatenate(
            [
                np.where(graph.next_places >= 0, graph.next_places + first, -1).astype(np.int32).ravel()
                for graph, first in zip(members, self._first)
            ]
        )
        self.candidates = _join([build_candidates(graph, columns) for graph in members], self._first)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def scans(self) -> tuple[str, ...]:
        """Ids of the scans, in the order of their nodes."""
        return tuple(self.graphs)

    def require_graph(self, scan: str) -> NavGraph:
        """The graph of a scan; raises UnknownNameError when it is not here."""
        if scan not in self.graphs:
            raise unknown_name("scan", scan, self.graphs)
        return self.graphs[scan]

    def nodes(self, scan: str, viewpoints: Sequence[str]) -> Int[np.ndarray, "k"]:
        """(K,) int64 node numbers of K viewpoints of a scan; raises UnknownNameError for an unknown one."""
        return self.require_graph(scan).indices(viewpoints) + self._first_of[scan]

    def viewpoint(self, node: int) -> str:
        """Id of a node's viewpoint."""
        scan = int(self.scan_of_node[node])
        graph = self.graphs[self.scans[scan]]
        return graph.viewpoints[node - int(self._first[scan])]

    def places(self) -> Iterator[tuple[str, str]]:
        """(scan, viewpoint) of every node, in order."""
        return ((scan, viewpoint) for scan, graph in self.graphs.items() for viewpoint in graph.viewpoints)

    def _cells(self, a: Nodes, b: Nodes) -> Int[np.ndarray, "..."]:
        scan = self.scan_of_node[a]
        first = self._first[scan]
        return np.asarray(self._corner[scan] + (a - first) * self._sizes[scan] + (b - first))

    def distance(self, a: Nodes, b: Nodes) -> Float[np.ndarray, "..."]:
        """(...,) metres along the edges between nodes (...,) of the same scan; infinite without a path.

        Both in the same scan is the caller's promise.
        """
        return np.asarray(self._distances[self._cells(a, b)])

    def next_node(self, a: Nodes, b: Nodes) -> Int[np.ndarray, "..."]:
        """(...,) index of the node after `a` on a shortest path to `b` (same scans); -1 without a path."""
        return np.asarray(self._next[self._cells(a, b)])

    def shortest_path(self, start: int, goal: int) -> Int[np.ndarray, "k"]:
        """(K,) int64 indices of nodes from `start` to `goal`, both included; (0,) without a path."""
        scan = int(self.scan_of_node[start])
        first = int(self._first[scan])
        return self.graphs[self.scans[scan]].shortest_path(start - first, goal - first) + first

    def is_edge(self, a: Int[np.ndarray, "k"], b: Int[np.ndarray, "k"]) -> Bool[np.ndarray, "k"]:
        """(K,) bool: whether nodes are joined."""
        return np.asarray((self.candidates.places[a] == np.asarray(b)[:, None]).any(1))


def _join(tables: Sequence[Candidates], firsts: Int[np.ndarray, "s"]) -> Candidates:
    """One table of all scans, with global node numbers."""
    places = [
        np.where(table.places >= 0, table.places + first, -1).astype(np.int32)
        for table, first in zip(tables, firsts)
    ]
    return Candidates(
        np.concatenate(places),
        np.concatenate([table.headings for table in tables]),
        np.concatenate([table.elevations for table in tables]),
        np.concatenate([table.distances for table in tables]),
        np.concatenate([table.views for table in tables]),
    )
