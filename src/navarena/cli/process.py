"""The command's process: standard streams that stay open, and a word where a mapped file was cut off."""

import contextlib
import ctypes
import io
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, cast

CUT = (
    b"error: a file that is in use was cut off by another program; run the same command again: "
    b"what is damaged in the cache is built again\n"
)


def open_standard_streams() -> None:
    """Put the null device in the place of stdin, stdout and stderr that the caller closed.

    Else the next files that are opened take their descriptors, and what is printed is written into them.
    Signs that the encoding of stdout lacks are printed as question marks.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")


class _KeptOpen:
    """A stream that stays open when an agent closes it, and is `later` from its block's end on.

    Libraries that were first imported within the block hold it until the process ends.
    """

    def __init__(self, stream: Any, later: Any) -> None:
        self._stream, self._later = stream, later

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Write what is waiting; nothing else."""
        self._stream.flush()

    def end(self) -> None:
        """Be `later` from now on."""
        self._stream = self._later


@contextlib.contextmanager
def keep_streams(stdout_to: int = 1) -> Iterator[Any]:
    """Within the block, sys.stdout and sys.stderr outlast an agent that closes them; yields the real stdout.

    With `stdout_to=2`, what is printed goes to stderr, by sys.stdout or by descriptor 1.
    """
    sys.stdout.flush()
    with contextlib.ExitStack() as stack:
        real = _copy_of(sys.stdout, 1, stack)
        errors = _copy_of(sys.stderr, 2, stack)
        noted = _KeptOpen(errors, sys.stderr)
        printed = noted if stdout_to == 2 else _KeptOpen(real, sys.stdout)
        for kept in (printed, noted):
            stack.callback(kept.end)
        stack.enter_context(contextlib.redirect_stdout(cast("Any", printed)))
        stack.enter_context(contextlib.redirect_stderr(cast("Any", noted)))
        stack.callback(_restore, os.dup(1), 1)
        stack.callback(_restore, os.dup(2), 2)
        if stdout_to == 2:
            os.dup2(2, 1)
        yield real


def _copy_of(stream: Any, descriptor: int, stack: contextlib.ExitStack) -> Any:
    """A stream on a copy of `descriptor`; `stream` itself where it is something else, as in notebooks."""
    try:
        if stream.fileno() != descriptor:
            return stream
    except (OSError, ValueError, AttributeError):
        return stream
    copy = os.fdopen(os.dup(descriptor), "w", 1, stream.encoding, stream.errors)
    stack.callback(_close, copy)
    return copy


def _close(stream: Any) -> None:
    with contextlib.suppress(OSError, ValueError):  # the agent closed this copy, too
        stream.close()


def _restore(copy: int, descriptor: int) -> None:
    """Let `descriptor` be again what `copy` was taken of, and close the copy."""
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]
    with contextlib.suppress(OSError):
        os.dup2(copy, descriptor)
        os.close(copy)


def explain_cut_files() -> None:
    """Where a mapped file turns out to be cut off (SIGBUS), say so in one line and exit with code 2.

    Nothing can be caught there: the read that fails would only be tried again. The handler is set through the
    C library because Python's own handlers run between two instructions of Python, which is never reached.
    """
    if not hasattr(signal, "SIGBUS"):
        return
    library = ctypes.CDLL(None)
    library.signal.restype = ctypes.c_void_p
    library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.signal(signal.SIGBUS, ctypes.cast(_explain, ctypes.c_void_p))


@ctypes.CFUNCTYPE(None, ctypes.c_int)
def _explain(_number: int) -> None:  # kept by the module: C holds no reference to it
    os.write(2, CUT)
    os._exit(2)
