"""One writer per file: advisory locks that the system drops when their owner dies.

Where the system or the file system knows no flock, nothing is locked.
"""

import contextlib
import os
import sys
import time
from pathlib import Path

from navarena.core.errors import InputError
from navarena.core.files import raise_storage_error

PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.05


def require_lock(descriptor: int, path: Path, patience: float | None = None) -> None:
    """Lock the open file `descriptor` (of `path`) until it is closed.

    Workers of a killed run need a moment to notice; after `patience` (PATIENCE_SECONDS by
    default) somebody else must be alive: InputError.
    """
    deadline = time.monotonic() + (PATIENCE_SECONDS if patience is None else patience)
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise InputError(
                f"another process is writing to {path}; wait until it has ended, or choose another --out"
            )
        time.sleep(_POLL_SECONDS)


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


class FolderLock:
    """Holds `folder`, which is made if it is not there, for one run or training; a context manager.

    Attributes:
        was_abandoned: whether the last owner ended without leaving: killed, or by its own os._exit.

    Entering raises InputError when another run has it, StorageError when it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".lock"
        self._descriptor: int | None = None
        self.was_abandoned = False

    def __enter__(self) -> "FolderLock":
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise_storage_error(self._path.parent, error)
        try:
            require_lock(self._descriptor, self._path.parent, patience=0.0)
        except InputError:
            os.close(self._descriptor)
            self._descriptor = None
            raise
        self.was_abandoned = bool(os.read(self._descriptor, 1))
        with contextlib.suppress(OSError):
            os.write(self._descriptor, b"1")
        return self

    def release_folder(self) -> None:
        """Remove the folder that is held, if nothing but the lock lies in it."""
        with contextlib.suppress(OSError):
            if [path.name for path in self._path.parent.iterdir()] == [self._path.name]:
                self._path.unlink()
                self._path.parent.rmdir()

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # an agent may have closed it
                os.ftruncate(self._descriptor, 0)
                os.close(self._descriptor)
            self._descriptor = None
