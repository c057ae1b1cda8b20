"""Candidates of each place: the neighbours to go to, and the direction in which each is seen."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int, Int16, Int32

from navarena.core.errors import SceneError
from navarena.scenes.graphs.graph import NavGraph
from navarena.scenes.graphs.panorama import HEADINGS, STEP, bearings, nearest_view, relative_angle

SIMULATOR_ASPECT = 640 / 480
"""Matterport3DSimulator's default camera for features: 640 x 480 pixels, vertical view 60 degrees."""

SIMULATOR_VFOV = np.pi / 3

MAX_CANDIDATES = 14
"""Columns of a candidate table; Matterport3D's busiest place has 13 neighbours."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The neighbours of V places, in C columns; columns beyond the last neighbour hold -1 and zeros.

    The order is that in which the 36 views, taken in turn, first show a neighbour, and within a
    view by angular distance: the order of R2R's candidate lists.

    Attributes:
        places: (V, C) int32 index of the neighbour, -1 for none.
        headings: (V, C) float32 radians, absolute, clockwise from -z.
        elevations: (V, C) float32 radians.
        distances: (V, C) float32 metres, straight.
        views: (V, C) int16 index of the view nearest to the neighbour's direction.
    """

    places: Int32[np.ndarray, "v c"]
    headings: Float32[np.ndarray, "v c"]
    elevations: Float32[np.ndarray, "v c"]
    distances: Float32[np.ndarray, "v c"]
    views: Int16[np.ndarray, "v c"]


def simulator_hfov(vfov: float = SIMULATOR_VFOV, aspect: float = SIMULATOR_ASPECT) -> float:
    """Radians of horizontal view that the simulator reckons with: vfov times width / height.

    A pinhole camera's true value differs; candidates depend on this one (80 degrees by default).
    """
    return vfov * aspect


def navigable_locations(
    graph: NavGraph, place: int, heading: float, elevation: float, hfov: float | None = None
) -> tuple[Int[np.ndarray, "k"], Float[np.ndarray, "k"], Float[np.ndarray, "k"]]:
    """Neighbours of `place` as Matterport3DSimulator lists them after its entry 0, the place itself.

    Args:
        graph: of the scan.
        place: index of the current place.
        heading: radians, clockwise from -z.
        elevation: radians, of the camera.
        hfov: radians; only neighbours within half of it of the heading are listed; None for all.

    Returns:
        places (K,) int64, relative headings (K,) and relative elevations (K,) in radians, by
        ascending sqrt(heading^2 + elevation^2).
    """
    around = graph.neighbors[place]
    h, e, _ = bearings(graph.positions[place], graph.positions[around])
    h, e = relative_angle(h, heading), e - elevation
    seen = np.ones(len(around), bool) if hfov is None else np.cos(h) >= np.cos(hfov / 2)
    order = np.flatnonzero(seen)[np.argsort(np.hypot(h, e)[seen], kind="stable")]
    return around[order], h[order], e[order]


def build_candidates(graph: NavGraph, columns: int = MAX_CANDIDATES) -> Candidates:
    """The neighbours of every place; raises SceneError when one has more than `columns`."""
    size = len(graph)
    places = np.full((size, columns), -1, np.int32)
    headings, elevations, distances = (np.zeros((size, columns), np.float32) for _ in range(3))
    views = np.zeros((size, columns), np.int16)
    for place, around in enumerate(graph.neighbors):
        if len(around) > columns:
            raise SceneError(
                f"expected at most {columns} neighbours, got {len(around)} of viewpoint "
                f"{graph.viewpoints[place]} in scan {graph.scan!r}; choose more candidates"
            )
        h, e, d = bearings(graph.positions[place], graph.positions[around])
        order = _seen_order(h, e)
        row = slice(0, len(around))
        places[place, row] = around[order]
        headings[place, row], elevations[place, row], distances[place, row] = h[order], e[order], d[order]
        views[place, row] = nearest_view(h, e)[order]
    return Candidates(places, headings, elevations, distances, views)


def _seen_order(headings: Float[np.ndarray, "d"], elevations: Float[np.ndarray, "d"]) -> Int[np.ndarray, "d"]:
    """The order in which the views that look down, one after the other, first show each direction.

    Whether a view shows a direction depends on the heading alone, so the first twelve show all.
    """
    relative = relative_angle(headings[:, None], np.arange(HEADINGS) * STEP)
    first = np.argmax(np.cos(relative) >= np.cos(simulator_hfov() / 2), axis=1)
    angle = np.hypot(relative[np.arange(len(first)), first], elevations + STEP)
    return np.lexsort((angle, first))
