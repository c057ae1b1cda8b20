# mypy: disable-error-code="no-untyped-def"
"""The two loops of dynamic time warping, compiled."""

import numpy as np

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
