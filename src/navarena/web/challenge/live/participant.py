"""Participant's side of a live submission: runs any agent on the server's stream."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Boundary, Start, require_actions
from navarena.agents.declaration import name_of, read_declaration
from navarena.agents.loading import AgentName, load_agent
from navarena.core.errors import ActionError, AgentUnreachableError, InputError, readable
from navarena.core.threads import thread_count
from navarena.evaluation.running.rows import format_traceback
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.catalog import get_task
from navarena.tasks.task import Actions
from navarena.web.challenge.live.stream import LiveStream
from navarena.web.challenge.live.wire import (
    MAX_TEXT,
    VERSION,
    Act,
    Adapted,
    Answer,
    Calibrate,
    Done,
    End,
    Failed,
    Hello,
    Observe,
    Question,
    StreamStart,
    Welcome,
)
from navarena.web.streaming import PackedArray, StreamError, list_codecs, unpack_array


class NoBatch:
    """Batch for agents on the participant's machine; access to privileged state raises."""

    def __getattr__(self, name: str) -> NoReturn:
        raise InputError(
            f"expected an agent that only observes, got a look at {name!r}: in a live run the world is on "
            "the server"
        )


class StreamedCalibration(CalibrationEnv):
    """A CalibrationEnv whose world is on the server.

    Args:
        stream: to it.
        first: its first message.
        actions: of the protocol.
        is_continuous: whether actions are numbers.
        unpack: unpacks arrays.
    """

    def __init__(
        self,
        stream: LiveStream,
        first: Calibrate,
        actions: tuple[str, ...],
        is_continuous: bool,
        unpack: Callable[[PackedArray], np.ndarray],
    ) -> None:
        self.actions = actions
        self.specs = {
            name: ObservationSpec(one.shape, np.dtype(one.dtype), one.low, one.high, one.unit)
            for name, one in first.specs.items()
        }
        self.slots = len(first.scenes)
        self._columns = len(actions) if is_continuous else None
        self._stream, self._unpack = stream, unpack
        self._seen: dict[str, np.ndarray] = {}
        self._take(first)

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        return self._seen

    @property
    def scene_ids(self) -> tuple[str, ...]:
        return self._scenes

    @property
    def number(self) -> int:
        """Number of the open question."""
        return self._number

    def step(self, actions: Actions) -> Bool[np.ndarray, "n"]:
        """One action in each environment, as of CalibrationEnv: (N,) bool, where a new episode began."""
        if self.is_over:
            raise ActionError(
                f"expected at most the steps of the budget, got one of {self.slots} environments with "
                f"{self.steps_left} left; stop when is_over says so"
            )
        chosen = require_actions(actions, self.slots, self._columns)
        self._stream.answer(Act(number=self._number, actions=tuple(chosen.tolist())))
        message = self._stream.next()
        if not isinstance(message, Calibrate):
            raise StreamRestartedError(message)
        self._take(message)
        return np.array(message.ended, bool)

    def _take(self, message: Calibrate) -> None:
        self._number, self.steps_left = message.number, message.steps_left
        self._scenes = tuple(message.scenes)
        self._seen = {name: self._unpack(one) for name, one in message.observations.items()}


class StreamRestartedError(BaseException):
    """The server does not go on with the calibration; no agent catches this as an error of its own.

    Args:
        message: that came in its place.
    """

    def __init__(self, message: Question | Welcome) -> None:
        super().__init__("the server begins anew")
        self.message = message


