"""Polygons with walls of any direction, in whole millimetres.

Corners go clockwise seen from above (x to the right, z downwards), so the inside is to the right of every
edge. Every decision is made with integers; roots are integer roots, rounded down at 2^-20 mm.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import isqrt

from navarena.core.errors import SceneError
from navarena.scenes.houses.plan.floor_plan import Corner, Rect

SCALE = 1 << 20
"""Steps of a millimetre in which lengths of slanted walls are kept."""

Edge = tuple[Corner, Corner]
Triangle = tuple[Corner, Corner, Corner]


def edges_of(corners: Sequence[Corner]) -> list[Edge]:
    """(corner, next corner) all around."""
    return list(zip(corners, [*corners[1:], corners[0]], strict=True))


def scaled_length(edge: Edge) -> int:
    """Length of an edge in 2^-20 mm, rounded down."""
    dx, dz = direction(edge)
    return isqrt((dx * dx + dz * dz) * SCALE * SCALE)


def direction(edge: Edge) -> Corner:
    """From the first to the second point."""
    return edge[1][0] - edge[0][0], edge[1][1] - edge[0][1]


def turn_at(a: Corner, b: Corner, c: Corner) -> int:
    """Twice the area of a triangle: positive when c is to the right of the line from a to b."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def along(edge: Edge, point: Corner) -> int:
    """Distance of a point from the edge's first corner along the edge, millimetres rounded to nearest."""
    dx, dz = direction(edge)
    dot = (point[0] - edge[0][0]) * dx + (point[1] - edge[0][1]) * dz
    return _rounded(dot * SCALE, scaled_length(edge))


def is_near(edge: Edge, point: Corner, reach: int) -> bool:
    """Whether a point is at most `reach` from the line through an edge."""
    dx, dz = direction(edge)
    return turn_at(*edge, point) ** 2 <= reach * reach * (dx * dx + dz * dz)


def moved(edge: Edge, forward: int, inward: int) -> Corner:
    """The point `forward` from the edge's first corner along it and `inward` to its right, rounded."""
    (dx, dz), length = direction(edge), scaled_length(edge)
    x = _rounded((dx * forward - dz * inward) * SCALE, length)
    z = _rounded((dz * forward + dx * inward) * SCALE, length)
    return edge[0][0] + x, edge[0][1] + z


def twice_area(corners: Sequence[Corner]) -> int:
    """The shoelace sum: twice the area, positive for corners in clockwise order."""
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in edges_of(corners))


def clean_polygon(corners: Sequence[Corner]) -> tuple[Corner, ...]:
    """The corners where the direction changes, clockwise.

    Raises SceneError, without saying which polygon, for a corner twice in a row, fewer than three corners,
    walls that cross or touch, and corners sharper than 30 degrees.
    """
    for a, b in edges_of(corners):
        if a == b:
            raise SceneError(f"corners that differ, got {_metres(a)} twice")
    before, after = [corners[-1], *corners[:-1]], [*corners[1:], corners[0]]
    kept = [
        b for a, b, c in zip(before, corners, after, strict=True) if turn_at(a, b, c) or _is_back(a, b, c)
    ]
    if len(kept) < 3:
        raise SceneError(f"at least three corners with walls between them, got {len(kept)}")
    require_simple(kept)
    if twice_area(kept) < 0:
        kept.reverse()
    for a, b, c in zip([kept[-1], *kept[:-1]], kept, [*kept[1:], kept[0]], strict=True):
        dot = (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1])
        squares = _square(a, b) * _square(b, c)
        if dot > 0 and 4 * dot * dot > 3 * squares:  # cosine of 30 degrees, squared, is 3/4
            raise SceneError(f"corners of at least 30 degrees, got a sharper one at {_metres(b)}")
    first = kept.index(min(kept))
    return tuple(kept[first:] + kept[:first])


