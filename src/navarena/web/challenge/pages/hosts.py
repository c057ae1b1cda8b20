"""Routes of hosts and administrators: phases, submissions, people, the audit log."""

from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.web.challenge import hosting
from navarena.web.challenge.accounts.audit import read_changes
from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.accounts.users import invite, set_disabled, set_role
from navarena.web.challenge.pages.episodes import Count
from navarena.web.challenge.pages.export import EVERYTHING, write_csv
from navarena.web.challenge.pages.site import Site, Text, see_other
from navarena.web.challenge.pages.submission_views import PAGE_SIZE, list_submissions
from navarena.web.challenge.pages.views import view_challenge, view_phase
from navarena.web.challenge.permissions import find_phase_row, require_phase
from navarena.web.challenge.refusals import not_found
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.models import PhaseRow, Role, Submission, User

PHASE_ACTIONS = ("freeze", "unfreeze", "reveal", "hide")
SUBMISSION_ACTIONS = ("disqualify", "reinstate", "rerun")


def view_host(session: Session, challenge: Challenge) -> dict[str, Any]:
    """The page of hosts: phases with their possible operations, and the last changes."""
    changes = [
        {
            "when": one.when,
            "actor": one.actor,
            "action": one.action,
            "subject": one.subject,
            "detail": one.detail,
        }
        for one in read_changes(session, 100)
    ]
    return {**view_challenge(session, challenge), "changes": changes}


def view_host_phase(
    session: Session,
    challenge: Challenge,
    visitor: Visitor,
    phase: Phase,
    page: int = 1,
    size: int = PAGE_SIZE,
) -> dict[str, Any]:
    """One page of the submissions of a phase, in every state; see list_submissions."""
    row = find_phase_row(session, challenge, phase)
    query = select(Submission).where(Submission.phase_id == row.id)
    shown = list_submissions(session, challenge, visitor, query, page, size)
    return {"phase": view_phase(challenge, phase, row), **shown}


def view_people(session: Session) -> dict[str, Any]:
    """The page of administrators: every account."""
    users = session.scalars(select(User).order_by(User.name))
    return {
        "people": [
            {"name": one.name, "role": one.role, "created": one.created, "disabled": one.disabled}
            for one in users
        ]
    }


def change_phase(session: Session, row: PhaseRow, action: str, host: User) -> None:
    """Do one of PHASE_ACTIONS; raises a Refusal (404) for another."""
    if action in ("freeze", "unfreeze"):
        hosting.set_frozen(session, row, action == "freeze", host)
    elif action in ("reveal", "hide"):
        hosting.set_revealed(session, row, action == "reveal", host)
    else:
        raise not_found("action")


def change_submission(
    session: Session, challenge: Challenge, public_id: str, action: str, reason: str, host: User
) -> str:
    """Do one of SUBMISSION_ACTIONS, and return the name of the phase; a Refusal (404) for another."""
    one = hosting.lock_submission(session, challenge, public_id)
    phase = require_phase(challenge, one.phase.slug)
    if action == "disqualify":
        hosting.disqualify(session, one, reason, host)
    elif action == "reinstate":
        hosting.reinstate(session, one, host)
    elif action == "rerun":
        hosting.run_again(session, one, phase, host)
    else:
        raise not_found("action")
    return phase.name


def make_host_router(site: Site) -> APIRouter:
    """The routes of hosts and administrators."""
    router = APIRouter(include_in_schema=False, prefix="/host")

    @router.get("")
    def show_host(request: Request) -> Response:
        visitor = site.visitor(request)
        visitor.require_host()
        with site.storage.read() as session:
            view = view_host(session, site.challenge)
        return site.page(request, "host.html", visitor, view=view)

    @router.get("/phases/{name}")
    def show_phase(request: Request, name: str, page: Count = 1) -> Response:
        visitor = site.visitor(request)
        visitor.require_host()
        phase = require_phase(site.challenge, name)
        with site.storage.read() as session:
            view = view_host_phase(session, site.challenge, visitor, phase, page)
        return site.page(request, "host_phase.html", visitor, view=view)

    @router.get("/phases/{name}/export.csv")
    def export_csv(request: Request, name: str) -> Response:
        site.visitor(request).require_host()
        text = write_csv(site.boards, require_phase(site.challenge, name))
        headers = {"content-disposition": f'attachment; filename="{name}.csv"', "cache-control": "no-store"}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    @router.get("/phases/{name}/export.json")
    def export_json(request: Request, name: str) -> Response:
        visitor = site.visitor(request)
        visitor.require_host()
        phase = require_phase(site.challenge, name)
        with site.storage.read() as session:
            view = view_host_phase(session, site.challenge, visitor, phase, size=EVERYTHING)
        headers = {"content-disposition": f'attachment; filename="{name}.json"', "cache-control": "no-store"}
        return Response(msgspec.json.encode(view), media_type="application/json", headers=headers)

    @router.post("/phases/{name}/{action}")
    def act_on_phase(request: Request, name: str, action: str, csrf: Text = "") -> Response:
        host = site.visitor_of_form(request, csrf).require_host()
        phase = require_phase(site.challenge, name)
        with site.storage.write() as session:
            change_phase(session, find_phase_row(session, site.challenge, phase), action, host)
        return see_other("/host")

    @router.post("/submissions/{public_id}/{action}")
    def act_on_submission(
        request: Request, public_id: str, action: str, reason: Text = "", csrf: Text = ""
    ) -> Response:
        host = site.visitor_of_form(request, csrf).require_host()
        with site.storage.write() as session:
            phase = change_submission(session, site.challenge, public_id, action, reason, host)
        return see_other(f"/host/phases/{phase}")

    @router.get("/people")
    def show_people(request: Request) -> Response:
        visitor = site.visitor(request)
        visitor.require_administrator()
        with site.storage.read() as session:
            view = view_people(session)
        return site.page(request, "people.html", visitor, view=view, code=None)

    @router.post("/people/{name}/role")
    def change_role(request: Request, name: str, role: Text = "", csrf: Text = "") -> Response:
        actor = site.visitor_of_form(request, csrf).require_administrator()
        with site.storage.write() as session:
            set_role(session, name, role, actor.name)
        return see_other("/host/people")

    @router.post("/people/{name}/{action}")
    def disable(request: Request, name: str, action: str, csrf: Text = "") -> Response:
        actor = site.visitor_of_form(request, csrf).require_administrator()
        if action not in ("disable", "enable"):
            raise not_found("action")
        with site.storage.write() as session:
            set_disabled(session, name, action == "disable", actor.name)
        return see_other("/host/people")

    @router.post("/invitations")
    def make_invitation(request: Request, role: Text = "participant", csrf: Text = "") -> Response:
        visitor = site.visitor_of_form(request, csrf)
        actor = visitor.require_administrator()
        wanted: Role = "host" if role == "host" else "participant"
        with site.storage.write() as session:
            code = invite(session, actor.name, wanted)
            view = view_people(session)
        return site.page(request, "people.html", visitor, view=view, code=code)

    return router