class Participant:
    """Lets an agent answer the questions of a stream.

    Args:
        agent: as after --agent.
        protocol: of the phase.
    """

    def __init__(self, agent: AgentName, protocol: str) -> None:
        self._name, self._task = agent, get_task(protocol)
        self._next_agent: Agent | None = load_agent(agent, self._task, 0)
        self._declared = read_declaration(self._next_agent)
        self._agent = self._next_agent
        self._starts: dict[int, Start] = {}
        self._seen: dict[str, np.ndarray] = {}
        self._pool = ThreadPoolExecutor(thread_count())
        if self._declared.privileged:
            inputs = ", ".join(self._declared.privileged_inputs) or "more than observations"
            raise InputError(
                f"expected an agent that only observes, got {name_of(agent)!r}, which uses {inputs}: in a "
                "live run the world is on the server"
            )

    def hello(self, token: str) -> Hello:
        """The first message."""
        return Hello(
            version=VERSION,
            token=token,
            agent=name_of(self._name),
            sensors=self._agent.sensors,
            calibration_sensors=self._agent.calibration_sensors,
            codecs=list_codecs(),
            privileged_inputs=self._declared.privileged_inputs,
            trained_with=self._declared.trained_with,
        )

    def take_part(
        self, stream: LiveStream, on_progress: Callable[[int, int], object] = lambda finished, episodes: None
    ) -> End:
        """Answer until the end; raises StreamError for a refusal, and AgentUnreachableError.

        on_progress: called with the numbers of finished episodes and of all, when the first changes.
        """
        welcome, finished = stream.open(), -1
        message: Question | Welcome = stream.next()
        while True:
            if isinstance(message, Welcome):
                welcome, message = message, stream.next()
            elif isinstance(message, End):
                stream.answer(Done(number=message.number))
                return message
            elif isinstance(message, Calibrate):
                try:
                    stream.answer(self._calibrate(stream, message, welcome))
                    message = stream.next()
                except StreamRestartedError as error:
                    message = error.message
            else:
                if message.finished != finished:
                    finished = message.finished
                    on_progress(finished, message.episodes)
                stream.answer(self._observe(message, welcome))
                message = stream.next()

    def _observe(self, message: Observe, welcome: Welcome) -> Answer:
        """The answer to an observation."""
        columns = len(welcome.actions) if welcome.is_continuous else None
        try:
            if message.fresh:
                self._renew(welcome)
            for starts in message.starts:
                self._agent.reset([self._start(one, welcome.seed) for one in starts])
            active = np.array(message.active, bool)
            chosen = self._agent.act(self._show(message, active), active)
            actions = require_actions(chosen, len(active), columns)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an agent that exits costs its own episode
            return _failed(message.number, error)
        return Act(number=message.number, actions=tuple(actions.tolist()))

    def _show(self, message: Observe, active: np.ndarray) -> dict[str, np.ndarray]:
        """Name -> (N, ...) arrays of the dtypes that were sent; rows of inactive slots are stale."""
        for name, packed in message.observations.items():
            rows = unpack_array(packed, self._pool)
            known = self._seen.get(name)
            if len(rows) == len(active):
                self._seen[name] = rows
                continue
            shape = (len(active), *rows.shape[1:])
            if known is None or known.shape != shape or known.dtype != rows.dtype:
                known = self._seen[name] = np.zeros(shape, rows.dtype)
            known[active] = rows
        return {name: self._seen[name] for name in message.observations}

    def _start(self, start: StreamStart, seed: int) -> Start:
        return Start(start.slot, start.episode, start.scene, Boundary(start.boundary), seed)

    def _renew(self, welcome: Welcome) -> None:
        """An agent without memory: the present one if unused, or a new one."""
        if self._next_agent is None:
            self._next_agent = load_agent(self._name, self._task, welcome.seed)
        self._agent, self._next_agent = self._next_agent, None
        self._seen = {}
        self._agent.attach(NoBatch())

    def _calibrate(self, stream: LiveStream, message: Calibrate, welcome: Welcome) -> Answer:
        """Let a fresh agent adapt; it acts in the following episodes."""
        number = message.number
        try:
            agent = self._next_agent or load_agent(self._name, self._task, welcome.seed)
            self._next_agent = None
            env = StreamedCalibration(
                stream,
                message,
                welcome.actions,
                welcome.is_continuous,
                lambda packed: unpack_array(packed, self._pool),
            )
            try:
                agent.adapt(env)
            finally:
                number = env.number
            self._next_agent = agent
        except (KeyboardInterrupt, StreamRestartedError, AgentUnreachableError, StreamError):
            raise
        except BaseException as error:
            return _failed(number, error)
        return Adapted(number=number)


def _failed(number: int, error: BaseException) -> Failed:
    text = readable(format_traceback(error))[-MAX_TEXT:]
    return Failed(number=number, is_illegal=isinstance(error, ActionError), text=text)


def submit_live(
    address: str,
    token: str,
    agent: AgentName,
    protocol: str,
    on_progress: Callable[[int, int], Any] = lambda finished, episodes: None,
    on_notice: Callable[[str], Any] = lambda text: None,
) -> End:
    """Let `agent` act in the live submission at `address` until its end.

    Args:
        address: "ws://HOST/api/v1/live/ID", or "wss://...".
        token: of the account.
        agent: as after --agent.
        protocol: of the phase.
        on_progress: called with the numbers of finished episodes and of all.
        on_notice: called with a line for people when the connection breaks and when it is back.

    Raises InputError for an agent that cannot be made, StreamError for a refusal, and AgentUnreachableError
    when the server is gone.
    """
    participant = Participant(agent, protocol)
    stream = LiveStream(address, participant.hello(token), on_notice)
    try:
        return participant.take_part(stream, on_progress)
    finally:
        stream.close()
