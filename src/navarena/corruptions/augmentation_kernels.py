# mypy: disable-error-code="no-untyped-def"
"""The loops over pixels of colour jitter, compiled. All work in place on (P, 3) uint8."""

import numpy as np

from navarena.core.kernels import kernel


@kernel(inline=True)
def mix(grey, value, factor):
    """Grey + factor (value - grey), clipped to bytes, truncated."""
    mixed = grey + factor * (value - grey)
    return np.uint8(min(max(mixed, np.float32(0)), np.float32(255)))


@kernel(inline=True)
def measure_luma(red, green, blue):
    """Rounded brightness by ITU-R 601: 0.299 red + 0.587 green + 0.114 blue, as a float32 byte."""
    weighted = 19595 * np.int64(red) + 38470 * np.int64(green) + 7471 * np.int64(blue) + 32768
    return np.float32(weighted >> 16)


@kernel
def scale_brightness(pixels, factor):
    """Every channel times `factor`, float32."""
    for p in range(len(pixels)):
        for c in range(3):
            pixels[p, c] = mix(np.float32(0), np.float32(pixels[p, c]), factor)


@kernel
def scale_contrast(pixels, factor):
    """Every channel's distance from the mean luma times `factor`, float32."""
    total = 0.0
    for p in range(len(pixels)):
        total += measure_luma(pixels[p, 0], pixels[p, 1], pixels[p, 2])
    grey = np.float32(int(total / len(pixels) + 0.5))
    for p in range(len(pixels)):
        for c in range(3):
            pixels[p, c] = mix(grey, np.float32(pixels[p, c]), factor)


@kernel
def scale_saturation(pixels, factor):
    """Every channel's distance from its pixel's luma times `factor`, float32."""
    for p in range(len(pixels)):
        grey = measure_luma(pixels[p, 0], pixels[p, 1], pixels[p, 2])
        for c in range(3):
            pixels[p, c] = mix(grey, np.float32(pixels[p, c]), factor)


@kernel
def turn_hue(pixels, turn):
    """The hue of every pixel turned by `turn` float32 circles, at constant saturation and value; rounded."""
    for p in range(len(pixels)):
        red, green, blue = np.float32(pixels[p, 0]), np.float32(pixels[p, 1]), np.float32(pixels[p, 2])
        value, least = max(red, green, blue), min(red, green, blue)
        spread = value - least
        if spread == 0:
            continue
        if value == red:
            sextant = (green - blue) / spread
        elif value == green:
            sextant = 2 + (blue - red) / spread
        else:
            sextant = 4 + (red - green) / spread
        for c, shift in ((0, np.float32(5)), (1, np.float32(3)), (2, np.float32(1))):
            k = shift + sextant + 6 * turn
            # modulo 6 of numbers from -6 to 18; the operator takes most of the time
            if k < 0:
                k += 6
            elif k >= 6:
                k -= 12 if k >= 12 else 6
            share = max(np.float32(0), min(k, 4 - k, np.float32(1)))
            pixels[p, c] = np.uint8(value - spread * share + np.float32(0.5))
