"""Puts the pages into an application."""

from fastapi import FastAPI

from navarena.web.challenge.accounts.users import Accounts
from navarena.web.challenge.pages.accounts import make_account_router
from navarena.web.challenge.pages.boards import Boards
from navarena.web.challenge.pages.data import make_data_router
from navarena.web.challenge.pages.episodes import make_episode_router
from navarena.web.challenge.pages.failures import handle_failures
from navarena.web.challenge.pages.hosts import make_host_router
from navarena.web.challenge.pages.public import make_public_router
from navarena.web.challenge.pages.site import Site
from navarena.web.challenge.service import Service
from navarena.web.headers import SecureHeaders


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
