"""The application: the interface under /api/v1, live runs and pages, around one service."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

import navarena
from navarena.core.errors import NavarenaError, StorageError
from navarena.web.challenge.api import phases, submissions
from navarena.web.challenge.api.views import PROBLEMS
from navarena.web.challenge.live import routes as live
from navarena.web.challenge.pages.mounting import add_pages, make_site
from navarena.web.challenge.pages.site import Site
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service

API = "/api/v1"
MAX_BODY = 1 << 20
"""Bytes of a request to any route but uploads, which have a bound of their own."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def make_app(service: Service, site: Site | None = None) -> FastAPI:
    """The ASGI application of `service`; `site` are its pages, the usual ones by default."""
    app = FastAPI(
        title=service.challenge.name,
        version=navarena.__version__,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    for router in (phases.router, submissions.router, live.router):
        app.include_router(router, prefix=API, responses=PROBLEMS)
    app.add_exception_handler(Refusal, _answer_refusal)
    app.add_exception_handler(StorageError, _answer_storage)
    app.add_exception_handler(NavarenaError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_middleware(BodyLimit)
    add_pages(app, site or make_site(service))
    return app


class BodyLimit:
    """Middleware that refuses requests with more than MAX_BODY bytes, whatever their headers say.

    Args:
        app: the application inside.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, its body counted."""
        if scope["type"] != "http" or _is_upload(scope):
            await self._app(scope, receive, send)
            return
        left = MAX_BODY

        async def receive_counted() -> MutableMapping[str, Any]:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                # the one exception that passes through whatever reads the body
                raise HTTPException(413, f"expected a request of at most {MAX_BODY} bytes, got more")
            return message

        await self._app(scope, receive_counted, send)


def _is_upload(scope: Scope) -> bool:
    path = str(scope["path"])
    uploads = ("/submissions", "/trajectories")
    return scope["method"] == "POST" and path.startswith(f"{API}/phases/") and path.endswith(uploads)


def answer(code: str, message: str, status: int) -> JSONResponse:
    """The JSON of a request that was refused."""
    return JSONResponse({"error": {"code": code, "message": message}}, status)


async def _answer_refusal(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refusal)
    return answer(error.code, str(error), error.status)


async def _answer_storage(request: Request, error: Exception) -> JSONResponse:
    return answer("database", str(error), 503)


async def _answer_error(request: Request, error: Exception) -> JSONResponse:
    return answer("bad_request", str(error), 422)


async def _answer_validation(request: Request, error: Exception) -> JSONResponse:
    """One line for the first validation error, without the sent values."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(one) for one in first["loc"])
    return answer("bad_request", f"{where}: {first['msg']}", 422)
