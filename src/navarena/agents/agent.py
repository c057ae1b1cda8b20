"""Interface of agents: `Agent` for a batch of environments, `SingleAgent` for one, wrapped into a batch."""

import enum
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import ActionError, InputError
from navarena.core.seeding import make_generator, scene_name
from navarena.tasks.calibration_env import CalibrationEnv
from navarena.tasks.task import Actions, Task, TaskRules


class Boundary(enum.IntEnum):
    """Boundary before a start, which decides what memory an agent must drop.

    The members are ordered: memory that lasts for one of them is dropped at that boundary
    and at every greater one. An agent that maps a scene drops its map at SCENE; one without
    memory beyond an episode clears itself at EPISODE, TOUR and SCENE, and goes on at SUBTASK.
    Where memory is never forgotten, the next episode of a scene comes after a SUBTASK (see `EpisodeStarts`).
    """

    SUBTASK = 0
    EPISODE = 1
    TOUR = 2
    SCENE = 3


@dataclass(frozen=True)
class Start:
    """The start of an episode or sub-task in one slot.

    Attributes:
        slot: row of the batch, 0 to N - 1.
        episode_id: unique within its dataset and split.
        scene_id: such as "houses-v1/val/00017". An agent may only use it as a key of its own memory.
        boundary: what ended before in this slot.
        seed: of the whole run; `generator` derives streams of it by name, never from the order of calls.
    """

    slot: int
    episode_id: str
    scene_id: str
    boundary: Boundary = Boundary.EPISODE
    seed: int = 0

    def generator(self, name: str) -> np.random.Generator:
        """The random stream of this episode for the agent `name`, whatever the slot and the batch."""
        return make_generator("agent", name, self.seed, scene_name(self.scene_id), self.episode_id)


class EpisodeStarts:
    """The episodes that run in the slots of an agent whose memory is bound to where they began.

    Where memory outlasts an episode, the next one of a scene is announced like a sub-task, although its body
    is put elsewhere: maps and poses in the frame of the start must begin anew.
    """

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}

    def mark(self, start: Start) -> Start:
        """`start`, with the boundary EPISODE at least where it begins another episode than ran in its slot.

        It is called once for each start.
        """
        is_same = self._ids.get(start.slot) == start.episode_id
        self._ids[start.slot] = start.episode_id
        return start if is_same else replace(start, boundary=max(start.boundary, Boundary.EPISODE))


class Agent(ABC):
    """Maps batched observations to actions.

    Attributes:
        sensors: names of the observations that it uses; only these are computed.
        privileged: whether it uses more than observations (see `attach`); written into the results.
        privileged_inputs: what it uses beside observations, such as "navmesh"; written into the results.
        trained_with: corruptions and augmentations that it was trained with; written into the results.
        resizes: sizes to which it brings the images of the protocol, such as "depth=64x64"; written into the
            results, which stay those of the protocol: its cameras take images of their own size.
        model_sha256: of its weights, 64 hex digits; written into the results, which go on with no others.
        calibration_sensors: observations that it uses while it adapts; None for `sensors`.
        worker_episodes: least number of episodes for each worker process when the number of processes is
            not given; every process holds a copy of the agent. None for one process, if copies are expensive.
        in_scenes: whether it runs with bodies in scenes.
        on_graphs: whether it runs on navigation graphs; the "module:Class" of its form for graphs where it
            has another one.
    """

    sensors: tuple[str, ...] = ()
    privileged: bool = False
    privileged_inputs: tuple[str, ...] = ()
    trained_with: tuple[str, ...] = ()
    resizes: tuple[str, ...] = ()
    model_sha256: str = ""
    calibration_sensors: tuple[str, ...] | None = None
    worker_episodes: int | None = None
    in_scenes: ClassVar[bool] = True
    on_graphs: ClassVar[bool | str] = True

    @classmethod
    def inputs_in(cls, task: Task, inputs: tuple[str, ...]) -> tuple[str, ...]:
        """The privileged inputs in `task`, of which it declares `inputs`.

        Others come with the pose where `task` has no sensor of it; labels are not among them where the goal
        is a point.
        """
        return inputs

    @classmethod
    def trained_beside(cls, task: Task) -> tuple[str, ...]:
        """Notes on training that results in `task` add to `trained_with`, such as another protocol."""
        return ()

    @classmethod
    def weights_beside(cls) -> tuple[str, ...]:
        """Hashes of further weights and files that it uses, beside `model_sha256` and declared sensors'."""
        return ()

    @classmethod
    def with_options(cls, text: str) -> type["Agent"]:
        """The agent with the options of `NAME?text`; raises InputError for unknown options."""
        raise InputError(f"expected no options behind {cls.__name__}, got {text!r}")

    @property
    def adapts(self) -> bool:
        """Whether it learns from a calibration."""
        return type(self).adapt is not Agent.adapt

    def adapt(self, env: CalibrationEnv) -> None:
        """Called once before `attach`, when a calibration was asked for: learn from `env`, without rewards.

        Raises InputError for an agent that cannot adapt.
        """
        raise InputError(
            f"expected an agent that adapts, got {type(self).__name__}; give it a method adapt(env), or "
            "evaluate it without calibration"
        )

    def attach(self, batch: Any) -> None:  # noqa: B027 - a hook: most agents need none
        """Called once before the first reset; a privileged agent keeps `batch` to read its state.

        It is a NavigationBatch, or a GraphBatch on navigation graphs. The run of an agent that
        declares nothing and reads from it is marked as privileged.
        """

    @abstractmethod
    def reset(self, starts: Sequence[Start]) -> None:
        """Called when episodes or sub-tasks begin in the slots of `starts`; the other slots go on."""

    @abstractmethod
    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        """Choose an action for each slot.

        Args:
            observations: name -> (N, ...); rows of inactive slots are stale. The arrays are
                reused by the next step: copy what must be kept.
            active: (N,) slots in which an episode is running.

        Returns:
            (N,) int64 indices into the protocol's actions, or (N, K) float64 numbers within [-1, 1] of a
            continuous protocol; rows of inactive slots are ignored.
        """

    def forgo_declaration(self) -> None:  # noqa: B027 - a hook: most agents need none
        """Called once where an oracle declares in its place: a policy may leave its own declaration out."""

    def episode_costs(self, slot: int) -> Mapping[str, float]:
        """Costs of the current episode of `slot` other than time, such as {"prompt_tokens": 1200}.

        It is written beside the times of the episode (see evaluation.records.times), and no number of a
        result depends on it.
        """
        return {}

    def overrule(self, actions: Actions) -> None:  # noqa: B027 - a hook: most agents do not count on it
        """Called after `act` if other actions (N,) are executed instead, as in imitation learning."""


