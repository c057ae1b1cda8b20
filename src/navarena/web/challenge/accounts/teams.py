"""Teams: members, owners, and who may do what for them."""

import unicodedata

from sqlalchemy import select
from sqlalchemy.orm import Session

from navarena.web.challenge.accounts.audit import record_change
from navarena.web.challenge.refusals import Refusal, not_found
from navarena.web.challenge.storage.engine import now_ms
from navarena.web.challenge.storage.models import Membership, Team, User

MAX_TEAMS = 10
"""That one account may be in."""


def create_team(session: Session, user: User, name: str) -> Team:
    """A new team that `user` owns; raises a Refusal for a bad or taken name, and for too many teams."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    strange = [sign for sign in name if unicodedata.category(sign)[0] == "C" or sign in "/\\"]
    if not 1 <= len(name) <= 64 or strange:
        raise Refusal(
            "bad_name",
            "expected the name of a team in 1 to 64 characters without slashes and control signs, "
            f"got {len(name)}",
            422,
        )
    if find_team(session, name) is not None:
        raise Refusal("name_taken", f"the team {name!r} exists; choose another name", 409)
    if len(list_teams(session, user)) >= MAX_TEAMS:
        raise Refusal("too_many_teams", f"expected at most {MAX_TEAMS} teams for one account", 409)
    team = Team(name=name, created=now_ms())
    session.add(team)
    session.flush()
    session.add(Membership(team_id=team.id, user_id=user.id, is_owner=True))
    record_change(session, user.name, "team.create", name)
    return team


def find_team(session: Session, name: str) -> Team | None:
    """The team called `name`."""
    return session.scalar(select(Team).where(Team.name == name))


def list_teams(session: Session, user: User) -> list[Team]:
    """The teams of `user`, oldest first."""
    query = select(Team).join(Membership).where(Membership.user_id == user.id).order_by(Team.id)
    return list(session.scalars(query))


def list_members(session: Session, team: Team) -> list[tuple[User, bool]]:
    """The members of `team` by name, and whether each owns it."""
    query = select(User, Membership.is_owner).join(Membership).where(Membership.team_id == team.id)
    return [(user, owner) for user, owner in session.execute(query.order_by(User.name))]


def is_member(session: Session, user: User | None, team_id: int) -> bool:
    """Whether `user` is in the team."""
    return user is not None and session.get(Membership, (team_id, user.id)) is not None


def require_team(session: Session, user: User | None, name: str, owner: bool = False) -> Team:
    """The team called `name`, if `user` is in it (or owns it); a Refusal (404, or 403 for members) else."""
    team = find_team(session, name)
    membership = None if team is None or user is None else session.get(Membership, (team.id, user.id))
    if team is None or membership is None:
        raise not_found("team")
    if owner and not membership.is_owner:
        raise Refusal("owners_only", "only owners of the team may do this; ask one of them", 403)
    return team


def remove_member(session: Session, user: User, team: Team, name: str) -> None:
    """Remove the member `name` from the team; owners may remove anybody, others themselves.

    Raises a Refusal (403) for others, and (409) for the last owner.
    """
    own = session.get(Membership, (team.id, user.id))
    found = [one for one, _ in list_members(session, team) if one.name == name]
    if not found:
        raise not_found("member")
    if own is None or (not own.is_owner and found[0].id != user.id):
        raise Refusal("owners_only", "only owners of the team may do this; ask one of them", 403)
    membership = session.get(Membership, (team.id, found[0].id))
    if membership is not None and membership.is_owner and _count_owners(session, team) == 1:
        raise Refusal("last_owner", "the last owner stays; make another member an owner first", 409)
    session.delete(membership)
    record_change(session, user.name, "team.remove", team.name, member=name)


def make_owner(session: Session, user: User, team: Team, name: str) -> None:
    """Make the member `name` an owner, too; `user` must be one (see require_team)."""
    found = [one for one, _ in list_members(session, team) if one.name == name]
    membership = session.get(Membership, (team.id, found[0].id)) if found else None
    if membership is None:
        raise not_found("member")
    membership.is_owner = True
    record_change(session, user.name, "team.owner", team.name, member=name)


def _count_owners(session: Session, team: Team) -> int:
    return sum(owner for _, owner in list_members(session, team))
