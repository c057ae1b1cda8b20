"""Routes of the pages that everybody may open: challenge, leaderboards, submissions, teams."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.pages.episodes import Count
from navarena.web.challenge.pages.site import STATIC, Site
from navarena.web.challenge.pages.submission_views import (
    encode_journal,
    read_journal,
    view_progress,
    view_submission,
    view_team,
)
from navarena.web.challenge.pages.views import view_board, view_challenge, view_history
from navarena.web.challenge.permissions import may_see_scores, require_phase, require_submission
from navarena.web.challenge.refusals import not_found

EVENT_SECONDS = 1.0
LONGEST_STREAM_SECONDS = 900.0
"""Browsers open a stream anew when it ends."""

_STATIC = {path.name: path for path in STATIC}
_KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


def make_public_router(site: Site) -> APIRouter:
    """The routes of the public pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def show_challenge(request: Request) -> Response:
        visitor = site.visitor(request)
        with site.storage.read() as session:
            view = view_challenge(session, site.challenge)
        return site.page(request, "challenge.html", visitor, view=view)

    @router.get("/phases/{name}")
    def show_board(
        request: Request, name: str, track: str | None = None, sort: str = "rank", page: int = 1
    ) -> Response:
        visitor = site.visitor(request)
        view = board_view(site, visitor, name, track, sort, page)
        table = board_table(site, view)
        return site.page(request, "leaderboard.html", visitor, view=view, table=table)

    @router.get("/phases/{name}/history")
    def show_history(request: Request, name: str, track: str | None = None) -> Response:
        visitor = site.visitor(request)
        with site.storage.read() as session:
            phase = require_phase(site.challenge, name)
            view = view_history(session, site.challenge, site.boards, visitor, phase, track or None)
        return site.page(request, "history.html", visitor, view=view, charts=draw_history(view))

    @router.get("/submissions/{public_id}")
    def show_submission(request: Request, public_id: str) -> Response:
        visitor = site.visitor(request)
        with site.storage.read() as session:
            view = view_submission(session, site.challenge, site.boards, visitor, public_id)
        return site.page(request, "submission.html", visitor, view=view)

    @router.get("/submissions/{public_id}/journal")
    def send_journal(request: Request, public_id: str) -> Response:
        with site.storage.read() as session:
            parts = read_journal(session, site.challenge, site.visitor(request), public_id)
        if parts is None:
            raise not_found("journal")
        name = f'attachment; filename="{public_id}.jsonl"'
        return Response(
            encode_journal(parts), media_type="application/x-ndjson", headers={"content-disposition": name}
        )

    @router.get("/submissions/{public_id}/events")
    async def send_events(request: Request, public_id: str) -> Response:
        visitor = await run_in_threadpool(site.visitor, request)
        first = await run_in_threadpool(read_progress, site, visitor, public_id)
        stream = stream_progress(site, visitor, public_id, first)
        return StreamingResponse(
            stream, media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    @router.get("/teams/{name}")
    def show_team(request: Request, name: str, page: Count = 1) -> Response:
        visitor = site.visitor(request)
        with site.storage.read() as session:
            view = view_team(session, site.challenge, visitor, name, page)
        return site.page(request, "team.html", visitor, view=view, has_form=True, code=None)

    @router.get("/static/{name}")
    def send_static(name: str) -> Response:
        if name not in _STATIC:
            raise not_found("file")
        headers = {"cache-control": "public, max-age=300"}
        path = _STATIC[name]
        return Response(path.read_bytes(), media_type=_KINDS[path.suffix], headers=headers)

    return router


def board_view(
    site: Site, visitor: Visitor, name: str, track: str | None, sort: str, page: int
) -> dict[str, Any]:
    """The view of a page of a leaderboard; an empty track stands for all."""
    phase = require_phase(site.challenge, name)
    with site.storage.read() as session:
        return view_board(session, site.challenge, site.boards, visitor, phase, track or None, sort, page)


def board_table(site: Site, view: dict[str, Any], base: str = "/", exported: bool = False) -> Markup:
    """The table of a leaderboard: the same for everybody who sees it, and kept until it changes."""

    def make() -> Markup:
        text = site.render("board_table.html", Visitor(None, ""), "", view=view, base=base, exported=exported)
        return Markup(text)

    if exported or not view["visible"]:
        return make()
    phase = require_phase(site.challenge, view["phase"]["name"])
    shown = (view["track"], view["sort"], view["page"], view["phase"]["board_shown"])
    return site.boards.keep(("table", phase.name, site.boards.snapshot(phase).version, *shown), make)


def read_progress(site: Site, visitor: Visitor, public_id: str) -> dict[str, Any]:
    """Progress of a submission, for visitors who may see it."""
    with site.storage.read() as session:
        one, phase = require_submission(session, site.challenge, visitor, public_id)
        return view_progress(session, phase, one, may_see_scores(site.challenge, visitor, one.phase))


async def stream_progress(
    site: Site, visitor: Visitor, public_id: str, first: dict[str, Any]
) -> AsyncIterator[bytes]:
    """Server-sent events: the progress whenever it changes, until the submission's end."""
    said, held, begun = None, first, time.monotonic()
    while time.monotonic() - begun < LONGEST_STREAM_SECONDS:
        yield b": alive\n\n" if held == said else b"data: " + msgspec.json.encode(held) + b"\n\n"
        said = held
        if held["ended"]:
            return
        await asyncio.sleep(EVENT_SECONDS)
        held = await run_in_threadpool(read_progress, site, visitor, public_id)


WIDTH, HEIGHT, EDGE = 720, 320, 34
"""Pixels of the chart of ranks."""

KINDS = 8
"""Colours of its lines."""


def draw_history(view: dict[str, Any]) -> list[dict[str, Any]]:
    """For each section the chart of its ranks: a line for each traced entry, rank 1 at the top."""
    sections = dict.fromkeys(line["section"] for line in view["lines"])
    return [_draw_section(name, view) for name in sections]


def _draw_section(name: str, view: dict[str, Any]) -> dict[str, Any]:
    lines = [line for line in view["lines"] if line["section"] == name]
    last = len(view["days"]) - 1
    worst = max((rank for line in lines for rank in line["ranks"] if rank is not None), default=1)

    def place(day: int, rank: int) -> str:
        x = EDGE + (WIDTH - 2 * EDGE) * (day / last if last else 0.5)
        y = EDGE + (HEIGHT - 2 * EDGE) * (rank - 1) / max(worst - 1, 1)
        return f"{x:.1f},{y:.1f}"

    drawn = []
    for number, line in enumerate(lines):
        points = [place(day, rank) for day, rank in enumerate(line["ranks"]) if rank is not None]
        drawn.append({**line, "kind": number % KINDS, "points": points})
    return {"section": name, "width": WIDTH, "height": HEIGHT, "edge": EDGE, "worst": worst, "lines": drawn}
