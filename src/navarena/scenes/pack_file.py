"""The file format of packs: named arrays that are used where they lie on disk.

Layout, all integers little-endian:

    preamble     64 bytes: magic, version, sizes, SHA-256 of what follows up to the data
    header       JSON: {"arrays": [[name, dtype, shape, offset], ...], "meta": {...}}
    block sums   one uint64 for each BLOCK bytes of data: the sum of the block's uint64 words
    data         the arrays, each at a multiple of ALIGNMENT bytes

Opening maps the file read-only and shared, so that any number of processes use the same
memory; packs of up to SMALL bytes are read instead. Files are written read-only and replaced by
new ones, never changed in place: whoever has an old one open keeps it. A mapped file that somebody
cuts off in place all the same ends the processes that look at the missing part (SIGBUS), which no
check on opening can prevent; the command line says so in one line.

Opening reads the header and compares block sums (at memory speed, at most CHECKED_BLOCKS
of them, spread evenly), so truncation, a damaged header and damaged blocks are found before
an array is used. `verify_pack` compares all of them.
"""

import ctypes
import hashlib
import math
import mmap
import os
import struct
import sys
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from jaxtyping import UInt64

from navarena.core.errors import FileError
from navarena.core.files import atomic_path


def map_file(path: Path) -> memoryview:
    """The bytes of `path`, mapped read-only and shared; the mapping ends with the last view of it.

    Files of up to SMALL bytes are read into memory instead. No file descriptor is held: Python's own `mmap`
    keeps one for every mapping (until 3.13), and a training run over a thousand scenes with three packs each
    would use up what a process may have.

    Raises OSError as `open` does, ValueError for an empty file.
    """
    with path.open("rb") as file:
        length = os.fstat(file.fileno()).st_size
        if length == 0:
            raise ValueError("cannot map an empty file")
        if length <= SMALL:
            return _aligned(file.read())
        if sys.platform == "win32" or sys.version_info >= (3, 13):
            return _map_by_python(file.fileno())
        return _map_by_system(file.fileno(), length)


SMALL = 1 << 18
"""Bytes: reading 256 KiB takes about as long as mapping them, and nothing is left that another process could
change."""


def _aligned(data: bytes) -> memoryview:
    """A read-only copy of `data` at an address that is a multiple of ALIGNMENT."""
    room = np.zeros(len(data) + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    room[start : start + len(data)] = np.frombuffer(data, np.uint8)
    return room.data[start : start + len(data)].toreadonly()


def _map_by_python(descriptor: int) -> memoryview:
    options = {"trackfd": False} if sys.platform != "win32" and sys.version_info >= (3, 13) else {}
    return memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ, **options))


