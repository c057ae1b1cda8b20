"""The outline of the walkable floor, from the triangles of a navmesh, and how an SVG writes it."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int32

from navarena.core.arrays import Points, Triangles

FLOOR_MARGIN = 1.0
"""Metres above and below a path within which floor belongs to it: more than a step, less than a storey."""


def select_floor(
    vertices: Points, triangles: Triangles, lowest: float, highest: float
) -> Bool[np.ndarray, "t"]:
    """(T,) which triangles reach into the storeys between two heights (world y, metres)."""
    heights = vertices[triangles, 1]
    return (heights.max(1) >= lowest - FLOOR_MARGIN) & (heights.min(1) <= highest + FLOOR_MARGIN)


def trace_outlines(
    vertices: Points,
    triangles: Triangles,
    neighbors: Int32[np.ndarray, "t 3"],
    selected: Bool[np.ndarray, "t"],
) -> list[Float[np.ndarray, "_ 2"]]:
    """Closed outlines (K, 2) of the selected triangles in the plan: world x and z, metres.

    Outer outlines and holes run in opposite senses, so that a non-zero fill draws the floor.

    Args:
        vertices: (V, 3) metres, world frame.
        triangles: (T, 3) all of one sense.
        neighbors: (T, 3) triangle across the edge from corner k to corner k + 1; -1 at a border.
        selected: (T,) the triangles to draw.
    """
    inside = np.append(selected, False)
    border = selected[:, None] & ~inside[neighbors]
    following: dict[int, list[int]] = defaultdict(list)
    for triangle, corner in np.argwhere(border):
        first = int(triangles[triangle, corner])
        following[first].append(int(triangles[triangle, (corner + 1) % 3]))
    outlines = []
    for start in list(following):
        while following[start]:
            loop = _follow(following, start)
            if len(loop) >= 3:
                outlines.append(vertices[loop][:, [0, 2]])
    return outlines


def write_points(points: Float[np.ndarray, "k 2"]) -> str:
    """Points (K, 2), metres, as an SVG's `points` and `d` write them: in centimetres."""
    return " ".join(f"{x:.2f},{z:.2f}" for x, z in points)


def write_outlines(outlines: Sequence[Float[np.ndarray, "_ 2"]]) -> str:
    """The `d` of an SVG path along closed outlines (K, 2), metres."""
    return "".join(f"M{write_points(outline)}Z" for outline in outlines)


def _follow(following: dict[int, list[int]], start: int) -> list[int]:
    """Take border edges from `start` until they lead back to it."""
    loop, vertex = [start], following[start].pop()
    while vertex != start and following[vertex]:
        loop.append(vertex)
        vertex = following[vertex].pop()
    return loop
