"""Agents behind HTTP: the client's side of the messages of `serve`."""

import contextlib
import http.client
import math
import reprlib
import secrets
import socket
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Boundary, Start
from navarena.agents.declaration import Declaration, read_declaration
from navarena.agents.habitat import read_action, read_command
from navarena.agents.serve import VERSION, encode_array
from navarena.core.errors import (
    ActionError,
    AgentTimeoutError,
    AgentUnreachableError,
    InputError,
    NavarenaError,
)
from navarena.tasks.task import Actions, Task

REMOTE = ("http://",)
"""How the address of an agent begins."""


CLOSE_SECONDS = 1.0
"""How long a server may take to close a session."""

START_SECONDS = 30.0
"""That an agent may take to be made, beyond its limit for an answer: it may load weights."""

MAX_ANSWER = 2**24
"""Bytes of an answer: a batch of a thousand agents fills 100 kB."""


class RemoteError(Exception):
    """The remote agent raised an exception; the message is its traceback."""


class _OpenAnswer(msgspec.Struct):
    """Answer to /open."""

    version: int
    sensors: tuple[str, ...] = ()
    privileged_inputs: tuple[str, ...] = ()
    trained_with: tuple[str, ...] = ()
    resizes: tuple[str, ...] = ()
    model_sha256: str = ""
    hooks: tuple[str, ...] = ()


class _ActAnswer(msgspec.Struct):
    """Answer to /act beside the actions."""

    costs: tuple[dict[str, float], ...] = ()


class _TimedSocket(socket.socket):
    """A socket that gives up reading at `deadline` (of time.monotonic), however little comes at a time."""

    deadline = math.inf

    def recv_into(self, *arguments: Any) -> int:  # type: ignore[override]
        """Receive as `socket.recv_into` does; raises TimeoutError at the deadline."""
        if self.deadline < math.inf:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.settimeout(left)
        return super().recv_into(*arguments)


class _TimedHTTP(http.client.HTTPConnection):
    """An HTTP connection by a socket with a deadline."""

    sock: _TimedSocket | None

    def connect(self) -> None:
        super().connect()
        plain: Any = self.sock
        timeout = plain.gettimeout()
        self.sock = _TimedSocket(plain.family, plain.type, plain.proto, plain.detach())
        self.sock.settimeout(timeout)


def _is_closed(connection: socket.socket) -> bool:
    """Whether an idle connection has been closed by the other side, as many servers do after some seconds."""
    connection.settimeout(0)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True  # at its end, or with an answer that nobody has asked for


