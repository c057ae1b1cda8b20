"""Headers of every response, the bound of forms, and failures in words."""

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from navarena.core.errors import InputError
from navarena.web.challenge.pages.site import Site, describe_failure

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
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
        if is_form and not scope["path"].startswith("/api/"):
            length = headers.get(b"content-length", b"")
            if not length.isdigit() or int(length) > LONGEST_FORM:
                text = f"expected a form of at most {LONGEST_FORM} bytes that says its length"
                await JSONResponse({"error": {"code": "long_form", "message": text}}, 413)(
                    scope, receive, send_with_headers
                )
                return
        await self.app(scope, receive, send_with_headers)


def handle_failures(app: FastAPI, site: Site) -> None:
    """Answer what visitors did wrong with a page, or below /api with JSON."""

    def answer(request: Request, error: Exception) -> Response:
        status, code, text = describe_failure(error)
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": {"code": code, "message": text}}, status)
        try:
            visitor = site.visitor(request)
        except InputError:
            return JSONResponse({"error": {"code": code, "message": text}}, status)
        values: dict[str, Any] = {"status_code": status, "text": text}
        return site.page(request, "failure.html", visitor, status, **values)

    for kind in (InputError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, answer)
