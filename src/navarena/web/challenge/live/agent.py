"""The participant as the evaluation sees it: an agent that asks over a channel."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool

from navarena.agents.agent import Agent, Boundary, Start
from navarena.core.errors import ActionError, AgentTimeoutError
from navarena.core.seeding import scene_name
from navarena.core.threads import thread_count
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Actions
from navarena.web.challenge.live.channel import Channel
from navarena.web.challenge.live.wire import (
    Act,
    Adapted,
    Answer,
    Calibrate,
    Failed,
    Observe,
    StreamSpec,
    StreamStart,
)
from navarena.web.streaming import Codec, PackedArray, StreamError, pack_array


class ParticipantError(Exception):
    """The agent raised an exception on the participant's machine; the message is its traceback."""


class StartMask:
    """Opaque keys in the place of the ids of episodes and scenes.

    The same secret gives the same keys, whatever slots and batches; the key of a scene is a new one after
    each boundary at which memory of it ends, so that two visits cannot be told to be in one place.

    Args:
        secret: of the submission.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._scenes: dict[int, str] = {}

    def hide(self, start: Start) -> StreamStart:
        """The part of `start` that a participant may see."""
        known = scene_name(start.scene_id)
        if start.boundary == Boundary.SCENE or start.slot not in self._scenes:
            self._scenes[start.slot] = self.key("scene", known, start.episode_id)
        return StreamStart(
            slot=start.slot,
            boundary=int(start.boundary),
            episode=self.key("episode", known, start.episode_id),
            scene=self._scenes[start.slot],
        )

    def key(self, *name: str) -> str:
        """24 hexadecimal digits for `name`, which nobody without the secret can trace back."""
        text = "\0".join(name).encode()
        return hmac.new(self._secret, text, hashlib.sha256).hexdigest()[:24]


@dataclass
class Progress:
    """Progress of a submission: `finished` of `episodes`."""

    finished: int
    episodes: int


@dataclass(frozen=True)
class StreamRules:
    """Rules of the live protocol for one participant.

    Attributes:
        codec: by which arrays are packed.
        step_seconds: for an answer; None without a limit.
        secret: of the submission; see StartMask.
        progress: of it, told with every question.
    """

    codec: Codec
    step_seconds: float | None
    secret: bytes
    progress: Progress = field(hash=False)


class LiveAgent(Agent):
    """Streams observations to a participant and takes its actions.

    Args:
        channel: to it.
        rules: how it is asked.
        sensors: that it observes.
        calibration_sensors: that it observes while it adapts; None for `sensors`.
        commands: numbers of an action; None where actions are indices.
    """

    def __init__(
        self,
        channel: Channel,
        rules: StreamRules,
        sensors: tuple[str, ...],
        calibration_sensors: tuple[str, ...] | None,
        commands: int | None,
    ) -> None:
        self.sensors, self.calibration_sensors = sensors, calibration_sensors
        self._channel, self._rules, self._commands = channel, rules, commands
        self._mask = StartMask(rules.secret)
        self._starts: list[tuple[StreamStart, ...]] = []
        self._is_fresh = True
        self._pool = ThreadPoolExecutor(thread_count())

    def adapt(self, env: CalibrationEnv) -> None:
        """Let the participant act in `env` until it has had enough, or the budget is used up.

        Raises StreamError("calibration") when its agent fails, or does not stop.
        """
        ended = np.zeros(env.slots, bool)
        while True:
            try:
                answer = self._ask_calibration(env, ended)
                if isinstance(answer, Adapted):
                    return
                if not isinstance(answer, Act):
                    raise _failure(answer)
                ended = env.step(self._read(answer, env.slots))
            except (ActionError, AgentTimeoutError, ParticipantError) as error:
                last = str(error).strip().splitlines()[-1:] or ["nothing"]
                raise StreamError("calibration", f"the calibration came to no end: {last[0]}") from error

    def reset(self, starts: Sequence[Start]) -> None:
        self._starts.append(tuple(self._mask.hide(start) for start in starts))

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        rows = np.flatnonzero(active)
        shown = {name: self._pack(value, rows) for name, value in observations.items()}
        starts, self._starts = tuple(self._starts), []
        is_fresh, self._is_fresh = self._is_fresh, False

        def ask(number: int) -> Observe:
            return Observe(
                number=number,
                fresh=is_fresh,
                starts=starts,
                active=tuple(active.tolist()),
                observations=shown,
                **vars(self._rules.progress),
            )

        answer = self._channel.ask(ask, self._rules.step_seconds)
        if not isinstance(answer, Act):
            raise _failure(answer)
        return self._read(answer, len(active))

    def _pack(self, value: np.ndarray, rows: np.ndarray) -> PackedArray:
        chosen = value if len(rows) == len(value) else value[rows]
        return pack_array(chosen, self._rules.codec, self._pool)

    def _ask_calibration(self, env: CalibrationEnv, ended: np.ndarray) -> Answer:
        specs = {}
        if self._is_fresh:
            self._is_fresh = False
            specs = {
                name: StreamSpec(
                    shape=spec.shape,
                    dtype=np.dtype(spec.dtype).str,
                    low=float(spec.low),
                    high=float(spec.high),
                    unit=spec.unit,
                )
                for name, spec in env.specs.items()
            }
        every = np.arange(env.slots)
        shown = {name: self._pack(value, every) for name, value in env.observations.items()}
        scenes = tuple(self._mask.key("calibration", scene_name(one)) for one in env.scene_ids)

        def ask(number: int) -> Calibrate:
            return Calibrate(
                number=number,
                specs=specs,
                ended=tuple(ended.tolist()),
                scenes=scenes,
                steps_left=env.steps_left,
                observations=shown,
            )

        return self._channel.ask(ask, self._rules.step_seconds)

    def _read(self, answer: Act, slots: int) -> Actions:
        """(N,) int64 indices or (N, K) float64 numbers within [-1, 1]; raises ActionError for other forms."""
        width = self._commands
        form = "indices" if width is None else f"lists of {width} numbers"
        is_right = len(answer.actions) == slots and all(
            isinstance(one, int) if width is None else isinstance(one, list) and len(one) == width
            for one in answer.actions
        )
        if not is_right:
            raise ActionError(f"expected {slots} actions, {form}, got {len(answer.actions)} of another form")
        if width is not None:
            return np.array(answer.actions, np.float64).reshape(slots, width)
        limit = 2**31  # what no int64 holds is no action either
        return np.array(
            [one if isinstance(one, int) and -limit <= one < limit else -1 for one in answer.actions],
            np.int64,
        )


def _failure(answer: Answer) -> Exception:
    """Error for the evaluation if the participant gave no actions."""
    if isinstance(answer, Failed):
        return ActionError(answer.text) if answer.is_illegal else ParticipantError(answer.text)
    return ActionError(f"expected actions, got a message of type {type(answer).__name__!r}")
