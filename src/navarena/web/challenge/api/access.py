"""Access rights as dependencies of routes."""

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.sessions import CSRF_HEADER, Visitor, identify, require_own_form
from navarena.web.challenge.permissions import is_visible
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.models import ChallengeRow, Membership, PhaseRow, Submission, Team, User


def get_service(request: Request) -> Service:
    """The service that the application was made for."""
    service: Service = request.app.state.service
    return service


ServiceGiven = Annotated[Service, Depends(get_service)]


def get_visitor(request: Request, service: ServiceGiven) -> Visitor:
    """The sender of the request, possibly anonymous; changing requests of browsers need the CSRF secret."""
    visitor = identify(request, service.storage)
    if request.method not in ("GET", "HEAD") and visitor.user is not None:
        require_own_form(request, visitor, request.headers.get(CSRF_HEADER))
    return visitor


VisitorGiven = Annotated[Visitor, Depends(get_visitor)]


def get_user(visitor: VisitorGiven) -> User:
    """The user who sends the request; a Refusal (401) for nobody."""
    return visitor.require_user()


UserGiven = Annotated[User, Depends(get_user)]


def find_own_team(session: Session, user: User, name: str | None) -> Team:
    """The team for which `user` submits: the one called `name`, or the only one. Raises Refusal."""
    query = select(Team).join(Membership).where(Membership.user_id == user.id).order_by(Team.name)
    teams = {team.name: team for team in session.scalars(query)}
    if name is not None and name in teams:
        return teams[name]
    if name is None and len(teams) == 1:
        return next(iter(teams.values()))
    listed = ", ".join(teams) or "none: make a team first"
    if name is None:
        raise Refusal("which_team", f"expected the name of a team, got none; your teams are {listed}")
    raise Refusal("not_your_team", f"expected one of your teams ({listed}), got {name[:64]!r}", 403)


def find_submission(session: Session, service: Service, visitor: Visitor, public_id: str) -> Submission:
    """A submission that the visitor may see (see is_visible); raises Refusal (404) for any other."""
    query = (
        select(Submission)
        .join(PhaseRow, Submission.phase_id == PhaseRow.id)
        .join(ChallengeRow)
        .where(Submission.public_id == public_id, ChallengeRow.slug == service.challenge.slug)
    )
    found = session.scalars(query).first()
    if found is not None and found.phase.slug in {one.name for one in service.challenge.phases}:
        if is_visible(session, service.challenge, visitor, found):
            return found
    raise Refusal("unknown_submission", "there is no such submission, or it is not yours to see", 404)
