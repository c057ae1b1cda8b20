"""Health checks of the head of a Ray cluster, before and during a run. Needs no Ray."""

import os
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from navarena.core.errors import CheckFailedError, InputError

AUTO = "auto"
"""The address of the cluster that this machine belongs to."""

LOCAL = "local"
"""The address of a cluster of this machine alone, started and ended with the run."""

ANSWER_SECONDS = 10.0

HEAD_SECONDS = 10.0
"""After which a driver whose cluster has lost its head gives up. Ray would end the process after 60."""

LOOK_SECONDS = 1.0
"""Between two looks at the head."""


class HeadWatch:
    """Ray's head, looked at from time to time.

    Args:
        address: HOST:PORT.
        clock: seconds.
    """

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._address, self._clock = address, clock
        self._seen = self._looked = clock()

    def require_alive(self) -> None:
        """Raise CheckFailedError when nobody has listened at the address for HEAD_SECONDS."""
        now = self._clock()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        host, _, port = self._address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), LOOK_SECONDS).close()
            self._seen = now
        except OSError as error:
            if now - self._seen > HEAD_SECONDS:
                raise CheckFailedError(
                    f"Ray's head at {self._address} does not answer any more; finished episodes are kept: "
                    "run the same command again to go on, with --ray of another cluster or without"
                ) from error


def require_answer(address: str) -> None:
    """Raise InputError unless somebody listens at a HOST:PORT; Ray itself would end the process.

    "auto" is what RAY_ADDRESS names, or the cluster that was last started here. Other addresses are left to
    Ray.
    """
    known = address
    if address == AUTO:
        last = Path(tempfile.gettempdir()) / "ray" / "ray_current_cluster"
        known = os.environ.get("RAY_ADDRESS") or (last.read_text().strip() if last.exists() else "")
    host, mark, port = known.rpartition(":")
    if not mark or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise make_unreachable(address, str(error)) from error


def make_unreachable(address: str, problem: str) -> InputError:
    """The error of a cluster that cannot be reached."""
    return InputError(
        f"cannot reach a Ray cluster at {address!r} ({problem}); start one with `ray start --head`, or give "
        f"--ray {LOCAL}"
    )
