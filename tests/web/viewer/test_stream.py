"""The stream of a page: who may open it, what it may say, and what slow pages miss."""

import http.client
import json
import socket

import pytest

from navarena.core.errors import InputError

pytestmark = pytest.mark.server
pytest.importorskip("fastapi")
pytest.importorskip("websockets")

from navarena.web.serving import listen  # noqa: E402
from navarena.web.streaming import StreamError  # noqa: E402
from navarena.web.viewer.hub import MAX_WAITING, Hub  # noqa: E402
from navarena.web.viewer.messages import Act, Go, Move, Pick, read_message  # noqa: E402

from .clients import open_page, serve_hub  # noqa: E402


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"do": "act", "step": 3, "action": 1}', Act(3, 1)),
        ('{"do": "act", "step": 0, "command": [1, -0.5]}', Act(0, -1, (1.0, -0.5))),
        ('{"do": "next"}', Go()),
        ('{"do": "move", "turn": 0.5}', Move(turn=0.5)),
        ('{"do": "pick", "x": 1, "y": 0}', Pick(1.0, 0.0)),
    ],
)
def test_messages(text: str, message: object) -> None:
    assert read_message(text) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"do": "fly"}',
        '{"do": "act"}',
        '{"do": "act", "step": -1}',
        '{"do": "act", "step": 1e400}',
        '{"do": "act", "step": 0, "command": [2]}',
        '{"do": "act", "step": 0, "command": [NaN]}',
        '{"do": "move", "turn": 11}',
        '{"do": "pick", "x": 1.5, "y": 0}',
        '{"do": "next", "more": 1}',
        '{"do": "show", "name": "' + "x" * 65 + '"}',
        '{"do": "begin", "name": "' + "x" * 5000 + '"}',
        "[" * 3000,
        '{"do": "next"} {}',
    ],
)
def test_other_messages_are_refused(text: str) -> None:
    with pytest.raises(StreamError):
        read_message(text)


@pytest.mark.parametrize("data", ["nonsense", b"\x00\x01"])
def test_a_page_that_says_nonsense_is_closed_and_others_go_on(data: str | bytes) -> None:
    from websockets.exceptions import ConnectionClosed

    hub = Hub()
    with serve_hub("play", hub) as port, open_page(port) as good:
        with open_page(port) as bad:
            bad.read()
            bad.send_text(data)
            with pytest.raises(ConnectionClosed):
                bad.read()
        good.read()
        good.send(do="next")
        assert hub.take(60.0) == Go() and hub.take(0) is None
        hub.show({"phase": "play"}, {})
        assert good.read()["phase"] == "play"
        hub.close(3.0)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_pages_of_others_may_not_connect(origin: str) -> None:
    from websockets.exceptions import InvalidStatus

    with serve_hub("play", Hub()) as port:
        with pytest.raises(InvalidStatus), open_page(port, origin=origin):
            pass
        with open_page(port, origin=f"http://127.0.0.1:{port}") as page:
            assert page.read()["phase"] == "start"


def get(port: int, path: str, host: str | None = None) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers={"host": host or f"127.0.0.1:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def test_files_and_headers() -> None:
    with serve_hub("watch", Hub()) as port:
        status, headers, body = get(port, "/")
        assert status == 200 and b"<title>Watch" in body
        assert "script-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        for name in (
            "base.css",
            "page.css",
            "viewer.css",
            "topdown.css",
            "link.js",
            "watch.js",
            "play.js",
            "scene.js",
        ):
            assert get(port, f"/static/{name}")[0] == 200, name
        for path in (
            "/static/play.html",
            "/static/..%2fapp.py",
            "/export/people.csv",
            "/docs",
            "/openapi.json",
        ):
            assert get(port, path)[0] == 404, path
        assert get(port, "/", "evil.example")[0] == 400, "a name that its server points here"


def test_a_slow_page_gets_the_newest_state() -> None:
    hub = Hub()
    with serve_hub("play", hub) as port, open_page(port) as page:
        page.read()
        for number in range(500):
            hub.show({"phase": "play", "number": number}, {"rgb": b"x" * 50_000})
        numbers = []
        while not numbers or numbers[-1] != 499:
            state = json.loads(page._socket.recv(timeout=60))
            page._socket.recv(timeout=60)
            numbers.append(state["number"])
        assert numbers == sorted(numbers) and len(numbers) < 500
        hub.close(3.0)


def test_a_flood_of_messages_does_not_grow() -> None:
    hub = Hub()
    for _ in range(3 * MAX_WAITING):
        hub.put(Go())
    taken = 0
    while hub.take(0) is not None:
        taken += 1
    assert taken == MAX_WAITING


def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(InputError, match=f"port {port}.*choose another --port"),
            listen("127.0.0.1", port),
        ):
            pass
