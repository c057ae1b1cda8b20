"""Personal data of an account: export and deletion."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.audit import DELETED, SERVER, forget_actor, read_changes, record_change
from navarena.web.challenge.accounts.teams import list_members, list_teams
from navarena.web.challenge.accounts.users import describe_account, list_tokens
from navarena.web.challenge.refusals import Refusal
from navarena.web.challenge.storage.models import Membership, Submission, Team, User

_MAX_CHANGES = 100_000

SUBMISSION_FIELDS = (
    "public_id", "track", "kind", "state", "method", "link", "code_link", "hardware", "model_size",
    "training_frames", "demonstrations", "training_data", "trained_with", "agent", "privileged",
    "declared_inputs", "created", "finished", "error_code", "error_text", "summary", "seconds_per_step",
    "wall_clock",
)  # fmt: skip


def export_account(session: Session, user: User, hidden: Collection[int]) -> dict[str, Any]:
    """Everything that the server holds about `user`, without hashes of passwords and tokens.

    Scores of the phases whose ids are `hidden` (see service.hidden_phases) are None: only hosts see them.
    """
    submissions = select(Submission).where(Submission.user_id == user.id).order_by(Submission.id)
    return {
        "account": describe_account(user),
        "tokens": [
            {"label": one.label, "created": one.created, "revoked": one.revoked}
            for one in list_tokens(session, user)
        ],
        "teams": [team.name for team in list_teams(session, user)],
        "submissions": [
            {name: getattr(one, name) for name in SUBMISSION_FIELDS}
            | ({"summary": None} if one.phase_id in hidden else {})
            for one in session.scalars(submissions)
        ],
        "changes": [
            {"when": one.when, "action": one.action, "subject": one.subject, "detail": one.detail}
            for one in read_changes(session, _MAX_CHANGES, user.name)
        ],
    }


def delete_account(session: Session, user: User) -> None:
    """Delete an account with its tokens, browsers and memberships.

    A team that it owned alone goes to the member of the lowest name. Submissions are a team's and stay with
    their scores; those of a team without members lose its name and links. The audit log loses the name.

    Raises a Refusal for the last administrator.
    """
    others = select(User.id).where(User.role == "administrator", User.id != user.id)
    if user.role == "administrator" and session.scalar(others) is None:
        raise Refusal("last_administrator", "this is the last administrator; name another one first", 409)
    for team in list_teams(session, user):
        _leave(session, user, team)
    held = session.get(User, user.id)
    if held is not None:
        session.delete(held)
    forget_actor(session, user.name)
    record_change(session, SERVER, "account.delete", DELETED)


def _leave(session: Session, user: User, team: Team) -> None:
    others = [(one, owner) for one, owner in list_members(session, team) if one.id != user.id]
    if not others:
        team.name = f"(deleted team {team.id})"
        nothing = {"link": "", "code_link": "", "hardware": "", "training_data": ""}
        session.execute(update(Submission).where(Submission.team_id == team.id).values(**nothing))
    elif not any(owner for _, owner in others):
        heir = session.get(Membership, (team.id, others[0][0].id))
        if heir is not None:
            heir.is_owner = True
