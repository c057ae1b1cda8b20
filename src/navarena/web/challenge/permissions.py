"""Access rights to objects."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.sessions import Visitor
from navarena.web.challenge.accounts.teams import find_team, is_member
from navarena.web.challenge.refusals import not_found
from navarena.web.challenge.service import is_shown
from navarena.web.challenge.settings import Challenge, Phase
from navarena.web.challenge.storage.models import ChallengeRow, PhaseRow, Submission, Team


def require_phase(challenge: Challenge, name: str) -> Phase:
    """The phase called `name`; raises a Refusal (404) for none."""
    for phase in challenge.phases:
        if phase.name == name:
            return phase
    raise not_found("phase")


def find_phase_row(session: Session, challenge: Challenge, phase: Phase) -> PhaseRow:
    """Database row of `phase` with hosts' changes; raises a Refusal (404) if there is none."""
    query = select(PhaseRow).join(ChallengeRow)
    row = session.scalar(query.where(ChallengeRow.slug == challenge.slug, PhaseRow.slug == phase.name))
    if row is None:
        raise not_found("phase")
    return row


def may_see_scores(challenge: Challenge, visitor: Visitor, row: PhaseRow) -> bool:
    """Whether `visitor` sees the scores of a phase: hosts always do, a team only what everybody sees."""
    return visitor.is_host or is_shown(challenge, row)


def require_submission(
    session: Session, challenge: Challenge, visitor: Visitor, public_id: str
) -> tuple[Submission, Phase]:
    """A submission that `visitor` may see (see is_visible), and its phase; a Refusal (404) for any other."""
    found = session.scalar(select(Submission).where(Submission.public_id == public_id))
    if found is None or found.phase.challenge.slug != challenge.slug:
        raise not_found("submission")
    phase = require_phase(challenge, found.phase.slug)
    if not is_visible(session, challenge, visitor, found):
        raise not_found("submission")
    return found, phase


def is_visible(session: Session, challenge: Challenge, visitor: Visitor, submission: Submission) -> bool:
    """Whether `visitor` may see a submission: what stands on a shown board, or else is their team's.

    Hosts see all.
    """
    on_board = submission.state == "verified" and is_shown(challenge, submission.phase)
    return on_board or is_insider(session, visitor, submission.team_id)


def is_insider(session: Session, visitor: Visitor, team_id: int) -> bool:
    """Whether `visitor` is in the team, or a host."""
    return visitor.is_host or is_member(session, visitor.user, team_id)


def require_visible_team(session: Session, visitor: Visitor, name: str) -> Team:
    """The team called `name`, if `visitor` is in it or a host; a Refusal (404) else."""
    team = find_team(session, name)
    if team is None or not is_insider(session, visitor, team.id):
        raise not_found("team")
    return team
