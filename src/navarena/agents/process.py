"""Agents in a child process: one that hangs can be stopped, one that crashes costs only its episode."""

import contextlib
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Start
from navarena.agents.remote import START_SECONDS, Connection, RemoteAgent
from navarena.core.errors import AgentTimeoutError, AgentUnreachableError, InputError
from navarena.core.processes import hold_interrupts
from navarena.tasks.task import Actions, Task

STOP_SECONDS = 5.0

_HOST = "navarena.agents.process_host"


class ProcessDiedError(Exception):
    """The process of the agent ended by itself."""


class ProcessAgent(Agent):
    """Runs an agent in a child process and talks to it as to one behind HTTP.

    A child that dies, or takes longer than it may, is replaced when the evaluation makes a fresh agent.

    Args:
        name: of the agent, as after --agent.
        task: the rules.
        seed: of the run.
        patience: seconds that an answer may take; None for as long as it likes.

    Raises InputError when the agent cannot be made, AgentTimeoutError when that takes longer than `patience`
    and START_SECONDS.
    """

    def __init__(self, name: str, task: Task, seed: int = 0, patience: float | None = None) -> None:
        command = [sys.executable, "-m", _HOST, name, task.protocol_id, str(seed)]
        with hold_interrupts():
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        weakref.finalize(self, _stop, self._process)
        address = self._read_address(None if patience is None else patience + START_SECONDS)
        if address is None:
            _stop(self._process)
            raise AgentTimeoutError(
                f"expected {name!r} to be made within {patience} + {START_SECONDS:g} s, and it was not; "
                "allow more by --episode-seconds"
            )
        if not address:
            raise InputError(f"cannot start {name!r} in a process of its own; its error stands above")
        self._remote = RemoteAgent(Connection(address, patience), task, seed)
        self.sensors = self._remote.sensors
        self.privileged, self.privileged_inputs = self._remote.privileged, self._remote.privileged_inputs
        self.trained_with = self._remote.trained_with

    def reset(self, starts: Sequence[Start]) -> None:
        self._call(self._remote.reset, starts)

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        actions: Actions = self._call(self._remote.act, observations, active)
        return actions

    def forgo_declaration(self) -> None:
        self._call(self._remote.forgo_declaration)

    def overrule(self, actions: Actions) -> None:
        self._call(self._remote.overrule, actions)

    def episode_costs(self, slot: int) -> Mapping[str, float]:
        return self._remote.episode_costs(slot)

    def _read_address(self, seconds: float | None) -> str | None:
        """The line that the child writes when it listens; empty when it ended, None after `seconds`."""
        lines: list[bytes] = []
        pipe: Any = self._process.stdout
        reader = threading.Thread(target=lambda: lines.append(pipe.readline()), daemon=True)
        reader.start()
        reader.join(seconds)
        return lines[0].decode().strip() if lines else None

    def _call(self, method: Any, *arguments: Any) -> Any:
        """Call the agent; its process is ended when it took too long, and its death is its own fault."""
        try:
            return method(*arguments)
        except AgentTimeoutError:
            _stop(self._process)
            raise
        except AgentUnreachableError as error:
            _stop(self._process)
            code = self._process.returncode
            raise ProcessDiedError(f"the agent's process ended with exit code {code}") from error


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End a child and collect it."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    process.kill()
    process.wait()
    for pipe in (process.stdout, process.stdin):
        if pipe is not None:
            pipe.close()
