"""Generated requests to every route, as nobody, participant, host and administrator: no answer is a 5xx.

Answers of the interface have the statuses, kinds and shapes of its OpenAPI document.

    NAVARENA_TEST_EXAMPLES=200 pytest -m server tests/web/challenge/test_interface.py

sends so many requests to each route instead of EXAMPLES, and others each time.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")
schemathesis = pytest.importorskip("schemathesis")

from fastapi import FastAPI  # noqa: E402
from fastapi.routing import APIRoute  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from schemathesis.generation import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from navarena.web.challenge.log_format import MEDIA_TYPE  # noqa: E402
from navarena.web.challenge.service import open_service  # noqa: E402
from navarena.web.challenge.storage.engine import sqlite_address  # noqa: E402

from .made import (  # noqa: E402
    CHALLENGE,
    add_people,
    add_submission,
    form_secret,
    make_application,
    make_client,
    make_token,
    sign_in,
)

EXAMPLES = 6
PEOPLE = ("nobody", "ada", "hanna", "root")
WALKS = [*(("sqlite", who) for who in PEOPLE), ("postgresql", "hanna")]

CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

KNOWN: dict[str, list[Any]] = {
    "name": ["open", "secret", "live", "Team A", "Team B", "ada", "bob", "root"],
    "phase": ["open", "secret", "live"],
    "team": ["Team A", "Team B", "", "\0"],
    "member": ["ada", "bob", "carl", "\0"],
    "number": [0, 1, 2, 3, 2**31, 2**63, 2**64, -(2**63) - 1],
    "action": [
        "freeze", "unfreeze", "reveal", "hide", "disqualify", "reinstate", "rerun", "role", "disable",
    ],
    "track": ["rgb", "all", ""],
    "sort": ["rank", "-rank", "spl", "-success", "team", "model_size", "date"],
    "page": [1, 2, 0, -1, 2**63],
    "before": [0, 1, 2**63, -(2**64)],
    "reason": ["copied", "\0", "\ud7ff"],
    "label": ["laptop", "\0"],
    "role": ["participant", "host", "administrator"],
}  # fmt: skip
"""Names and numbers that mean something, or are odd: every second field of a request has one of these."""


class World:
    """A server with submissions in many states, and somebody who sends requests to it."""

    def __init__(self, database: str, who: str) -> None:
        self.service = open_service(CHALLENGE, database)
        add_people(self.service)
        self.application = make_application(self.service)
        self.client = make_client(self.application)
        self.who, self.token, self.secret = who, "", ""
        ids = [
            add_submission(self.service, "open", "Team A", 0.6),
            add_submission(self.service, "secret", "Team A", 0.5),
            add_submission(self.service, "open", "Team B", 0.4, "refused", error_code="other_numbers"),
            add_submission(self.service, "open", "Team A", 0.3, "running"),
            add_submission(self.service, "live", "Team B", 0.55, kind="live"),
        ]
        self.known = {**KNOWN, "submission": ids, "public_id": ids}
        for name in ("ada", "bob"):  # tokens 1 and 2, which requests name
            make_token(self.service, name)

    def use_token(self) -> None:
        """Show a token from now on; a new one where the last one was revoked."""
        if self.who == "nobody":
            return
        self.client.headers["authorization"] = f"Bearer {self.token}"
        if not self.token or self.client.get("/api/v1/account").status_code == 401:
            self.token = make_token(self.service, self.who)
            self.client.headers["authorization"] = f"Bearer {self.token}"

    def use_browser(self) -> None:
        """Be signed in from now on, as nobody else: the last requests may have made another account."""
        account = self.client.get("/api/v1/account")
        if account.status_code == 200 and account.json()["name"] == self.who:
            return
        self.client.cookies.clear()
        if self.who == "nobody":
            self.secret = form_secret(self.client.get("/sign-in").text)
        else:
            self.secret = sign_in(self.client, self.who)


@st.composite
def requests(draw: Any, operation: Any, known: Mapping[str, list[Any]]) -> Any:
    """A request to a route: of the documented form or of another one, every second field known."""
    modes = [GenerationMode.POSITIVE]
    if operation.body or operation.query:
        modes.append(GenerationMode.NEGATIVE)
    case = draw(st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes]))
    said = case.body if isinstance(case.body, dict) else {}
    for held in (case.path_parameters, case.query, said, said.get("about")):
        for name in sorted(known) if isinstance(held, dict) else ():
            if name in held and draw(st.booleans()):
                value = draw(st.sampled_from(known[name]))
                held[name] = quote(str(value), safe="") if held is case.path_parameters else value
    return case


@schemathesis.serializer(MEDIA_TYPE)
def send_as_it_is(context: Any, value: Any) -> bytes:
    """The body of a request that uploads a log."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def send_requests(world: World, operation: Any, pages: bool) -> Counter[int]:
    """Send drawn requests to one route; the statuses of the answers."""
    count = int(os.environ.get("NAVARENA_TEST_EXAMPLES", EXAMPLES))
    statuses: Counter[int] = Counter()

    @settings(
        max_examples=count,
        derandomize=count == EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(requests(operation, world.known))
    def send(case: Any) -> None:
        if pages and isinstance(case.body, dict):
            case.body["csrf"] = world.secret
        sent = case.as_transport_kwargs(base_url="http://testserver")
        del sent["cookies"]  # the client has its own
        if isinstance(sent.get("data"), bytes | str):
            sent["content"] = sent.pop("data")
        response = world.client.request(**sent)
        statuses[response.status_code] += 1
        assert response.status_code < 500, response.text
        if not pages:
            case.validate_response(response, checks=CHECKS)

    send()
    return statuses


def walk(world: World, document: dict[str, Any], pages: bool) -> dict[str, Counter[int]]:
    """Send requests to every route of `document`; route -> statuses."""
    found = {}
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = result.ok()
        world.use_browser() if pages else world.use_token()
        found[operation.label] = send_requests(world, operation, pages)
    return found


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, World]]:
    """A server for nobody and one for ada, who send what leaves no trace."""
    folder = tmp_path_factory.mktemp("places")
    found = {who: World(sqlite_address(folder / f"{who}.sqlite"), who) for who in ("nobody", "ada")}
    yield found
    for world in found.values():
        world.service.storage.close()