def require_discrete(task: TaskRules, agent: str) -> None:
    """Raise InputError if `task` has continuous actions, for agents that support discrete actions only."""
    if task.is_continuous:
        raise InputError(
            f"expected a protocol of discrete actions for the agent {agent!r}, got {task.protocol_id!r}; "
            "choose its discrete control, or another agent"
        )


def require_actions(chosen: object, slots: int, columns: int | None) -> Actions:
    """Checked copy of an agent's actions: (N,) int64, or (N, K) float64 for continuous actions.

    Args:
        chosen: what it returned.
        slots: N.
        columns: K; None where actions are indices.

    Raises ActionError for another shape, and for what is no integer or, in the continuous case, no number.
    """
    array = _read_numbers(chosen)
    shape = (slots,) if columns is None else (slots, columns)
    if array.shape != shape or array.dtype.kind not in ("iu" if columns is None else "iuf"):
        kind = "integer actions" if columns is None else "rows of numbers"
        unknown = " with NaN" if array.dtype.kind == "f" and np.isnan(array).any() else ""
        raise ActionError(
            f"expected the agent to return {slots} {kind}, shape {shape}, got shape "
            f"{array.shape} of {array.dtype}{unknown}; mend its act()"
        )
    return array.astype(np.int64 if columns is None else np.float64)


def _read_numbers(chosen: object) -> np.ndarray:
    """An agent's return value as an array of numbers; raises ActionError if it cannot be converted."""
    try:
        array = np.asarray(chosen)
    except Exception as error:
        raise ActionError(f"expected actions from the agent, got {reprlib.repr(chosen)} ({error})") from error
    if array.dtype.kind not in "biuf":
        raise ActionError(f"expected actions from the agent, got {reprlib.repr(chosen)}; mend its act()")
    return array


class SingleAgent(ABC):
    """An agent for a single environment; `wrap` makes a batched agent of it.

    Attributes:
        sensors: as of `Agent`.
    """

    sensors: tuple[str, ...] = ()

    @abstractmethod
    def reset(self) -> None:
        """A new episode begins; forget the last one."""

    @abstractmethod
    def act(self, observations: Mapping[str, np.ndarray]) -> int | Sequence[float] | np.ndarray:
        """The action for one environment's observations (without the leading N).

        An index, or K numbers within [-1, 1] of a continuous protocol.
        """


class WrappedAgent(Agent):
    """One SingleAgent per slot, behind the batched interface.

    Each slot's agent is made when the slot is first used; it is reset at every boundary from
    EPISODE upwards, and keeps its memory at SUBTASK.

    Args:
        make: called without arguments for each slot.
        sensors: what the agents observe.
    """

    def __init__(self, make: Callable[[], SingleAgent], sensors: tuple[str, ...]) -> None:
        self.sensors = tuple(sensors)
        self._make = make
        self._agents: dict[int, SingleAgent] = {}

    def reset(self, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.slot not in self._agents:
                self._agents[start.slot] = self._make()
            if start.boundary >= Boundary.EPISODE:
                self._agents[start.slot].reset()

    def act(self, observations: Mapping[str, np.ndarray], active: Bool[np.ndarray, "n"]) -> Actions:
        chosen: dict[int, np.ndarray] = {}
        for slot in np.flatnonzero(active).tolist():
            own = {name: value[slot] for name, value in observations.items()}
            chosen[slot] = _read_numbers(self._agents[slot].act(own))
        form = next(iter(chosen.values()), np.zeros((), np.int64))
        is_index = form.dtype.kind in "iu" and form.ndim == 0
        actions = np.zeros((len(active), *form.shape), np.int64 if is_index else np.float64)
        for slot, action in chosen.items():
            if action.shape != form.shape or (is_index and action.dtype.kind not in "iu"):
                raise ActionError(f"expected actions of one form from the agent, got {action!r} and {form!r}")
            actions[slot] = action
        return actions


def wrap(
    make: type[SingleAgent] | Callable[[], SingleAgent], sensors: tuple[str, ...] | None = None
) -> WrappedAgent:
    """A batched agent made of one SingleAgent per slot.

    Args:
        make: the class, or whatever returns a fresh agent when called without arguments.
        sensors: what the agents observe; None for the attribute of that name of `make`.
    """
    if sensors is None:
        sensors = tuple(getattr(make, "sensors", ()))
    return WrappedAgent(make, sensors)
