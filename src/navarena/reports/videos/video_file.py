"""The door to PyAV: MP4 files with H.264, which every browser plays."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from navarena.core.errors import InputError
from navarena.core.extras import require_extra
from navarena.core.files import atomic_path

CODEC = "libx264"

QUALITY = "23"
"""x264's constant rate factor; 0 loses nothing, 51 nearly all. Letters stay crisp."""

KEYFRAME_SECONDS = 2
"""A player can jump to one of so many seconds."""


class VideoFile:
    """Takes images of one size, one after the other.

    Attributes:
        frames: how many it took.
    """

    def __init__(self, container: Any, stream: Any) -> None:
        self._container, self._stream = container, stream
        self.frames = 0

    def write(self, image: UInt8[np.ndarray, "h w 3"]) -> None:
        """Append `image`, (H, W, 3) uint8 sRGB; raises InputError for another size than the file's."""
        size = (self._stream.height, self._stream.width)
        if image.shape[:2] != size:
            raise InputError(f"expected images of {size[0]} x {size[1]} pixels, got {image.shape[:2]}")
        av = require_extra("av", "video")
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
        self._container.mux(self._stream.encode(frame))
        self.frames += 1


@contextmanager
def open_video(path: Path, width_px: int, height_px: int, frames_per_second: int) -> Iterator[VideoFile]:
    """An MP4 file that takes the place of `path` when the block ends well.

    Args:
        path: ends in .mp4.
        width_px: of its images; even, as colours are kept for two by two pixels.
        height_px: of its images; even, too.
        frames_per_second: at least 1.

    Raises MissingExtraError without PyAV, InputError for odd sizes, StorageError.
    """
    if width_px % 2 or height_px % 2 or min(width_px, height_px, frames_per_second) < 1:
        raise InputError(
            f"expected an even size and at least one image a second, got {width_px} x {height_px} at "
            f"{frames_per_second}"
        )
    av = require_extra("av", "video")
    # the index stands first, so that a page can play what it has not loaded to the end
    flags = {"movflags": "+faststart"}
    with (
        atomic_path(path) as temporary,
        av.open(str(temporary), "w", format="mp4", options=flags) as container,
    ):
        options = {"crf": QUALITY, "preset": "veryfast"}
        stream = container.add_stream(CODEC, rate=Fraction(frames_per_second), options=options)
        stream.width, stream.height, stream.pix_fmt = width_px, height_px, "yuv420p"
        stream.codec_context.gop_size = KEYFRAME_SECONDS * frames_per_second
        yield VideoFile(container, stream)
        container.mux(stream.encode())


def encode_jpeg(image: UInt8[np.ndarray, "h w 3"], quality: int = 80) -> bytes:
    """The JPEG of `image`, (H, W, 3) uint8 sRGB."""
    out = io.BytesIO()
    Image.fromarray(image).save(out, format="JPEG", quality=quality)
    return out.getvalue()
