"""What a task is: the meaning of steps, apart from the world in which they are made."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Int64

from navarena.episodes.episode import Episode
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import Actuation
from navarena.simulation.navmesh.goal_fields import GoalFields
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator


@dataclass(frozen=True)
class StepResult:
    """What one step meant for each of N slots; rows of inactive slots are 0 and False.

    Attributes:
        reward: (N,) float64.
        terminated: (N,) bool, the task came to its end (the agent stopped).
        truncated: (N,) bool, the step limit cut the episode off.
    """

    reward: Float[np.ndarray, "n"]
    terminated: Bool[np.ndarray, "n"]
    truncated: Bool[np.ndarray, "n"]


class TaskState:
    """What a task remembers of the episodes in N slots. Tasks with more to remember derive from it.

    Attributes:
        goal_position: (N, 3) float64 metres, world frame: the current goal.
        goal_fields: the distances to the current goals, and what is already known of them.
        distance: (N,) float64 metres, geodesic to the current goal.
        start_distance: (N,) float64 metres, at the start of the episode.
        stopped: (N,) bool, whether the agent ended the episode itself.
        steps: (N,) int64, actions taken.
    """

    def __init__(self, slots: int) -> None:
        self.goal_position = np.zeros((slots, 3))
        self.goal_fields = GoalFields(slots)
        self.distance = np.full(slots, np.inf)
        self.start_distance = np.full(slots, np.inf)
        self.stopped = np.zeros(slots, bool)
        self.steps = np.zeros(slots, np.int64)


class Task(ABC):
    """The rules of one protocol. A task holds settings only; what changes lives in a TaskState.

    Attributes:
        protocol_id: names the rules; a change that can move a result makes a new id.
        embodiment: the body.
        actions: names; an action is an index into them.
        sensors: names of the observations the protocol offers.
        metrics: names of the numbers it reports.
        max_steps: actions after which an episode is truncated.
        success_distance: metres, geodesic, within which STOP succeeds.
        default_dataset: name of the episodes it is evaluated on.
        actuation: turns commanded movements into executed ones; None means exactly.
    """

    protocol_id: str
    embodiment: Embodiment
    actions: tuple[str, ...]
    sensors: tuple[str, ...]
    metrics: tuple[str, ...]
    max_steps: int
    success_distance: float
    default_dataset: str
    actuation: Actuation | None = None

    def make_state(self, slots: int) -> TaskState:
        """Fresh memory for `slots` slots."""
        return TaskState(slots)

    def make_sensor(self, name: str) -> Sensor | None:
        """The protocol's own version of the sensor `name` (such as its depth range).

        None means the sensor that is registered under this name, with its defaults.
        """
        return None

    @abstractmethod
    def begin(
        self,
        simulator: Simulator,
        state: TaskState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Write the goals and start distances of `episodes` (K) into `slots` (K,) of `state`.

        The bodies already stand at their starts.
        """

    @abstractmethod
    def judge(
        self,
        simulator: Simulator,
        state: TaskState,
        actions: Int[np.ndarray, "n"],
        active: Bool[np.ndarray, "n"],
    ) -> StepResult:
        """Update `state` after bodies moved, and say what it meant.

        actions: (N,) indices into `self.actions`; active: (N,) bool, the slots that acted.
        """
