"""Content hashes of files, remembered so that a large file is read once."""

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from navarena.core.errors import FileError, StorageError
from navarena.core.files import DAMAGE, cache_folder, write_atomic

REMEMBERED_BYTES = 1 << 22
"""Smaller files are hashed each time: that takes a few milliseconds."""

SETTLED_SECONDS = 2.0
"""A file changed less than this before it was hashed may change again within the same time stamp."""


class _Remembered(msgspec.Struct):
    size: int
    modified_ns: int
    digest: str


def file_fingerprint(path: Path) -> str:
    """BLAKE2b (32 hexadecimal digits) of the content of `path`.

    For large files the answer is kept in the cache folder beside size and modification time.
    Raises FileError when the file is missing or cannot be read.
    """
    try:
        status = path.stat()
        if status.st_size < REMEMBERED_BYTES:
            return _digest(path)
        note = _note_path(path)
        remembered = _read_note(note)
        if remembered is not None and (remembered.size, remembered.modified_ns) == (
            status.st_size,
            status.st_mtime_ns,
        ):
            return remembered.digest
        digest = _digest(path)
    except FileNotFoundError as error:
        raise FileError(f"file {path} does not exist; check the path") from error
    except IsADirectoryError as error:
        raise FileError(f"expected a file, got the folder {path}") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    if time.time() - status.st_mtime > SETTLED_SECONDS:
        note_data = msgspec.json.encode(_Remembered(status.st_size, status.st_mtime_ns, digest))
        with suppress(StorageError):  # then it is read again next time
            write_atomic(note, note_data)
    return digest


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _note_path(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]
    return cache_folder() / "fingerprints" / f"{name}.json"


def _read_note(note: Path) -> _Remembered | None:
    try:
        return msgspec.json.decode(note.read_bytes(), type=_Remembered)
    except DAMAGE:
        return None
