"""What a participant may not do, each refused by one clear message; the honest one goes on meanwhile."""

import contextlib
import socket
import struct

import msgspec
import pytest

pytest.importorskip("starlette", reason="needs navarena[server]")

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from navarena.web.challenge.live import wire
from navarena.web.challenge.live.participant import Participant
from navarena.web.challenge.live.stream import LiveStream
from navarena.web.challenge.settings import Track
from web.challenge.live_world import PROTOCOL, TOKEN, LiveServer, LiveThread, make_order

pytestmark = pytest.mark.server
FOLLOWER = "web.challenge.live_world:GoalFollower"
HELLO = wire.Hello(
    version=wire.VERSION,
    token=TOKEN,
    agent=FOLLOWER,
    sensors=("pointgoal_with_gps_compass",),
    codecs=("none",),
)


@pytest.fixture(scope="module")
def server():
    server = LiveServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def patient(server, tmp_path_factory):
    """A run that waits for its first participant, whoever is refused before."""
    run = LiveThread(make_order(tmp_path_factory.mktemp("live"), phase={"grace_seconds": 60.0}))
    yield run
    server.worker = run.address
    finish(server)
    assert run.wait().state == "finished" and len(run.rows) == 4


@pytest.fixture
def run(server, tmp_path):
    """A run that is over a second after its participant has left."""
    run = LiveThread(make_order(tmp_path / "live", phase={"grace_seconds": 1.0}))
    server.worker = run.address
    yield run
    assert run.wait().state == "left" and not run.rows


def finish(server) -> None:
    participant = Participant(FOLLOWER, PROTOCOL)
    participant.take_part(LiveStream(server.address, participant.hello(TOKEN)))


@contextlib.contextmanager
def stream(server, hello=HELLO):
    """A connection that has said hello, as bytes."""
    with connect(server.address, compression=None, max_size=None) as socket:
        socket.send(hello if isinstance(hello, bytes | str) else wire.encode(hello))
        yield socket


def refusal(socket) -> str:
    """The code of the refusal that comes next; the connection ends with it."""
    message = wire.decode_question(socket.recv(20))
    assert isinstance(message, wire.Refusal), message
    assert message.text and "\n" not in message.text and len(message.text) < 400
    with pytest.raises(ConnectionClosed):
        socket.recv(10)
    return message.code


def observe(socket):
    """The welcome and the first question."""
    welcome, question = (wire.decode_question(socket.recv(30)) for _ in range(2))
    assert isinstance(welcome, wire.Welcome) and isinstance(question, wire.Observe)
    return welcome, question


def act(number, slots=2):
    return wire.encode(wire.Act(number=number, actions=(2,) * slots))


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        ("text", "frame"),
        (b"", "frame"),
        (b"\xc1\xff", "frame"),
        (b"x" * (wire.MAX_ANSWER + 1), "frame_size"),
        (act(0), "frame"),
        (msgspec.structs.replace(HELLO, version=2), "version"),
        (msgspec.structs.replace(HELLO, token="another"), "token"),
        (msgspec.structs.replace(HELLO, token=""), "token"),
        (msgspec.structs.replace(HELLO, agent="somebody:Else"), "agent"),
        (msgspec.structs.replace(HELLO, sensors=("no_such_sensor",)), "sensor"),
        (msgspec.structs.replace(HELLO, codecs=("brotli",)), "codec"),
        (msgspec.structs.replace(HELLO, calibration_sensors=("no_such_sensor",)), "sensor"),
    ],
    ids=lambda value: value if isinstance(value, str) else "hello",
)
def test_hellos(hello, code, server, patient) -> None:
    server.worker = patient.address
    with stream(server, hello) as socket:
        assert refusal(socket) == code


def test_sensors_and_privileges_of_the_track(server, tmp_path) -> None:
    run = LiveThread(
        make_order(tmp_path / "a", track=Track(name="rgb", sensors=("rgb", "pointgoal_with_gps_compass")))
    )
    server.worker = run.address
    for name in ("depth", "gps"):
        with stream(server, msgspec.structs.replace(HELLO, sensors=("rgb", name))) as socket:
            assert refusal(socket) == "sensor"
    with stream(server, msgspec.structs.replace(HELLO, privileged_inputs=("navmesh",))) as socket:
        assert refusal(socket) == "privileged"
    finish(server)
    assert run.wait().state == "finished"


