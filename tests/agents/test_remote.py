"""Agents behind HTTP and in processes of their own."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest

from agents.test_habitat import run
from navarena.agents import Boundary, SingleAgent, Start, declare_agent, load_agent, serve, wrap
from navarena.agents.oracles import OracleStopAgent
from navarena.agents.process import ProcessAgent, ProcessDiedError
from navarena.agents.remote import Connection, RemoteAgent, RemoteError
from navarena.core.errors import ActionError, AgentTimeoutError, AgentUnreachableError, InputError
from navarena.tasks.catalog import get_task
from tasks.small import AHEAD, LEFT, SmallPointNav

TASK = SmallPointNav()
PROTOCOL = get_task("pointnav-v1")


class Follower:
    """Of the standard interface, in no need of navarena."""

    sensors = ("pointgoal_with_gps_compass",)
    trained_with = ("color_jitter",)

    def reset(self):
        self.steps = 0

    def act(self, observations):
        self.steps += 1
        distance, bearing = observations["pointgoal_with_gps_compass"]
        if distance < 0.2:
            return {"action": "STOP"}
        return {"action": np.int64(1 if abs(bearing) < 0.27 else 2)}


class Resizing(Follower):
    resizes = ("depth=64x64",)
    model_sha256 = "0f" * 32


class Whole:
    """Acts for the whole batch, and observes the starts."""

    sensors = ("gps",)
    privileged_inputs = ("a tip",)

    def __init__(self, opening):
        self.opening, self.starts = opening, []

    def reset(self, starts):
        self.starts += starts

    def act(self, observations, active):
        assert observations["gps"].shape == (len(active), 2)
        assert self.starts[0].scene_id == "hall" and self.starts[0].boundary == 3
        return np.full(len(active), self.opening["actions"].index("turn_right"))


class Moody(Follower):
    """Breaks down, hangs, jumps or dies, as its steps go on."""

    def act(self, observations):
        self.steps += 1
        if self.steps == 2:
            raise ZeroDivisionError("stumbled")
        if self.steps == 3:
            time.sleep(5)
        if self.steps == 4:
            return "jump"
        if self.steps == 5:
            os._exit(7)
        return 1


class Told(Whole):
    """Notes what it is told beside starts and observations, and counts its answers."""

    def __init__(self):
        super().__init__({"actions": ["turn_right"]})
        self.heard, self.answers = [], 0

    def act(self, observations, active):
        self.answers += 1
        return super().act(observations, active)

    def forgo_declaration(self):
        self.heard.append("forgo")

    def overrule(self, actions):
        self.heard.append(actions.tolist())

    def episode_costs(self, slot):
        return {"answers": np.int64(self.answers), "slot": slot}


@pytest.fixture
def serving():
    servers = []

    def start(maker):
        server = serve.make_server(serve.Host(maker))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_it_acts_as_it_would_here(serving):
    agent, far = run(serving(Follower), [AHEAD, LEFT])
    _, near = run("agents.test_remote:Follower", [AHEAD, LEFT])
    for slot in range(2):
        assert far.trajectory(slot).actions.tolist() == near.trajectory(slot).actions.tolist()
        assert far.trajectory(slot).succeeded
    assert agent.sensors == Follower.sensors and agent.trained_with == ("color_jitter",)


class Turner:
    """Turns as it was told when it was made, with whatever else it may be given."""

    sensors = ("gps",)

    def __init__(self, side="left"):
        self.side = side

    def reset(self):
        pass

    def act(self, observations):
        return f"turn_{self.side}"


def test_each_slot_has_an_agent_of_the_same_making(serving):
    def turn_right():
        return Turner("right")

    class Opened(Turner):
        def __init__(self, opening):
            super().__init__(opening["actions"][3].removeprefix("turn_"))

    for maker, action in ((turn_right, 3), (Opened, 3), (Turner, 2)):
        _, batch = run(serving(maker), [AHEAD, LEFT], steps=2)
        assert [batch.trajectory(slot).actions.tolist() for slot in range(2)] == [[action] * 2] * 2


class Observer:
    """Notes the names of what it observes."""

    sensors = ("left_semantic", "semantic", "agent_position")

    def reset(self):
        self.seen = []

    def act(self, observations):
        self.seen.append(sorted(observations))
        return 1


class OurObserver(Observer, SingleAgent):
    """The same, of navarena's own class."""


