"""Images of sensors as JPEG files for pages."""

import cv2
import numpy as np
from jaxtyping import Shaped, UInt8

from navarena.reports.videos.frame import paint_classes, paint_depth

QUALITY = 85
"""Of JPEG, 0 to 100."""


def encode_view(image: UInt8[np.ndarray, "h w 3"]) -> bytes:
    """The JPEG of `image`, (H, W, 3) uint8 sRGB; OpenCV takes half of Pillow's time for it."""
    kind = cv2.IMWRITE_JPEG_QUALITY
    done, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [kind, QUALITY])
    if not done:
        raise ValueError(f"OpenCV cannot encode an image of shape {image.shape}")
    return data.tobytes()


def paint_image(image: Shaped[np.ndarray, "..."], max_depth: float) -> UInt8[np.ndarray, "h w 3"] | None:
    """(H, W, 3) uint8 colours of an observation; None for one that is no image.

    Args:
        image: (H, W, 3) uint8 colours; (H, W, 1) or (H, W) floats, such as depth, or integers: ids.
        max_depth: the largest float, in its unit; infinite where it is not known.
    """
    if image.ndim not in (2, 3) or min(image.shape[:2]) < 2:
        return None
    if image.ndim == 3 and image.shape[2] == 3 and image.dtype == np.uint8:
        return np.ascontiguousarray(image)
    if image.ndim == 3 and image.shape[2] != 1:
        return None
    plane = image.reshape(image.shape[:2])
    if plane.dtype.kind == "f":
        known = max_depth if np.isfinite(max_depth) else max(float(plane.max(initial=0.0)), 1.0)
        return paint_depth(plane.astype(np.float64), known)
    return paint_classes(plane.astype(np.int64))
