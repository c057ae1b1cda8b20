"""Pages of the viewer for commands: a port on loopback, a server beside the work, a browser."""

import contextlib
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from navarena.cli.console import Console, count_of
from navarena.core.errors import InputError, require_extra

if TYPE_CHECKING:
    from navarena.evaluation.benchmark import Benchmark
    from navarena.web.viewer.hub import Hub
    from navarena.web.viewer.watcher import Watcher

HOST = "127.0.0.1"

LAST_SECONDS = 3.0
"""For which open pages are waited for at the end, so that they show the last state."""


@contextlib.contextmanager
def show_page(
    console: Console,
    page: Literal["play", "watch", "scene"],
    hub: "Hub",
    port: int,
    no_browser: bool,
    exports: Mapping[str, Callable[[], str]] | None = None,
) -> "Iterator[str]":
    """Serve a page on loopback for the time of the block, and open a browser; the address.

    Raises MissingExtraError without the server's packages, InputError for a port in use and where no browser
    is found.
    """
    require_extra("fastapi", "viewer")
    require_extra("websockets", "viewer")
    from navarena.web.serving import listen, serve_beside
    from navarena.web.viewer.app import make_viewer_app

    with listen(HOST, port) as bound:
        address = f"http://{HOST}:{bound.getsockname()[1]}/"
        browser = None if no_browser else find_browser(address)
        with serve_beside(make_viewer_app(page, hub, exports), bound):
            console.note(f"the page is at {address}")
            if browser is not None:
                browser.open(address)
            try:
                yield address
            finally:
                hub.close(LAST_SECONDS)


def find_browser(address: str) -> webbrowser.BaseBrowser:
    """The browser of this machine; raises InputError where there is none."""
    try:
        return webbrowser.get()
    except webbrowser.Error as error:
        raise InputError(
            f"expected a browser to open {address} in, got none; add --no-browser, and open that address "
            "yourself"
        ) from error


@contextlib.contextmanager
def watch_page(console: Console, port: int, no_browser: bool) -> "Iterator[Hub]":
    """The link to a page on loopback that shows runs, for the time of the block; raises as show_page."""
    require_extra("fastapi", "viewer")
    from navarena.web.viewer.hub import Hub

    hub = Hub()
    with show_page(console, "watch", hub, port, no_browser):
        yield hub


def make_watcher(
    hub: "Hub", benchmark: "Benchmark", label: str, total: int, pace: float | None = None
) -> "Watcher":
    """The spectator that shows a run of `total` episodes; `pace` is steps per second, None for no limit."""
    from navarena.reports import open_plans
    from navarena.web.viewer.watcher import Watcher

    return Watcher(hub, benchmark, open_plans(benchmark), label, total, pace)


def write_recording(
    console: Console, folder: Path, path: Path, count: int, episodes: Sequence[str] = ()
) -> None:
    """Execute `count` episodes of a finished run again, and write what happened for the rerun viewer."""
    from navarena.reports.rerun_file import write_rerun

    with console.progress(count, "recording") as progress:
        recorded = write_rerun(folder, path, episodes, progress.advance)
    console.text(f"{count_of(recorded, 'episode')} recorded in {path}; look at them with: rerun {path}")