class BatchObserver(Observer):
    """The same, for a batch."""

    def reset(self, starts):
        self.seen = []

    def act(self, observations, active):
        return [super().act(observations)]


@pytest.mark.parametrize("kind", [Observer, OurObserver, BatchObserver])
def test_agents_of_the_standard_interface_have_its_names(serving, kind):
    observer, theirs = kind(), Observer.sensors
    agent = RemoteAgent(Connection(serving(lambda: observer)), PROTOCOL)
    ours = ("left_instance", "instance", "position") if kind is Observer else theirs
    assert agent.sensors == ours
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    agent.act({name: np.zeros((1, 1)) for name in ours}, np.ones(1, bool))
    assert observer.seen == [sorted(theirs)]


class Reader:
    """Walks one step for each sentence of its instruction."""

    sensors = ("instruction",)

    def reset(self):
        self.steps = 0

    def act(self, observations):
        self.steps += 1
        return int(self.steps <= observations["instruction"].count("."))


def test_instructions_arrive(serving):
    agent = load_agent(serving(Reader), get_task("r2r-ce-v1"))
    agent.reset([Start(slot, "a", "hall", Boundary.SCENE) for slot in range(2)])
    seen = {"instruction": np.array(["Walk ahead. Stop.", "Stop."], "<U1024")}
    acted = [agent.act(seen, np.ones(2, bool)).tolist() for _ in range(3)]
    assert acted == [[1, 1], [1, 0], [0, 0]]


def test_agents_of_batches_are_told_what_is_evaluated(serving):
    address = serving(Whole)
    agent, batch = run(address, [AHEAD, LEFT], steps=3)
    assert batch.trajectory(1).actions.tolist() == [3, 3, 3]
    assert agent.privileged
    assert declare_agent(address, TASK).privileged_inputs == ("a tip",)
    assert declare_agent(f"oracle-stop:{address}", TASK).privileged_inputs == (
        "a tip",
        "distance to the goal",
    )


def test_batch_agents_hear_of_oracles_and_teachers_and_tell_their_costs(serving):
    made = []
    agent = load_agent(serving(lambda: made.append(Told()) or made[-1]), TASK)
    oracle = OracleStopAgent(agent, TASK)
    oracle.overrule(np.array([1, 2]))
    assert made[-1].heard == ["forgo", [1, 2]]
    agent.reset([Start(slot, "a", "hall", Boundary.SCENE) for slot in range(2)])
    for _ in range(3):
        agent.act({"gps": np.zeros((2, 2), np.float32)}, np.array([False, True]))
    assert oracle.episode_costs(1) == {"answers": 3.0, "slot": 1.0} and oracle.episode_costs(0) == {}
    agent.reset([Start(1, "b", "hall", Boundary.EPISODE)])
    assert oracle.episode_costs(1) == {}


def test_agents_elsewhere_may_lack_what_only_some_can_do(serving):
    for maker in (Follower, Whole):
        agent = RemoteAgent(Connection(serving(maker)), TASK)
        agent.forgo_declaration(), agent.overrule(np.zeros(1, np.int64))
        assert agent.episode_costs(0) == {}


def test_costs_of_wrong_types_are_the_agents_fault(serving, monkeypatch):
    agent = RemoteAgent(Connection(serving(Follower)), TASK)
    answer = {"actions": [1], "costs": ["much"]}
    monkeypatch.setattr(serve.Host, "answer", lambda host, path, message: answer)
    with pytest.raises(ActionError, match="expected costs of each slot by name"):
        step(agent)


def test_random_streams_in_a_process_are_those_of_this_one():
    far, near = (load_agent(name, PROTOCOL, 3) for name in ("process:random", "random"))
    for agent in (far, near):
        agent.reset([Start(slot, f"e{slot}", "hall", Boundary.SCENE, 3) for slot in range(4)])
    active = np.ones(4, bool)
    for _ in range(5):
        assert far.act({}, active).tolist() == near.act({}, active).tolist()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "process:oracle-stop:random",
            "expected oracle-stop:process:random, got 'process:oracle-stop:random'",
        ),
        ("process:compensating:random", "expected compensating:process:random, got"),
        ("process:process:random", "expected an agent of this process behind process:, got"),
        ("process:http://127.0.0.1:8765", "expected an agent of this process behind process:, got"),
    ],
)
def test_what_stands_before_a_process_says_so(name, message):
    for use in (load_agent, declare_agent):
        with pytest.raises(InputError, match=message):
            use(name, PROTOCOL)


