"""The application of a viewer: one page, its files, one WebSocket, and what it exports."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import FastAPI, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse, HTMLResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

from navarena.web.headers import SecureHeaders
from navarena.web.page_files import SHARED_STYLES
from navarena.web.streaming import StreamError
from navarena.web.viewer.hub import Hub
from navarena.web.viewer.messages import read_message

FOLDER = Path(__file__).parent / "static"
FILES = {path.name: path for path in (*SHARED_STYLES, *sorted(FOLDER.glob("*.*s")))}
"""Styles and scripts by name."""

LOOPBACK = ("127.0.0.1", "localhost")
"""Names by which a browser on this machine calls it; pages of other names may not reach it by a trick of
their name server."""

REFUSED = 1008
"""Code of WebSockets for a message or an origin that is not allowed."""

Export = Callable[[], str]


def make_viewer_app(page: str, hub: Hub, exports: Mapping[str, Export] | None = None) -> FastAPI:
    """The ASGI application around `hub`.

    Args:
        page: name of the page that stands at /: play, watch or scene.
        hub: the link to what works.
        exports: name of a CSV file -> its text when it is asked for.
    """
    app = FastAPI(title=f"navarena {page}", docs_url=None, redoc_url=None, openapi_url=None)
    found, keys = dict(exports or {}), itertools.count()
    body = (FOLDER / f"{page}.html").read_text()
    text = (FOLDER / "page.html").read_text().format(title=page.title(), page=page, body=body)

    @app.get("/")
    def send_page() -> Response:
        """The page itself."""
        return HTMLResponse(text, headers={"cache-control": "no-store"})

    @app.get("/static/{name}")
    def send_file(name: str) -> Response:
        """A style or a script."""
        path = FILES.get(name)
        return Response(status_code=404) if path is None else FileResponse(path)

    @app.get("/export/{name}")
    def send_export(name: str) -> Response:
        """A CSV file."""
        if name not in found:
            return Response(status_code=404)
        headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
        return Response(found[name](), media_type="text/csv", headers=headers)

    @app.websocket("/stream")
    async def stream(websocket: WebSocket) -> None:
        """Show what the hub shows, and take what the page says."""
        if not _is_own(websocket):
            await websocket.close(REFUSED)
            return
        await websocket.accept()
        key = next(keys)
        hub.join(key)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_send(websocket, hub, key))
                tasks.create_task(_receive(websocket, hub))
        except* (WebSocketDisconnect, _EndedError, RuntimeError):
            pass
        finally:
            hub.leave(key)

    app.add_middleware(SecureHeaders)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(LOOPBACK))
    return app


class _EndedError(Exception):
    """A stream has come to its end."""


def _is_own(websocket: WebSocket) -> bool:
    """Whether the page that opens a stream is ours; programs send no origin."""
    origin = websocket.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == websocket.headers.get("host")


async def _send(websocket: WebSocket, hub: Hub, key: int) -> None:
    while (shown := await hub.wait(key)) is not None:
        await websocket.send_text(shown.text)
        for image in shown.images:
            await websocket.send_bytes(image)
        hub.confirm(key, shown)
    await websocket.close()
    raise _EndedError


async def _receive(websocket: WebSocket, hub: Hub) -> None:
    while True:
        try:
            message = read_message(await websocket.receive_text())
        except (StreamError, KeyError) as error:  # binary frames have no text
            with contextlib.suppress(RuntimeError):
                await websocket.close(REFUSED, str(error)[:100])
            raise _EndedError from error
        hub.put(message)
