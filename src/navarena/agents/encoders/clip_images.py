"""Images as CLIP takes them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from navarena.agents.encoders.encoder import require_image

CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)
"""Of the channels of CLIP's training images, as shares of white (Radford et al. 2021, released code)."""


@dataclass(frozen=True)
class ImageInput:
    """How an image becomes the input of a network.

    Attributes:
        side: pixels of the square.
        mean, std: of each channel, as shares of white.
    """

    side: int
    mean: tuple[float, ...] = CLIP_MEAN
    std: tuple[float, ...] = CLIP_STD


def prepare_image(image: UInt8[np.ndarray, "h w 3"], how: ImageInput) -> Float32[np.ndarray, "1 3 side side"]:
    """(1, 3, side, side) float32: the shorter side brought to `side` (bicubic), the middle, normalised.

    Raises InputError for what is no image of bytes.
    """
    require_image(image)
    height, width = image.shape[:2]
    scale = how.side / min(height, width)
    size = max(how.side, round(width * scale)), max(how.side, round(height * scale))
    small = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC)
    left, top = (size[0] - how.side) // 2, (size[1] - how.side) // 2
    middle = np.asarray(small.crop((left, top, left + how.side, top + how.side)), np.float32) / 255
    values = (middle - np.array(how.mean, np.float32)) / np.array(how.std, np.float32)
    return np.ascontiguousarray(values.transpose(2, 0, 1)[None], np.float32)