def test_resizing_and_weights_are_declared_from_elsewhere(serving):
    """Of agents over HTTP and in processes, as of those in this one."""
    for name in (serving(Resizing), "process:agents.test_remote:Resizing"):
        declared = declare_agent(name, PROTOCOL)
        assert (declared.resizes, declared.model_sha256) == (("depth=64x64",), "0f" * 32), name


def test_sizes_that_are_none_are_refused_from_elsewhere(serving):
    kind = type("Odd", (Follower,), {"resizes": ("depth=64",)})
    with pytest.raises(
        InputError, match=r"expected resizes of the agent as in \"depth=64x64\", got 'depth=64'"
    ):
        declare_agent(serving(kind), TASK)


def test_every_session_has_an_agent_of_its_own(serving):
    address = serving(Follower)
    first, second = (RemoteAgent(Connection(address), TASK) for _ in range(2))
    first.reset([Start(0, "a", "hall", Boundary.SCENE)])
    with pytest.raises(RemoteError, match="KeyError"):  # the second was never given an episode
        second.act({"pointgoal_with_gps_compass": np.zeros((1, 2), np.float32)}, np.ones(1, bool))


def test_arrays_travel_exactly():
    for array in (
        np.arange(6, dtype=np.uint8).reshape(1, 2, 3),
        np.array([[np.inf, -0.0]], np.float32),
        np.zeros((2, 0), np.int64),
        np.array([True, False]),
        np.array(["Go on.", ""]),
        np.arange(8).reshape(2, 4)[:, ::2],
    ):
        travelled = msgspec.msgpack.decode(msgspec.msgpack.encode(serve.encode_array(array)))
        found = serve.decode_array(travelled)
        assert found.dtype == array.dtype and found.shape == array.shape
        assert found.tobytes() == np.ascontiguousarray(array).tobytes()
    with pytest.raises(ValueError, match="array of numbers"):
        serve.decode_array({"shape": [1], "dtype": "|O", "data": b"\0" * 8})


def step(agent):
    return agent.act({"pointgoal_with_gps_compass": np.ones((1, 2), np.float32)}, np.ones(1, bool))


def test_what_goes_wrong_over_there_is_told(serving):
    agent = RemoteAgent(Connection(serving(Moody), patience=0.3), TASK)
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    assert step(agent).tolist() == [1]
    with pytest.raises(RemoteError, match="ZeroDivisionError: stumbled"):
        step(agent)
    with pytest.raises(AgentTimeoutError, match=r"within 0\.3 s"):
        step(agent)


def test_nobody_answers():
    with pytest.raises(AgentUnreachableError, match=r"start one with: python -m navarena\.agents\.serve"):
        load_agent("http://127.0.0.1:9", TASK)
    here = "http://127.0.0.1:9"
    for address in (
        "http://nowhere",
        f"{here}/mine",
        f"{here}?sensors=rgb",
        f"{here}#1",
        "http://me:pw@127.0.0.1:9",
    ):
        with pytest.raises(
            InputError, match="expected an agent's address as http://host:port, ports up to 65535"
        ):
            load_agent(address, TASK)


def test_another_version_is_refused(serving, monkeypatch):
    monkeypatch.setattr(serve, "VERSION", 2)
    with pytest.raises(InputError, match="message version 1 .* got 2"):
        load_agent(serving(Follower), TASK)


def test_an_agent_in_a_process_of_its_own_can_hang_and_die(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]))
    agent = load_agent("process:agents.test_remote:Moody", PROTOCOL, patience=20.0)
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    assert isinstance(agent, ProcessAgent) and step(agent).tolist() == [1]
    with pytest.raises(RemoteError, match="stumbled"):
        step(agent)
    agent._remote._connection.set_patience(0.3)
    with pytest.raises(AgentTimeoutError):
        step(agent)
    assert agent._process.poll() is not None  # what hung is gone
    with pytest.raises(ProcessDiedError, match="exit code"):
        step(agent)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs POSIX signals")
def test_an_interrupt_is_not_for_an_agent_in_a_process_of_its_own():
    """A terminal sends it to both; the evaluation decides what it means."""
    agent = load_agent("process:random", PROTOCOL)
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    agent._process.send_signal(signal.SIGINT)
    assert len(step(agent)) == 1 and agent._process.poll() is None


