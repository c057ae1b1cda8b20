"""Dynamic time warping of a walked path with a reference path, exact.

Points of the walked path are rows, those of the reference columns of a table of distances. An
alignment is a chain of cells from the first to the last corner by steps (1, 0), (0, 1), (1, 1), all of
weight 1; its cost is the sum over its cells, corners included (Ilharco et al. 2019, "General
Evaluation for Instruction Conditioned Navigation Using Dynamic Time Warping"; dtw-python's
`symmetric1`). Infinite cells are forbidden.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.core.kernels import kernel


@kernel
def accumulate(costs):
    """(N, M) least cost of an alignment up to each cell; costs (N, M) metres."""
    rows, columns = costs.shape
    total = np.zeros((rows, columns))
    total[0, 0] = costs[0, 0]
    for j in range(1, columns):
        total[0, j] = total[0, j - 1] + costs[0, j]
    for i in range(1, rows):
        total[i, 0] = total[i - 1, 0] + costs[i, 0]
        for j in range(1, columns):
            best = min(total[i - 1, j - 1], total[i - 1, j], total[i, j - 1])
            total[i, j] = best + costs[i, j]
    return total


@kernel
def trace_back(total):
    """(K, 2) cells of a best alignment, from what `accumulate` returned; the diagonal first among equals."""
    i, j = total.shape[0] - 1, total.shape[1] - 1
    cells = np.zeros((i + j + 1, 2), np.int64)
    count = 0
    while True:
        cells[count, 0], cells[count, 1] = i, j
        count += 1
        if i == 0 and j == 0:
            break
        if i == 0:
            j -= 1
        elif j == 0:
            i -= 1
        else:
            diagonal, up, left = total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]
            if diagonal <= up and diagonal <= left:
                i -= 1
                j -= 1
            elif up <= left:
                i -= 1
            else:
                j -= 1
    return cells[:count][::-1].copy()


Costs = Float[np.ndarray, "n m"]
"""(N, M) metres from each of N walked points to each of M reference points."""


def require_costs(costs: Costs) -> Costs:
    """`costs` (N, M), metres, as contiguous float64; raises InputError when empty, negative or NaN."""
    table = np.ascontiguousarray(costs, np.float64)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(f"expected distances of shape (N, M), N and M at least 1, got {table.shape}")
    if not (table >= 0).all():
        row, column = np.argwhere(~(table >= 0))[0]
        raise InputError(
            f"expected distances of at least 0 m, got {table[row, column]} from walked point {row} "
            f"to reference point {column}"
        )
    return table


def euclidean_costs(walked: Float[np.ndarray, "n 3"], reference: Float[np.ndarray, "m 3"]) -> Costs:
    """(N, M) metres, straight, between points (N, 3) and (M, 3) in metres of one frame."""
    offset = np.asarray(walked, float)[:, None] - np.asarray(reference, float)
    return np.sqrt((offset * offset).sum(-1))


def dtw(costs: Costs) -> float:
    """Metres: the least cost of an alignment, from `costs` (N, M); infinite when there is none."""
    return float(accumulate(require_costs(costs))[-1, -1])


def dtw_alignment(costs: Costs) -> Int[np.ndarray, "k 2"]:
    """(K, 2) int64 indices (walked, reference) of a best alignment of `costs` (N, M) in metres, in order.

    Of equally good steps the diagonal one is taken. Raises InputError when no alignment is finite.
    """
    total = accumulate(require_costs(costs))
    if not np.isfinite(total[-1, -1]):
        raise InputError("expected an alignment of finite cost, got none; some points cannot be reached")
    return np.asarray(trace_back(total))
