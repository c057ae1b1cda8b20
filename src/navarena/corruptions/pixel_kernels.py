# mypy: disable-error-code="no-untyped-def"
"""The loops over pixels of noise, lighting and spatter, compiled."""

import numpy as np

from navarena.core.kernels import kernel


@kernel
def add_noise(image, noise, constant, proportional, out):
    """Out = image + (constant + proportional image) noise, clipped to bytes, truncated.

    image, out (M,) uint8; noise (M,) float32; constant, proportional float32.
    """
    for i in range(len(image)):
        value = np.float32(image[i])
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
def add_colour(image, mask, colour, out):
    """Out = image + mask colour, clipped to bytes, truncated.

    image, out (P, 3) uint8; mask (P,) float32, share; colour (3,) float32 bytes.
    """
    for p in range(len(image)):
        for c in range(3):
            value = np.float32(image[p, c]) + mask[p] * colour[c]
            out[p, c] = np.uint8(min(value, np.float32(255)))


@kernel
def cover_with_colour(image, mask, colour, out):
    """Out = image (1 - mask) + mask colour, truncated.

    image, out (P, 3) uint8; mask (P,) float32 share from 0 to 1; colour (3,) float32 bytes.
    """
    for p in range(len(image)):
        share = mask[p]
        for c in range(3):
            value = np.float32(image[p, c]) * (np.float32(1) - share) + share * colour[c]
            out[p, c] = np.uint8(min(value, np.float32(255)))


@kernel
def look_through(image, source, gain, glow, out):
    """out[p] = image[source[p]] gain[p] + glow[p], clipped to bytes, truncated.

    image, out (P, 3) uint8; source (P,) int32; gain (P,) float32 share; glow (P,) float32 bytes.
    """
    for p in range(len(out)):
        for c in range(3):
            value = np.float32(image[source[p], c]) * gain[p] + glow[p]
            out[p, c] = np.uint8(min(value, np.float32(255)))
