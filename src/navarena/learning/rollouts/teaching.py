"""Teaching in rollouts: teachers that are agents, and who decides in which slot, as DAgger does."""

import logging
import pickle
import zlib
from typing import Any

import numpy as np
from jaxtyping import Bool, Int64

from navarena.agents.agent import Agent, Boundary, Start, require_actions
from navarena.agents.loading import load_agent
from navarena.core.errors import ActionError, InputError
from navarena.learning.settings import ImitationSettings
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.saved_state import Name, dump_state, load_state
from navarena.tasks.sensors.lifelong_goal import LifelongGoalState
from navarena.tasks.sources import Batch
from navarena.tasks.task import Task
from navarena.tasks.teacher import Teacher, make_teacher

_log = logging.getLogger(__name__)


class AgentTeacher:
    """Labels every step with the action that an agent with its own memory would choose.

    The agent is asked once for every step of every running episode, and told by `note` what was done.

    Args:
        batch: whose bodies are asked for; it observes the agent's sensors.
        agent: made for the batch's task.

    Attributes:
        stuck: (N,) bool, never set: an agent searches in its own way.
    """

    stuck: Bool[np.ndarray, "n"]

    def __init__(self, batch: NavigationBatch, agent: Agent) -> None:
        self._batch, self._agent = batch, agent
        self._is_known = np.zeros(batch.slots, bool)
        self._goals = np.zeros(batch.slots, np.int64)
        self.stuck = np.zeros(batch.slots, bool)
        agent.attach(batch)

    def label(self, active: Bool[np.ndarray, "n"] | None = None) -> Int64[np.ndarray, "n"]:
        """(N,) indices into the protocol's actions; the declaration in idle slots.

        active: (N,) bool, slots that are asked for; None for all whose episode is running.

        Raises ActionError for an action that the protocol lacks.
        """
        batch = self._batch
        asked = batch.running if active is None else active
        begun = np.flatnonzero(asked & ((batch.state.steps == 0) | ~self._is_known)).tolist()
        episodes = [batch.episode(slot) for slot in begun]
        self._agent.reset(
            [Start(k, one.episode_id, one.scene_id, Boundary.SCENE) for k, one in zip(begun, episodes)]
        )
        self._is_known[begun] = True
        self._begin_subtasks(asked, begun)
        declare = batch.task.actions.index(batch.task.declaration)
        chosen = require_actions(self._agent.act(batch.observations, asked), batch.slots, None)
        count = len(batch.task.actions)
        if (wrong := asked & ((chosen < 0) | (chosen >= count))).any():
            raise ActionError(
                f"expected actions from 0 to {count - 1} of the teacher (method.teacher), got "
                f"{chosen[wrong][0]}; mend its act()"
            )
        return np.where(asked, chosen, declare)

    def _begin_subtasks(self, asked: Bool[np.ndarray, "n"], begun: list[int]) -> None:
        """Reset the agent for new sub-tasks of running episodes."""
        state = self._batch.state
        if not isinstance(state, LifelongGoalState):
            return
        changed = asked & (state.numbers != self._goals)
        changed[begun] = False
        self._goals[asked] = state.numbers[asked]
        slots = np.flatnonzero(changed).tolist()
        if slots:
            episodes = [self._batch.episode(slot) for slot in slots]
            starts = [Start(k, e.episode_id, e.scene_id, Boundary.SUBTASK) for k, e in zip(slots, episodes)]
            self._agent.reset(starts)

    def note(self, actions: Int64[np.ndarray, "n"]) -> None:
        """Record the executed actions, (N,) indices, after `label`."""
        self._agent.overrule(actions)

    def save_state(self) -> bytes:
        """The agent and its memory, for `restore_state`; empty, with a warning, without a pickle."""
        own = self._agent, self._is_known, self._goals
        try:
            state = dump_state(own, self._unsaved())
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
            _log.warning("a teacher's memory is not saved, resumed trainings begin it anew: %s", error)
            return b""
        return zlib.compress(state, 1)  # maps of places not seen yet are mostly zeros

    def restore_state(self, saved: bytes) -> None:
        """Go on with the agent that was `saved`, in the batch of this one."""
        if saved:
            found = load_state(zlib.decompress(saved), self._unsaved().__getitem__)
            self._agent, self._is_known, self._goals = found

    def _unsaved(self) -> dict[Name, object]:
        """What the agent is attached to, which is saved by itself."""
        return {("batch",): self._batch, ("state",): self._batch.state}


def find_teacher_sensors(name: str, task: Task) -> tuple[str, ...]:
    """Sensors of the teacher `name`; none for the shortest-path teacher, whose name is empty."""
    return load_agent(name, task).sensors if name else ()


def make_named_teacher(name: str, batch: Batch) -> Teacher:
    """The teacher `name`: an agent, or with an empty name the one along shortest paths.

    Raises UnknownNameError and InputError as `load_agent`, and InputError for an agent on graphs.
    """
    if not name:
        return make_teacher(batch)
    if not isinstance(batch, NavigationBatch):
        raise InputError(f"expected no named teacher on graphs, got {name!r}; leave method.teacher empty")
    return AgentTeacher(batch, load_agent(name, batch.task))


class TeacherMix:
    """Draws who decides: the teacher for a share of episodes or steps, the learner elsewhere.

    With a share of 1 this is behaviour cloning (teacher forcing), with less DAgger: the learner leads, the
    teacher labels.

    Args:
        settings: share, kind of mixing and veto.
        declaration: index of the action by which an episode ends.
        slots: N.
        generator: of the draws.

    Attributes:
        led: (N,) bool, slots whose episode the teacher leads (of "episode"), or in which it decides now.
    """

    def __init__(
        self, settings: ImitationSettings, declaration: int, slots: int, generator: np.random.Generator
    ) -> None:
        self._settings, self._declaration, self._generator = settings, declaration, generator
        self.led = np.zeros(slots, bool)

    def begin(self, chosen: Bool[np.ndarray, "n"], done: float) -> None:
        """Draw teacher or learner for episodes beginning in the `chosen` (N,) slots; `done`: see Schedule."""
        share = self._settings.teacher_share.at(done)
        if self._settings.mixing == "episode":
            self.led = np.where(chosen, self._generator.random(len(chosen)) < share, self.led)

    def leads_all(self, done: float) -> bool:
        """Whether the teacher decides in all slots, and nothing learns from what the learner would do."""
        if self._settings.actor_critic is not None:
            return False
        if self._settings.mixing == "step":
            return self._settings.teacher_share.at(done) >= 1.0
        return bool(self.led.all())

    def choose(
        self, own: Int64[np.ndarray, "n"], labels: Int64[np.ndarray, "n"], done: float
    ) -> Int64[np.ndarray, "n"]:
        """(N,) indices of actions to take, of the learner's `own` (N,) and the teacher's `labels` (N,)."""
        settings = self._settings
        if settings.mixing == "step":
            self.led = self._generator.random(len(own)) < settings.teacher_share.at(done)
        taken = np.where(self.led, labels, own)
        wrong = (taken == self._declaration) & (labels != self._declaration)
        vetoed = self._generator.random(len(own)) < settings.veto
        return np.where(wrong & vetoed, labels, taken)

    def save_state(self) -> dict[str, Any]:
        """Plain values for `restore_state`; the generator is its owner's to save."""
        return {"led": self.led.tolist()}

    def restore_state(self, saved: dict[str, Any]) -> None:
        """Restore the state `saved`."""
        self.led = np.array(saved["led"], bool)
