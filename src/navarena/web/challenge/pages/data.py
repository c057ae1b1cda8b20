"""The data of every page as JSON, below /api/v1, with the rights of the visitor."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Request
from pydantic import AfterValidator

from navarena.web.challenge.accounts.personal_data import export_account
from navarena.web.challenge.accounts.sessions import (
    CSRF_HEADER,
    Visitor,
    address_of,
    require_own_form,
)
from navarena.web.challenge.accounts.teams import create_team, make_owner, remove_member, require_team
from navarena.web.challenge.accounts.users import invite, issue_token, join_by_invitation, revoke_token
from navarena.web.challenge.api.views import PROBLEMS
from navarena.web.challenge.pages.accounts import TokenId, view_account
from navarena.web.challenge.pages.episode_views import ask_for_recording, view_episode, view_episodes
from navarena.web.challenge.pages.episodes import Count, Place
from navarena.web.challenge.pages.hosts import (
    change_phase,
    change_submission,
    view_host,
    view_host_phase,
    view_people,
)
from navarena.web.challenge.pages.public import board_view
from navarena.web.challenge.pages.site import Site, require_text
from navarena.web.challenge.pages.submission_views import view_submission, view_team
from navarena.web.challenge.pages.views import view_challenge, view_history
from navarena.web.challenge.permissions import find_phase_row, require_phase
from navarena.web.challenge.recordings import OVERVIEW
from navarena.web.challenge.service import hidden_phases

Csrf = Annotated[str, Header(alias=CSRF_HEADER)]
Field = Annotated[str, Body(embed=True, max_length=1000), AfterValidator(require_text)]


def make_data_router(site: Site) -> APIRouter:
    """The routes of the data of pages."""
    router = APIRouter(prefix="/api/v1", tags=["pages"], responses=PROBLEMS)

    def require_own(request: Request, csrf: str) -> Visitor:
        visitor = site.visitor(request)
        visitor.require_user()
        require_own_form(request, visitor, csrf)
        return visitor

    @router.get("/pages/challenge")
    def read_challenge(request: Request) -> dict[str, Any]:
        """The challenge with its tracks and phases."""
        site.visitor(request)
        with site.storage.read() as session:
            return view_challenge(session, site.challenge)

    @router.get("/pages/phases/{name}")
    def read_board(
        request: Request, name: str, track: str | None = None, sort: str = "rank", page: int = 1
    ) -> dict[str, Any]:
        """One page of the leaderboard of a phase."""
        return board_view(site, site.visitor(request), name, track, sort, page)

    @router.get("/pages/phases/{name}/history")
    def read_history(request: Request, name: str, track: str | None = None) -> dict[str, Any]:
        """Ranks by day."""
        visitor = site.visitor(request)
        with site.storage.read() as session:
            phase = require_phase(site.challenge, name)
            return view_history(session, site.challenge, site.boards, visitor, phase, track or None)

    @router.get("/pages/submissions/{public_id}")
    def read_submission(request: Request, public_id: str) -> dict[str, Any]:
        """A submission."""
        visitor = site.visitor(request)
        with site.storage.read() as session:
            return view_submission(session, site.challenge, site.boards, visitor, public_id)

    @router.get("/pages/submissions/{public_id}/episodes")
    def read_episodes(request: Request, public_id: str, part: Count = 0, page: Count = 1) -> dict[str, Any]:
        """One page of the episodes of a submission that is verified and not hidden."""
        visitor = site.visitor(request)
        with site.storage.read() as session:
            return view_episodes(session, site.challenge, visitor, public_id, part, page)

    @router.get("/pages/submissions/{public_id}/episodes/{part}/{position}")
    def read_episode(request: Request, public_id: str, part: Place, position: Place) -> dict[str, Any]:
        """One episode of a submission; its video is at /submissions/ID/episodes/PART/POSITION/video."""
        visitor = site.visitor(request)
        with site.storage.read() as session:
            return view_episode(session, site.challenge, visitor, public_id, part, position)

    @router.post("/pages/submissions/{public_id}/episodes/{part}/{position}", status_code=202)
    def ask_for_episode(
        request: Request, public_id: str, part: Place, position: Place, csrf: Csrf = ""
    ) -> None:
        """Let a worker draw and record an episode of a submission of one's own."""
        visitor = require_own(request, csrf)
        with site.storage.write() as session:
            ask_for_recording(session, site.challenge, visitor, public_id, part, position)

    @router.post("/pages/submissions/{public_id}/overviews/{part}", status_code=202)
    def ask_for_overview(request: Request, public_id: str, part: Place, csrf: Csrf = "") -> None:
        """Let a worker find out why episodes of a submission of one's own failed, if none could before."""
        visitor = require_own(request, csrf)
        with site.storage.write() as session:
            ask_for_recording(session, site.challenge, visitor, public_id, part, OVERVIEW)

    @router.get("/teams/{name}")
    def read_team(request: Request, name: str, page: Count = 1) -> dict[str, Any]:
        """A team of one's own, with its quotas and one page of its submissions."""
        visitor = site.visitor(request)
        with site.storage.read() as session:
            return view_team(session, site.challenge, visitor, name, page)

    @router.get("/account")
    def read_account(request: Request) -> dict[str, Any]:
        """One's account."""
        user = site.visitor(request).require_user()
        with site.storage.read() as session:
            return view_account(session, user)

    @router.get("/account/export")
    def read_everything(request: Request) -> dict[str, Any]:
        """Everything that the server holds about somebody."""
        user = site.visitor(request).require_user()
        with site.storage.read() as session:
            return export_account(session, user, hidden_phases(session, site.challenge))

    @router.post("/account/tokens", status_code=201)
    def make_token(request: Request, label: Field = "", csrf: Csrf = "") -> dict[str, str]:
        """A new token; it is shown this once."""
        user = require_own(request, csrf).require_user()
        with site.storage.write() as session:
            return {"token": issue_token(session, user, label), "label": label[:100]}

    @router.delete("/account/tokens/{number}", status_code=204)
    def end_token(request: Request, number: TokenId, csrf: Csrf = "") -> None:
        """Revoke a token."""
        user = require_own(request, csrf).require_user()
        with site.storage.write() as session:
            revoke_token(session, user, number)

    @router.post("/account/join", status_code=204)
    def join(request: Request, code: Field, csrf: Csrf = "") -> None:
        """Join a team by an invitation."""
        user = require_own(request, csrf).require_user()
        site.accounts.count_code(address_of(request))
        with site.storage.write() as session:
            join_by_invitation(session, user, code)

    @router.post("/teams", status_code=201)
    def add_team(request: Request, name: Field, csrf: Csrf = "") -> dict[str, str]:
        """A new team."""
        user = require_own(request, csrf).require_user()
        with site.storage.write() as session:
            return {"name": create_team(session, user, name).name}

    @router.post("/teams/{name}/invitations", status_code=201)
    def invite_member(request: Request, name: str, csrf: Csrf = "") -> dict[str, str]:
        """An invitation to a team that one owns; its code is shown this once."""
        user = require_own(request, csrf).require_user()
        with site.storage.write() as session:
            team = require_team(session, user, name, owner=True)
            return {"code": invite(session, user.name, "participant", team.id, team.name)}

    @router.delete("/teams/{name}/members/{member}", status_code=204)
    def remove(request: Request, name: str, member: str, csrf: Csrf = "") -> None:
        """Take somebody out of a team."""
        user = require_own(request, csrf).require_user()
        with site.storage.write() as session:
            remove_member(session, user, require_team(session, user, name), member)

    @router.post("/teams/{name}/members/{member}/owner", status_code=204)
    def promote(request: Request, name: str, member: str, csrf: Csrf = "") -> None:
        """Make a member an owner."""
        user = require_own(request, csrf).require_user()
        with site.storage.write() as session:
            make_owner(session, user, require_team(session, user, name, owner=True), member)

    @router.get("/host")
    def read_host(request: Request) -> dict[str, Any]:
        """Phases and the audit log, for hosts."""
        site.visitor(request).require_host()
        with site.storage.read() as session:
            return view_host(session, site.challenge)

    @router.get("/host/phases/{name}")
    def read_host_phase(request: Request, name: str, page: Count = 1) -> dict[str, Any]:
        """One page of the submissions of a phase, in every state, for hosts."""
        visitor = site.visitor(request)
        visitor.require_host()
        phase = require_phase(site.challenge, name)
        with site.storage.read() as session:
            return view_host_phase(session, site.challenge, visitor, phase, page)

    @router.get("/host/people")
    def read_people(request: Request) -> dict[str, Any]:
        """Every account, for administrators."""
        site.visitor(request).require_administrator()
        with site.storage.read() as session:
            return view_people(session)

    @router.post("/host/phases/{name}/{action}", status_code=204)
    def act_on_phase(request: Request, name: str, action: str, csrf: Csrf = "") -> None:
        """Freeze, unfreeze, reveal or hide a phase."""
        host = require_own(request, csrf).require_host()
        phase = require_phase(site.challenge, name)
        with site.storage.write() as session:
            change_phase(session, find_phase_row(session, site.challenge, phase), action, host)

    @router.post("/host/submissions/{public_id}/{action}", status_code=204)
    def act_on_submission(
        request: Request, public_id: str, action: str, reason: Field = "", csrf: Csrf = ""
    ) -> None:
        """Disqualify (with a reason), reinstate or run again (rerun) a submission."""
        host = require_own(request, csrf).require_host()
        with site.storage.write() as session:
            change_submission(session, site.challenge, public_id, action, reason, host)

    return router
