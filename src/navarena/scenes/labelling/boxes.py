"""Upright boxes around points: as small as a turn about the vertical allows."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.elementary import arctan2

_TIE = 1e-6
"""Share by which a turned box must be smaller than the unturned one to be preferred."""


@dataclass(frozen=True)
class OrientedBox:
    """A box that stands upright.

    Attributes:
        center: x, y, z in metres.
        half_size: half extents in metres along the box's own x, y and z axes.
        yaw: radians, turn about +y, from -pi/4 to pi/4.
    """

    center: tuple[float, float, float]
    half_size: tuple[float, float, float]
    yaw: float


def upright_box(points: Float[np.ndarray, "n 3"]) -> OrientedBox:
    """The upright box of smallest plan area around `points` (N, 3), metres, at least one."""
    points = np.asarray(points, np.float64)
    outline = _outline(points[:, [0, 2]])
    low, high = outline.min(0), outline.max(0)
    best = (float(np.prod(high - low)) * (1 - _TIE), 0.0, low, high)
    for yaw in _edge_yaws(outline):
        turned = outline @ _plan_rotation(yaw)
        below, above = turned.min(0), turned.max(0)
        area = float(np.prod(above - below))
        if area < best[0]:
            best = (area, yaw, below, above)
    _, yaw, below, above = best
    x, z = _plan_rotation(yaw) @ ((below + above) / 2)
    bottom, top = float(points[:, 1].min()), float(points[:, 1].max())
    half = (above - below) / 2
    return OrientedBox(
        (float(x), (bottom + top) / 2, float(z)),
        (float(half[0]), (top - bottom) / 2, float(half[1])),
        float(yaw),
    )


def _plan_rotation(yaw: float) -> Float[np.ndarray, "2 2"]:
    """(x, z) of the world from (x, z) of a box at `yaw`."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, s], [-s, c]])


def _outline(plan: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "k 2"]:
    """The corners of the convex hull in order; of points on one line its two ends."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return plan[ConvexHull(plan).vertices]
    except (QhullError, ValueError):  # fewer than three points, or all on one line
        order = np.lexsort(plan.T[::-1])
        return plan[order[[0, -1]]]


def _edge_yaws(outline: Float[np.ndarray, "k 2"]) -> list[float]:
    """The turns at which a box lies along an edge of the outline: the smallest box is among them."""
    edges = np.roll(outline, -1, axis=0) - outline
    edges = edges[np.linalg.norm(edges, axis=1) > 0]
    yaws = arctan2(-edges[:, 1], edges[:, 0])
    return sorted({float(yaw) for yaw in (yaws + np.pi / 4) % (np.pi / 2) - np.pi / 4})
