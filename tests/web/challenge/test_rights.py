"""Who may open and do what: every route, as nobody, participant, another team, host and administrator."""

import hmac
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")

from fastapi.routing import APIRoute  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from navarena.web.challenge.recordings import Drawn  # noqa: E402

from .made import (  # noqa: E402
    add_recording,
    add_submission,
    database_path,
    make_application,
    make_client,
    make_service,
    make_token,
    sign_in,
)

NOBODY, ADA, BOB, CARL, HOST, ROOT = "nobody", "ada", "bob", "carl", "hanna", "root"
EVERYBODY = (NOBODY, ADA, BOB, CARL, HOST, ROOT)
TEAM_A, HOSTS = (ADA, HOST, ROOT), (HOST, ROOT)

SEEN: dict[str, tuple[str, ...]] = {
    "/": EVERYBODY,
    "/phases/open": EVERYBODY,
    "/phases/open/history": EVERYBODY,
    "/phases/secret": EVERYBODY,
    "/submissions/{public}": EVERYBODY,
    "/submissions/{public}/journal": EVERYBODY,
    "/submissions/{public}/events": EVERYBODY,
    "/submissions/{secret}": TEAM_A,
    "/submissions/{secret}/journal": HOSTS,
    "/submissions/{secret}/events": TEAM_A,
    "/submissions/{refused}": TEAM_A,
    "/submissions/{refused}/journal": HOSTS,
    "/submissions/{hidden}/journal": HOSTS,
    "/submissions/{public}/episodes": EVERYBODY,
    "/submissions/{public}/episodes/0/0": EVERYBODY,
    "/submissions/{public}/episodes/0/0/video": EVERYBODY,
    "/submissions/{secret}/episodes": HOSTS,
    "/submissions/{secret}/episodes/0/0": HOSTS,
    "/submissions/{secret}/episodes/0/0/video": HOSTS,
    "/submissions/{refused}/episodes": (),
    "/submissions/{refused}/episodes/0/0": (),
    "/submissions/{hidden}/episodes": (),
    "/submissions/{hidden}/episodes/0/0": (),
    "/submissions/{hidden}/episodes/0/0/video": (),
    "/teams/Team A": TEAM_A,
    "/sign-in": EVERYBODY,
    "/sign-up": EVERYBODY,
    "/static/challenge.css": EVERYBODY,
    "/account/export": (ADA, BOB, CARL, HOST, ROOT),
    "/host": HOSTS,
    "/host/phases/open": HOSTS,
    "/host/phases/secret": HOSTS,
    "/host/phases/open/export.csv": HOSTS,
    "/host/phases/open/export.json": HOSTS,
    "/host/people": (ROOT,),
    "/api/v1/pages/challenge": EVERYBODY,
    "/api/v1/pages/phases/open": EVERYBODY,
    "/api/v1/pages/phases/open/history": EVERYBODY,
    "/api/v1/pages/submissions/{public}": EVERYBODY,
    "/api/v1/pages/submissions/{secret}": TEAM_A,
    "/api/v1/pages/submissions/{refused}": TEAM_A,
    "/api/v1/pages/submissions/{public}/episodes": EVERYBODY,
    "/api/v1/pages/submissions/{public}/episodes/0/0": EVERYBODY,
    "/api/v1/pages/submissions/{secret}/episodes": HOSTS,
    "/api/v1/pages/submissions/{secret}/episodes/0/0": HOSTS,
    "/api/v1/pages/submissions/{hidden}/episodes": (),
    "/api/v1/pages/submissions/{hidden}/episodes/0/0": (),
    "/api/v1/teams/Team A": TEAM_A,
    "/api/v1/account": (ADA, BOB, CARL, HOST, ROOT),
    "/api/v1/account/export": (ADA, BOB, CARL, HOST, ROOT),
    "/api/v1/host": HOSTS,
    "/api/v1/host/phases/secret": HOSTS,
    "/api/v1/host/people": (ROOT,),
    "/api/v1/challenges": EVERYBODY,
    "/api/v1/phases/open": EVERYBODY,
    "/api/v1/phases/open/quota?team=Team A": (ADA,),
    "/api/v1/submissions": (ADA, BOB, CARL, HOST, ROOT),
    "/api/v1/submissions?team=Team A": (ADA,),
    "/api/v1/submissions/{public}": EVERYBODY,
    "/api/v1/submissions/{secret}": TEAM_A,
    "/api/v1/submissions/{refused}": TEAM_A,
    "/api/v1/submissions/{public}/events": EVERYBODY,
    "/api/v1/submissions/{secret}/events": TEAM_A,
    "/api/v1/submissions/{refused}/events": TEAM_A,
}
"""Path -> who gets it; everybody else a 401 or 404, or a 403 for the name of a team that is not theirs."""

