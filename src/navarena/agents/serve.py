"""Serve an agent over HTTP, from any Python: this file alone, NumPy, and msgspec or msgpack.

    python -m navarena.agents.serve my_module:MyAgent --port 8765
    python serve.py my_module:MyAgent --port 8765        a copy, where navarena is not installed

The agent is a class or function without arguments. It has `reset()` and `act(observations)` for one
environment, or `reset(starts)` and `act(observations, active)` for a batch; see docs/remote-agents.md, which
describes the messages, too. Nothing is pickled: whoever can reach the port can call the agent, and no more.

The file is written for Python 3.7 and later, and imports nothing of navarena.
"""

import argparse
import functools
import importlib
import inspect
import os
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any, Callable  # noqa: UP035 - of Python 3.7

import numpy as np

try:
    _codec = importlib.import_module("msgspec").msgpack
    pack, unpack = _codec.encode, _codec.decode
except ImportError:  # an older Python
    _codec = importlib.import_module("msgpack")
    pack, unpack = _codec.packb, _codec.unpackb

VERSION = 1
"""Of the messages."""

EPISODE = 1
"""The boundary at which single agents are reset (navarena.Boundary.EPISODE)."""

HOOKS = ("forgo_declaration", "overrule")
"""Methods that a batch agent may have beside `reset` and `act`, each behind a path of its own."""

OUR_NAMES = {"semantic": "instance", "agent_position": "position"}
"""Name of an observation in the field's standard interface -> in messages, where they differ."""

THEIR_NAMES = {ours: theirs for theirs, ours in OUR_NAMES.items()}

KINDS = "biufU"
"""Kinds of arrays that travel: bool, int, uint, float and text."""


def encode_array(array: "np.ndarray") -> "dict[str, Any]":
    """The shape (...) of an array, its dtype such as "<f4", and its bytes in C order."""
    array = np.ascontiguousarray(array)
    return {"shape": list(array.shape), "dtype": array.dtype.str, "data": array.tobytes()}


def decode_array(content: "dict[str, Any]") -> "np.ndarray":
    """The array (...) of `encode_array`, read-only; raises ValueError for another dtype than KINDS."""
    dtype = np.dtype(content["dtype"])
    if dtype.kind not in KINDS:
        raise ValueError("expected an array of numbers or texts, got dtype {}".format(content["dtype"]))
    return np.frombuffer(content["data"], dtype).reshape(content["shape"])


class Host:
    """The agents of all sessions: each evaluating process has a session, and an agent, of its own.

    Args:
        make: makes an agent; called with the message that opened the session if it needs one argument,
            else without arguments.
        make_start: makes a start of its fields, which batch agents are reset by.
    """

    def __init__(
        self, make: "Callable[..., Any]", make_start: "Callable[..., Any]" = SimpleNamespace
    ) -> None:
        self._make, self._make_start = make, make_start
        self._needs_opening = _takes(make, 1) and not _takes(make, 0)
        self._sessions: dict[str, _Session] = {}

    def answer(self, path: str, message: "dict[str, Any]") -> "dict[str, Any]":
        """The answer to a message sent to `path`; raises LookupError for an unknown path or session."""
        if path == "/open":
            make = functools.partial(self._make, message) if self._needs_opening else self._make
            self._sessions[message["session"]] = session = _Session(make)
            agent = session.agent
            return {
                "version": VERSION,
                "hooks": session.hooks,
                "sensors": session.sensors,
                "privileged_inputs": list(getattr(agent, "privileged_inputs", ())),
                "trained_with": list(getattr(agent, "trained_with", ())),
                "resizes": list(getattr(agent, "resizes", ())),
                "model_sha256": getattr(agent, "model_sha256", ""),
            }
        if path == "/close":
            self._sessions.pop(message["session"], None)
            return {}
        session = self._sessions[message["session"]]
        with session.lock:
            if path == "/reset":
                session.reset([self._make_start(**start) for start in message["starts"]])
                return {}
            if path == "/forgo_declaration":
                session.agent.forgo_declaration()
                return {}
            if path == "/overrule":
                session.agent.overrule(np.array(message["actions"]))
                return {}
            if path == "/act":
                seen = {name: decode_array(value) for name, value in message["observations"].items()}
                active = np.array(message["active"], bool)
                return {"actions": session.act(seen, active), "costs": session.costs(active)}
        raise LookupError(path)


