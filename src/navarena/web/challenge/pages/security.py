"""Headers of every response, the bound of forms, and failures in words."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from navarena.core.errors import NavarenaError, StorageError
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.pages.site import Site
from navarena.web.challenge.refusals import Refusal

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)

LONGEST_FORM = 64 * 1024
"""Bytes of a form."""

CODES = {400: "bad_request", 404: "not_found", 405: "wrong_method", 413: "too_large"}
"""Codes of failures that Starlette finds, by status."""

_FORM_KINDS = (b"application/x-www-form-urlencoded", b"multipart/form-data")


class SecureHeaders:
    """Adds HEADERS to every response, and refuses forms of more than LONGEST_FORM bytes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        headers = dict(scope["headers"])
        is_form = headers.get(b"content-type", b"").lower().startswith(_FORM_KINDS)
        has_body = scope["method"] not in ("GET", "HEAD")  # clients follow a redirect with the type of a form
        if is_form and has_body and not scope["path"].startswith("/api/"):
            length = headers.get(b"content-length", b"")
            if not length.isdigit() or int(length) > LONGEST_FORM:
                text = f"expected a form of at most {LONGEST_FORM} bytes that says its length"
                await JSONResponse({"error": {"code": "long_form", "message": text}}, 413)(
                    scope, receive, send_with_headers
                )
                return
        await self.app(scope, receive, send_with_headers)


def handle_failures(app: FastAPI, site: Site) -> None:
    """Answer failures of pages with a page; below /api the application's own handlers answer."""
    before = dict(app.exception_handlers)

    async def answer(request: Request, error: Exception) -> Response:
        if request.url.path.startswith("/api/"):
            kinds = [kind for kind in type(error).__mro__ if kind in before and kind is not HTTPException]
            if kinds:
                return await before[kinds[0]](request, error)  # type: ignore[misc, no-any-return]
            status, code, text = describe_failure(error)
            return JSONResponse({"error": {"code": code, "message": text}}, status)
        return await run_in_threadpool(show, request, error)

    def show(request: Request, error: Exception) -> Response:
        status, _, text = describe_failure(error)
        try:
            visitor = site.visitor(request)
        except NavarenaError:  # the failure itself may be that nobody can be looked up
            visitor = Visitor(None, "")
        return site.page(request, "failure.html", visitor, status, status_code=status, text=text)

    for kind in (Refusal, StorageError, NavarenaError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, answer)


def describe_failure(error: Exception) -> tuple[int, str, str]:
    """Status, code and text of a failure."""
    if isinstance(error, Refusal):
        return error.status, error.code, str(error)
    if isinstance(error, HTTPException):
        return error.status_code, CODES.get(error.status_code, "http_error"), str(error.detail)
    if isinstance(error, StorageError):
        return 503, "database", str(error)
    if isinstance(error, NavarenaError):
        return 422, "bad_request", str(error)
    return 422, "bad_request", "expected the fields of this page's form; load it again"
