"""The cache folder, and files that are written atomically and read with clear errors."""

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from navarena.core.errors import FileError, StorageError

CACHE_VARIABLE = "NAVARENA_CACHE"


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


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well.

    The data are fsynced before the rename; on any error the temporary file is removed and
    `path` stays as it was. A refused write becomes StorageError.
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
        os.close(descriptor)
        temporary = Path(name)
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
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


def read_bytes(path: Path, kind: str) -> bytes:
    """The content of `path`, which should be a `kind` (such as "scene file").

    Raises FileError when it is missing, a folder, unreadable or empty.
    """
    path = Path(path)
    if not path.exists():
        raise FileError(f"{kind} {path} does not exist; check the path")
    if path.is_dir():
        raise FileError(f"expected a {kind}, got the folder {path}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {kind} {path}: {error.strerror or error}") from error
    if not data:
        raise FileError(f"{kind} {path} is empty (0 bytes); copy or download it again")
    return data
