"""Agents behind HTTP: the client's side of the messages of `serve`."""

import contextlib
import http.client
import secrets
import weakref
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Start
from navarena.agents.declaration import Declaration
from navarena.agents.habitat import our_sensors, read_action
from navarena.agents.serve import VERSION, encode_array
from navarena.core.errors import AgentTimeoutError, AgentUnreachableError, InputError
from navarena.tasks.task import Actions, Task

REMOTE = ("http://",)
"""How the address of an agent begins."""


PARTING_SECONDS = 1.0
"""How long a server may take to let go of an agent."""


class RemoteError(Exception):
    """The agent raised an exception, over there; the message is its traceback."""


class Connection:
    """A kept HTTP connection to an agent.

    Args:
        address: such as "http://127.0.0.1:8765".
        patience: seconds that an answer may take; None for as long as it likes.

    Raises InputError for an address that is none.
    """

    def __init__(self, address: str, patience: float | None = None) -> None:
        parts = urlsplit(address)
        if parts.scheme != "http" or not parts.hostname or not parts.port:
            raise InputError(f"expected an agent's address as http://host:port, got {address!r}")
        self.address = address
        self._http = http.client.HTTPConnection(parts.hostname, parts.port, timeout=patience)
        weakref.finalize(self, self._http.close)
        self._patience = patience

    def ask(self, path: str, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send `message` to `path` and return the answer.

        Raises RemoteError with the traceback of what the agent raised, AgentTimeoutError when it takes
        longer than it may, AgentUnreachableError when nobody answers.
        """
        try:
            self._http.request("POST", path, msgspec.msgpack.encode(message))
            response = self._http.getresponse()
            body = response.read()
        except TimeoutError as error:
            self._http.close()
            raise AgentTimeoutError(
                f"expected {self.address} to answer within {self._patience:g} s, got nothing"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise AgentUnreachableError(
                f"no agent answers at {self.address} ({error}); start one with: "
                "python -m navarena.agents.serve module:Class, then give the same command again"
            ) from error
        try:
            answer = msgspec.msgpack.decode(body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise AgentUnreachableError(f"what answers at {self.address} is no agent ({error})") from error
        if response.status != http.client.OK:
            raise RemoteError(answer.get("error", f"status {response.status}"))
        return answer

    def close(self) -> None:
        """Drop the connection."""
        self._http.close()

    def hurry(self, patience: float) -> None:
        """Wait for no answer longer than `patience` seconds from now on."""
        self._patience = self._http.timeout = patience
        if self._http.sock is not None:
            self._http.sock.settimeout(patience)


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
        opened = open_session(connection, self._session, task, seed)
        weakref.finalize(self, _part, connection, self._session)
        self.sensors = our_sensors(opened.sensors or task.sensors)
        self.privileged, self.privileged_inputs = opened.privileged, opened.privileged_inputs
        self.trained_with = opened.trained_with

    def reset(self, starts: Sequence[Start]) -> None:
        messages = [{**vars(start), "boundary": int(start.boundary)} for start in starts]
        self._connection.ask("/reset", {"session": self._session, "starts": messages})

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        sent = {name: encode_array(value) for name, value in observations.items()}
        message = {"session": self._session, "observations": sent, "active": active.tolist()}
        answers = self._connection.ask("/act", message)["actions"]
        if self._task.is_continuous:
            return np.asarray(answers, np.float64)
        actions = np.zeros(len(active), np.int64)
        for slot in np.flatnonzero(active).tolist():
            actions[slot] = read_action(answers[slot], self._task.actions)
        return actions


def open_session(connection: Connection, session: str, task: Task, seed: int) -> Declaration:
    """Send the agent what is evaluated, and read its declaration; InputError for another version."""
    answer = connection.ask(
        "/open",
        {
            "version": VERSION,
            "session": session,
            "protocol": task.protocol_id,
            "actions": list(task.actions),
            "sensors": list(task.sensors),
            "max_steps": task.max_steps,
            "seed": seed,
        },
    )
    if answer.get("version") != VERSION:
        raise InputError(
            f"expected an agent of message version {VERSION} at {connection.address}, got "
            f"{answer.get('version')}; serve it with navarena.agents.serve of this version"
        )
    inputs = tuple(answer.get("privileged_inputs", ()))
    return Declaration(
        privileged=bool(inputs),
        privileged_inputs=inputs,
        trained_with=tuple(answer.get("trained_with", ())),
        sensors=tuple(answer.get("sensors", ())),
    )


def _part(connection: Connection, session: str) -> None:
    """Let the server forget an agent, if it still listens."""
    with contextlib.suppress(RemoteError, AgentTimeoutError, AgentUnreachableError):
        connection.hurry(PARTING_SECONDS)
        connection.ask("/close", {"session": session})
    connection.close()


def declare_remote(address: str, task: Task) -> Declaration:
    """What the agent at `address` declares of itself; the session is closed again."""
    connection, session = Connection(address), secrets.token_hex(8)
    declared = open_session(connection, session, task, 0)
    _part(connection, session)
    return declared