def require_simple(corners: Sequence[Corner]) -> None:
    """Raise SceneError when edges cross or touch elsewhere than at their common corners."""
    edges = edges_of(corners)
    for i, first in enumerate(edges):
        for j in range(i + 1, len(edges)):
            if j == i + 1 or (i == 0 and j == len(edges) - 1):
                continue
            if meet(first, edges[j]):
                raise SceneError(
                    f"walls that do not cross or touch, got {_metres(first[0])} to {_metres(first[1])} and "
                    f"{_metres(edges[j][0])} to {_metres(edges[j][1])}"
                )
    for (a, b), (_, c) in pairwise([*edges, edges[0]]):
        if _is_back(a, b, c) and not turn_at(a, b, c):
            raise SceneError(f"walls that do not run back over themselves, got one at {_metres(b)}")


def meet(first: Edge, second: Edge) -> bool:
    """Whether two segments have a point in common."""
    (a, b), (c, d) = first, second
    sides = [_sign(turn_at(*first, c)), _sign(turn_at(*first, d))]
    others = [_sign(turn_at(*second, a)), _sign(turn_at(*second, b))]
    if sides[0] * sides[1] < 0 and others[0] * others[1] < 0:
        return True
    touching = ((sides[0], c, first), (sides[1], d, first), (others[0], a, second), (others[1], b, second))
    return any(side == 0 and _is_between(edge, point) for side, point, edge in touching)


def overlap(one: Sequence[Corner], other: Sequence[Corner]) -> bool:
    """Whether the interiors of two simple polygons meet; borders may touch.

    Corners of one that lie on a wall of the other are corners of both.
    """
    if any(
        turn_at(a, b, c) * turn_at(a, b, d) < 0 and turn_at(c, d, a) * turn_at(c, d, b) < 0
        for a, b in edges_of(one)
        for c, d in edges_of(other)
    ):
        return True
    pairs = ((one, other), (other, one))
    return any(
        _contains(polygon, points)
        for polygon, rest in pairs
        for points in [*edges_of(rest), *triangles_of(rest)[:1]]
    )


def inset(corners: Sequence[Corner], distance: int) -> tuple[Corner, ...]:
    """The corners moved so that every wall is `distance` further inside (outside when negative), rounded.

    No corner may turn right back. What is too narrow comes out crossing itself.
    """
    result = []
    for a, b, c in zip([corners[-1], *corners[:-1]], corners, [*corners[1:], corners[0]], strict=True):
        first, second = (a, b), (b, c)
        (dx1, dz1), (dx2, dz2) = direction(first), direction(second)
        det = dx1 * dz2 - dz1 * dx2
        if det == 0:
            result.append(moved(second, 0, distance))
            continue
        # The moved corner q satisfies cross(d, q - b) = distance * |d| for both walls.
        reach1, reach2 = distance * scaled_length(first), distance * scaled_length(second)
        x, z = reach1 * dx2 - reach2 * dx1, reach1 * dz2 - reach2 * dz1
        whole, sign = abs(det) * SCALE, _sign(det)
        result.append((b[0] + _rounded(sign * x, whole), b[1] + _rounded(sign * z, whole)))
    return tuple(result)


def triangles_of(corners: Sequence[Corner]) -> list[Triangle]:
    """A simple polygon cut into triangles by clipping ears, in clockwise order."""
    left, found = list(corners), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
            others = [point for point in left if point not in (a, b, c)]
            if turn_at(a, b, c) > 0 and not any(_in_triangle((a, b, c), point) for point in others):
                found.append((a, b, c))
                del left[k]
                break
            if turn_at(a, b, c) == 0:
                del left[k]
                break
        else:
            raise SceneError("expected a polygon whose edges do not cross, got one that has no ear")
    if turn_at(*left) > 0:
        found.append((left[0], left[1], left[2]))
    return found


def columns_inside(corners: Sequence[Corner], step: int) -> list[list[Rect]]:
    """By column, the rectangles inside a simple polygon; columns at most `step` wide where walls slant."""
    return _columns(corners, step, outside=False)


def columns_over(corners: Sequence[Corner], step: int) -> list[Rect]:
    """Rectangles that together cover a simple polygon; columns as in `columns_inside`."""
    return [rect for column in _columns(corners, step, outside=True) for rect in column]