def _map_by_system(descriptor: int, length: int) -> memoryview:
    """Map a file with the system's mmap, which keeps no descriptor open."""
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64,
    ]  # fmt: skip
    system.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = system.mmap(None, length, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    memory = (ctypes.c_ubyte * length).from_address(address)
    weakref.finalize(memory, system.munmap, address, length).atexit = False
    return memoryview(memory).cast("B").toreadonly()


MAGIC = b"NAVPACK\0"
VERSION = 1
ALIGNMENT = 64
BLOCK = 1 << 16
_MODE = 0o444 if os.name == "posix" else 0o644
"""Windows replaces and deletes no file that is read-only."""

CHECKED_BLOCKS = 512
"""512 blocks of 64 KiB: every byte of packs up to 32 MiB, a sample of larger ones."""

_PREAMBLE = struct.Struct("<8sIIQQ32s")  # magic, version, header bytes, data bytes, file bytes, digest


@dataclass(frozen=True)
class Pack:
    """An open pack.

    Attributes:
        path: the file.
        arrays: name -> read-only array that lives in the mapped file.
        meta: what else was stored (JSON types).
    """

    path: Path
    arrays: Mapping[str, np.ndarray]
    meta: dict[str, Any]


@dataclass(frozen=True)
class _Layout:
    """The layout of a mapped pack: header JSON, block sums, start of the data."""

    header: dict[str, Any]
    sums: np.ndarray
    data_start: int


def content_hash(*parts: bytes | str | np.ndarray) -> str:
    """32 hexadecimal digits of SHA-256 over `parts`.

    Every part enters with its kind and length (arrays with dtype and shape), so that no two
    different lists of parts share a hash.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            kind, data = "str", part.encode()
        elif isinstance(part, bytes):
            kind, data = "bytes", part
        else:
            kind, data = f"{part.dtype.str}{part.shape}", np.ascontiguousarray(part).tobytes()
        digest.update(f"{kind}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:32]


def write_pack(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write `arrays` (of any shape, such as (N, 3)) and `meta` (JSON types) to `path` in one step.

    Raises StorageError when the disk refuses; then nothing is left behind and an older file
    at `path` stays as it was.
    """
    rows, pieces, offset = [], [], 0
    for name, array in arrays.items():
        if array.dtype.hasobject or array.dtype.names is not None:
            raise ValueError(f"expected plain numbers in array {name!r}, got dtype {array.dtype}")
        rows.append([name, array.dtype.str, list(array.shape), offset])
        piece = np.ascontiguousarray(array).tobytes()
        piece += bytes(-len(piece) % ALIGNMENT)
        pieces.append(piece)
        offset += len(piece)
    data = b"".join(pieces)
    header = msgspec.json.encode({"arrays": rows, "meta": dict(meta)})
    header += b" " * (-(_PREAMBLE.size + len(header)) % 8)
    sums = _block_sums(np.frombuffer(data, np.uint64)).tobytes()
    start = _data_start(len(header), len(sums))
    digest = hashlib.sha256(header + sums).digest()
    with atomic_path(Path(path), mode=_MODE) as temporary, temporary.open("wb") as file:
        file.write(_PREAMBLE.pack(MAGIC, VERSION, len(header), len(data), start + len(data), digest))
        file.write(header + sums)
        file.write(bytes(start - file.tell()))
        file.write(data)


def open_pack(path: Path) -> Pack:
    """Map the pack at `path`; raises FileError when it is missing, damaged or of another version."""
    path = Path(path)
    mapped = _map_file(path)
    layout = _read_layout(path, mapped)
    _check_blocks(path, mapped, layout, CHECKED_BLOCKS)
    data = np.frombuffer(mapped, np.uint8)[layout.data_start :]
    arrays = {}
    for name, dtype, shape, offset in layout.header["arrays"]:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        arrays[name] = data[offset : offset + size].view(dtype).reshape(shape)
    return Pack(path, MappingProxyType(arrays), layout.header["meta"])


def verify_pack(path: Path) -> None:
    """Compare every block of the pack at `path` with its sum; raises FileError."""
    path = Path(path)
    mapped = _map_file(path)
    layout = _read_layout(path, mapped)
    _check_blocks(path, mapped, layout, len(layout.sums))


def _damaged(path: Path, what: str) -> FileError:
    return FileError(f"pack {path} is damaged: {what}; run: navarena cache clear")


def _data_start(header_bytes: int, sum_bytes: int) -> int:
    end = _PREAMBLE.size + header_bytes + sum_bytes
    return end + -end % ALIGNMENT


def _map_file(path: Path) -> memoryview:
    try:
        return map_file(path)
    except FileNotFoundError as error:
        raise FileError(f"pack {path} does not exist") from error
    except ValueError as error:
        raise _damaged(path, "it is empty (0 bytes)") from error
    except OSError as error:
        raise FileError(f"cannot read pack {path}: {error.strerror or error}") from error


def _read_layout(path: Path, mapped: memoryview) -> _Layout:
    if len(mapped) < _PREAMBLE.size:
        raise _damaged(path, f"expected at least {_PREAMBLE.size} bytes, got {len(mapped)}")
    magic, version, header_bytes, data_bytes, file_bytes, digest = _PREAMBLE.unpack_from(mapped)
    if magic != MAGIC:
        raise _damaged(path, f"expected it to start with {MAGIC!r}, got {magic!r}")
    if version != VERSION:
        raise _damaged(path, f"expected version {VERSION}, got {version}")
    if file_bytes != len(mapped):
        raise _damaged(path, f"expected {file_bytes} bytes, got {len(mapped)}")
    sum_bytes = 8 * -(-data_bytes // BLOCK)
    start = _data_start(header_bytes, sum_bytes)
    if start + data_bytes != file_bytes:
        raise _damaged(path, "its sizes contradict each other")
    checked = bytes(mapped[_PREAMBLE.size : _PREAMBLE.size + header_bytes + sum_bytes])
    if hashlib.sha256(checked).digest() != digest:
        raise _damaged(path, "the header's checksum differs")
    header = msgspec.json.decode(checked[:header_bytes])
    return _Layout(header, np.frombuffer(checked, np.uint64, offset=header_bytes), start)


def _block_sums(words: UInt64[np.ndarray, "n"]) -> UInt64[np.ndarray, "b"]:
    """(B,) sums (modulo 2^64) of `words` (N,) by blocks of BLOCK bytes; the last may be shorter."""
    per_block = BLOCK // 8
    whole = len(words) // per_block
    sums = words[: whole * per_block].reshape(whole, per_block).sum(1, dtype=np.uint64)
    rest = words[whole * per_block :]
    return np.append(sums, rest.sum(dtype=np.uint64)) if len(rest) else sums


def _check_blocks(path: Path, mapped: memoryview, layout: _Layout, at_most: int) -> None:
    """Compare at most `at_most` evenly spread blocks with their sums."""
    words = np.frombuffer(mapped, np.uint64, offset=layout.data_start)
    count = len(layout.sums)
    if count <= at_most:
        wrong = np.flatnonzero(_block_sums(words) != layout.sums)
    else:
        per_block = BLOCK // 8
        chosen = np.linspace(0, count - 1, at_most).astype(int)
        sums = [words[b * per_block : (b + 1) * per_block].sum(dtype=np.uint64) for b in chosen]
        wrong = chosen[np.array(sums, np.uint64) != layout.sums[chosen]]
    if len(wrong):
        raise _damaged(path, f"the checksum of block {wrong[0]} of {count} differs")
