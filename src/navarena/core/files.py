"""The cache folder, and files that are written atomically and read with clear errors."""

import codecs
import errno
import hashlib
import lzma
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from navarena.core.errors import FileError, NavarenaError, StorageError

CACHE_VARIABLE = "NAVARENA_CACHE"

GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class FileLimits:
    """Limits on values read from files, far above those of real data.

    Attributes:
        unpacked_ratio: bytes that one byte of an archive may become. Published episode files become 5 to 40
            times as large; gzip allows 1,032.
        unpacked_bytes: that any archive may become, however small it is.
        number: largest size of what is measured: metres from the origin, degrees, components of rotations.
            Beyond, float32 cannot tell places apart that are nearer than 6 cm; the largest scans measure
            some hundred metres.
        radius: metres, of a goal; published files have 0.2 to 3.
        face_corners: of one polygon of a mesh. Its triangles are cut in quadratic time, and modelling
            programs write a few hundred at most.
    """

    unpacked_ratio: int = 200
    unpacked_bytes: int = 64 << 20
    number: float = 1e6
    radius: float = 100.0
    face_corners: int = 4096


LIMITS = FileLimits()


def cache_folder() -> Path:
    """The root of the cache: $NAVARENA_CACHE, else `navarena` in the user's cache directory."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "navarena"
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local")))
            / "navarena"
            / "Cache"
        )
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "navarena"


def raise_storage_error(path: Path, error: OSError) -> NoReturn:
    """Translate a refused write to `path` into StorageError."""
    if error.errno == errno.ENOSPC:
        remedy = "free some space, or choose another folder (`--out`, NAVARENA_CACHE)"
    else:
        remedy = "choose a folder that can be written (`--out`, NAVARENA_CACHE)"
    raise StorageError(f"cannot write {path}: {error.strerror or error}; {remedy}") from error


def require_place(path: Path) -> None:
    """Raise StorageError unless a file can be written at `path`, as far as can be told without writing."""
    try:
        if path.exists() and not path.is_file():
            raise StorageError(f"expected a file to write, got {path}, which is none; choose another path")
        folder = next(one for one in Path(os.path.realpath(path)).parents if one.exists())
    except OSError as error:  # a folder on the way that may not be looked into
        raise_storage_error(path, error)
    if not folder.is_dir():
        raise_storage_error(path, NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise_storage_error(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


@contextmanager
def unless_read_only() -> Iterator[None]:
    """Context for files that only keep what can be made again: where their folder may only be read, none is.

    Other StorageErrors, as of a full disk, pass through.
    """
    try:
        yield
    except StorageError as error:
        cause = error.__cause__
        if not isinstance(cause, OSError) or cause.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise


@contextmanager
def atomic_path(path: Path, mode: int = 0o644) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place, with permissions `mode`, when the block ends well.

    The data are fsynced before the rename; on any error the temporary file is removed and
    `path` stays as it was. Where `path` is a link, the file that it leads to is replaced. A refused write
    becomes StorageError, and so does a folder, a pipe or a device in the place of a file.
    """
    temporary: Path | None = None
    try:
        require_place(path)
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(descriptor)
        temporary = Path(name)
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except OSError as error:
        raise_storage_error(path, error)
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the content of `path` by `data` in one step; raises StorageError."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def read_bytes(path: Path, kind: str, remedy: str = "copy or download it again") -> bytes:
    """The content of `path`, which should be a `kind` (such as "scene file"), unpacked if it is gzipped.

    remedy: what to do if it is empty.

    Raises FileError when it is missing, a folder, unreadable, empty, damaged, or unpacks to more than
    LIMITS allows.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise FileError(f"expected a {kind}, got the folder {path}")
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileError(f"{kind} {path} does not exist; check the path") from error
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise FileError(f"cannot read {kind} {path}: {getattr(error, 'strerror', error)}") from error
    if not data:
        raise FileError(f"{kind} {path} is empty (0 bytes); {remedy}")
    return unpack(data, f"{kind} {path}") if data[:2] == GZIP_MAGIC else data


def hash_file(path: Path, kind: str) -> str:
    """SHA-256 of the content of `path`, as hexadecimal; raises FileError as `read_bytes` does."""
    return hashlib.sha256(read_bytes(path, kind)).hexdigest()


def unpack(data: bytes, name: str) -> bytes:
    """The content of gzip `data`; raises FileError with `name` for damage, and beyond LIMITS."""
    left = max(LIMITS.unpacked_bytes, LIMITS.unpacked_ratio * len(data))
    pieces, rest = [], data
    with translate_damage(name):
        while rest:
            stream = zlib.decompressobj(wbits=31)
            piece = stream.decompress(rest, left + 1)
            left -= len(piece)
            if left < 0:
                raise FileError(
                    f"{name} unpacks to more than {LIMITS.unpacked_ratio} times its {len(data)} bytes; check "
                    "where it is from, or unpack it yourself"
                )
            if not stream.eof:
                raise EOFError("the end of the compressed data is missing")
            pieces.append(piece)
            rest = stream.unused_data.lstrip(b"\0")
    return b"".join(pieces)


def read_text(path: Path, kind: str) -> str:
    """The UTF-8 text of `path`; raises FileError as `read_bytes` does, and for other text."""
    data = read_bytes(path, kind)
    with translate_damage(f"{kind} {path}"):
        return data.decode("utf-8-sig")


def read_json(path: Path, kind: str, content: Any = Any, remedy: str = "") -> Any:
    """The JSON of `path` as a value of the type `content`; raises FileError as `read_bytes` does.

    A byte order mark before it is no damage. `remedy` says what to do about a damaged file.
    """
    data = read_bytes(path, kind).removeprefix(codecs.BOM_UTF8)
    return decode_json(data, f"{kind} {path}", content, remedy)


def decode_json(data: bytes | msgspec.Raw, name: str, content: Any = Any, remedy: str = "") -> Any:
    """The JSON `data` as a value of the type `content`; raises FileError with `name` and `remedy`."""
    with translate_damage(name, remedy):
        return msgspec.json.decode(data, type=content)


DAMAGE = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RecursionError, TypeError,
    ValueError, lzma.LZMAError, msgspec.MsgspecError, zlib.error,
)  # fmt: skip
"""What decoders, and code that follows what a file says, raise for one that is damaged: text that is not
UTF-8, numbers that no float holds, brackets nested too deeply, members of another type."""


@contextmanager
def translate_damage(name: str, remedy: str = "") -> Iterator[None]:
    """Context that turns errors caused by a damaged file into FileError; navarena's own errors pass through.

    Args:
        name: of the file.
        remedy: what to do; to copy it again by default.
    """
    try:
        yield
    except NavarenaError:
        raise
    except DAMAGE as error:
        raise describe_damage(name, error, remedy) from error


MAX_QUOTED = 400
"""Letters of a foreign message that are shown: some repeat the whole file."""


def describe_damage(name: str, error: Exception, remedy: str = "") -> FileError:
    """The error for a file called `name` whose reading raised `error`, with what to do."""
    what = (str(error) or type(error).__name__)[:MAX_QUOTED]
    return FileError(
        f"{name} is damaged or of another kind ({what}); {remedy or 'copy or download it again'}"
    )