@pytest.fixture(autouse=True)
def short_streams(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Events of a submission that goes on end soon."""
    monkeypatch.setattr("navarena.web.challenge.api.submissions.POLL_SECONDS", 0.001)
    monkeypatch.setattr("navarena.web.challenge.api.submissions.WATCH_SECONDS", 0.002)
    monkeypatch.setattr("navarena.web.challenge.pages.public.EVENT_SECONDS", 0.001)
    monkeypatch.setattr("navarena.web.challenge.pages.public.LONGEST_STREAM_SECONDS", 0.002)
    yield


@pytest.mark.parametrize(("database", "who"), WALKS, indirect=["database"])
def test_the_interface_keeps_its_word(database: str, who: str) -> None:
    world = World(database, who)
    found = walk(world, world.application.openapi(), pages=False)
    assert len(found) > 25 and all(found.values())
    well = {route for route, statuses in found.items() if any(200 <= status < 300 for status in statuses)}
    assert "GET /api/v1/challenges" in well and ("GET /api/v1/account" in well) == (who != "nobody")
    assert ("GET /api/v1/host" in well) == (who in ("hanna", "root"))
    assert ("POST /api/v1/host/phases/{name}/{action}" in well) == (who in ("hanna", "root"))


def describe_pages(application: FastAPI) -> dict[str, Any]:
    """The document of the pages, which the interface's leaves out."""

    def show(routes: Any) -> None:
        for route in routes:
            if isinstance(route, APIRoute):
                route.include_in_schema = True
            elif hasattr(route, "original_router"):
                show(route.original_router.routes)

    show(application.routes)
    document = application.openapi()
    paths = document["paths"].items()
    return {**document, "paths": {path: held for path, held in paths if not path.startswith("/api/")}}


@pytest.mark.parametrize(("database", "who"), WALKS, indirect=["database"])
def test_no_page_breaks(database: str, who: str) -> None:
    world = World(database, who)
    found = walk(world, describe_pages(world.application), pages=True)
    assert len(found) > 25 and all(found.values())
    assert (200 in found["GET /host"]) == (who in ("hanna", "root"))
    assert (200 in found["GET /account"]) == (who != "nobody")


def pieces_of(size: int) -> Iterator[bytes]:
    for _ in range(size >> 16):
        yield b" " * (1 << 16)


NAME = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n\xff\\ud800\r\n--x--\r\n'
ODD: dict[str, tuple[str, dict[str, Any], tuple[int, str]]] = {
    "deep JSON": ("teams", {"content": b"[" * 200_000}, (400, "bad_request")),
    "deep JSON of a live run": ("phases/live/live", {"content": b"[" * 200_000}, (422, "bad_request")),
    "no JSON": ("teams", {"content": b"{"}, (422, "bad_request")),
    "no UTF-8": ("teams", {"content": b'{"name": "\xff"}'}, (400, "bad_request")),
    "half a letter": ("teams", {"content": b'{"name": "\\ud800"}'}, (422, "bad_request")),
    "a long number": ("teams", {"content": b'{"name": ' + b"1" * 5000 + b"}"}, (400, "bad_request")),
    "too much": ("teams", {"content": b" " * (1 << 21)}, (413, "too_large")),
    "too much, and nobody knows": ("teams", {"content": pieces_of(1 << 21)}, (413, "too_large")),
    "too much of a live run": ("phases/live/live", {"content": b" " * (1 << 21)}, (413, "too_large")),
    "a zero byte": ("account/tokens", {"json": {"label": "a\0b"}}, (422, "bad_request")),
    "another method": ("phases/live", {"content": b""}, (405, "wrong_method")),
    "nowhere": ("nothing", {"content": b""}, (404, "not_found")),
}
"""Name -> path below the interface, what is posted there, and (status, code) of the answer."""


@pytest.mark.parametrize("name", ODD)
def test_what_no_document_describes(places: dict[str, World], name: str) -> None:
    world = places["ada"]
    world.use_token()
    path, sent, wanted = ODD[name]
    kind = {} if "json" in sent else {"content-type": "application/json"}
    response = world.client.post(f"/api/v1/{path}", headers=kind, **sent)
    problem = response.json()["error"]
    assert (response.status_code, problem["code"]) == wanted
    assert problem["message"] and "\n" not in problem["message"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/x-www-form-urlencoded; charset=punycode", 403),
        ("multipart/form-data", 400),
        ("multipart/form-data; boundary=x", 403),
        *((f"multipart/form-data; boundary=x; charset={name}", 403) for name in ("punycode", "idna", "hex")),
        ("multipart/form-data; boundary=x; charset=unicode_escape", 422),
        ("multipart/form-data; boundary=" + "x" * 300, 400),
        ("text/plain", 403),
        ("nothing", 403),
    ],
)
def test_forms_in_odd_clothes(places: dict[str, World], kind: str, status: int) -> None:
    client = places["nobody"].client
    assert client.post("/sign-in", content=NAME, headers={"content-type": kind}).status_code == status
    many = b"&".join(b"name=%d" % number for number in range(5000))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/sign-in", content=many, headers=form).status_code == 400


@pytest.mark.parametrize("host", ["[", "[::1", "a b", "x@y:z", "", "a/b", ":"])
def test_servers_have_odd_names(places: dict[str, World], host: str) -> None:
    client = places["nobody"].client
    for path, status in (("/", 200), ("/sign-in", 200), ("/nothing", 404), ("/api/v1/nothing", 404)):
        assert client.get(path, headers={"host": host}).status_code == status
    assert client.post("/sign-in", data={"name": "x"}, headers={"origin": host}).status_code == 403
