"""The cache folder of packs: locks while building, its size limit, and eviction.

    <cache folder>/packs/<kind>/<key>.pack
    <cache folder>/packs/.locks/<kind>-<key>.lock     while somebody builds it

A lock only saves work: packs are replaced in one step, so two builders without one are as
safe. Packs carry the time of their last use (the file's modification time); when they
outgrow the limit, those unused for longest go first.
"""

import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from navarena.core.errors import InputError
from navarena.core.files import cache_folder, raise_storage_error

LIMIT_VARIABLE = "NAVARENA_CACHE_LIMIT"
DEFAULT_LIMIT_GIB = 20.0
OTHER_KINDS = ("answers", "fingerprints", "kernels")
"""Folders of the cache beside the packs: answers of language models, content hashes of large files, machine
code."""

SHARERS = 16
"""Number of processes among which the remaining room is divided."""

_room_left: dict[tuple[Path, int], int] = {}
"""Folder and limit -> bytes that this process may store before it looks through the folder again."""

STALE_SECONDS = 3600.0
"""A temporary file this old belongs to a process that died while writing."""


@dataclass(frozen=True)
class CacheUsage:
    """Usage of one kind of cached data: number of files, bytes, and its folder."""

    kind: str
    files: int
    bytes: int
    folder: Path


def packs_folder() -> Path:
    """The folder of packs of all kinds."""
    return cache_folder() / "packs"


def cache_limit_bytes() -> int:
    """Largest size of all packs together: $NAVARENA_CACHE_LIMIT in GiB, else DEFAULT_LIMIT_GIB.

    Raises InputError when the variable is not a number of at least 0.
    """
    text = os.environ.get(LIMIT_VARIABLE) or str(DEFAULT_LIMIT_GIB)
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not limit >= 0 or math.isinf(limit):
        raise InputError(f"expected a number of GiB, 0 or more, in {LIMIT_VARIABLE}, got {text!r}")
    return int(limit * 2**30)


def mark_used(path: Path) -> None:
    """Note that the pack at `path` is used now; a cache that cannot be written stays as it is."""
    with suppress(OSError):
        os.utime(path)


def make_room(stored: Path) -> list[Path]:
    """Delete old files beyond the cache limit after a pack was stored; returns the deleted files.

    The folder is looked through again only when this process has stored its share of the room that was left
    at the last look, so that many packs cost no more each than few. `stored` itself is never deleted.
    """
    place = (packs_folder(), cache_limit_bytes())
    with suppress(OSError):
        _room_left[place] = _room_left.get(place, 0) - stored.stat().st_size
    if _room_left.get(place, -1) > 0:
        return []
    deleted, used = _evict(place[1], keep=stored)
    _room_left[place] = max(0, place[1] - used) // SHARERS
    return deleted


def forget_room() -> None:
    """Look through the folder again after the next pack, as a process does after its first."""
    _room_left.clear()


def _evict(limit: int, keep: Path) -> tuple[list[Path], int]:
    """Delete the packs unused for longest until they fit into `limit` bytes; never `keep`.

    Returns the deleted files and the bytes that are left. A deleted pack that some process has open stays
    usable there.
    """
    found = sorted(_files_below(packs_folder()), key=lambda entry: entry[1].st_mtime_ns)
    total = sum(status.st_size for _, status in found)
    now, deleted = time.time(), []
    for path, status in found:
        stale = path.name.startswith(".") and now - status.st_mtime > STALE_SECONDS
        spare = path != keep and not path.name.startswith(".")
        if stale or (total > limit and spare):
            with suppress(OSError):  # open on a system that keeps open files, or already gone
                path.unlink()
                deleted.append(path)
                total -= status.st_size
    return deleted, total


def cache_usage() -> list[CacheUsage]:
    """Usage of the cache, by kind: the kinds of packs, then OTHER_KINDS."""
    folders = [path for path in sorted(packs_folder().glob("*")) if path.is_dir() and path.name[0] != "."]
    usage = [_usage_of(folder, folder.name) for folder in folders]
    return [*usage, *(_usage_of(cache_folder() / kind, kind) for kind in OTHER_KINDS)]


def clear_cache(kinds: list[str]) -> list[CacheUsage]:
    """Delete all files of `kinds` (names as in cache_usage()); returns the deleted files.

    Raises StorageError when a file cannot be deleted.
    """
    cleared = []
    for usage in cache_usage():
        if usage.kind not in kinds:
            continue
        for path, _ in list(_files_below(usage.folder)):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise_storage_error(path, error)
        for folder in sorted(usage.folder.rglob("*"), reverse=True):
            with suppress(OSError):  # somebody wrote into it meanwhile
                folder.rmdir()
        with suppress(OSError):
            usage.folder.rmdir()
        cleared.append(usage)
    return cleared


@contextmanager
def build_lock(kind: str, key: str) -> Iterator[None]:
    """Hold the lock of one pack: waits while another process or thread builds it.

    The system releases the lock of a process that dies. Where files cannot be locked (some
    network folders) the block runs without; raises StorageError when the folder cannot be
    written.
    """
    path = packs_folder() / ".locks" / f"{kind}-{key}.lock"
    file = None
    try:
        while file is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+b")
            _lock_file(file)
            if not _is_still(path, file):  # its last owner removed it while we waited
                file.close()
                file = None
    except OSError as error:
        raise_storage_error(path, error)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        file.close()


def _lock_file(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                return
            except OSError:  # gave up after ten seconds
                continue
    else:
        import fcntl

        with suppress(OSError):  # the file system knows no locks
            fcntl.flock(file.fileno(), fcntl.LOCK_EX)


def _is_still(path: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _files_below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".locks"]
        for name in names:
            path = Path(root, name)
            with suppress(OSError):  # deleted by another process meanwhile
                yield path, path.stat()


def _usage_of(folder: Path, kind: str) -> CacheUsage:
    sizes = [status.st_size for _, status in _files_below(folder)]
    return CacheUsage(kind, len(sizes), sum(sizes), folder)
