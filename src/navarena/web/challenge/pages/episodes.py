"""Routes of the episodes of a submission: lists, single ones, and videos."""

import re
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request, Response

from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.pages.episode_views import (
    ask_for_recording,
    read_video,
    view_episode,
    view_episodes,
)
from navarena.web.challenge.pages.site import Site, quote_segment, see_other
from navarena.web.challenge.recordings import OVERVIEW

Text = Annotated[str, Form(max_length=1000)]
Place = Annotated[int, Path(ge=0, le=1_000_000)]
"""Of a part in a phase, or of an episode in a part."""
Count = Annotated[int, Query(ge=0, le=1_000_000)]


def make_episode_router(site: Site) -> APIRouter:
    """The routes of episodes."""
    router = APIRouter(include_in_schema=False, prefix="/submissions/{public_id}")

    def ask(request: Request, csrf: str, public_id: str, part: int, position: int) -> None:
        visitor = site.visitor_of_form(request, csrf)
        visitor.require_user()
        with site.storage.write() as session:
            ask_for_recording(session, site.challenge, visitor, public_id, part, position)

    @router.get("/episodes")
    def show_episodes(request: Request, public_id: str, part: Count = 0, page: Count = 1) -> Response:
        visitor = site.visitor(request)
        with site.storage.read() as session:
            view = view_episodes(session, site.challenge, visitor, public_id, part, page)
        return site.page(request, "episodes.html", visitor, view=view)

    @router.get("/episodes/{part}/{position}")
    def show_episode(request: Request, public_id: str, part: Place, position: Place) -> Response:
        visitor: Visitor = site.visitor(request)
        with site.storage.read() as session:
            view = view_episode(session, site.challenge, visitor, public_id, part, position)
        return site.page(request, "episode.html", visitor, view=view)

    @router.get("/episodes/{part}/{position}/video")
    def send_video(request: Request, public_id: str, part: Place, position: Place) -> Response:
        with site.storage.read() as session:
            data = read_video(session, site.challenge, site.visitor(request), public_id, part, position)
        return answer_range(data, "video/mp4", request.headers.get("range", ""))

    @router.post("/episodes/{part}/{position}")
    def ask_for_episode(
        request: Request, public_id: str, part: Place, position: Place, csrf: Text = ""
    ) -> Response:
        ask(request, csrf, public_id, part, position)
        return see_other(f"/submissions/{quote_segment(public_id)}/episodes/{part}/{position}")

    @router.post("/overviews/{part}")
    def ask_for_overview(request: Request, public_id: str, part: Place, csrf: Text = "") -> Response:
        ask(request, csrf, public_id, part, OVERVIEW)
        return see_other(f"/submissions/{quote_segment(public_id)}")

    return router


def answer_range(data: bytes, media_type: str, asked: str) -> Response:
    """`data`, or the part of it that the header `asked` names, such as "bytes=0-99": players jump by it.

    Several parts at once, and headers that are none, get everything.
    """
    headers = {"accept-ranges": "bytes", "cache-control": "private, max-age=300"}
    found = re.fullmatch(r"bytes=(\d{0,15})-(\d{0,15})", asked.strip())
    if found is None or not any(found.groups()):
        return Response(data, media_type=media_type, headers=headers)
    first, last = found.groups()
    begin = int(first) if first else max(0, len(data) - int(last))
    end = min(int(last) + 1 if first and last else len(data), len(data))
    if begin >= end:
        return Response(status_code=416, headers={**headers, "content-range": f"bytes */{len(data)}"})
    headers["content-range"] = f"bytes {begin}-{end - 1}/{len(data)}"
    return Response(data[begin:end], 206, headers, media_type)