def test_a_track_gives_no_sensor_of_another_protocol(server, tmp_path) -> None:
    """Where a challenge has PointNav, too, its tracks may name the sensor that leads to the goal."""
    sensors = ("objectgoal", "pointgoal_with_gps_compass")
    phase = {"protocol": "objectnav-habitat2020-v1", "grace_seconds": 1.0}
    run = LiveThread(make_order(tmp_path, track=Track(name="all", sensors=sensors), phase=phase))
    server.worker = run.address
    with stream(server, msgspec.structs.replace(HELLO, sensors=sensors)) as socket:
        assert refusal(socket) == "sensor"
    assert run.wait().state == "left"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\xc1", "frame"),
        ("text", "frame"),
        (b"x" * (wire.MAX_ANSWER + 1), "frame_size"),
        (wire.encode(HELLO), "frame"),
        (act(1), "out_of_order"),
        (act(2**53), "out_of_order"),
        (wire.encode(wire.End(number=0, episodes=4)), "frame"),
    ],
    ids=["junk", "text", "oversized", "second hello", "step ahead", "far ahead", "server's message"],
)
def test_forged_answers(frame, code, server, run) -> None:
    with stream(server) as socket:
        welcome, question = observe(socket)
        socket.send(frame)
        assert refusal(socket) == code
    resumed = msgspec.structs.replace(HELLO, session=welcome.session, answered=-1)
    with stream(server, resumed) as socket:  # nothing was lost by it
        again, same = observe(socket)
        assert again.resumed and same == question


def test_a_repeated_step(server, run) -> None:
    with stream(server) as socket:
        welcome, question = observe(socket)
        socket.send(act(question.number))
        second = wire.decode_question(socket.recv(30))
        assert second.number == question.number + 1
        socket.send(act(question.number))
        assert refusal(socket) == "repeated_step"
    with stream(server, msgspec.structs.replace(HELLO, session=welcome.session, answered=0)) as socket:
        again, same = observe(socket)
        assert again.resumed and same == second, "the second step was not taken"


def test_two_streams_for_one_submission(server, run) -> None:
    with stream(server) as socket:
        welcome, question = observe(socket)
        with stream(server) as other:
            assert refusal(other) == "second_stream"
        resumed = msgspec.structs.replace(HELLO, session=welcome.session, answered=question.number)
        with stream(server, resumed) as other:
            assert refusal(other) == "second_stream"
        socket.send(act(question.number))  # the first one goes on
        assert wire.decode_question(socket.recv(30)).number == question.number + 1


@pytest.mark.parametrize("actions", [(2,), (2, 2, 2), ([0.5], [0.5])], ids=["few", "many", "numbers"])
def test_actions_of_another_form_cost_their_episodes(actions, server, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live", slots=2, phase={"episodes": 2}))
    server.worker = run.address

    class Forger(Participant):
        def _observe(self, message, welcome):
            if message.number < 3:  # in the common step, then in each episode alone
                return wire.Act(
                    number=message.number,
                    actions=actions if len(actions) != 1 or len(message.active) == 2 else ([],),
                )
            return super()._observe(message, welcome)

    participant = Forger(FOLLOWER, PROTOCOL)
    participant.take_part(LiveStream(server.address, participant.hello(TOKEN)))
    assert run.wait().state == "finished"
    assert [row.status for _, row in run.rows] == ["illegal_action"] * 2


def test_actions_after_the_end(server, tmp_path) -> None:
    run = LiveThread(make_order(tmp_path / "live", phase={"episodes": 1}))
    server.worker = run.address

    class Greedy(LiveStream):
        def answer(self, answer):
            if isinstance(answer, wire.Done):
                answer = wire.Act(number=answer.number, actions=(1,))
            super().answer(answer)

    participant = Participant(FOLLOWER, PROTOCOL)
    greedy = Greedy(server.address, participant.hello(TOKEN))
    participant.take_part(greedy)
    assert refusal(greedy._socket) == "after_end"
    greedy.close()
    assert run.wait().state == "finished" and len(run.rows) == 1


def test_nobody_else_can_play_the_server(run) -> None:
    """The worker talks to who knows its key, and to nobody else."""
    with socket.create_connection((run.address.host, run.address.port)) as intruder:
        for frame in (b"k" * 32, wire.encode(HELLO)):
            intruder.sendall(struct.pack(">I", len(frame)) + frame)
        intruder.settimeout(20)
        with contextlib.suppress(ConnectionResetError):
            assert intruder.recv(10) == b""
