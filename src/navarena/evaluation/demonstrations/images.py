"""Images of demonstrations as bytes: PNG, 16-bit PNG, zstd, and H.264.

Equal images make equal bytes: every encoder runs in one thread, and files hold no time.
"""

import io
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
from jaxtyping import Shaped, UInt8, UInt16

from navarena.core.errors import InputError, require_extra
from navarena.evaluation.demonstrations.columns import Column

LEVELS = 10_000
"""Steps into which the range of a plane of fractions is divided: a range of 10 m in millimetres. PyTorch
reads 16 bits as signed numbers, so that 32,767 is the most."""

_PNG = (cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE)
"""No filter: rendered images come out as small as with the others, in half the time."""

CODEC, PIXELS = "libx264", "yuv420p"

QUALITY = {"crf": "20", "preset": "ultrafast", "bf": "0", "threads": "1"}
"""Of H.264: without frames that look ahead, so that any frame is decoded from at most KEYFRAMES before it."""

KEYFRAMES = 2
"""Every so many frames is a whole image: training reads single frames in random order."""


@cache
def _zstd() -> pa.Codec:
    return pa.Codec("zstd", compression_level=1)


def encode_array(array: Shaped[np.ndarray, "..."]) -> bytes:
    """The bytes of `array`, (...) of any shape and dtype, compressed by zstd."""
    return bytes(_zstd().compress(np.ascontiguousarray(array).tobytes(), asbytes=True))


def decode_array(data: bytes, column: Column) -> Shaped[np.ndarray, "..."]:
    """The array (...), of the shape and dtype of `column`, that `encode_array` wrote as `data`; read-only."""
    size = int(np.prod(column.shape)) * np.dtype(column.dtype).itemsize
    plain = _zstd().decompress(data, decompressed_size=size, asbytes=True)
    return np.frombuffer(plain, column.dtype).reshape(column.shape)


def encode_png(image: UInt8[np.ndarray, "h w 3"]) -> bytes:
    """The PNG of `image`, (H, W, 3) uint8 sRGB."""
    return bytes(cv2.imencode(".png", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), _PNG)[1])


def decode_png(data: bytes) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8 sRGB of a PNG; raises ValueError for other bytes."""
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise ValueError("no PNG")
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), np.uint8)


def find_scale(column: Column) -> float:
    """Levels of 16 bits for one unit of a plane `column`; 1 for whole numbers.

    Raises InputError for whole numbers that 15 bits do not hold.
    """
    if np.dtype(column.dtype).kind == "f":
        return LEVELS / (column.high - column.low)
    if column.low < 0 or column.high > np.iinfo(np.int16).max:
        raise InputError(
            f"expected numbers of 0 to {np.iinfo(np.int16).max} in {column.name}, got {column.low:g} to "
            f"{column.high:g}; choose --format parquet, or leave it out by --sensors"
        )
    return 1.0


def quantise_plane(plane: Shaped[np.ndarray, "..."], column: Column) -> UInt16[np.ndarray, "h w"]:
    """(H, W) uint16 levels of a `plane` (H, W, 1) or (H, W) in the unit of `column`, rounded."""
    flat = plane.reshape(column.shape[:2])
    if np.dtype(column.dtype).kind != "f":
        return flat.astype(np.uint16)
    scaled = (flat.astype(np.float32) - column.low) * np.float32(find_scale(column))
    return np.rint(scaled).astype(np.uint16)


def restore_plane(levels: UInt16[np.ndarray, "h w"], column: Column) -> Shaped[np.ndarray, "..."]:
    """The plane of the shape, dtype and unit of `column` whose (H, W) uint16 `levels` were kept."""
    if np.dtype(column.dtype).kind != "f":
        return levels.astype(column.dtype).reshape(column.shape)
    return (levels / find_scale(column) + column.low).astype(column.dtype).reshape(column.shape)


def encode_png16(levels: UInt16[np.ndarray, "h w"]) -> bytes:
    """The PNG of 16 bits of `levels`, (H, W) uint16."""
    return bytes(cv2.imencode(".png", levels, _PNG[:2])[1])


def decode_png16(data: bytes) -> UInt16[np.ndarray, "h w"]:
    """(H, W) uint16 values of a PNG of 16 bits; raises ValueError for other bytes."""
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if image is None or image.dtype != np.uint16:
        raise ValueError("no PNG of 16 bits")
    return np.asarray(image)


def require_even(height_px: int, width_px: int) -> None:
    """Raise InputError for a size in pixels that H.264 does not hold: colours are kept for two by two."""
    if height_px % 2 or width_px % 2:
        raise InputError(
            f"expected images of an even width and height for videos, got {width_px} x {height_px}; "
            "choose --format parquet, or another size, as PROTOCOL+rgb=224x224"
        )


class Clip:
    """Images of one episode as H.264, whole from its first image on.

    Args:
        height_px, width_px: of its images; even.
        frames_per_second: at which it plays.

    Raises InputError for odd sizes, MissingExtraError without PyAV.
    """

    def __init__(self, height_px: int, width_px: int, frames_per_second: int) -> None:
        require_even(height_px, width_px)
        self._av: Any = require_extra("av", "video")
        self._out = io.BytesIO()
        self._rate = Fraction(frames_per_second)
        self._container, self._stream = _open(self._av, self._out, self._rate, width_px, height_px)

    def add(self, image: UInt8[np.ndarray, "h w 3"]) -> None:
        """Append an image, (H, W, 3) uint8 sRGB."""
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> bytes:
        """The MP4 of all images."""
        self._container.mux(self._stream.encode())
        self._container.close()
        return self._out.getvalue()


def _open(av: Any, out: io.BytesIO, rate: Fraction, width_px: int, height_px: int) -> tuple[Any, Any]:
    container = av.open(out, "w", format="mp4", options={"fflags": "+bitexact"})
    stream = container.add_stream(CODEC, rate=rate, options=QUALITY)
    stream.width, stream.height, stream.pix_fmt = width_px, height_px, PIXELS
    stream.codec_context.gop_size = KEYFRAMES
    stream.codec_context.thread_count = 1  # the number of threads changes the bytes
    return container, stream


def join_clips(clips: Sequence[bytes], frames_per_second: int) -> bytes:
    """One MP4 of several `clips` of equal sizes, one after the other, without encoding anything again."""
    av: Any = require_extra("av", "video")
    out = io.BytesIO()
    with av.open(out, "w", format="mp4", options={"fflags": "+bitexact"}) as joined:
        stream, shown = None, 0
        for clip in clips:
            with av.open(io.BytesIO(clip)) as container:
                (source,) = container.streams.video
                stream = joined.add_stream_from_template(source) if stream is None else stream
                step = Fraction(1, frames_per_second) / source.time_base
                first = shown
                for packet in container.demux(source):
                    if packet.dts is None:
                        continue
                    place = first + round(packet.pts / step)
                    packet.pts = packet.dts = round(place * step)
                    packet.duration = round(step)
                    packet.stream = stream
                    joined.mux(packet)
                    shown += 1
    return out.getvalue()


def decode_clip(data: bytes) -> UInt8[np.ndarray, "t h w 3"]:
    """(T, H, W, 3) uint8 sRGB images of an MP4; raises ValueError for one without images."""
    av: Any = require_extra("av", "video")
    with av.open(io.BytesIO(data)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])
