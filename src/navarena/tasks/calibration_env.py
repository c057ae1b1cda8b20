"""Environments for calibration, in which an agent observes its motion but nothing of the task.

RobustNav lets agents adapt in the corrupted target scenes for a fixed number of steps, without rewards
and without knowing how well they do (Chattopadhyay et al. 2021, section 3.3).
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import ActionError, InputError
from navarena.episodes.episode import Episode
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.task import Actions

SUPERVISION = frozenset(
    {"batch", "distance", "episode", "info", "metrics", "reward", "rewards", "simulator", "state", "success"}
    | {"terminated", "trajectory", "truncated"}
)
"""What an agent might look for, and is refused."""


class CalibrationEnv:
    """N environments that only observe, until a number of steps is used up.

    Slot i runs episodes i, i + N, ... and begins again when there are no more. An episode ends with the
    declaration or the step limit, and the next one begins at once.

    Args:
        batch: N environments of the task with its corruptions.
        episodes: to run; not those of the evaluation.
        steps: that may be taken, over all environments together.

    Attributes:
        actions: names; an action is an index into them.
        specs: name -> shape, type and bounds of each observation.
        slots: N.
        steps_left: of the budget; a step of all environments takes N.

    Every look at rewards, distances, success or the world behind the observations raises InputError, and so
    does a batch whose sensors are privileged.
    """

    def __init__(self, batch: NavigationBatch, episodes: Sequence[Episode], steps: int) -> None:
        if not episodes or steps < 1:
            raise InputError(
                f"expected episodes and steps to adapt in, got {len(episodes)} episodes and {steps} steps"
            )
        if batch.privileged_sensors:
            raise InputError(
                "expected sensors for calibration that show no more than observations of the protocol, got "
                f"{', '.join(batch.privileged_sensors)}; leave them out of the agent's calibration_sensors"
            )
        self._batch, self._episodes = batch, episodes
        self.actions: tuple[str, ...] = batch.task.actions
        self.specs: Mapping[str, ObservationSpec] = batch.specs
        self.slots, self.steps_left = batch.slots, steps
        self._runs = np.arange(batch.slots)
        self._begin(list(range(batch.slots)))

    def __getattr__(self, name: str) -> NoReturn:
        if name in SUPERVISION:
            raise InputError(f"expected to adapt by observations alone, got a look at {name!r}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def is_over(self) -> bool:
        """Whether no further step may be taken."""
        return self.steps_left < self.slots

    @property
    def observations(self) -> Mapping[str, np.ndarray]:
        """Name -> (N, ...) arrays of the dtype and unit of `specs`; the next step rewrites them."""
        return self._batch.observations

    @property
    def scene_ids(self) -> tuple[str, ...]:
        """(N) current scene of each environment, as keys for per-scene knowledge."""
        return tuple(self._batch.episode(slot).scene_id for slot in range(self.slots))

    def step(self, actions: Actions) -> Bool[np.ndarray, "n"]:
        """Execute one action in each environment; (N,) bool: whether a new episode began after it.

        actions: (N,) indices, or (N, K) numbers within [-1, 1] of a continuous protocol.

        Raises ActionError for bad actions, and when the steps are used up.
        """
        if self.is_over:
            raise ActionError(
                f"expected at most the steps of the budget, got one of {self.slots} environments with "
                f"{self.steps_left} left; stop when is_over says so"
            )
        result = self._batch.step(np.asarray(actions))
        self.steps_left -= self.slots
        ended = result.terminated | result.truncated
        self._begin(np.flatnonzero(ended).tolist())
        return ended

    def _begin(self, slots: list[int]) -> None:
        chosen = [self._episodes[self._runs[slot] % len(self._episodes)] for slot in slots]
        self._runs[slots] += self.slots
        self._batch.start(slots, chosen)
