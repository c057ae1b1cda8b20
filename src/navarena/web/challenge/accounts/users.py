"""Accounts: signing up and in, roles, tokens, invitations, and the way out with one's data."""

import re
from typing import Any, Literal, get_args

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from navarena.core.errors import require_name
from navarena.web.challenge.accounts import limits
from navarena.web.challenge.accounts.audit import SERVER, record_change
from navarena.web.challenge.accounts.limits import RateLimits
from navarena.web.challenge.accounts.passwords import Passwords
from navarena.web.challenge.accounts.secret_texts import hash_secret, make_secret
from navarena.web.challenge.refusals import Refusal, not_found
from navarena.web.challenge.storage.engine import Storage, now_ms
from navarena.web.challenge.storage.models import BrowserSession, Invitation, Membership, Role, Token, User

SignUp = Literal["open", "invitation", "administrator"]
"""Who may make accounts: everybody, who has a code, or administrators alone."""

MAX_TOKENS = 20
_USER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_ROLES: tuple[str, ...] = get_args(Role)


class Accounts:
    """Operations on accounts.

    Args:
        storage: the database.
        sign_up: who may make accounts.
        passwords, limits: of this server.
    """

    def __init__(
        self,
        storage: Storage,
        sign_up: SignUp = "open",
        passwords: Passwords | None = None,
        limits: RateLimits | None = None,
    ) -> None:
        self.storage = storage
        self.sign_up_by = sign_up
        self.passwords = passwords or Passwords()
        self.limits = limits or RateLimits()

    def sign_up(self, name: str, password: str, address: str, code: str = "") -> User:
        """Make an account for somebody at `address`, who may have an invitation's `code`.

        Raises a Refusal for a name that is taken or none, a bad password, a code that is unknown or used,
        and where accounts are not made this way.
        """
        self.limits.count("sign-up", address, limits.SIGN_UPS_BY_ADDRESS)
        if not code and self.sign_up_by != "open":
            who = "an invitation" if self.sign_up_by == "invitation" else "an administrator"
            raise Refusal("sign_up_closed", f"accounts are made by {who} on this server; ask its hosts", 403)
        hashed = self.passwords.hash(password)
        with self.storage.write() as session:
            role: Role = "participant"
            invitation = None
            if code:
                invitation = _use_invitation(session, code)
                role = invitation.role
            user = create_user(session, name, hashed, role, name)
            if invitation is not None and invitation.team_id is not None:
                session.add(Membership(team_id=invitation.team_id, user_id=user.id))
            return user

    def sign_in(self, name: str, password: str, address: str) -> User:
        """The account with this name and password; raises a Refusal for any other, and after too many."""
        self.limits.count("password", address, limits.PASSWORDS_BY_ADDRESS)
        self.limits.count("account", name[:64], limits.PASSWORDS_BY_ACCOUNT)
        with self.storage.read() as session:
            user = find_user(session, name)
        right = self.passwords.is_right(user and user.password_hash, password)
        if user is None or not right or user.disabled:
            raise Refusal("wrong_password", "no account has this name and password; mind capitals", 403)
        self.limits.forgive("account", name[:64])
        if self.passwords.is_outdated(user.password_hash):
            with self.storage.write() as session:
                session.merge(user).password_hash = self.passwords.hash(password)
        return user

    def count_code(self, address: str) -> None:
        """Count one invitation that somebody at `address` tries; raises a Refusal after too many."""
        self.limits.count("code", address, limits.CODES_BY_ADDRESS)

    def require_password(self, user: User, password: str) -> None:
        """Raise a Refusal unless `password` is that of a user who is signed in."""
        self.limits.count("account", user.name, limits.PASSWORDS_BY_ACCOUNT)
        if not self.passwords.is_right(user.password_hash, password):
            raise Refusal("wrong_password", "this is not your password", 403)
        self.limits.forgive("account", user.name)

    def change_password(self, user: User, old: str, new: str) -> None:
        """Set a new password, and sign out every browser."""
        self.require_password(user, old)
        hashed = self.passwords.hash(new)
        with self.storage.write() as session:
            held = require_user(session, user.name)
            held.password_hash = hashed
            session.execute(delete(BrowserSession).where(BrowserSession.user_id == user.id))
            record_change(session, user.name, "password.change", user.name)


def find_user(session: Session, name: str) -> User | None:
    """The account called `name`."""
    return session.scalar(select(User).where(User.name == name))


def require_user(session: Session, name: str) -> User:
    """The account called `name`; raises a Refusal (404) if there is none."""
    user = find_user(session, name)
    if user is None:
        raise not_found("account")
    return user


