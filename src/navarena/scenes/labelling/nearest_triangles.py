# mypy: disable-error-code="no-untyped-def"
"""The nearest triangle to each of many points: a tree of boxes and its kernels.

The tree is complete and binary: node k has the children 2 k + 1 and 2 k + 2, and the last level holds the
leaves, each with the next LEAF_SIZE triangles in Morton order.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.kernels import kernel
from navarena.core.threads import run_in_shares

LEAF_SIZE = 4
STACK_SIZE = 64
"""More than the depth of any tree over less than 2^31 triangles."""


@kernel
def spread_bits(value):
    """The lowest 21 bits of `value` with two zeros between each."""
    value = np.uint64(value) & np.uint64(0x1FFFFF)
    value = (value | (value << np.uint64(32))) & np.uint64(0x1F00000000FFFF)
    value = (value | (value << np.uint64(16))) & np.uint64(0x1F0000FF0000FF)
    value = (value | (value << np.uint64(8))) & np.uint64(0x100F00F00F00F00F)
    value = (value | (value << np.uint64(4))) & np.uint64(0x10C30C30C30C30C3)
    return (value | (value << np.uint64(2))) & np.uint64(0x1249249249249249)


@kernel
def morton_codes(points, low, scale, codes):
    """Write the Morton code of each of `points` (N, 3) in cells of 1 / scale."""
    for i in range(points.shape[0]):
        x = spread_bits(int((points[i, 0] - low[0]) * scale))
        y = spread_bits(int((points[i, 1] - low[1]) * scale))
        z = spread_bits(int((points[i, 2] - low[2]) * scale))
        codes[i] = x | (y << np.uint64(1)) | (z << np.uint64(2))


@kernel
def fill_boxes(corners, boxes):
    """Write the boxes (low x, y, z, high x, y, z) of all nodes; those of empty leaves are inside out."""
    leaves = (boxes.shape[0] + 1) // 2
    count = corners.shape[0]
    for node in range(boxes.shape[0] - 1, -1, -1):
        for axis in range(3):
            low, high = np.inf, -np.inf
            if node >= leaves - 1:
                first = (node - leaves + 1) * LEAF_SIZE
                for t in range(first, min(first + LEAF_SIZE, count)):
                    for k in range(3):
                        low, high = min(low, corners[t, k, axis]), max(high, corners[t, k, axis])
            else:
                low = min(boxes[2 * node + 1, axis], boxes[2 * node + 2, axis])
                high = max(boxes[2 * node + 1, 3 + axis], boxes[2 * node + 2, 3 + axis])
            boxes[node, axis], boxes[node, 3 + axis] = low, high


@kernel
def closest_weights(px, py, pz, t):
    """(squared distance, second weight, third weight) of the point of triangle t (3, 3) closest to p.

    The regions of corners, edges and inside are distinguished as in Ericson, Real-Time Collision
    Detection (2005), 5.1.5.
    """
    ax, ay, az = t[0, 0], t[0, 1], t[0, 2]
    ux, uy, uz = t[1, 0] - ax, t[1, 1] - ay, t[1, 2] - az
    vx, vy, vz = t[2, 0] - ax, t[2, 1] - ay, t[2, 2] - az
    wx, wy, wz = px - ax, py - ay, pz - az
    d1, d2 = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    d3, d4 = d1 - uu, d2 - uv
    d5, d6 = d1 - uv, d2 - vv
    s, r = 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        s, r = 0.0, 0.0
    elif d3 >= 0.0 and d4 <= d3:
        s, r = 1.0, 0.0
    elif d6 >= 0.0 and d5 <= d6:
        s, r = 0.0, 1.0
    else:
        va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
        if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
            s = d1 / (d1 - d3)
        elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
            r = d2 / (d2 - d6)
        elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
            r = (d4 - d3) / ((d4 - d3) + (d5 - d6))
            s = 1.0 - r
        else:
            total = va + vb + vc
            s, r = vb / total, vc / total
    ex, ey, ez = wx - s * ux - r * vx, wy - s * uy - r * vy, wz - s * uz - r * vz
    return ex * ex + ey * ey + ez * ez, s, r


@kernel
def box_distance(boxes, node, px, py, pz):
    """Squared distance from p to the box of `node`; infinite for an empty one."""
    dx = max(boxes[node, 0] - px, px - boxes[node, 3], 0.0)
    dy = max(boxes[node, 1] - py, py - boxes[node, 4], 0.0)
    dz = max(boxes[node, 2] - pz, pz - boxes[node, 5], 0.0)
    return dx * dx + dy * dy + dz * dz


@kernel
def nearest_triangles(points, corners, boxes, limit, index, weights, distance, first, last):
    """For points first to last: the nearest triangle within `limit` metres, or index -1.

    Among equally near ones the lowest wins, so that the answer does not depend on where a share of
    the work begins: each search starts from the answer before it, which is a good guess and no more.
    """
    leaves = (boxes.shape[0] + 1) // 2
    nodes = np.zeros(STACK_SIZE, np.int64)
    bounds = np.zeros(STACK_SIZE, np.float64)
    guess = -1
    for i in range(first, last):
        px, py, pz = float(points[i, 0]), float(points[i, 1]), float(points[i, 2])
        best, found, s, r = limit * limit, -1, 0.0, 0.0
        if guess >= 0:
            d, a, b = closest_weights(px, py, pz, corners[guess])
            if d <= best:
                best, found, s, r = d, guess, a, b
        nodes[0], bounds[0] = 0, box_distance(boxes, 0, px, py, pz)
        depth = 1
        while depth > 0:
            depth -= 1
            node = nodes[depth]
            if bounds[depth] > best:
                continue
            if node >= leaves - 1:
                start = (node - leaves + 1) * LEAF_SIZE
                for t in range(start, min(start + LEAF_SIZE, corners.shape[0])):
                    d, a, b = closest_weights(px, py, pz, corners[t])
                    if d < best or (d == best and (found < 0 or t < found)):
                        best, found, s, r = d, t, a, b
                continue
            left, right = 2 * node + 1, 2 * node + 2
            dl, dr = box_distance(boxes, left, px, py, pz), box_distance(boxes, right, px, py, pz)
            if dl <= dr:
                left, right, dl, dr = right, left, dr, dl
            if dl <= best:
                nodes[depth], bounds[depth] = left, dl
                depth += 1
            if dr <= best:
                nodes[depth], bounds[depth] = right, dr
                depth += 1
        guess = found if found >= 0 else guess
        index[i], distance[i] = found, np.sqrt(best) if found >= 0 else np.inf
        weights[i, 0], weights[i, 1], weights[i, 2] = 1.0 - s - r, s, r


_CELLS = 1 << 20
"""Morton cells along the longest side of what is indexed."""


@dataclass(frozen=True)
class Nearest:
    """Answers for N points.

    Attributes:
        triangle: (N,) index of the nearest triangle, -1 where none is within the limit.
        weights: (N, 3) barycentric coordinates of the nearest point in it, summing to 1.
        distance: (N,) metres, infinite where there is none.
    """

    triangle: Int[np.ndarray, "n"]
    weights: Float[np.ndarray, "n 3"]
    distance: Float[np.ndarray, "n"]


class TriangleTree:
    """Triangles sorted for nearest-point queries.

    Args:
        corners: (T, 3, 3) metres, at least one triangle.
    """

    def __init__(self, corners: Float[np.ndarray, "t 3 3"]) -> None:
        centers = np.ascontiguousarray(corners.mean(1), np.float64)
        order = morton_order(centers)
        self._order = order
        self._corners = np.ascontiguousarray(corners[order], np.float64)
        leaves = 1
        while leaves * LEAF_SIZE < len(order):
            leaves *= 2
        self._boxes = np.zeros((2 * leaves - 1, 6))
        fill_boxes(self._corners, self._boxes)

    def nearest(self, points: Float[np.ndarray, "n 3"], limit: float = np.inf) -> Nearest:
        """The nearest triangle to each of `points` (N, 3), metres, at most `limit` metres away.

        Among equally near triangles the answer is the same whatever the number of threads. It is
        fastest when neighbouring rows are near to each other in space.
        """
        points = np.ascontiguousarray(points, np.float64)
        index = np.full(len(points), -1, np.int64)
        weights = np.zeros((len(points), 3))
        distance = np.full(len(points), np.inf)

        def work(share: int, first: int, last: int) -> None:
            nearest_triangles(
                points, self._corners, self._boxes, float(limit), index, weights, distance, first, last
            )

        run_in_shares(work, len(points))
        return Nearest(np.where(index >= 0, self._order[index], -1), weights, distance)


def morton_order(points: Float[np.ndarray, "n 3"]) -> Int[np.ndarray, "n"]:
    """(N,) indices that put `points` (N, 3), metres, into an order in which neighbours are near."""
    points = np.ascontiguousarray(points, np.float64)
    low = points.min(0)
    extent = float((points.max(0) - low).max()) or 1.0
    codes = np.zeros(len(points), np.uint64)
    morton_codes(points, low, (_CELLS - 1) / extent, codes)
    return np.argsort(codes, kind="stable")
