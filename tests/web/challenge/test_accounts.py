"""Accounts without a browser: passwords, limits, tokens, invitations, teams, one's data."""

from pathlib import Path

import pytest

from navarena.web.challenge.refusals import Refusal

pytestmark = pytest.mark.server
pytest.importorskip("argon2")
pytest.importorskip("sqlalchemy")

from sqlalchemy import select  # noqa: E402

from navarena.web.challenge.accounts.audit import DELETED, read_changes  # noqa: E402
from navarena.web.challenge.accounts.limits import (  # noqa: E402
    MAX_KEYS,
    PASSWORDS_BY_ACCOUNT,
    Rate,
    RateLimits,
)
from navarena.web.challenge.accounts.passwords import Passwords  # noqa: E402
from navarena.web.challenge.accounts.personal_data import delete_account, export_account  # noqa: E402
from navarena.web.challenge.accounts.secret_texts import hash_secret  # noqa: E402
from navarena.web.challenge.accounts.teams import (  # noqa: E402
    MAX_TEAMS,
    create_team,
    find_team,
    list_members,
    make_owner,
    remove_member,
    require_team,
)
from navarena.web.challenge.accounts.users import (  # noqa: E402
    Accounts,
    find_user,
    find_user_of_token,
    invite,
    invite_first_administrator,
    issue_token,
    join_by_invitation,
    list_tokens,
    require_user,
    revoke_token,
    set_disabled,
    set_role,
)
from navarena.web.challenge.storage.models import Membership, Submission, Token, User  # noqa: E402

from .made import FAST, PASSWORD, add_submission, make_service  # noqa: E402


def make_accounts(service, sign_up="open") -> Accounts:
    return Accounts(service.storage, sign_up, Passwords(FAST), RateLimits(lambda: 0.0))


def test_passwords_are_hashed_by_argon2_and_compared(tmp_path: Path) -> None:
    passwords = Passwords(FAST)
    held = passwords.hash("ten letters")
    assert held.startswith("$argon2id$") and "ten letters" not in held
    assert passwords.is_right(held, "ten letters")
    assert not passwords.is_right(held, "ten letterS")
    assert not passwords.is_right(None, "nobody's password"), "no account has the password of nobody"
    assert not passwords.is_right("no hash at all", "ten letters")
    assert not passwords.is_outdated(held) and Passwords().is_outdated(held)


@pytest.mark.parametrize("password", ["", "nine char", "x" * 201])
def test_passwords_have_bounds(password: str) -> None:
    with pytest.raises(Refusal, match="10 to 200") as found:
        Passwords(FAST).hash(password)
    assert found.value.code == "bad_password"


def test_limits_count_within_their_time() -> None:
    now = [0.0]
    limits, rate = RateLimits(lambda: now[0]), Rate(2, 60.0)
    limits.count("password", "a", rate)
    now[0] = 30.0
    limits.count("password", "a", rate)
    limits.count("password", "b", rate)
    limits.count("other", "a", rate)
    with pytest.raises(Refusal) as found:
        limits.count("password", "a", rate)
    assert (found.value.status, found.value.code) == (429, "too_many_tries")
    now[0] = 60.0
    limits.count("password", "a", rate)  # the first one is a minute ago
    with pytest.raises(Refusal):
        limits.count("password", "a", rate)
    limits.forgive("password", "a")
    limits.count("password", "a", rate)


def test_limits_forget_who_tried_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("navarena.web.challenge.accounts.limits.MAX_KEYS", 3)
    limits, rate = RateLimits(lambda: 0.0), Rate(1, 60.0)
    for key in "abcd":
        limits.count("x", key, rate)
    limits.count("x", "a", rate)  # forgotten
    with pytest.raises(Refusal):
        limits.count("x", "d", rate)
    assert MAX_KEYS >= 1000


