"""Windows of maps that move and turn with a body.

Maps are images (see `map_grid`): a heading is counted from up, counter-clockwise. Places are
given as row and column in which whole numbers are the middles of cells, so cell 3 covers 2.5 to
3.5.
"""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np
from jaxtyping import Float, Int64, Shaped

from navarena.core.errors import InputError
from navarena.core.kernels import kernel


@kernel
def gather_turned(maps, rows, centers, turns, fill, out):
    """Fill windows (N, A, B, K) from maps (M, R, C, K), each turned about its place; see `crop_turned`."""
    middle_row, middle_column = (out.shape[1] - 1) / 2, (out.shape[2] - 1) / 2
    tall, wide, depth = np.float64(maps.shape[1]), np.float64(maps.shape[2]), out.shape[3]
    places = np.zeros(out.shape[2], np.int64)
    for n in range(out.shape[0]):
        sine, cosine = math.sin(turns[n]), math.cos(turns[n])
        center_row, center_column = centers[n, 0], centers[n, 1]
        flat = maps[rows[n]].reshape(-1)
        for i in range(out.shape[1]):
            down = i - middle_row
            for j in range(out.shape[2]):  # without branches, so that many are worked out at once
                right = j - middle_column
                row = np.floor(cosine * down + sine * right + center_row + 0.5)
                column = np.floor(cosine * right - sine * down + center_column + 0.5)
                is_inside = (row >= 0.0) & (row < tall) & (column >= 0.0) & (column < wide)
                places[j] = np.int64(row * wide + column if is_inside else -1.0)
            for j in range(out.shape[2]):
                place = places[j] * depth
                for k in range(depth):
                    out[n, i, j, k] = flat[place + k] if place >= 0 else fill


@kernel
def blend_turned(maps, turns, out):
    """Turn maps (N, R, C, K) about their middles, between the four nearest cells, with zeros outside."""
    rows, columns = maps.shape[1], maps.shape[2]
    middle_row, middle_column = (rows - 1) / 2, (columns - 1) / 2
    for n in range(maps.shape[0]):
        sine, cosine = math.sin(turns[n]), math.cos(turns[n])
        for i in range(rows):
            for j in range(columns):
                down, right = i - middle_row, j - middle_column
                row = cosine * down + sine * right + middle_row
                column = cosine * right - sine * down + middle_column
                top, left = math.floor(row), math.floor(column)
                for k in range(maps.shape[3]):
                    total = 0.0
                    for a in range(2):
                        for b in range(2):
                            if 0 <= top + a < rows and 0 <= left + b < columns:
                                share = (row - top if a else 1 - row + top) * (
                                    column - left if b else 1 - column + left
                                )
                                total += share * maps[n, top + a, left + b, k]
                    out[n, i, j, k] = total


def crop_turned(
    maps: Shaped[np.ndarray, "m r c k"],
    centers: Float[np.ndarray, "n 2"],
    turns: Float[np.ndarray, "n"],
    shape: tuple[int, int],
    fill: float = 0,
    rows: Int64[np.ndarray, "n"] | None = None,
) -> Shaped[np.ndarray, "n a b k"]:
    """N windows of maps, each turned about a place of its own; cells take the value of the nearest one.

    Args:
        maps: (M, R, C, K) of any dtype.
        centers: (N, 2) row and column that come to lie in the middle of the window (between the two
            middle cells where a side is even).
        turns: (N,) radians by which the image turns, counter-clockwise. The heading h of a body comes
            to point up with -h, down with pi - h.
        shape: (A, B) cells of a window.
        fill: the value of what lies outside the map.
        rows: (N,) which of the maps each window shows; None for one window of each, in order.

    Returns:
        (N, A, B, K) of the dtype of `maps`.

    Raises InputError for centres or turns that are not finite, or not one for each map.
    """
    index = np.arange(len(maps)) if rows is None else rows
    if np.shape(centers) != (len(index), 2) or np.shape(turns) != (len(index),):
        raise InputError(
            f"expected a center and a turn for each of {len(index)} maps, got {np.shape(centers)} and "
            f"{np.shape(turns)}"
        )
    if not (np.isfinite(centers).all() and np.isfinite(turns).all()):
        raise InputError(
            "expected finite centers (cells) and turns (radians) of windows, got NaN or infinity"
        )
    if len(index) and not 0 <= index.min() <= index.max() < len(maps):
        raise InputError(f"expected rows within 0..{len(maps) - 1}, got {index.min()} to {index.max()}")
    out = np.zeros((len(index), *shape, maps.shape[3]), maps.dtype)
    places, angles = np.ascontiguousarray(centers, np.float64), np.ascontiguousarray(turns, np.float64)
    gather_turned(np.ascontiguousarray(maps), index, places, angles, maps.dtype.type(fill), out)
    return out


def turn_blended(
    maps: Float[np.ndarray, "n r c k"], turns: Float[np.ndarray, "n"]
) -> Float[np.ndarray, "n r c k"]:
    """(N, R, C, K) maps turned about their middles by `turns` (N,) radians, counter-clockwise.

    Values are blended from the four nearest cells (bilinear); outside is 0. On square maps this is
    an affine grid with `align_corners=False` and zero padding of the networks' libraries. Raises InputError
    for turns that are not finite, or not one for each map.
    """
    if np.shape(turns) != (len(maps),) or not np.isfinite(turns).all():
        raise InputError(f"expected a finite turn (radians) for each of {len(maps)} maps, got {turns}")
    out = np.zeros_like(maps)
    blend_turned(np.ascontiguousarray(maps), np.ascontiguousarray(turns, np.float64), out)
    return out
