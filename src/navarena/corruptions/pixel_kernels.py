# mypy: disable-error-code="no-untyped-def"
"""The loops over pixels of noise, lighting and spatter, compiled."""

import numpy as np

from navarena.core.kernels import kernel


@kernel
def add_noise(picture, noise, constant, proportional, out):
    """Out = picture + (constant + proportional picture) noise, clipped to bytes, truncated.

    picture, out (M,) uint8; noise (M,) float32; constant, proportional float32.
    """
    for i in range(len(picture)):
        value = np.float32(picture[i])
        value += (constant + proportional * value) * noise[i]
        out[i] = np.uint8(min(max(value, np.float32(0)), np.float32(255)))


@kernel
def look_up_by_brightness(pixels, table, out):
    """out[p, c] = table[max(pixels[p]), pixels[p, c]]; pixels, out (P, 3) uint8, table (256, 256) uint8."""
    for p in range(len(pixels)):
        red, green, blue = pixels[p, 0], pixels[p, 1], pixels[p, 2]
        row = table[max(red, green, blue)]
        out[p, 0], out[p, 1], out[p, 2] = row[red], row[green], row[blue]


@kernel
def add_colour(picture, mask, colour, out):
    """Out = picture + mask colour, clipped to bytes, truncated.

    picture, out (P, 3) uint8; mask (P,) float32, share; colour (3,) float32 bytes.
    """
    for p in range(len(picture)):
        for c in range(3):
            value = np.float32(picture[p, c]) + mask[p] * colour[c]
            out[p, c] = np.uint8(min(value, np.float32(255)))


@kernel
def cover_with_colour(picture, mask, colour, out):
    """Out = picture (1 - mask) + mask colour, truncated.

    picture, out (P, 3) uint8; mask (P,) float32 share from 0 to 1; colour (3,) float32 bytes.
    """
    for p in range(len(picture)):
        share = mask[p]
        for c in range(3):
            value = np.float32(picture[p, c]) * (np.float32(1) - share) + share * colour[c]
            out[p, c] = np.uint8(min(value, np.float32(255)))


@kernel
def look_through(picture, source, gain, glow, out):
    """out[p] = picture[source[p]] gain[p] + glow[p], clipped to bytes, truncated.

    picture, out (P, 3) uint8; source (P,) int32; gain (P,) float32 share; glow (P,) float32 bytes.
    """
    for p in range(len(out)):
        for c in range(3):
            value = np.float32(picture[source[p], c]) * gain[p] + glow[p]
            out[p, c] = np.uint8(min(value, np.float32(255)))