def test_signing_up_and_in(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    accounts = make_accounts(service)
    user = accounts.sign_up("eve", PASSWORD, "1.2.3.4")
    assert user.role == "participant" and accounts.sign_in("eve", PASSWORD, "1.2.3.4").id == user.id
    for name, password in (("eve", PASSWORD.upper()), ("nobody", PASSWORD), ("Eve", PASSWORD)):
        with pytest.raises(Refusal, match="no account has this name and password"):
            accounts.sign_in(name, password, "1.2.3.4")
    with pytest.raises(Refusal) as found:
        accounts.sign_up("eve", PASSWORD, "1.2.3.4")
    assert found.value.code == "name_taken"


@pytest.mark.parametrize("name", ["", "-eve", "a b", "<b>", "a" * 65, "é", "a/b", "a\x00"])
def test_names_have_plain_signs(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refusal) as found:
        make_accounts(make_service(tmp_path)).sign_up(name, PASSWORD, "1.2.3.4")
    assert found.value.code == "bad_name"


def test_guessing_is_limited_by_account_and_by_address(tmp_path: Path) -> None:
    accounts = make_accounts(make_service(tmp_path))
    for number in range(PASSWORDS_BY_ACCOUNT.max_tries):
        with pytest.raises(Refusal, match="no account"):
            accounts.sign_in("ada", "wrong password", f"1.1.1.{number}")
    with pytest.raises(Refusal, match="wait") as found:
        accounts.sign_in("ada", PASSWORD, "9.9.9.9")
    assert found.value.status == 429
    accounts.sign_in("bob", PASSWORD, "9.9.9.9")
    for number in range(28):
        with pytest.raises(Refusal, match="no account"):
            accounts.sign_in(f"guess{number}", PASSWORD, "9.9.9.9")
    with pytest.raises(Refusal, match="wait"):
        accounts.sign_in("bob", PASSWORD, "9.9.9.9")


def test_disabled_accounts_are_nobody(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session:
        token = issue_token(session, require_user(session, "ada"), "")
        set_disabled(session, "ada", True, "root")
    with pytest.raises(Refusal, match="no account"):
        make_accounts(service).sign_in("ada", PASSWORD, "1.2.3.4")
    with service.storage.read() as session:
        assert find_user_of_token(session, token) is None


@pytest.mark.parametrize("by", ["invitation", "administrator"])
def test_closed_servers_want_an_invitation(tmp_path: Path, by: str) -> None:
    service = make_service(tmp_path)
    accounts = make_accounts(service, by)
    with pytest.raises(Refusal) as found:
        accounts.sign_up("eve", PASSWORD, "1.2.3.4")
    assert found.value.code == "sign_up_closed"
    with service.storage.write() as session:
        code = invite(session, "root", "host")
    assert accounts.sign_up("eve", PASSWORD, "1.2.3.4", code).role == "host"
    with pytest.raises(Refusal, match="unknown or was used"):
        accounts.sign_up("eve2", PASSWORD, "1.2.3.4", code)
    with service.storage.read() as session:
        assert find_user(session, "eve2") is None


def test_a_taken_name_does_not_use_an_invitation_up(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session:
        code = invite(session, "root")
    accounts = make_accounts(service, "invitation")
    with pytest.raises(Refusal):
        accounts.sign_up("ada", PASSWORD, "1.2.3.4", code)
    accounts.sign_up("eve", PASSWORD, "1.2.3.4", code)


def test_the_first_administrator_is_invited_once(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    assert invite_first_administrator(service.storage) is None
    with service.storage.write() as session:
        session.delete(require_user(session, "root"))
    first = invite_first_administrator(service.storage)
    second = invite_first_administrator(service.storage)  # after a restart; the first code is void
    assert first and second and first != second
    accounts = make_accounts(service, "administrator")
    with pytest.raises(Refusal):
        accounts.sign_up("eve", PASSWORD, "1.2.3.4", first)
    assert accounts.sign_up("eve", PASSWORD, "1.2.3.4", second).role == "administrator"


def test_tokens_are_held_as_hashes_and_end(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session:
        ada, bob = require_user(session, "ada"), require_user(session, "bob")
        token = issue_token(session, ada, "laptop")
        held = list_tokens(session, ada)[0]
        assert held.hash == hash_secret(token) and token not in str(vars(held))
        with pytest.raises(Refusal) as found:
            revoke_token(session, bob, held.id)
        assert found.value.status == 404
        user = find_user_of_token(session, token)
        assert user is not None and user.name == "ada"
        revoke_token(session, ada, held.id)
        assert find_user_of_token(session, token) is None
        for _ in range(20):
            issue_token(session, ada, "x")
        with pytest.raises(Refusal, match="at most 20"):
            issue_token(session, ada, "x")


def test_roles_and_the_last_administrator(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session:
        for change in (
            lambda: set_role(session, "root", "host", "root"),
            lambda: set_disabled(session, "root", True, "root"),
            lambda: delete_account(session, require_user(session, "root")),
        ):
            with pytest.raises(Refusal, match="last administrator"):
                change()
        set_role(session, "hanna", "administrator", "root")
        set_role(session, "root", "participant", "hanna")
        assert require_user(session, "root").role == "participant"
        actions = [(one.actor, one.action, one.subject) for one in read_changes(session, 2)]
        assert actions == [("hanna", "account.role", "root"), ("root", "account.role", "hanna")]


def test_teams_belong_to_their_owners(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session:
        ada, bob = require_user(session, "ada"), require_user(session, "bob")
        team = require_team(session, ada, "Team A", owner=True)
        with pytest.raises(Refusal) as found:
            require_team(session, bob, "Team A")
        assert found.value.status == 404, "whoever is not in a team does not learn that it exists"
        join_by_invitation(session, bob, invite(session, "ada", "participant", team.id))
        assert [(user.name, owner) for user, owner in list_members(session, team)] == [
            ("ada", True),
            ("bob", False),
        ]
        for forbidden in (
            lambda: require_team(session, bob, "Team A", owner=True),
            lambda: remove_member(session, bob, team, "ada"),
        ):
            with pytest.raises(Refusal) as found:
                forbidden()
            assert found.value.status == 403
        with pytest.raises(Refusal, match="last owner"):
            remove_member(session, ada, team, "ada")
        make_owner(session, ada, team, "bob")
        remove_member(session, ada, team, "ada")
        assert [user.name for user, _ in list_members(session, team)] == ["bob"]


@pytest.mark.parametrize("name", ["", "  ", "a/b", "a\\b", "x" * 65, "a\x07b", "a‮b"])
def test_team_names_have_bounds(tmp_path: Path, name: str) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session, pytest.raises(Refusal) as found:
        create_team(session, require_user(session, "carl"), name)
    assert found.value.code == "bad_name"


def test_team_names_are_one_spelling_and_few(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session:
        carl = require_user(session, "carl")
        assert create_team(session, carl, "  Cafe\u0301   Robots ").name == "Caf\u00e9 Robots"
        with pytest.raises(Refusal, match="exists"):
            create_team(session, carl, "Caf\u00e9 Robots")
        for number in range(MAX_TEAMS - 1):
            create_team(session, carl, f"team {number}")
        with pytest.raises(Refusal, match="at most"):
            create_team(session, carl, "one more")


def test_a_copy_of_ones_data_holds_all_but_secrets(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    public_id = add_submission(service, "open", "Team A", 0.6)
    add_submission(service, "open", "Team B", 0.5)
    with service.storage.write() as session:
        token = issue_token(session, require_user(session, "ada"), "laptop")
    with service.storage.read() as session:
        ada = require_user(session, "ada")
        copy = export_account(session, ada, ())
        assert copy["account"]["name"] == "ada" and copy["teams"] == ["Team A"]
        assert [one["public_id"] for one in copy["submissions"]] == [public_id]
        assert [one["label"] for one in copy["tokens"]] == ["laptop"]
        assert {"account.create", "team.create", "token.create"} == {one["action"] for one in copy["changes"]}
        text = repr(copy)
        assert ada.password_hash not in text and token not in text and hash_secret(token) not in text


def test_deletion_leaves_scores_and_no_name(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    public_id = add_submission(service, "open", "Team A", 0.6, link="https://ada.example")
    with service.storage.write() as session:
        issue_token(session, require_user(session, "ada"), "laptop")
        delete_account(session, require_user(session, "ada"))
    with service.storage.read() as session:
        assert find_user(session, "ada") is None and find_team(session, "Team A") is None
        one = session.scalar(select(Submission).where(Submission.public_id == public_id))
        assert one is not None and one.user_id is None and one.state == "verified" and one.link == ""
        assert one.team.name == f"(deleted team {one.team_id})"
        assert session.scalars(select(Token)).all() == []
        names = {user.id for user in session.scalars(select(User))}
        assert {one.user_id for one in session.scalars(select(Membership))} <= names
        changes = read_changes(session)
        assert "ada" not in {one.actor for one in changes} | {one.subject for one in changes}
        assert DELETED in {one.actor for one in changes}


def test_a_team_goes_on_without_its_founder(tmp_path: Path) -> None:
    service = make_service(tmp_path)
    with service.storage.write() as session:
        team = find_team(session, "Team A")
        assert team is not None
        for name in ("carl", "bob"):
            join_by_invitation(
                session, require_user(session, name), invite(session, "ada", "participant", team.id)
            )
        delete_account(session, require_user(session, "ada"))
    with service.storage.read() as session:
        team = find_team(session, "Team A")
        assert team is not None
        assert [(user.name, owner) for user, owner in list_members(session, team)] == [
            ("bob", True),
            ("carl", False),
        ]