def create_user(session: Session, name: str, password_hash: str, role: Role, actor: str) -> User:
    """A new account; raises a Refusal for a name that is taken, or holds other signs than a name may."""
    if not _USER_NAME.fullmatch(name):
        raise Refusal(
            "bad_name",
            "expected a name of at most 64 letters, digits, dots, dashes and underlines that begins with a "
            f"letter or digit, got one of {len(name)} characters",
            422,
        )
    if find_user(session, name) is not None:
        raise Refusal("name_taken", f"the name {name!r} is taken; choose another", 409)
    user = User(name=name, password_hash=password_hash, role=role, created=now_ms())
    session.add(user)
    session.flush()
    record_change(session, actor, "account.create", name, role=role)
    return user


def set_role(session: Session, name: str, role: str, actor: str) -> None:
    """Give an account another role; the last administrator keeps it."""
    require_name("role", role, _ROLES)
    user = require_user(session, name)
    _require_other_administrator(session, user, role == "administrator")
    record_change(session, actor, "account.role", name, before=user.role, after=role)
    user.role = role  # type: ignore[assignment]


def set_disabled(session: Session, name: str, disabled: bool, actor: str) -> None:
    """Take an account's rights, or give them back; its browsers are signed out."""
    user = require_user(session, name)
    _require_other_administrator(session, user, not disabled)
    user.disabled = disabled
    session.execute(delete(BrowserSession).where(BrowserSession.user_id == user.id))
    record_change(session, actor, "account.disable" if disabled else "account.enable", name)


def _require_other_administrator(session: Session, user: User, stays: bool) -> None:
    if stays or user.role != "administrator":
        return
    others = select(User.id).where(User.role == "administrator", User.id != user.id, User.disabled.is_(False))
    if session.scalar(others) is None:
        raise Refusal("last_administrator", "this is the last administrator; name another one first", 409)


def invite(
    session: Session, actor: str, role: Role = "participant", team_id: int | None = None, team: str = ""
) -> str:
    """The code of a new invitation, which is held as its hash and can be used once."""
    code = make_secret()
    session.add(Invitation(hash=hash_secret(code), role=role, team_id=team_id, created=now_ms()))
    record_change(session, actor, "invitation.create", team or role, role=role)
    return code


def _use_invitation(session: Session, code: str) -> Invitation:
    query = select(Invitation).where(Invitation.hash == hash_secret(code), Invitation.used.is_(None))
    invitation = session.scalar(query.with_for_update())
    if invitation is None:
        raise Refusal("bad_invitation", "this invitation is unknown or was used; ask for another", 403)
    invitation.used = now_ms()
    return invitation


def join_by_invitation(session: Session, user: User, code: str) -> None:
    """Let somebody who has an account join the team of an invitation."""
    invitation = _use_invitation(session, code)
    if invitation.team_id is None:
        raise Refusal("bad_invitation", "this invitation is for a new account, not for a team", 409)
    if session.get(Membership, (invitation.team_id, user.id)) is None:
        session.add(Membership(team_id=invitation.team_id, user_id=user.id))
    record_change(session, user.name, "team.join", user.name)


def invite_first_administrator(storage: Storage) -> str | None:
    """A code with which the first administrator signs up; None where there is one already."""
    with storage.write() as session:
        if session.scalar(select(User.id).where(User.role == "administrator")) is not None:
            return None
        session.execute(
            delete(Invitation).where(Invitation.role == "administrator", Invitation.used.is_(None))
        )
        return invite(session, SERVER, "administrator")


def issue_token(session: Session, user: User, label: str) -> str:
    """A new token of `user`, which is held as its hash; raises a Refusal beyond MAX_TOKENS."""
    valid = [one for one in list_tokens(session, user) if one.revoked is None]
    if len(valid) >= MAX_TOKENS:
        raise Refusal("too_many_tokens", f"expected at most {MAX_TOKENS} tokens; revoke one first", 409)
    token = make_secret()
    session.add(Token(user_id=user.id, hash=hash_secret(token), label=label[:100], created=now_ms()))
    record_change(session, user.name, "token.create", label[:100])
    return token


def list_tokens(session: Session, user: User) -> list[Token]:
    """The tokens of `user`, oldest first."""
    return list(session.scalars(select(Token).where(Token.user_id == user.id).order_by(Token.id)))


def revoke_token(session: Session, user: User, token_id: int) -> None:
    """End a token of `user`; raises a Refusal (404) for another's."""
    token = session.get(Token, token_id)
    if token is None or token.user_id != user.id:
        raise not_found("token")
    if token.revoked is None:
        token.revoked = now_ms()
        record_change(session, user.name, "token.revoke", token.label)


def find_user_of_token(session: Session, token: str) -> User | None:
    """Whose token this is; None for one that is unknown or revoked, and of a disabled account."""
    query = select(User).join(Token).where(Token.hash == hash_secret(token), Token.revoked.is_(None))
    return session.scalar(query.where(User.disabled.is_(False)))


def describe_account(user: User) -> dict[str, Any]:
    """Data of the account's page."""
    return {"name": user.name, "role": user.role, "created": user.created}
