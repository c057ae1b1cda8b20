"""Routes of challenges and phases."""

from fastapi import APIRouter, Depends
from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.web.challenge.api.access import ServiceGiven, UserGiven, find_own_team, get_visitor
from navarena.web.challenge.api.views import (
    ChallengeView,
    PhaseView,
    QuotaView,
    view_challenge,
    view_phase,
    view_quota,
)
from navarena.web.challenge.service import Service
from navarena.web.challenge.storage.models import ChallengeRow, PhaseRow
from navarena.web.challenge.submissions import count_quota, find_phase

router = APIRouter(tags=["phases"], dependencies=[Depends(get_visitor)])


def phase_rows(session: Session, service: Service) -> dict[str, PhaseRow]:
    """Name -> row of the phases."""
    query = select(PhaseRow).join(ChallengeRow).where(ChallengeRow.slug == service.challenge.slug)
    return {row.slug: row for row in session.scalars(query)}


@router.get("/challenges")
def list_challenges(service: ServiceGiven) -> list[ChallengeView]:
    """The challenges of this server."""
    with service.storage.read() as session:
        return [view_challenge(service.challenge, phase_rows(session, service))]


@router.get("/phases/{phase}")
def show_phase(phase: str, service: ServiceGiven) -> PhaseView:
    """One phase."""
    with service.storage.read() as session:
        row = find_phase(session, service.challenge, phase)
        return view_phase(service.challenge, service.challenge.phase(phase), row)


@router.get("/phases/{phase}/quota")
def show_quota(phase: str, service: ServiceGiven, user: UserGiven, team: str | None = None) -> QuotaView:
    """Used quota of one of your teams."""
    with service.storage.read() as session:
        row = find_phase(session, service.challenge, phase)
        used = count_quota(session, row.id, find_own_team(session, user, team).id)
        return view_quota(service.challenge.phase(phase), used)