DONE: dict[tuple[str, str], tuple[str, ...]] = {
    ("POST", "/account/tokens"): (ADA, BOB, CARL, HOST, ROOT),
    ("POST", "/account/tokens/1/revoke"): (ADA,),
    ("POST", "/teams/Team A/invitations"): (ADA,),
    ("POST", "/teams/Team A/members/ada/owner"): (ADA,),
    ("POST", "/submissions/{public}/episodes/0/1"): TEAM_A,
    ("POST", "/submissions/{public}/overviews/0"): TEAM_A,
    ("POST", "/submissions/{secret}/episodes/0/1"): HOSTS,
    ("POST", "/submissions/{hidden}/episodes/0/1"): (),
    ("POST", "/submissions/{hidden}/overviews/0"): (),
    ("POST", "/host/phases/open/freeze"): HOSTS,
    ("POST", "/host/phases/open/unfreeze"): HOSTS,
    ("POST", "/host/phases/secret/reveal"): HOSTS,
    ("POST", "/host/phases/secret/hide"): HOSTS,
    ("POST", "/host/submissions/{public}/disqualify"): HOSTS,
    ("POST", "/host/submissions/{secret}/rerun"): HOSTS,
    ("POST", "/host/people/carl/role"): (ROOT,),
    ("POST", "/host/people/carl/disable"): (ROOT,),
    ("POST", "/host/invitations"): (ROOT,),
    ("POST", "/api/v1/account/tokens"): (ADA, BOB, CARL, HOST, ROOT),
    ("DELETE", "/api/v1/account/tokens/1"): (ADA,),
    ("POST", "/api/v1/teams"): (ADA, BOB, CARL, HOST, ROOT),
    ("POST", "/api/v1/teams/Team A/invitations"): (ADA,),
    ("POST", "/api/v1/teams/Team A/members/ada/owner"): (ADA,),
    ("DELETE", "/api/v1/teams/Team A/members/dave"): (),
    ("POST", "/api/v1/pages/submissions/{public}/episodes/0/1"): TEAM_A,
    ("POST", "/api/v1/pages/submissions/{public}/overviews/0"): TEAM_A,
    ("POST", "/api/v1/pages/submissions/{hidden}/episodes/0/1"): (),
    ("POST", "/api/v1/host/phases/open/freeze"): HOSTS,
    ("POST", "/api/v1/host/submissions/{public}/disqualify"): HOSTS,
    ("POST", "/api/v1/phases/live/live?team=Team A"): (ADA,),
}
"""Method and path -> whose request does something."""

LIVE = {"about": {"track": "rgb", "method": "m"}, "agent": "made", "nonce": "0123456789abcdef"}

COVERED_ELSEWHERE = {
    ("POST", "/api/v1/phases/{phase}/submissions"),
    ("POST", "/api/v1/phases/{phase}/trajectories"),
    ("POST", "/sign-in"),
    ("POST", "/sign-up"),
    ("POST", "/sign-out"),
    ("GET", "/account"),
    ("POST", "/account/password"),
    ("POST", "/account/delete"),
    ("POST", "/account/teams"),
    ("POST", "/account/join"),
    ("POST", "/api/v1/account/join"),
    ("POST", "/teams/{name}/members/{member}/remove"),
}
"""Routes that test_pages follows as somebody would, and those of uploads, which are asked below."""