def notches_of(cell: Rect, columns: Sequence[Sequence[Rect]], xs: Sequence[int]) -> tuple[Rect, ...]:
    """Parts of `cell` outside all columns, which lie between the lines `xs`."""
    gaps = []
    for (x0, x1), column in zip(pairwise(xs), columns, strict=True):
        lines = [cell.z0, *(z for rect in column for z in (rect.z0, rect.z1)), cell.z1]
        pairs = zip(lines[::2], lines[1::2], strict=True)
        gaps.append([Rect(x0, z0, x1, z1) for z0, z1 in pairs if z1 > z0])
    return tuple(joined_columns(gaps))


def joined_columns(columns: Sequence[Sequence[Rect]]) -> list[Rect]:
    """The rectangles of all columns, those side by side with equal ends made one."""
    done: list[Rect] = []
    open_: list[Rect] = []
    for column in columns:
        wider = []
        for rect in column:
            same = next((old for old in open_ if (old.z0, old.z1) == (rect.z0, rect.z1)), None)
            if same is not None:
                open_.remove(same)
                rect = Rect(same.x0, rect.z0, rect.x1, rect.z1)
            wider.append(rect)
        done += open_
        open_ = wider
    return sorted(done + open_, key=lambda rect: (rect.x0, rect.z0))


def column_lines(corners: Sequence[Corner], step: int) -> list[int]:
    """Borders of the columns: at all corners, and at most `step` apart where a slanted wall passes."""
    fixed = sorted({x for x, _ in corners})
    lines = [fixed[0]]
    for x0, x1 in pairwise(fixed):
        slants = any(
            a[1] != b[1] and min(a[0], b[0]) < x1 and x0 < max(a[0], b[0]) for a, b in edges_of(corners)
        )
        count = -(-(x1 - x0) // step) if slants else 1
        lines += [x0 + (x1 - x0) * k // count for k in range(1, count + 1)]
    return lines


def _columns(corners: Sequence[Corner], step: int, outside: bool) -> list[list[Rect]]:
    columns = []
    for x0, x1 in pairwise(column_lines(corners, step)):
        crossings = []
        for a, b in edges_of(corners):
            if a[0] == b[0] or max(a[0], b[0]) <= x0 or min(a[0], b[0]) >= x1:
                continue
            if a[0] > b[0]:
                a, b = b, a
            run, rise = b[0] - a[0], b[1] - a[1]
            ends = [(a[1] * run + rise * (x - a[0])) for x in (x0, x1)]  # z at both borders, times run
            middle = sum(ends) * SCALE // run
            crossings.append((middle, min(ends) // run, -(-max(ends) // run)))
        crossings.sort()
        rects = []
        for top, bottom in zip(crossings[::2], crossings[1::2], strict=True):
            z0, z1 = (top[1], bottom[2]) if outside else (top[2], bottom[1])
            if z1 > z0:
                rects.append(Rect(x0, z0, x1, z1))
        columns.append(rects)
    return columns


def _contains(polygon: Sequence[Corner], points: Sequence[Corner]) -> bool:
    """Whether the mean of some points lies inside a polygon (on the border does not count)."""
    count, x, z = len(points), sum(p[0] for p in points), sum(p[1] for p in points)
    crossings = 0
    for a, b in edges_of([(count * p[0], count * p[1]) for p in polygon]):
        side = turn_at(a, b, (x, z))
        if side == 0 and _is_between((a, b), (x, z)):
            return False
        if (a[1] <= z) != (b[1] <= z) and (side > 0) == (b[1] > a[1]):
            crossings += 1
    return crossings % 2 == 1


def _in_triangle(triangle: Triangle, point: Corner) -> bool:
    """Whether a point lies in a clockwise triangle or on its border."""
    return all(turn_at(a, b, point) >= 0 for a, b in edges_of(triangle))


def _is_between(edge: Edge, point: Corner) -> bool:
    """Whether a point of the line through an edge lies on the edge."""
    return all(min(edge[0][k], edge[1][k]) <= point[k] <= max(edge[0][k], edge[1][k]) for k in (0, 1))


def _is_back(a: Corner, b: Corner, c: Corner) -> bool:
    """Whether the edge from b to c leads back towards a."""
    return (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) < 0


def _square(a: Corner, b: Corner) -> int:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _rounded(value: int, whole: int) -> int:
    return (2 * value + whole) // (2 * whole)


def _metres(corner: Corner) -> list[float]:
    return [corner[0] / 1000, corner[1] / 1000]