def test_processes_are_for_agents_that_only_observe(capfd):
    with pytest.raises(InputError, match="only observes .* privileged 'expert'"):
        load_agent("process:expert", PROTOCOL)
    with pytest.raises(InputError, match="cannot start 'agents.test_habitat:Halfway'"):
        load_agent("process:agents.test_habitat:Halfway", PROTOCOL)
    assert "error: " in capfd.readouterr().err


def test_unknown_names_of_actions_come_back_as_such(serving):
    class Jumper(Follower):
        def act(self, observations):
            return "jump"

    agent = RemoteAgent(Connection(serving(Jumper)), TASK)
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    with pytest.raises(ActionError, match="unknown action 'jump'"):
        step(agent)


def test_the_server_runs_where_navarena_is_not_installed(tmp_path):
    """A copy of the file, with nothing of navarena on the path, and in the syntax of Python 3.7."""
    source = Path(serve.__file__).read_text()
    parse = "import ast, sys; ast.parse(sys.stdin.read(), feature_version=(3, 7))"
    subprocess.run([sys.executable, "-c", parse], input=source, text=True, check=True)
    (tmp_path / "serve.py").write_text(source)
    (tmp_path / "theirs.py").write_text(
        "class Theirs:\n    def reset(self): pass\n    def act(self, seen): return {'action': 'TURN_LEFT'}\n"
    )
    command = [sys.executable, "serve.py", "theirs:Theirs", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        _, batch = run(address, [AHEAD], steps=2)
        process.terminate()
    assert batch.trajectory(0).actions.tolist() == [2, 2]


PRINTER = """
import sys
print("http://127.0.0.1:1")
sys.stdout.write("x" * 10**6 + "\\n")
class Printer:
    sensors = ("pointgoal_with_gps_compass",)
    def __init__(self):
        if {slow}:
            import time; time.sleep(60)
    def reset(self): pass
    def act(self, seen):
        print("y" * 10**6)
        return input() if {reads} else 1
"""


def in_process(tmp_path, monkeypatch, patience=20.0, slow=False, reads=False):
    (tmp_path / "printing.py").write_text(PRINTER.format(slow=slow, reads=reads))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "printing", raising=False)
    agent = load_agent("process:printing:Printer", PROTOCOL, patience=patience)
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    return agent


@pytest.mark.parametrize("reads", [False, True])
def test_an_agent_in_a_process_may_print_and_has_nothing_to_read(tmp_path, monkeypatch, reads):
    agent = in_process(tmp_path, monkeypatch, reads=reads)
    if reads:
        with pytest.raises(RemoteError, match="EOFError"):
            step(agent)
    else:
        assert [step(agent).tolist() for _ in range(3)] == [[1]] * 3


def test_an_agent_in_a_process_that_is_never_made_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("navarena.agents.process.START_SECONDS", 0.0)
    began = time.monotonic()
    with pytest.raises(AgentTimeoutError, match=r"'printing:Printer' to be made within 0\.5 \+ 0 s"):
        in_process(tmp_path, monkeypatch, patience=0.5, slow=True)
    assert time.monotonic() - began < 15


def test_commands_of_the_standard_interface_are_read(serving):
    class Driver(Turner):
        def act(self, observations):
            values = {"linear_velocity": np.float32(0.5), "angular_velocity": [-1.0], "velocity_stop": 0}
            return {"action": ("velocity_control", "velocity_stop"), "action_args": values}

    agent = RemoteAgent(Connection(serving(Driver)), get_task("objectnav-stretch2023-v1"))
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    assert agent.act({"gps": np.zeros((1, 2))}, np.ones(1, bool)).tolist() == [[0.5, -1.0, 0.0, 0.0]]


ILLEGAL = [
    float("nan"),
    1.0,
    [[1]],
    None,
    True,
    10**30,
    {"x": 1},
    object(),
    1j,
    np.array([1, 2]),
    [1, [2]],
    "jump",
]


@pytest.mark.parametrize(
    "answer", ILLEGAL, ids=lambda one: type(one).__name__ if type(one) is object else str(one)
)
def test_illegal_answers_come_back_as_such(serving, answer):
    class One(Follower):
        def act(self, observations):
            return answer

    class Many(Follower):
        def reset(self, starts):
            pass

        def act(self, observations, active):
            return answer

    class Row(Many):
        def act(self, observations, active):
            return [answer] * len(active)

    for kind in (One, Many, Row):
        agent = RemoteAgent(Connection(serving(kind)), TASK)
        agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
        with pytest.raises(ActionError):
            step(agent)


