"""Shared context of all pages: challenge, database, templates, and rendering of responses.

Markdown of challenge files becomes HTML without scripts, foreign markup and images.
"""

import datetime
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from fastapi import Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from pydantic import AfterValidator

from navarena.reports.html import TEMPLATES
from navarena.reports.topdown import PATH_COLORS
from navarena.web.challenge.accounts.sessions import (
    Visitor,
    give_form_secret,
    identify,
    require_own_form,
)
from navarena.web.challenge.accounts.users import Accounts
from navarena.web.challenge.pages.boards import Boards
from navarena.web.challenge.service import Service
from navarena.web.challenge.settings import Challenge
from navarena.web.challenge.storage.engine import Storage
from navarena.web.page_files import SHARED_STYLES

_PARSER = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")


def render_markdown(text: str) -> Markup:
    """`text` as HTML. Tags in it come out as text; links to other schemes than web and mail are no links."""
    tokens = _PARSER.parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "nofollow noopener noreferrer")
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))


FOLDER = Path(__file__).parent
STATIC = (
    *SHARED_STYLES,
    FOLDER / "static" / "challenge.css",
    FOLDER / "static" / "challenge.js",
)
"""Files that pages load: the look of all servers, and their own."""

SECTION_TITLES = {
    "live": "Live",
    "declared": "Actions verified, inputs declared",
    "uploaded": "Trajectory uploaded, inputs declared",
    "privileged": "Privileged, not ranked",
}


LARGEST_ID = 2**31 - 1
"""Of a row of any table."""


def require_text(text: str) -> str:
    """`text`; raises ValueError for one with a zero byte, which PostgreSQL does not hold."""
    if "\0" in text:
        raise ValueError("expected text without zero bytes")
    return text


Text = Annotated[str, Form(max_length=1000), AfterValidator(require_text)]
"""A field of a form."""


def make_environment() -> Environment:
    """The templates: text is escaped, missing values raise."""
    drawings = PrefixLoader({"reports": FileSystemLoader(TEMPLATES)})
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(FOLDER / "templates"), drawings]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        markdown=render_markdown,
        moment=format_moment,
        iso=format_iso,
        count=format_number,
        segment=quote_segment,
    )
    environment.tests["link"] = is_link
    environment.globals.update(section_titles=SECTION_TITLES, path_colors=PATH_COLORS)
    return environment


def format_moment(ms: int | None) -> str:
    """Milliseconds since 1970 as "2026-05-01 12:00 UTC"; a dash for None."""
    return "–" if ms is None else _utc(ms).strftime("%Y-%m-%d %H:%M UTC")


def format_iso(ms: int) -> str:
    """Milliseconds since 1970 as a time for machines."""
    return _utc(ms).isoformat(timespec="seconds")


def _utc(ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC)


def format_number(value: float | None) -> str:
    """A number with three digits, such as "11.7 M"; a dash for None."""
    if value is None:
        return "–"
    for size, sign in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{sign}"
    return f"{value:.3g}"


def quote_segment(text: str) -> str:
    """`text` as one part of an address's path."""
    return quote(text, safe="")


def is_link(text: str) -> bool:
    """Whether `text` is the address of a web page."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


@dataclass(frozen=True)
class Site:
    """A challenge server, as its pages see it."""

    service: Service
    accounts: Accounts
    boards: Boards
    environment: Environment = field(default_factory=make_environment)

    @property
    def challenge(self) -> Challenge:
        """From its file."""
        return self.service.challenge

    @property
    def storage(self) -> Storage:
        """The database."""
        return self.service.storage

    def visitor(self, request: Request) -> Visitor:
        """The sender of the request."""
        return identify(request, self.storage)

    def visitor_of_form(self, request: Request, csrf: str) -> Visitor:
        """The sender of a form with the secret `csrf`; raises a Refusal (403) where another site sent it."""
        visitor = self.visitor(request)
        require_own_form(request, visitor, csrf)
        return visitor

    def page(
        self, request: Request, template: str, visitor: Visitor, status: int = 200, /, **values: Any
    ) -> Response:
        """The page of `template`; it is kept by no cache where somebody has signed in."""
        response = HTMLResponse("", status)
        visitor = give_form_secret(request, response, visitor) if values.get("has_form") else visitor
        text = self.render(template, visitor, request.url.path, **values)
        response.body = text.encode("utf-8", "replace")
        response.headers["content-length"] = str(len(response.body))
        response.headers["cache-control"] = "no-store" if visitor.csrf else "no-cache"
        return response

    def render(self, template: str, visitor: Visitor, path: str, /, **values: Any) -> str:
        """The text of `template`."""
        known = {"site": self.challenge, "visitor": visitor, "path": path, "base": "/", "exported": False}
        return self.environment.get_template(template).render({**known, **values})


def see_other(path: str) -> Response:
    """Lead a browser to `path` after a form."""
    return RedirectResponse(path, 303)
