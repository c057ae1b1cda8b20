"""Colours, letters, small marks and smooth images of the preview."""

from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from navarena.simulation.rendering import Frames

SMOOTHING = 2
"""Pixels drawn for one pixel shown, in each direction."""

PAPER = (246, 245, 242)
INK = (38, 42, 48)
FAINT = (112, 118, 126)
SKY = (214, 222, 230)
BADGES = ((214, 69, 65), (34, 112, 190), (200, 120, 20), (120, 70, 160))

Color = tuple[int, int, int]


@cache
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font that Pillow brings, `size` pixels high."""
    return ImageFont.load_default(size)


def draw_badge(draw: ImageDraw.ImageDraw, at: tuple[float, float], number: int, radius: float = 11) -> None:
    """A disc with `number` + 1 in it, centred on the pixel `at`."""
    x, y = at
    box = (x - radius, y - radius, x + radius, y + radius)
    draw.ellipse(box, fill=BADGES[number % len(BADGES)], outline=(255, 255, 255), width=2)
    draw.text((x, y), str(number + 1), font=font(13), fill=(255, 255, 255), anchor="mm")


def draw_tag(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int = 14, anchor: str = "mm"
) -> None:
    """Text on a light box."""
    left, top, right, bottom = draw.textbbox(at, text, font=font(size), anchor=anchor)
    draw.rounded_rectangle((left - 5, top - 3, right + 5, bottom + 3), radius=5, fill=(255, 255, 255))
    draw.text(at, text, font=font(size), fill=INK, anchor=anchor)


def finish_image(frames: Frames, index: int, background: Color, size: tuple[int, int]) -> Image.Image:
    """View `index` of rendered rgb and depth, on a background, reduced to `size` (width, height) pixels."""
    if frames.rgb is None or frames.depth is None:
        raise ValueError("expected frames with rgb and depth, got frames without")
    seen = frames.depth[index][..., None] > 0
    pixels = np.where(seen, frames.rgb[index], np.array(background, np.uint8))
    return Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS)
