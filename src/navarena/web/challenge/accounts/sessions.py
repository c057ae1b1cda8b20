"""Authentication of requests by session, token or none, and CSRF checks of forms."""

from dataclasses import dataclass

from fastapi import Request, Response
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.secret_texts import hash_secret, is_same, make_secret
from navarena.web.challenge.accounts.users import find_user_of_token
from navarena.web.challenge.refusals import Refusal, not_found
from navarena.web.challenge.storage.engine import Storage, now_ms
from navarena.web.challenge.storage.models import BrowserSession, User

COOKIE = "navarena_session"
FORM_COOKIE = "navarena_form"
"""Holds the secret of forms of browsers that have not signed in."""

CSRF_HEADER = "x-csrf-token"
DAYS = 14
_DAY_MS = 86_400_000


@dataclass(frozen=True)
class Visitor:
    """The authenticated sender of a request.

    Attributes:
        user: None for nobody.
        csrf: secret that its forms send back; empty for tokens, which no browser adds by itself.
        by_token: whether the request carries a token.
    """

    user: User | None
    csrf: str
    by_token: bool = False

    @property
    def is_host(self) -> bool:
        """Whether the visitor may hold phases."""
        return self.user is not None and self.user.role in ("host", "administrator")

    @property
    def is_administrator(self) -> bool:
        """Whether the visitor may change accounts."""
        return self.user is not None and self.user.role == "administrator"

    def require_user(self) -> User:
        """The user; raises a Refusal (401) for nobody."""
        if self.user is None:
            raise Refusal("sign_in", "expected somebody who has signed in, got nobody; sign in first", 401)
        return self.user

    def require_host(self) -> User:
        """The user, if a host or administrator; else as if there were nothing."""
        if self.user is None or not self.is_host:
            raise not_found("page")
        return self.user

    def require_administrator(self) -> User:
        """The user, if an administrator; else as if there were nothing."""
        if self.user is None or not self.is_administrator:
            raise not_found("page")
        return self.user


def identify(request: Request, storage: Storage) -> Visitor:
    """The sender of `request`; raises a Refusal (401) for an unknown or revoked token."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        with storage.read() as session:
            user = find_user_of_token(session, token.strip())
        if user is None:
            raise Refusal("bad_token", "this token is unknown or was revoked; make another", 401)
        return Visitor(user, "", by_token=True)
    cookie = request.cookies.get(COOKIE)
    if cookie:
        with storage.read() as session:
            found = _find_session(session, cookie)
            if found is not None:
                return Visitor(found.user, found.csrf)
    return Visitor(None, request.cookies.get(FORM_COOKIE, ""))


def _find_session(session: Session, cookie: str) -> BrowserSession | None:
    found = session.scalar(select(BrowserSession).where(BrowserSession.hash == hash_secret(cookie)))
    if found is None or found.expires <= now_ms() or found.user.disabled:
        return None
    return found


def open_session(storage: Storage, user: User, request: Request, response: Response) -> None:
    """Sign a browser in: a new cookie each time, so that none can be planted before."""
    cookie = make_secret()
    now = now_ms()
    with storage.write() as session:
        session.execute(delete(BrowserSession).where(BrowserSession.expires <= now))
        session.add(
            BrowserSession(
                hash=hash_secret(cookie), user_id=user.id, csrf=make_secret(), expires=now + DAYS * _DAY_MS
            )
        )
    _set_cookie(request, response, COOKIE, cookie)


def close_session(storage: Storage, request: Request, response: Response) -> None:
    """Sign a browser out."""
    cookie = request.cookies.get(COOKIE, "")
    with storage.write() as session:
        session.execute(delete(BrowserSession).where(BrowserSession.hash == hash_secret(cookie)))
    response.delete_cookie(COOKIE)


def give_form_secret(request: Request, response: Response, visitor: Visitor) -> Visitor:
    """`visitor` with a secret for forms, held by a cookie of the browser until it signs in."""
    if visitor.csrf or visitor.user is not None:
        return visitor
    secret = make_secret()
    _set_cookie(request, response, FORM_COOKIE, secret)
    return Visitor(None, secret)


def require_own_form(request: Request, visitor: Visitor, sent: str | None) -> None:
    """Raise a Refusal (403) for a request that another site made a browser send.

    Args:
        request: that changes something.
        visitor: who sends it.
        sent: the secret in the form or in the header CSRF_HEADER.
    """
    if visitor.by_token:
        return
    origin = request.headers.get("origin")
    foreign = origin not in (None, "null") and origin.partition("://")[2] != request.headers.get("host")  # type: ignore[union-attr]
    if foreign or not visitor.csrf or not is_same(visitor.csrf, sent or ""):
        raise Refusal("foreign_form", "this form is old or not of this site; load the page again", 403)


def address_of(request: Request) -> str:
    """The address that sends `request`; behind a proxy that uvicorn trusts, the one that it names."""
    return request.client.host if request.client else ""


def _set_cookie(request: Request, response: Response, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=DAYS * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