def test_too_many_answers_are_no_actions(serving):
    class Flood(Follower):
        def reset(self, starts):
            pass

        def act(self, observations, active):
            return np.ones(5_000_000, np.int64)

    agent = RemoteAgent(Connection(serving(Flood)), TASK)
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    with pytest.raises(ActionError, match="a list of 1 actions from the agent, got 5000000"):
        step(agent)


def test_an_agent_that_exits_ends_no_server(serving):
    class Exiter(Follower):
        def act(self, observations):
            sys.exit("\ud800")

    agent = RemoteAgent(Connection(serving(Exiter)), TASK)
    agent.reset([Start(0, "a", "hall", Boundary.SCENE)])
    for _ in range(2):
        with pytest.raises(RemoteError, match="SystemExit"):
            step(agent)


@pytest.fixture
def raw_server():
    """Answers every request with the bytes that a test sends, piece by piece."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve_bytes(pieces):
        def run():
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    for piece in pieces:
                        connection.sendall(piece)

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield serve_bytes
    listener.close()


def test_the_deadline_is_of_the_whole_answer(raw_server):
    def drip():
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        for _ in range(100):
            time.sleep(0.1)
            yield b"x"

    began = time.monotonic()
    with pytest.raises(AgentTimeoutError, match=r"within 0\.5 s, got no whole answer"):
        Connection(raw_server(drip()), patience=0.5).ask("/act", {})
    assert time.monotonic() - began < 3


def test_a_connection_that_was_closed_while_idle_is_opened_again(raw_server):
    empty_map = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\x80"
    connection = Connection(raw_server([empty_map]), patience=5)
    assert connection.ask("/reset", {}) == {}
    select.select([connection._http.sock], [], [], 5)  # until the server's end of it has come
    raw_server([empty_map])
    assert connection.ask("/act", {}) == {}


def test_an_answer_has_a_greatest_size(raw_server):
    sent = []

    def flood():
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
        for _ in range(1000):
            sent.append(1)
            yield b"x" * 10**6

    with pytest.raises(ActionError, match="at most 16,777,216 bytes to /act, got more"):
        Connection(raw_server(flood())).ask("/act", {})
    assert len(sent) < 100


@pytest.mark.parametrize(
    "answer",
    [
        {"version": "1"},
        {"version": 1, "sensors": 5},
        {"version": 1, "sensors": "rgb"},
        {"version": 1, "privileged_inputs": [1]},
        {"version": 1, "trained_with": None},
        {"version": 1, "resizes": [64]},
        {"version": 1, "model_sha256": 5},
    ],
    ids=str,
)
def test_open_with_wrong_types_is_one_line(serving, monkeypatch, answer):
    monkeypatch.setattr(serve.Host, "answer", lambda host, path, message: answer)
    with pytest.raises(InputError, match="to answer /open with a version and lists of names"):
        declare_agent(serving(Follower), TASK)


def test_an_agent_elsewhere_that_cannot_be_made_is_one_line(serving):
    class Unmade(Follower):
        def __init__(self):
            raise SystemExit("no weights")

    with pytest.raises(InputError, match=r"cannot be made; it raised SystemExit: no weights"):
        load_agent(serving(Unmade), TASK)


@pytest.mark.parametrize("attribute", ["sensors", "privileged_inputs", "trained_with"])
@pytest.mark.parametrize("value", [5, "rgb", (1, 2)])
def test_declarations_of_wrong_types_are_one_line(attribute, value):
    kind = type("Odd", (Follower,), {attribute: value})
    with pytest.raises(InputError, match=f"expected {attribute} of the agent to be a tuple of names"):
        declare_agent(kind, TASK)


def test_an_agent_that_cannot_be_made_or_imported_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "exits_at_import.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=r"cannot be imported; it raised SystemExit: 0 \(exits_at_import"):
        declare_agent("exits_at_import:Agent")

    def make():
        raise BaseException("\ud800")

    with pytest.raises(InputError, match=r"cannot be made; it raised BaseException: .* \(test_remote"):
        load_agent(make, TASK)


def test_one_slot_with_another_form_of_action_is_illegal():
    answers = iter([1, 1.7])

    class Half(SingleAgent):
        def reset(self):
            pass

        def act(self, observations):
            return next(answers)

    agent = wrap(Half, ())
    agent.reset([Start(slot, "a", "hall", Boundary.SCENE) for slot in range(2)])
    with pytest.raises(ActionError, match="actions of one form"):
        agent.act({}, np.ones(2, bool))