class Connection:
    """A kept HTTP connection to an agent.

    Args:
        address: such as "http://127.0.0.1:8765".
        patience: seconds that an answer may take; None for as long as it likes.

    Raises InputError for an address that is none.
    """

    def __init__(self, address: str, patience: float | None = None) -> None:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port
        except ValueError:  # a port that is no number, or none of 16 bits
            host = port = None
        if not host or not port or address.rstrip("/") != f"http://{parts.netloc}" or "@" in parts.netloc:
            raise InputError(
                f"expected an agent's address as http://host:port, ports up to 65535, got {address!r}"
            )
        self.address = address
        self._http = _TimedHTTP(host, port, timeout=patience)
        weakref.finalize(self, self._http.close)
        self._patience = patience

    def ask(self, path: str, message: Mapping[str, Any], grace: float = 0.0) -> dict[str, Any]:
        """Send `message` to `path` and return the answer, for which the agent has `grace` seconds more.

        Raises RemoteError with the traceback of what the agent raised, ActionError when that was an action
        that does not exist, or for an answer of more than MAX_ANSWER bytes, AgentTimeoutError when it takes
        longer than it may, AgentUnreachableError when nobody answers.
        """
        patience = None if self._patience is None else self._patience + grace
        deadline = math.inf if patience is None else time.monotonic() + patience
        try:
            self._http.timeout = patience
            if self._http.sock is not None and _is_closed(self._http.sock):
                self._http.close()
            if self._http.sock is None:
                self._http.connect()
            if self._http.sock is not None:
                self._http.sock.settimeout(patience)
                self._http.sock.deadline = deadline
            self._http.request("POST", path, msgspec.msgpack.encode(message))
            response = self._http.getresponse()
            body = response.read(MAX_ANSWER + 1)
        except TimeoutError as error:
            self._http.close()
            raise AgentTimeoutError(
                f"expected {self.address} to answer within {patience:g} s, got no whole answer"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise AgentUnreachableError(
                f"no agent answers at {self.address} ({error}); start one with: "
                "python -m navarena.agents.serve module:Class, then give the same command again"
            ) from error
        if len(body) > MAX_ANSWER:
            self._http.close()
            raise ActionError(f"expected an answer of at most {MAX_ANSWER:,} bytes to {path}, got more")
        try:
            answer = msgspec.msgpack.decode(body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise AgentUnreachableError(f"what answers at {self.address} is no agent ({error})") from error
        if response.status != http.client.OK:
            problem = str(answer.get("error", f"status {response.status}"))
            raise ActionError(problem) if answer.get("type") == "ActionError" else RemoteError(problem)
        return answer

    def close(self) -> None:
        """Drop the connection."""
        self._http.close()

    def set_patience(self, patience: float) -> None:
        """Wait for no answer longer than `patience` seconds from now on."""
        self._patience = patience


class RemoteAgent(Agent):
    """Sends observations to an agent elsewhere and takes its actions.

    Args:
        connection: to it.
        task: the rules; sent to the agent.
        seed: of the run; sent to the agent.
    """

    def __init__(self, connection: Connection, task: Task, seed: int = 0) -> None:
        self._connection, self._task = connection, task
        self._session = secrets.token_hex(8)
        opened, self._hooks = open_session(connection, self._session, task, seed)
        weakref.finalize(self, _close_session, connection, self._session)
        self.sensors = opened.sensors or task.sensors
        self.privileged, self.privileged_inputs = opened.privileged, opened.privileged_inputs
        self.trained_with, self.resizes = opened.trained_with, opened.resizes
        self.model_sha256 = opened.model_sha256
        self._costs: dict[int, dict[str, float]] = {}

    def forgo_declaration(self) -> None:
        self._tell("forgo_declaration")

    def overrule(self, actions: Actions) -> None:
        self._tell("overrule", actions=actions.tolist())

    def episode_costs(self, slot: int) -> Mapping[str, float]:
        """The costs that came with the last action of the episode."""
        return self._costs.get(slot, {})

    def _tell(self, hook: str, **message: Any) -> None:
        """Call a method of the agent elsewhere, if it has it."""
        if hook in self._hooks:
            self._connection.ask(f"/{hook}", {"session": self._session, **message})

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.boundary >= Boundary.EPISODE:
                self._costs.pop(start.slot, None)
        messages = [{**vars(start), "boundary": int(start.boundary)} for start in starts]
        self._connection.ask("/reset", {"session": self._session, "starts": messages})

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        sent = {name: encode_array(value) for name, value in observations.items()}
        message = {"session": self._session, "observations": sent, "active": active.tolist()}
        answer = self._connection.ask("/act", message)
        answers = answer.get("actions")
        if not isinstance(answers, list) or len(answers) != len(active):
            found = len(answers) if isinstance(answers, list) else reprlib.repr(answers)
            raise ActionError(f"expected a list of {len(active)} actions from the agent, got {found}")
        names, is_continuous = self._task.actions, self._task.is_continuous
        read: Any = read_command if is_continuous else read_action
        kind = np.float64 if is_continuous else np.int64
        chosen = {slot: read(answers[slot], names) for slot in np.flatnonzero(active).tolist()}
        actions: Actions = np.zeros((len(active), len(names)) if is_continuous else len(active), kind)
        for slot, action in chosen.items():
            # one that no int64 holds may be among them
            if not is_continuous and not 0 <= action < len(names):
                action = -1
            actions[slot] = action
        self._note_costs(answer, active)
        return actions

    def _note_costs(self, answer: Mapping[str, Any], active: Bool[np.ndarray, "n"]) -> None:
        """Keep the costs in an answer to /act; raises ActionError for what are none."""
        try:
            costs = msgspec.convert(answer, _ActAnswer).costs
        except msgspec.ValidationError as error:
            raise ActionError(
                f"expected costs of each slot by name from the agent, got others ({error})"
            ) from error
        self._costs |= {slot: one for slot, one in enumerate(costs[: len(active)]) if active[slot]}


def open_session(
    connection: Connection, session: str, task: Task, seed: int
) -> tuple[Declaration, tuple[str, ...]]:
    """Send the task to the agent; its declaration, and which methods it has beside `reset` and `act`.

    Raises InputError for another protocol version.
    """
    message = {
        "version": VERSION,
        "session": session,
        "protocol": task.protocol_id,
        "actions": list(task.actions),
        "sensors": list(task.sensors),
        "max_steps": task.max_steps,
        "seed": seed,
    }
    try:
        answer = msgspec.convert(connection.ask("/open", message, START_SECONDS), _OpenAnswer)
    except RemoteError as error:
        last = str(error).strip().splitlines()[-1:] or ["nothing"]
        raise InputError(f"the agent at {connection.address} cannot be made; it raised {last[0]}") from error
    except msgspec.ValidationError as error:
        raise InputError(
            f"expected the agent at {connection.address} to answer /open with a version and lists of names, "
            f"got another type ({error}); docs/remote-agents.md describes the messages"
        ) from error
    if answer.version != VERSION:
        raise InputError(
            f"expected an agent of message version {VERSION} at {connection.address}, got "
            f"{answer.version}; serve it with navarena.agents.serve of this version"
        )
    return read_declaration(answer), answer.hooks


def _close_session(connection: Connection, session: str) -> None:
    """Let the server forget an agent, if it still listens."""
    with contextlib.suppress(RemoteError, NavarenaError):
        connection.set_patience(CLOSE_SECONDS)
        connection.ask("/close", {"session": session})
    connection.close()


def declare_remote(address: str, task: Task, patience: float | None = None) -> Declaration:
    """The declaration of the agent at `address`, within `patience`; the session is closed again."""
    connection, session = Connection(address, patience), secrets.token_hex(8)
    declared, _ = open_session(connection, session, task, 0)
    _close_session(connection, session)
    return declared
