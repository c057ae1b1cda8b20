"""A page without a browser: a WebSocket that reads states with their images, and answers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import cv2
import numpy as np

from navarena.web.serving import listen, serve_beside
from navarena.web.viewer.app import make_viewer_app
from navarena.web.viewer.hub import Hub

PATIENCE = 120.0
"""Seconds for anything, on a busy machine."""

State = dict[str, Any]


class Page:
    """An open stream.

    Attributes:
        state: the last one.
        images: its images (H, W, 3) by name.
    """

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.state: State = {}
        self.images: dict[str, np.ndarray] = {}

    def read(self) -> State:
        """The next state, with its images."""
        self.state = json.loads(self._socket.recv(timeout=PATIENCE))
        data = {name: self._socket.recv(timeout=PATIENCE) for name in self.state["images"]}
        self.images = {
            name: cv2.imdecode(np.frombuffer(one, np.uint8), cv2.IMREAD_COLOR_RGB)
            for name, one in data.items()
        }
        return self.state

    def read_until(self, is_there: Callable[[State], bool]) -> State:
        """The first state for which `is_there` holds."""
        while not is_there(self.read()):
            continue
        return self.state

    def send(self, **message: Any) -> None:
        """Send a message."""
        self._socket.send(json.dumps(message))

    def send_text(self, text: str | bytes) -> None:
        """Send anything."""
        self._socket.send(text)

    def act(self, action: int) -> State:
        """Take an action, and wait for what comes of it."""
        step, phase = self.state["step"], self.state["phase"]
        self.send(do="act", step=step, action=action)
        return self.read_until(lambda state: (state["step"], state["phase"]) != (step, phase))

    def command(self, *numbers: float) -> State:
        """Take a continuous action, and wait for what comes of it."""
        step, phase = self.state["step"], self.state["phase"]
        self.send(do="act", step=step, command=numbers)
        return self.read_until(lambda state: (state["step"], state["phase"]) != (step, phase))


class AttentiveHub(Hub):
    """A hub whose worker ends when the page of a test has failed, where it would wait for ever."""

    problem: BaseException | None = None

    def take(self, seconds: float) -> Any:
        if self.problem is not None:
            raise self.problem
        return super().take(seconds)


@contextmanager
def serve_hub(page: str, hub: Hub) -> Iterator[int]:
    """The port of a viewer around `hub`."""
    with listen("127.0.0.1", 0) as bound, serve_beside(make_viewer_app(page, hub), bound):
        yield bound.getsockname()[1]


@contextmanager
def open_page(port: int, **more: Any) -> Iterator[Page]:
    """A page at a viewer."""
    from websockets.sync.client import connect

    with connect(f"ws://127.0.0.1:{port}/stream", max_size=2**24, **more) as socket:
        yield Page(socket)


def use_page(hub: AttentiveHub, port: int, script: Callable[[Page], object]) -> Callable[[], None]:
    """Let a page run `script` in a thread; call what is returned to wait for it, and to raise its error."""

    def run() -> None:
        try:
            with open_page(port) as page:
                script(page)
        except BaseException as error:
            hub.problem = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def join() -> None:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the page still waits"
        if hub.problem is not None:
            raise hub.problem

    return join
