# mypy: disable-error-code="no-untyped-def"
"""The loops of blurs, compiled, in fixed-point numbers: exact sums, the same on every machine."""

import numpy as np

from navarena.core.kernels import kernel

WEIGHT_BITS = 22
"""Bits after the point of weights: their sums times 255 fit into 32 bits, with 1 % and a sign to spare."""


NUDGE = 1 << (WEIGHT_BITS - 10)
"""Added before a sum is truncated, a thousandth: sums that are whole numbers stay whole in spite of
rounded weights."""

HALF_STEP = (1 << WEIGHT_BITS) // (2 * 257)
"""Added before a sum of taps is truncated: half a step of ImageMagick's 16-bit numbers, to which it rounds
before a PNG file cuts them to 8 bits."""


@kernel
def sum_taps(padded, margin, down, right, weights, out):
    """out[y, x] = the truncated sum of weights[t] image[y + down[t], x + right[t]].

    padded (H + 2 margin, 3 (W + 2 margin)) uint8, rows of pixels; down, right (T,) int64 pixels, at
    most `margin`; weights (T,) int32 of WEIGHT_BITS; out (H, 3 W) uint8.
    """
    height, width = out.shape
    total = np.zeros(width, np.int32)
    for y in range(height):
        total[:] = HALF_STEP
        for t in range(len(weights)):
            weight = weights[t]
            begin = 3 * (margin + right[t])
            row = padded[y + margin + down[t], begin : begin + width]
            for i in range(width):
                total[i] += weight * np.int32(row[i])
        for i in range(width):
            out[y, i] = total[i] >> WEIGHT_BITS


@kernel
def blur_symmetrically(padded, weights, steps, out):
    """out[y, x] = the truncated sum of image[y + j, x + k] times the weight of (|j|, |k|), at most 255.

    Only the change from pixel to pixel is summed, over the few places where weights change along a
    row; rows above and below are added first.

    padded (H + 2 R + 2, 3 (W + 2 R + 2)) uint8, rows of pixels; weights (R + 1, R + 1) int32 of
    WEIGHT_BITS by |j|, |k|; steps (R + 1, R + 1) int32, weights[j, k] - weights[j, k + 1] with 0
    beyond the last; out (H, 3 W) uint8.
    """
    height, width = out.shape
    radius = len(weights) - 1
    centre = radius + 1
    folded = np.zeros((radius + 1, padded.shape[1]), np.int16)
    total = np.zeros(width, np.int32)
    for y in range(height):
        for i in range(padded.shape[1]):
            folded[0, i] = padded[y + centre, i]
        for j in range(1, radius + 1):
            for i in range(padded.shape[1]):
                folded[j, i] = np.int16(padded[y + centre + j, i]) + np.int16(padded[y + centre - j, i])
        total[:] = 0
        for j in range(radius + 1):
            for k in range(radius + 1):
                step = steps[j, k]
                if step != 0:
                    ahead = folded[j, 3 * (centre + k) : 3 * (centre + k) + width]
                    behind = folded[j, 3 * (radius - k) : 3 * (radius - k) + width]
                    for i in range(width):
                        total[i] += step * np.int32(ahead[i] - behind[i])
        for i in range(3):
            first = NUDGE
            for j in range(radius + 1):
                first += weights[j, 0] * folded[j, 3 * centre + i]
                for k in range(1, radius + 1):
                    both = folded[j, 3 * (centre + k) + i] + folded[j, 3 * (centre - k) + i]
                    first += weights[j, k] * both
            total[i] = first
            out[y, i] = min(first >> WEIGHT_BITS, 255)
        for i in range(3, width):
            total[i] += total[i - 3]
            out[y, i] = min(total[i] >> WEIGHT_BITS, 255)
