"""Binning of points into the cells of a map, by four rules.

Points whose cell lies outside the map are left out. Every rule but `last` gives the same map
whatever the order of the points.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np
from jaxtyping import Float32, Int32, Int64, Shaped

from navarena.core.errors import InputError
from navarena.core.kernels import kernel


@kernel
def scatter_max(cells, features, out, seen):
    """Raise the features (R, C, F) of cells to those (K, F) of the points in them; marks seen (R, C)."""
    for k in range(cells.shape[0]):
        row, column = cells[k, 0], cells[k, 1]
        if 0 <= row < out.shape[0] and 0 <= column < out.shape[1]:
            first = not seen[row, column]
            seen[row, column] = True
            for f in range(features.shape[1]):
                if first or features[k, f] > out[row, column, f]:
                    out[row, column, f] = features[k, f]


@kernel
def scatter_last(cells, labels, out):
    """Write labels (K,) into the cells (R, C) of their points, one after the other."""
    for k in range(cells.shape[0]):
        row, column = cells[k, 0], cells[k, 1]
        if 0 <= row < out.shape[0] and 0 <= column < out.shape[1]:
            out[row, column] = labels[k]


@kernel
def scatter_counts(cells, labels, counts):
    """Count (R, C, L) the labels (K,) in each cell."""
    for k in range(cells.shape[0]):
        row, column = cells[k, 0], cells[k, 1]
        if 0 <= row < counts.shape[0] and 0 <= column < counts.shape[1]:
            counts[row, column, labels[k]] += 1


@kernel
def scatter_highest(cells, heights, labels, out, tops):
    """Write the label (R, C) of the highest point of each cell, and its height; of equals, the greater."""
    for k in range(cells.shape[0]):
        row, column = cells[k, 0], cells[k, 1]
        if 0 <= row < out.shape[0] and 0 <= column < out.shape[1]:
            top = tops[row, column]
            if heights[k] > top or (heights[k] == top and labels[k] > out[row, column]):
                tops[row, column] = heights[k]
                out[row, column] = labels[k]


def require_one_each(cells: Shaped[np.ndarray, "..."], values: Shaped[np.ndarray, "..."]) -> None:
    """Raise InputError unless each of `cells` (K, 2) has one of the values (K, ...), of any unit."""
    if cells.ndim != 2 or cells.shape[1] != 2 or cells.dtype.kind != "i" or len(values) != len(cells):
        raise InputError(
            f"expected integer cells (K, 2) and one value for each to bin, got {cells.dtype} {cells.shape} "
            f"and {values.shape}"
        )


def bin_max(
    cells: Int64[np.ndarray, "k 2"],
    features: Float32[np.ndarray, "k f"],
    shape: tuple[int, int],
    empty: float = 0.0,
) -> Float32[np.ndarray, "r c f"]:
    """The greatest of each feature among the points of a cell.

    Args:
        cells: (K, 2) row and column of each point.
        features: (K, F) float32, finite.
        shape: (R, C) cells of the map.
        empty: the values of cells without a point.

    Returns:
        (R, C, F) float32.
    """
    require_one_each(cells, features)
    if not np.isfinite(features).all():
        raise InputError("expected finite features to bin, got NaN or infinity; leave such points out")
    out = np.full((*shape, features.shape[1]), empty, np.float32)
    scatter_max(cells, features, out, np.zeros(shape, bool))
    return out


def bin_last(
    cells: Int64[np.ndarray, "k 2"], labels: Int32[np.ndarray, "k"], shape: tuple[int, int], empty: int = 0
) -> Int32[np.ndarray, "r c"]:
    """(R, C) int32: the label of the last point in each cell, `empty` for cells without points.

    cells: (K, 2) rows and columns; labels: (K,) int32; shape: (R, C).
    """
    require_one_each(cells, labels)
    out = np.full(shape, empty, np.int32)
    scatter_last(cells, labels, out)
    return out


def bin_majority(
    cells: Int64[np.ndarray, "k 2"],
    labels: Int32[np.ndarray, "k"],
    shape: tuple[int, int],
    classes: int,
    empty: int = 0,
) -> Int32[np.ndarray, "r c"]:
    """(R, C) int32: the most frequent label of each cell (the smallest of equals), else `empty`.

    cells: (K, 2) rows and columns; labels: (K,) int32 within 0 to classes - 1; shape: (R, C).
    Raises InputError for a label outside.
    """
    require_one_each(cells, labels)
    if len(labels) and (labels.min() < 0 or labels.max() >= classes):
        raise InputError(
            f"expected labels within 0..{classes - 1}, got {labels.min()} to {labels.max()}; map them first"
        )
    counts = np.zeros((*shape, classes), np.int32)
    scatter_counts(cells, labels, counts)
    return np.where(counts.any(2), counts.argmax(2), empty).astype(np.int32)


def bin_highest(
    cells: Int64[np.ndarray, "k 2"],
    heights: Float32[np.ndarray, "k"],
    labels: Int32[np.ndarray, "k"],
    shape: tuple[int, int],
    empty: int = 0,
) -> tuple[Int32[np.ndarray, "r c"], Float32[np.ndarray, "r c"]]:
    """The label of the highest point of each cell, and how high that is.

    Of points equally high the greatest label counts.

    Args:
        cells: (K, 2) row and column of each point.
        heights: (K,) float32 metres, finite.
        labels: (K,) int32.
        shape: (R, C) cells of the map.
        empty: the label of cells without a point; their height is -infinity.

    Returns:
        (R, C) int32 labels, (R, C) float32 metres.
    """
    require_one_each(cells, heights)
    require_one_each(cells, labels)
    if not np.isfinite(heights).all():
        raise InputError(
            "expected finite heights (metres) to bin, got NaN or infinity; leave such points out"
        )
    out = np.full(shape, empty, np.int32)
    tops = np.full(shape, -np.inf, np.float32)
    scatter_highest(cells, heights, labels, out, tops)
    return out, tops
