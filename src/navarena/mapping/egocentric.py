"""Windows of maps that move and turn with a body.

Maps are images (see `map_grid`): a heading is counted from up, counter-clockwise. Places are
given as row and column in which whole numbers are the middles of cells, so cell 3 covers 2.5 to
3.5.
"""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np
from jaxtyping import Float, Shaped

from navarena.core.errors import InputError
from navarena.core.kernels import kernel


@kernel
def gather_turned(maps, centers, turns, fill, out):
    """Fill windows (N, A, B, K) from maps (N, R, C, K), each turned about its place; see `crop_turned`."""
    middle_row, middle_column = (out.shape[1] - 1) / 2, (out.shape[2] - 1) / 2
    for n in range(out.shape[0]):
        sine, cosine = math.sin(turns[n]), math.cos(turns[n])
        for i in range(out.shape[1]):
            down = i - middle_row
            for j in range(out.shape[2]):
                right = j - middle_column
                row = math.floor(cosine * down + sine * right + centers[n, 0] + 0.5)
                column = math.floor(cosine * right - sine * down + centers[n, 1] + 0.5)
                inside = 0 <= row < maps.shape[1] and 0 <= column < maps.shape[2]
                for k in range(out.shape[3]):
                    out[n, i, j, k] = maps[n, row, column, k] if inside else fill


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
    maps: Shaped[np.ndarray, "n r c k"],
    centers: Float[np.ndarray, "n 2"],
    turns: Float[np.ndarray, "n"],
    shape: tuple[int, int],
    fill: float = 0,
) -> Shaped[np.ndarray, "n a b k"]:
    """Windows of N maps, each turned about a place of its own; cells take the value of the nearest one.

    Args:
        maps: (N, R, C, K) of any dtype.
        centers: (N, 2) row and column that come to lie in the middle of the window (between the two
            middle cells where a side is even).
        turns: (N,) radians by which the image turns, counter-clockwise. The heading h of a body comes
            to point up with -h, down with pi - h.
        shape: (A, B) cells of a window.
        fill: the value of what lies outside the map.

    Returns:
        (N, A, B, K) of the dtype of `maps`.

    Raises InputError for centres or turns that are not finite, or not one for each map.
    """
    if np.shape(centers) != (len(maps), 2) or np.shape(turns) != (len(maps),):
        raise InputError(
            f"expected a center and a turn for each of {len(maps)} maps, got {np.shape(centers)} and "
            f"{np.shape(turns)}"
        )
    if not (np.isfinite(centers).all() and np.isfinite(turns).all()):
        raise InputError(
            "expected finite centers (cells) and turns (radians) of windows, got NaN or infinity"
        )
    out = np.zeros((len(maps), *shape, maps.shape[3]), maps.dtype)
    places, angles = np.ascontiguousarray(centers, np.float64), np.ascontiguousarray(turns, np.float64)
    gather_turned(np.ascontiguousarray(maps), places, angles, maps.dtype.type(fill), out)
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
