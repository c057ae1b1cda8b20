"""N environments of tours in one, with Gymnasium's vector interface: what graphs and houses share."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float, Int

from navarena.tasks.slot_generators import SlotGenerators


@runtime_checkable
class SlotRecord(Protocol):
    """An agent phase that has ended."""

    @property
    def slot(self) -> int:
        """In which it was."""


@runtime_checkable
class TourStepLike(Protocol):
    """What a step of a batch of tours meant, (N,) each."""

    @property
    def reward(self) -> Float[np.ndarray, "n"]:
        """(N,) float64."""

    @property
    def terminated(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, the tour ended."""

    @property
    def truncated(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, the tour ended by the step limit."""

    @property
    def began(self) -> Bool[np.ndarray, "n"]:
        """(N,) bool, the next episode of the tour begins."""


TourT = TypeVar("TourT")
StepT = TypeVar("StepT", bound=TourStepLike)
RecordT = TypeVar("RecordT", bound=SlotRecord)


class ToursVectorEnv(
    VectorEnv[dict[str, Any], Int[np.ndarray, "n"], np.ndarray], Generic[TourT, StepT, RecordT]
):
    """N tours side by side; a slot whose tour has ended begins another at the next step.

    Slot i behaves as a single environment that was reset with seed + i (AutoresetMode.NEXT_STEP).

    Args:
        num_envs: N.
        observed: space of one slot's observations.
        actions: how many there are.
        draw: a tour, with a slot's generator.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        num_envs: int,
        observed: gymnasium.Space[Any],
        actions: int,
        draw: Callable[[np.random.Generator], TourT],
    ) -> None:
        self.num_envs = num_envs
        self.single_observation_space = observed
        self.observation_space = batch_space(observed, num_envs)
        self.single_action_space: gymnasium.Space[Any] = spaces.Discrete(actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._draw = draw
        self._generators = SlotGenerators(num_envs)
        self._ended = np.zeros(num_envs, bool)

    @abstractmethod
    def _start(self, slots: list[int], tours: list[TourT]) -> None:
        """Begin `tours` in `slots`."""

    @abstractmethod
    def _advance(self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> StepT:
        """One action (N,) in each `active` slot (N,)."""

    @abstractmethod
    def _take_records(self) -> Sequence[RecordT]:
        """Agent phases that ended in this step."""

    @abstractmethod
    def _describe(self, slot: int, step: StepT | None, record: RecordT | None) -> dict[str, Any]:
        """The info of a slot; `step` is None where a tour has just begun."""

    @abstractmethod
    def _observe(self) -> dict[str, Any]:
        """What all slots observe."""

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a tour in every slot; (observations, infos).

        A seed s stands for s, s + 1, ..., s + N - 1; a sequence holds one for each slot.
        """
        self._generators.seed(seed)
        self._ended[:] = False
        self._begin(np.ones(self.num_envs, bool))
        infos: dict[str, Any] = {}
        for slot in range(self.num_envs):
            infos = self._add_info(infos, self._describe(slot, None, None), slot)
        return self._observe(), infos

    def step(
        self, actions: Int[np.ndarray, "n"]
    ) -> tuple[
        dict[str, Any],
        Float[np.ndarray, "n"],
        Bool[np.ndarray, "n"],
        Bool[np.ndarray, "n"],
        dict[str, Any],
    ]:
        """One action (N,) in each slot; (observations, rewards, terminated, truncated, infos).

        Slots whose tour ended in the last step ignore theirs and begin a new one. Raises ActionError
        for an action out of range, and before the first reset.
        """
        self._generators.require_seeded("tour")
        begun = self._ended.copy()
        step = self._advance(np.asarray(actions), ~begun)
        self._begin(begun)
        self._ended = step.terminated | step.truncated
        records = {record.slot: record for record in self._take_records()}
        told = begun | step.began
        told[list(records)] = True
        infos: dict[str, Any] = {}
        for slot in np.flatnonzero(told).tolist():
            own = self._describe(slot, None if begun[slot] else step, records.get(slot))
            infos = self._add_info(infos, own, slot)
        return self._observe(), step.reward, step.terminated, step.truncated, infos

    def _begin(self, chosen: Bool[np.ndarray, "n"]) -> None:
        slots = np.flatnonzero(chosen).tolist()
        self._start(slots, [self._draw(self._generators[slot]) for slot in slots])
