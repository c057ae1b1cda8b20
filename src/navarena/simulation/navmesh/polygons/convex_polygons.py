"""Triangulation of convex polygons, and their ground pieces cut along the triangles."""

from functools import cache

import numpy as np
from jaxtyping import Float, Int

MIN_PIECE_AREA = 1e-9
"""Square metres of plan area below which a cut piece is dropped."""


def triangulate(ring: Float[np.ndarray, "c 3"]) -> Int[np.ndarray, "m 3"]:
    """(C - 2, 3) index triples that fill a convex polygon, counter-clockwise seen from above.

    Of all triangulations the one whose least angle is greatest, so that vertices on a straight
    side give no flat triangle; flat ones are left out when the polygon allows no other.

    Args:
        ring: (C, 3) metres, the corners in order, in either direction.
    """
    count = len(ring)
    plan = ring[:, [0, 2]]

    def quality(i: int, j: int, k: int) -> float:
        a, b, c = plan[i], plan[j], plan[k]
        sides = [np.linalg.norm(b - a), np.linalg.norm(c - b), np.linalg.norm(a - c)]
        area = abs((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0])
        longest = max(sides)
        return float(area / (longest * longest)) if longest > 0 else 0.0

    @cache
    def best(i: int, k: int) -> tuple[float, tuple[tuple[int, int, int], ...]]:
        """Worst quality and triangles of the best filling of the corners i..k."""
        if k - i < 2:
            return np.inf, ()
        options = []
        for j in range(i + 1, k):
            left, right = best(i, j), best(j, k)
            worst = min(quality(i, j, k), left[0], right[0])
            options.append((worst, (*left[1], (i, j, k), *right[1])))
        return max(options, key=lambda option: option[0])

    rows = np.array(best(0, count - 1)[1], int).reshape(-1, 3)
    area = _plan_area(ring[rows])
    rows[area < 0] = rows[area < 0][:, ::-1]
    return rows[np.abs(area) > MIN_PIECE_AREA]


def cut_ground(ground: Float[np.ndarray, "d 3 3"], triangle: Float[np.ndarray, "3 3"]) -> np.ndarray:
    """(P, 3, 3) parts of the ground triangles that lie over or under `triangle` in the plan.

    The cuts run along the triangle's sides in the plan and keep the heights of the ground, so
    that the parts under the triangles of a polygon add up to its ground.

    Args:
        ground: (D, 3, 3) metres, ground triangles.
        triangle: (3, 3) metres, counter-clockwise seen from above.
    """
    parts: list[np.ndarray] = []
    for piece in ground:
        polygon = [np.asarray(corner) for corner in piece]
        for k in range(3):
            polygon = _clip(polygon, triangle[k], triangle[(k + 1) % 3])
        parts.extend(np.stack([polygon[0], polygon[i], polygon[i + 1]]) for i in range(1, len(polygon) - 1))
    if not parts:
        return np.zeros((0, 3, 3))
    cut = np.stack(parts)
    area = _plan_area(cut)
    cut[area < 0] = cut[area < 0][:, ::-1]
    return cut[np.abs(area) > MIN_PIECE_AREA]


def _clip(polygon: list[np.ndarray], a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """The part of a polygon left of the line a b in the plan."""
    sides = [(b[2] - a[2]) * (p[0] - a[0]) - (b[0] - a[0]) * (p[2] - a[2]) for p in polygon]
    kept = []
    for i, here in enumerate(polygon):
        j = (i + 1) % len(polygon)
        if sides[i] >= 0:
            kept.append(here)
        if sides[i] * sides[j] < 0:
            kept.append(here + (polygon[j] - here) * (sides[i] / (sides[i] - sides[j])))
    return kept


def _plan_area(triangles: Float[np.ndarray, "m 3 3"]) -> np.ndarray:
    """(M,) plan areas, positive when counter-clockwise seen from above."""
    edges = triangles[:, 1:] - triangles[:, :1]
    return np.asarray(edges[:, 0, 2] * edges[:, 1, 0] - edges[:, 0, 0] * edges[:, 1, 2]) / 2