class World:
    """A server with submissions of team A in every state, and a client for everybody."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service = make_service(folder)
        self.application = make_application(self.service)
        self.tokens = {name: make_token(self.service, name) for name in (ADA, BOB, CARL, HOST, ROOT)}
        self.ids = {
            "public": add_submission(self.service, "open", "Team A", 0.6),
            "secret": add_submission(self.service, "secret", "Team A", 0.5),
            "refused": add_submission(
                self.service, "open", "Team A", 0.4, "refused", error_code="other_numbers"
            ),
            "hidden": add_submission(self.service, "live", "Team A", 0.55, kind="live"),
        }
        for name in ("public", "secret", "hidden"):
            drawn = Drawn(0, "0", "houses-v1/mini/00000", "success", [], "<svg></svg>")
            add_recording(self.service, self.ids[name], 0, drawn, video=b"an MP4")
        self.clients: dict[str, TestClient] = {}
        self.secrets: dict[str, str] = {NOBODY: ""}
        for name in EVERYBODY:
            self.clients[name] = make_client(self.application)
            if name != NOBODY:
                self.secrets[name] = sign_in(self.clients[name], name)
        self.saved = sqlite3.connect(":memory:")
        with self.database() as database:
            database.backup(self.saved)

    def database(self) -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(database_path(self.folder)))

    def set_back(self) -> None:
        """Undo what has been done since the world was made."""
        with self.database() as database:
            self.saved.backup(database)

    def close(self) -> None:
        self.saved.close()
        self.service.storage.close()

    def fill(self, path: str) -> str:
        return path.format(**self.ids)

    def send(self, who: str, method: str, path: str) -> Any:
        secret, path = self.secrets[who], self.fill(path)
        if path.startswith("/api/"):
            fields = (
                LIVE if "/live?" in path else {"label": "x", "name": f"team of {who}", "reason": "copied"}
            )
            return self.clients[who].request(method, path, json=fields, headers={"x-csrf-token": secret})
        fields = {"csrf": secret, "label": "x", "reason": "copied", "role": "participant"}
        return self.clients[who].request(method, path, data=fields)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with closing(World(tmp_path_factory.mktemp("seen"))) as world:
        yield world


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with closing(World(tmp_path_factory.mktemp("changed"))) as world:
        yield world


@pytest.mark.parametrize("path", SEEN)
def test_who_sees_a_page(seen: World, path: str) -> None:
    for who in EVERYBODY:
        status = seen.clients[who].get(seen.fill(path)).status_code
        if who in SEEN[path]:
            assert status == 200, f"{who} {path}"
        else:
            assert status in ((401, 403) if "?team=" in path else (401, 404)), f"{who} {path}: {status}"


@pytest.mark.parametrize("path", [path for path in SEEN if path.startswith("/api/")])
def test_tokens_have_the_rights_of_their_users(seen: World, path: str) -> None:
    client = make_client(seen.application)
    for who, token in seen.tokens.items():
        status = client.get(seen.fill(path), headers={"authorization": f"Bearer {token}"}).status_code
        assert (status == 200) == (who in SEEN[path]), f"{who} {path}: {status}"
    assert client.get(seen.fill(path), headers={"authorization": "Bearer nonsense"}).status_code == 401


@pytest.mark.parametrize(("method", "path"), DONE)
def test_who_may_change_what(changed: World, method: str, path: str) -> None:
    changed.set_back()
    for who in EVERYBODY:
        if who not in DONE[method, path]:
            status = changed.send(who, method, path).status_code
            assert status in (401, 403, 404), f"{who} {method} {path}: {status}"
    for who in DONE[method, path]:
        changed.set_back()
        status = changed.send(who, method, path).status_code
        assert status in (200, 201, 202, 204, 303), f"{who} {method} {path}: {status}"


@pytest.mark.parametrize(("method", "path"), [pair for pair in DONE if DONE[pair]])
def test_no_other_site_can_send_a_form(seen: World, method: str, path: str) -> None:
    """Without the secret, with another's, and with the right one from another origin."""
    who = DONE[method, path][0]
    client, path = seen.clients[who], seen.fill(path)
    other = next(name for name in EVERYBODY if name not in (who, NOBODY))
    for secret, origin in (
        ("", None),
        (seen.secrets[other], None),
        (seen.secrets[who], "https://evil.example"),
    ):
        headers = {"x-csrf-token": secret} | ({"origin": origin} if origin else {})
        if path.startswith("/api/"):
            status = client.request(
                method, path, json={"name": "t", "reason": "r"}, headers=headers
            ).status_code
        else:
            status = client.request(
                method, path, data={"csrf": secret, "reason": "r"}, headers=headers
            ).status_code
        assert status == 403, f"{method} {path} with {origin or 'another secret'}"


