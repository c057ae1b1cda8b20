"""Link between a working thread and the pages that display its state."""

import asyncio
import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from navarena.web.viewer.messages import Message

MAX_WAITING = 256
"""Messages of pages that wait; further ones are dropped, as from a page that floods its server."""


@dataclass(frozen=True)
class PageState:
    """State of the pages.

    Attributes:
        number: counts what was shown.
        text: the state as JSON; it lists `images` by name, in order.
        images: JPEG files.
    """

    number: int = 0
    text: str = '{"phase": "start", "images": []}'
    images: tuple[bytes, ...] = ()


@dataclass
class _Page:
    """A page that waits for news in its event loop."""

    loop: asyncio.AbstractEventLoop
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Let it look, from any thread; a page whose loop has ended stays asleep."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.news.set)


class Hub:
    """Sends a worker's state to all pages, and their messages to the worker.

    A page gets the newest state only: one that is slow skips the states between. All methods may be called
    from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown, self._is_over = PageState(), False
        self._waiting: dict[int, _Page] = {}
        self._sent: dict[int, int] = {}
        self._changed = threading.Condition(self._lock)
        self._messages: queue.Queue[Message] = queue.Queue(MAX_WAITING)

    @property
    def has_pages(self) -> bool:
        """Whether a page is open."""
        return bool(self._waiting)

    def show(self, state: Mapping[str, Any], images: Mapping[str, bytes]) -> None:
        """Let all pages show `state`, with `images` (name -> JPEG) under the key "images"."""
        text = msgspec.json.encode({**state, "images": list(images)}).decode()
        with self._lock:
            self._shown = PageState(self._shown.number + 1, text, tuple(images.values()))
            pages = list(self._waiting.values())
        for page in pages:
            page.wake()

    def wait_for_page(self) -> None:
        """Wait until a page is open."""
        with self._changed:
            self._changed.wait_for(lambda: self.has_pages)

    def take(self, seconds: float) -> Message | None:
        """The next message of any page; None if none comes within `seconds`."""
        try:
            return self._messages.get(timeout=seconds) if seconds > 0 else self._messages.get_nowait()
        except queue.Empty:
            return None

    def put(self, message: Message) -> None:
        """A page has sent `message`."""
        try:
            self._messages.put_nowait(message)
        except queue.Full:
            return

    def close(self, seconds: float) -> None:
        """Wait at most `seconds` until pages have the last state, then end."""
        with self._changed:
            last = self._shown.number
            self._changed.wait_for(lambda: all(sent >= last for sent in self._sent.values()), seconds)
            self._is_over = True
            pages = list(self._waiting.values())
        for page in pages:
            page.wake()

    def join(self, key: int) -> None:
        """The page `key` is there; called in its event loop."""
        with self._changed:
            self._waiting[key] = _Page(asyncio.get_running_loop())
            self._sent[key] = -1
            self._changed.notify_all()

    def leave(self, key: int) -> None:
        """The page `key` has gone."""
        with self._changed:
            self._waiting.pop(key, None)
            self._sent.pop(key, None)
            self._changed.notify_all()

    async def wait(self, key: int) -> PageState | None:
        """Wait for a state that the page `key` has not shown; None at the end."""
        page = self._waiting[key]
        while True:
            with self._changed:
                page.news.clear()
                if self._shown.number > self._sent[key]:
                    return self._shown
                if self._is_over:
                    return None
            await page.news.wait()

    def confirm(self, key: int, shown: PageState) -> None:
        """The page `key` has been sent `shown`."""
        with self._changed:
            if key in self._sent:
                self._sent[key] = shown.number
            self._changed.notify_all()
