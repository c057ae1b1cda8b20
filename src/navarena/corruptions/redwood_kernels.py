# mypy: disable-error-code="no-untyped-def"
"""The loop of Redwood's depth noise, compiled."""

import numpy as np

from navarena.core.kernels import kernel

BASELINE = 35.13
"""Focal length times baseline of the sensor, in units of its disparity (Choi et al. 2015's simdepth)."""

STEPS_PER_DISPARITY = 8
"""Steps in which the sensor resolves a disparity (the same source)."""

DISPARITY_SIGMA = 0.027778
"""Standard deviation of its disparities (the same source)."""

JITTER_SIGMA = 0.25
"""Standard deviation of the place where a pixel looks, in pixels along each axis (the same source)."""

FARTHEST = 10.0
"""Metres from which on nothing is measured (the same source)."""

WIDTH, HEIGHT, CELL_WIDTH, CELL_HEIGHT = 640, 480, 8, 6
"""The sensor's size and that of the cells of its distortion table, pixels."""

LEAST = 1e-5
"""A distortion below this says that nothing is measured there."""


@kernel
def look_up_distortion(table, row, column, depth):
    """Relative error of `depth` metres at (row, column) of table (80, 80, 5).

    Its five layers are for 1, 3, 5, 7 and 9 metres; between them it is linear.
    """
    far = int((depth + 1) / 2)
    near = far - 1
    share = (depth - (near * 2.0 + 1.0)) / 2.0
    return (1.0 - share) * table[row, column, min(max(near, 0), 4)] + share * table[row, column, min(far, 4)]


@kernel
def measure_depths(depths, noise, table, out):
    """Depths that the sensor measures for true `depths`; 0 where it measures none.

    depths, out (H, W) float32 metres; noise (H, W, 3) float32, normal: down, right, disparity;
    table (80, 80, 5) float32.
    """
    height, width = depths.shape
    last_row, last_column = height - 1.0, width - 1.0
    for j in range(height):
        for i in range(width):
            row = int(min(max(j + JITTER_SIGMA * noise[j, i, 0], 0.0), last_row) + 0.5)
            column = int(min(max(i + JITTER_SIGMA * noise[j, i, 1], 0.0), last_column) + 0.5)
            depth = np.float64(depths[row - row % 2, column - column % 2])
            if depth >= FARTHEST:
                continue
            cell_row = int(row / max(last_row, 1.0) * (HEIGHT - 1) + 0.5) // CELL_HEIGHT
            cell_column = int(column / max(last_column, 1.0) * (WIDTH - 1) + 0.5) // CELL_WIDTH
            distortion = look_up_distortion(table, cell_row, cell_column, depth)
            if distortion < LEAST or depth <= 0.0:
                continue
            disparity = BASELINE * distortion / depth + DISPARITY_SIGMA * noise[j, i, 2]
            steps = np.rint(STEPS_PER_DISPARITY * disparity)
            if steps > 0:
                out[j, i] = BASELINE * STEPS_PER_DISPARITY / steps