class _Session:
    """One evaluating process: a batch agent, or single agents by slot."""

    def __init__(self, make: "Callable[[], Any]") -> None:
        self.lock = threading.Lock()
        self.agent = agent = make()
        self._make, self._spare = make, [agent]
        self._is_batched = _takes(agent.act, 2)
        self.hooks = [name for name in HOOKS if self._is_batched and hasattr(agent, name)]
        self._is_standard = not self._is_batched and not _is_ours(type(agent))
        named = getattr(agent, "sensors", None) or ()
        self.sensors = [rename(name, OUR_NAMES) if self._is_standard else name for name in named]
        self._slots: dict[int, Any] = {}

    def reset(self, starts: "list[Any]") -> None:
        if self._is_batched:
            self.agent.reset(starts)
            return
        for start in starts:
            if start.slot not in self._slots:
                self._slots[start.slot] = self._spare.pop() if self._spare else self._make()
            if start.boundary >= EPISODE:
                self._slots[start.slot].reset()

    def act(self, seen: "dict[str, np.ndarray]", active: "np.ndarray") -> Any:
        if self._is_batched:
            return _plain(self.agent.act(seen, active))
        if self._is_standard:
            seen = {rename(name, THEIR_NAMES): value for name, value in seen.items()}
        answers: list[Any] = [None] * len(active)
        for slot in np.flatnonzero(active).tolist():
            own = {name: value[slot].copy() for name, value in seen.items()}
            answers[slot] = _one(self._slots[slot].act(own))
        return answers

    def costs(self, active: "np.ndarray") -> "list[dict[str, float]]":
        """Of the current episode in each slot, by batch agents that count them; none of idle slots."""
        if not (self._is_batched and hasattr(self.agent, "episode_costs")):
            return []
        return [_costs(self.agent.episode_costs(slot)) if runs else {} for slot, runs in enumerate(active)]


def rename(name: str, names: "dict[str, str]") -> str:
    """The name of an observation, by `names`; behind the name of a camera, too, as in "left_semantic"."""
    camera, mark, channel = name.rpartition("_")
    if name in names:
        return names[name]
    return camera + mark + names.get(channel, channel) if mark else name


def _is_ours(kind: type) -> bool:
    """Whether a class is derived from one of navarena, whose names its observations have."""
    return any(one.__module__.startswith("navarena.") for one in kind.__mro__)


def _one(answer: Any) -> Any:
    """A single agent's action as msgpack types: {"action": x} unwrapped, arrays of one element as numbers."""
    if isinstance(answer, dict) and isinstance(answer.get("action_args"), dict):
        return {"action_args": {str(name): _plain(value) for name, value in answer["action_args"].items()}}
    if isinstance(answer, dict):
        answer = answer.get("action", answer)
    try:
        return _plain(answer.item())  # arrays, and tensors of any library
    except Exception:
        return _plain(answer)


def _costs(found: Any) -> "dict[str, float]":
    return {str(name): float(value) for name, value in found.items()}


def _plain(answer: Any) -> Any:
    """Arrays as lists of numbers; other objects as a map with their type, which is refused as an action."""
    try:
        numbers = np.asarray(answer).tolist()
        pack(numbers)
    except Exception:
        return {"type": type(answer).__name__}
    return numbers


def _takes(function: "Callable[..., Any]", count: int) -> bool:
    """Whether `function` can be called with `count` arguments."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


def make_server(host: Host, address: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """An HTTP server that answers by `host`; port 0 takes a free one (`server.server_port`)."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                status, data = 200, pack(host.answer(self.path, unpack(body)))
            except BaseException as error:  # an agent that exits ends its episode, not the server
                text = traceback.format_exc().encode("utf-8", "backslashreplace").decode("utf-8")
                status, data = 500, pack({"error": text, "type": type(error).__name__})
            self.send_response(status)
            self.send_header("Content-Type", "application/msgpack")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are not worth a line."""

    server = ThreadingHTTPServer((address, port), Handler)
    server.daemon_threads = True
    return server


def load_maker(text: str) -> "Callable[..., Any]":
    """The object at "module:attribute"; raises ImportError or AttributeError."""
    module, _, attribute = text.partition(":")
    maker: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return maker


def main() -> None:
    """Serve until interrupted; the first line of stdout is the address."""
    parser = argparse.ArgumentParser(description="Serve an agent to `navarena evaluate --agent http://...`.")
    parser.add_argument("agent", help="module:Class, or module:function that makes the agent")
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets other machines in")
    arguments = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    if not 0 <= arguments.port < 1 << 16:
        parser.error(f"expected a port from 0 to 65535, got {arguments.port}")
    server = make_server(Host(load_maker(arguments.agent)), arguments.host, arguments.port)
    sys.stdout.write("http://{}:{}\n".format(*server.server_address[:2]))
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
