"""Headers of every response of a server, and the bound of its forms."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
