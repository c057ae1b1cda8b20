"""Less light in colour images."""

from functools import cache

import numpy as np
from jaxtyping import UInt8

from navarena.corruptions.one_by_one import EachImage
from navarena.corruptions.pixel_kernels import look_up_by_brightness

TENTHS_DARKER = (1, 2, 3, 4, 5)
"""Tenths of full brightness by which the value of hue, saturation and value drops, by severity
(Chattopadhyay et al. 2021, RobustNav's lighting)."""


class Lighting(EachImage):
    """Reduces the brightness of every pixel by the same amount and keeps hue and saturation."""

    def corrupt_one(
        self, image: UInt8[np.ndarray, "h w 3"], generator: np.random.Generator
    ) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: the value V = max(R, G, B) drops, at most to 0; truncated. Draws nothing."""
        corrupted = np.zeros_like(image)
        look_up_by_brightness(
            image.reshape(-1, 3), dimming_table(self.of_severity(TENTHS_DARKER)), corrupted.reshape(-1, 3)
        )
        return corrupted


@cache
def dimming_table(tenths: int) -> UInt8[np.ndarray, "256 256"]:
    """(256, 256) uint8: what becomes of channel c in a pixel of value v, at [v, c].

    At constant hue and saturation all channels shrink with the value: c (v - 25.5 tenths) / v,
    truncated, in whole numbers and hence exactly; 0 where the value would be negative.
    """
    value, channel = np.arange(256)[:, None], np.arange(256)
    twice_left = np.maximum(2 * value - 51 * tenths, 0)
    table = np.minimum(channel * twice_left // np.maximum(2 * value, 1), 255).astype(np.uint8)
    table.flags.writeable = False
    return table
