"""Rooms that are no rectangles: from the corners of a polygon to a cell with notches, and back."""

from collections.abc import Sequence
from itertools import pairwise

from navarena.core.errors import SceneError
from navarena.scenes.houses.plan.floor_plan import Corner, Rect


def cell_of_polygon(corners: Sequence[Corner]) -> tuple[Rect, tuple[Rect, ...]]:
    """The rectangle around a polygon with walls along the axes, and what of it lies outside the polygon.

    The notches do not overlap; a rectangle has none.

    Args:
        corners: of a simple polygon, in order, not closed; corners in the middle of a wall are allowed.

    Raises SceneError, without saying which polygon, for fewer than four corners, a corner twice, a wall
    that is not along an axis, and walls that cross or touch each other.
    """
    corners = _turning_corners(corners)
    _require_simple(corners)
    xs, zs = sorted({x for x, _ in corners}), sorted({z for _, z in corners})
    cell = Rect(xs[0], zs[0], xs[-1], zs[-1])
    columns: list[list[Rect]] = []
    for x0, x1 in pairwise(xs):
        crossings = sorted(
            z for (a, z), (b, _) in _edges(corners) if min(a, b) <= x0 and x1 <= max(a, b) and a != b
        )
        borders = [cell.z0, *crossings, cell.z1]
        gaps = zip(borders[::2], borders[1::2], strict=True)
        columns.append([Rect(x0, z0, x1, z1) for z0, z1 in gaps if z1 > z0])
    return cell, tuple(joined_columns(columns))


def outline_of(pieces: Sequence[Rect]) -> tuple[Corner, ...]:
    """The corners, clockwise seen from above, of what `pieces` cover together without holes."""
    if len(pieces) == 1:
        (one,) = pieces
        return (one.x0, one.z0), (one.x1, one.z0), (one.x1, one.z1), (one.x0, one.z1)
    import shapely

    joined = shapely.union_all([shapely.box(piece.x0, piece.z0, piece.x1, piece.z1) for piece in pieces])
    ring = shapely.get_exterior_ring(shapely.orient_polygons(shapely.simplify(joined, 0)))
    corners = [(round(x), round(z)) for x, z in shapely.get_coordinates(ring).tolist()][:-1]
    first = corners.index(min(corners))
    return tuple(corners[first:] + corners[:first])


def _edges(corners: Sequence[Corner]) -> list[tuple[Corner, Corner]]:
    return list(zip(corners, [*corners[1:], corners[0]], strict=True))


def _turning_corners(corners: Sequence[Corner]) -> list[Corner]:
    """The corners where the direction changes; raises SceneError for walls not along the axes."""
    for a, b in _edges(corners):
        if (a[0] == b[0]) == (a[1] == b[1]):
            raise SceneError(
                f"walls along the axes and corners that differ, got one from {_metres(a)} to {_metres(b)}"
            )
    before = [corners[-1], *corners[:-1]]
    turning = [
        here
        for last, here, following in zip(before, corners, [*corners[1:], corners[0]], strict=True)
        if (last[0] == here[0]) != (here[0] == following[0])
    ]
    if len(turning) < 4:
        raise SceneError(f"at least four corners with walls between them, got {len(turning)}")
    return turning


def _require_simple(corners: Sequence[Corner]) -> None:
    """Raise SceneError when walls cross or touch elsewhere than at their common corners."""
    edges = _edges(corners)
    for i, first in enumerate(edges):
        for j in range(i + 1, len(edges)):
            are_neighbours = j == i + 1 or (i == 0 and j == len(edges) - 1)
            if not are_neighbours and _meet(first, edges[j]):
                raise SceneError(
                    f"walls that do not cross or touch, got {_metres(first[0])} to {_metres(first[1])} and "
                    f"{_metres(edges[j][0])} to {_metres(edges[j][1])}"
                )


def _meet(first: tuple[Corner, Corner], second: tuple[Corner, Corner]) -> bool:
    """Whether two segments along the axes have a point in common."""
    return all(
        max(min(first[0][axis], first[1][axis]), min(second[0][axis], second[1][axis]))
        <= min(max(first[0][axis], first[1][axis]), max(second[0][axis], second[1][axis]))
        for axis in (0, 1)
    )


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


def _metres(corner: Corner) -> list[float]:
    return [corner[0] / 1000, corner[1] / 1000]
