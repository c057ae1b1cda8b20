"""Streams of MessagePack frames with arrays: what live submissions, players and watchers have in common.

An array is a map of its shape, its dtype and the bytes of its rows, each packed by itself without loss. Of
the codecs, lz4 costs the least time for what cameras see: of 640 x 480 images in houses it leaves a third of
the colours and a twelfth of the depth, in a quarter of the time that the fastest level of zlib takes.
"""

import importlib.util
import math
import re
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from navarena.core.errors import InputError, require_extra

Codec = Literal["none", "zlib", "lz4"]
"""How the bytes of rows are packed: not at all, as zlib does, or as blocks of LZ4."""

PREFERRED: tuple[Codec, ...] = ("lz4", "zlib", "none")

MAX_ARRAY = 2**30
"""Bytes of an array, unpacked: 16 bodies with two cameras of 1920 x 1080 fill a quarter of it."""

MAX_AXES = 6
MAX_LENGTH = 2**24
"""Of an axis."""

_DTYPE = re.compile(r"[<|](b1|[iu][1248]|f[248])|<U[1-9][0-9]{0,4}")
_LEVEL = 1
"""Of zlib: higher ones take many times as long for a few percent."""

_SMALLEST = 256
"""Bytes of a row from which it is worth packing."""


class StreamError(InputError):
    """A frame that the protocol does not allow, or a refusal of the other side.

    Args:
        code: for programs, such as "frame_size".
        text: for people.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.text)


Axis = Annotated[int, msgspec.Meta(ge=0, le=MAX_LENGTH)]


class PackedArray(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An array on its way.

    Attributes:
        shape: of the array; the first axis counts rows.
        dtype: NumPy's text, such as "<f4"; numbers, bool and texts only.
        codec: by which each row was packed.
        rows: bytes of each, in C order.
    """

    shape: Annotated[tuple[Axis, ...], msgspec.Meta(min_length=1, max_length=MAX_AXES)]
    dtype: Annotated[str, msgspec.Meta(max_length=7)]
    codec: Codec
    rows: tuple[bytes, ...]

    @property
    def row_bytes(self) -> int:
        """Bytes of each row, unpacked."""
        return math.prod(self.shape[1:]) * np.dtype(self.dtype).itemsize


def pack_array(array: np.ndarray, codec: Codec = "none", pool: Executor | None = None) -> PackedArray:
    """(N, ...) numbers, bool or texts, packed row by row; a `pool` of threads packs several at a time.

    Raises InputError for another dtype, and MissingExtraError for a codec that is not installed.
    """
    if array.ndim < 1 or not _DTYPE.fullmatch(array.dtype.newbyteorder("<").str):
        raise InputError(
            f"expected rows of numbers or texts to send, got shape {array.shape} of {array.dtype}"
        )
    array = np.ascontiguousarray(array)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    size = array[:1].nbytes
    used: Codec = "none" if size < _SMALLEST else codec
    flat = array.reshape(len(array), -1) if size else array
    views = [memoryview(row.view(np.uint8)) for row in flat] if size else [b""] * len(array)
    apply: Callable[..., Any] = map if pool is None or len(array) < 2 else pool.map
    rows = tuple(apply(_packer(used), views))
    return PackedArray(shape=array.shape, dtype=array.dtype.str, codec=used, rows=rows)


def unpack_array(packed: PackedArray, pool: Executor | None = None) -> np.ndarray:
    """The (N, ...) array of `pack_array`, with its dtype.

    Raises StreamError("array") when dtype, shape and bytes do not go together, or it is larger than
    MAX_ARRAY.
    """
    if not _DTYPE.fullmatch(packed.dtype):
        raise StreamError("array", f"expected an array of numbers or texts, got dtype {packed.dtype!r}")
    if len(packed.rows) != packed.shape[0] or packed.row_bytes * packed.shape[0] > MAX_ARRAY:
        raise StreamError(
            "array",
            f"expected one packed row for each of {packed.shape[0]}, at most {MAX_ARRAY:,} bytes in all, got "
            f"{len(packed.rows)} rows of {packed.row_bytes:,} bytes",
        )
    array = np.zeros(packed.shape, packed.dtype)
    if not packed.row_bytes:
        return array
    unpack = _unpacker(packed.codec, packed.row_bytes)

    def fill(row: int) -> None:
        array[row].reshape(-1).view(np.uint8)[:] = np.frombuffer(unpack(packed.rows[row]), np.uint8)

    if packed.shape[1:] == ():
        array[:] = np.frombuffer(b"".join(map(unpack, packed.rows)), packed.dtype)
    else:
        apply: Callable[..., Any] = map if pool is None or len(array) < 2 else pool.map
        list(apply(fill, range(len(array))))
    return array


def _packer(codec: Codec) -> Callable[[Any], bytes]:
    if codec == "none":
        return bytes
    if codec == "zlib":
        return lambda data: zlib.compress(data, _LEVEL)
    block = require_extra("lz4.block", "server")
    return lambda data: block.compress(data, store_size=False)  # type: ignore[no-any-return]


def _unpacker(codec: Codec, size: int) -> Callable[[bytes], bytes]:
    """Decompressor that yields exactly `size` bytes; raises StreamError."""

    def unpack(data: bytes) -> bytes:
        try:
            found = _unpack(codec, data, size)
        except (ValueError, zlib.error) as error:
            raise StreamError("array", f"expected bytes packed by {codec}, got others ({error})") from error
        if len(found) != size:
            raise StreamError("array", f"expected {size:,} bytes for a row, got {len(found):,}")
        return found

    return unpack


def _unpack(codec: Codec, data: bytes, size: int) -> bytes:
    if codec == "none":
        return data
    if codec == "zlib":
        return zlib.decompressobj().decompress(data, size + 1)
    block = require_extra("lz4.block", "server")
    try:
        found: bytes = block.decompress(data, uncompressed_size=size)
    except block.LZ4BlockError as error:
        raise ValueError(str(error)) from error
    return found


def list_codecs() -> tuple[Codec, ...]:
    """The codecs of this installation, fastest first."""
    return tuple(one for one in PREFERRED if one != "lz4" or importlib.util.find_spec("lz4") is not None)


def choose_codec(offered: Sequence[str]) -> Codec:
    """The fastest codec that both sides support; raises StreamError("codec") without one."""
    ours = list_codecs()
    for codec in ours:
        if codec in offered:
            return codec
    raise StreamError("codec", f"expected one of the codecs {', '.join(ours)}, got {', '.join(offered)}")


def decode_frame(data: bytes, kind: Any, limit: int) -> Any:
    """The message of type `kind` in a frame of at most `limit` bytes; raises StreamError and nothing else."""
    if len(data) > limit:
        raise StreamError("frame_size", f"expected a frame of at most {limit:,} bytes, got {len(data):,}")
    try:
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError, ValueError) as error:
        raise StreamError("frame", f"expected a message of the protocol, got another ({error})") from error
