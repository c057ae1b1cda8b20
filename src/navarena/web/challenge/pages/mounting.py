"""Puts the pages into an application, and shows failures as pages in words."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from navarena.core.errors import NavarenaError, StorageError
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.accounts.users import Accounts
from navarena.web.challenge.pages.accounts import make_account_router
from navarena.web.challenge.pages.boards import Boards
from navarena.web.challenge.pages.data import make_data_router
from navarena.web.challenge.pages.episodes import make_episode_router
from navarena.web.challenge.pages.hosts import make_host_router
from navarena.web.challenge.pages.public import make_public_router
from navarena.web.challenge.pages.site import Site
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.headers import SecureHeaders

CODES = {400: "bad_request", 404: "not_found", 405: "wrong_method", 413: "too_large"}
"""Codes of failures that Starlette finds, by status."""


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


def make_site(service: Service, accounts: Accounts | None = None, boards: Boards | None = None) -> Site:
    """The site of `service`."""
    accounts = accounts or Accounts(service.storage, service.sign_up)
    return Site(service, accounts, boards or Boards(service.storage, service.challenge))


def add_pages(app: FastAPI, site: Site) -> None:
    """Add every page, its data below /api/v1, headers, and the answers to what visitors do wrong."""
    pages = (make_public_router, make_episode_router, make_account_router, make_host_router)
    for make in (*pages, make_data_router):
        app.include_router(make(site))
    app.add_middleware(SecureHeaders)
    handle_failures(app, site)