def test_logs_come_from_members_of_the_team(seen: World) -> None:
    path = "/api/v1/phases/open/submissions?team=Team A"
    for who in EVERYBODY:
        answer = seen.send(who, "POST", path)
        wanted = {ADA: (422, "damaged_log"), NOBODY: (401, "sign_in")}.get(who, (403, "not_your_team"))
        assert (answer.status_code, answer.json()["error"]["code"]) == wanted, who
    assert seen.clients[ADA].post(path, content=b"").json()["error"]["code"] == "foreign_form"


def test_results_files_come_to_phases_that_take_them(seen: World) -> None:
    for who in EVERYBODY:
        answer = seen.send(who, "POST", "/api/v1/phases/open/trajectories?team=Team A")
        wanted = {NOBODY: (401, "sign_in")}.get(who, (422, "wrong_kind"))
        assert (answer.status_code, answer.json()["error"]["code"]) == wanted, who


def test_secrets_are_compared_in_constant_time(seen: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms are; tokens, cookies and invitations are found by their hashes, which no guess comes close to."""
    compared = []
    same = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda *pair: compared.append(pair) or same(*pair))
    answer = seen.clients[ADA].post("/account/tokens", data={"csrf": "guess", "label": "x"})
    assert answer.status_code == 403 and compared == [(seen.secrets[ADA].encode(), b"guess")]


def routes_of(application: Any) -> set[tuple[str, str]]:
    """(method, path) of every route of the interface and the pages."""
    document = application.openapi()["paths"]
    found = {(method.upper(), path) for path, methods in document.items() for method in methods}

    def walk(routes: Any, prefix: str = "") -> None:
        for route in routes:
            if isinstance(route, APIRoute) and "challenge.pages" in route.endpoint.__module__:
                found.update((method, prefix + route.path) for method in route.methods if method != "HEAD")
            elif hasattr(route, "original_router"):
                walk(route.original_router.routes, prefix)

    walk(application.routes)
    return found


def test_every_route_is_walked(seen: World) -> None:
    asked = [("GET", path) for path in SEEN] + list(DONE)
    missing = []
    for method, path in routes_of(seen.application) - COVERED_ELSEWHERE:
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + "$")
        if not any(method == one and pattern.match(other.partition("?")[0]) for one, other in asked):
            missing.append((method, path))
    assert len(asked) > 40 and not missing, missing


def test_hidden_scores_are_in_no_answer(seen: World) -> None:
    """What the team and others get of a phase whose board is hidden holds none of its numbers."""
    with seen.service.storage.read() as session:
        from navarena.web.challenge.storage.models import Submission

        one = session.query(Submission).filter_by(public_id=seen.ids["secret"]).one()
        digits = [repr(one.rank_mean), f"{one.rank_low:.3f} to {one.rank_high:.3f}"]
    paths = [*SEEN, "/api/v1/submissions/{secret}", "/account"]
    host = "".join(seen.clients[HOST].get(seen.fill(path)).text for path in paths if "secret" in path)
    assert all(text in host for text in digits)
    for who in (NOBODY, ADA, BOB):
        for path in paths:
            text = seen.clients[who].get(seen.fill(path)).text
            for wrong in digits:
                assert wrong not in text, f"{who} reads {wrong} in {path}"


def test_scenes_of_hidden_episodes_are_not_told(seen: World) -> None:
    for who in (NOBODY, ADA, BOB):
        for path in ("/submissions/{hidden}", "/api/v1/pages/submissions/{hidden}"):
            answer = seen.clients[who].get(seen.fill(path))
            assert answer.status_code == 200 and "houses-v1/mini/0" not in answer.text
    assert "houses-v1/mini/0" in seen.clients[HOST].get(seen.fill("/submissions/{hidden}")).text
    assert "houses-v1/mini/0" in seen.clients[BOB].get(seen.fill("/submissions/{public}")).text
