"""Serving of applications at sockets of this machine, in the foreground or beside other work."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

from navarena.core.errors import InputError, require_extra

BACKLOG = 2048
"""Connections that may wait."""

END_SECONDS = 5
"""That open connections have when a server ends."""


@contextlib.contextmanager
def listen(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at `host` and `port`; raises InputError for a port in use and an address that is not here."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only at sockets that name their protocol; at others the second
    # message of a step waits 40 ms until the first one is acknowledged
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
            bound.listen(BACKLOG)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"cannot listen at {host}, port {port} ({getattr(error, 'strerror', None) or error}); choose "
                "another --port (0 takes one that is free) or --host"
            ) from error
        yield bound


def serve_app(app: object, bound: socket.socket) -> None:
    """Serve `app` at the socket until SIGINT or SIGTERM, which come out as KeyboardInterrupt.

    Tokens and addresses are not logged.
    """
    _make_server(app).run(sockets=[bound])


@contextlib.contextmanager
def serve_beside(app: object, bound: socket.socket) -> Iterator[None]:
    """Serve `app` at the socket in a thread, for the time of the block."""
    server = _make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(2 * END_SECONDS)


def _make_server(app: object) -> Any:
    uvicorn = require_extra("uvicorn", "server")
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=END_SECONDS)
    return uvicorn.Server(config)
