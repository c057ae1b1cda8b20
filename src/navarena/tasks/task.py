"""Interface of tasks: the rules of a protocol, apart from the world in which it runs."""

import enum
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, cast, final

import numpy as np
from jaxtyping import Bool, Float, Int, Int64
from typing_extensions import TypeVar

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.metrics.catalog import COMMON_METRICS
from navarena.metrics.tours import TourScoring
from navarena.metrics.trajectory import Trajectory
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import Actuation
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.resized import ResizedRgb
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.image_options import ImageOptions

Actions = Int[np.ndarray, "n"] | Float[np.ndarray, "n k"]
"""(N,) indices into the actions of a task, or (N, K) numbers within [-1, 1] of continuous ones."""


class Phase(enum.IntEnum):
    """Phase of a tour: the agent acts, or an oracle between two episodes."""

    AGENT = 0
    ORACLE_GOAL = 1
    ORACLE_START = 2


@dataclass(frozen=True)
class OracleRules:
    """Rules of the oracle phases between two episodes of a tour; the defaults are those of `ir2r-ce-v1`.

    Attributes:
        oracle_radius: metres, geodesic, within which the oracle has arrived: 0.25 (code; one step of
            the body), or 0.5 (the paper's text).
        precise_start: whether an episode of a tour begins exactly at its start, or where the oracle
            stopped: within that radius and half a turn of it (code).
        peeks_at_start: whether the body is shown one observation from the next start, when the oracle
            turns to it (code: a flaw, it feeds the next start to memories and maps).
        shows_instruction: whether the instruction stays visible while the oracle leads, during
            ORACLE_START that of the next episode (code; the paper says without language).
    """

    oracle_radius: float = 0.25
    precise_start: bool = False
    peeks_at_start: bool = False
    shows_instruction: bool = False


@dataclass(frozen=True)
class StepResult:
    """Result of one step for each of N slots; rows of inactive slots are 0 and False.

    Attributes:
        reward: (N,) float64.
        terminated: (N,) bool, the task came to its end (the agent stopped).
        truncated: (N,) bool, the step limit cut the episode off.
        began: (N,) bool, a sub-task was finished and the episode goes on with the next one; None for
            tasks without sub-tasks.
        arrived: (N,) bool, the oracle has led the body to the start of the next episode of its tour, which
            begins; None for tasks without oracle phases.
    """

    reward: Float[np.ndarray, "n"]
    terminated: Bool[np.ndarray, "n"]
    truncated: Bool[np.ndarray, "n"]
    began: Bool[np.ndarray, "n"] | None = None
    arrived: Bool[np.ndarray, "n"] | None = None


class TaskState:
    """State of the episodes in N slots. Tasks with further state derive from it.

    Attributes:
        goal_position: (N, 3) float64 metres, world frame: the current goal, or the first of its places.
        goal_places: for each slot (G, 3) float64 metres: every place that fulfils the current goal.
        goal_fields: the distances to the current goals, and what is already known of them.
        distance: (N,) float64 metres, geodesic to the current goal.
        start_distance: (N,) float64 metres, at the start of the episode.
        stopped: (N,) bool, whether the agent ended the episode itself.
        steps: (N,) int64, actions taken.
        phase: (N,) int64 values of Phase: who moves the body next.
        tour_position: (N,) int64, how many episodes of its tour came before the current one; in
            Phase.ORACLE_START it is already that of the next.
        protocols: which protocols remember this, as words behind "a protocol".
    """

    protocols: ClassVar[str] = "for bodies in scenes"

    def __init__(self, slots: int) -> None:
        self.goal_position = np.zeros((slots, 3))
        self.goal_places = [np.zeros((0, 3))] * slots
        self.goal_fields = GoalFields(slots)
        self.distance = np.full(slots, np.inf)
        self.start_distance = np.full(slots, np.inf)
        self.stopped = np.zeros(slots, bool)
        self.steps = np.zeros(slots, np.int64)
        self.phase = np.full(slots, int(Phase.AGENT), np.int64)
        self.tour_position = np.zeros(slots, np.int64)

    def set_goal(self, slot: int, navmesh: NavMesh, places: Float[np.ndarray, "g 3"]) -> None:
        """Let `places` (G, 3), metres, be what fulfils the current goal of `slot`; measures nothing."""
        self.goal_position[slot] = places[0]
        self.goal_places[slot] = places
        self.goal_fields.set_goals(slot, navmesh, places)

    def goal_count(self, slot: int) -> int:
        """How many goals the episode in `slot` has, to be reached one after the other."""
        return 1

    def measure(self, slots: Int64[np.ndarray, "k"], simulator: Simulator) -> None:
        """Write the geodesic distances of the bodies in `slots` (K,) to their current goals, metres."""
        self.distance[slots] = self.goal_fields.distance(slots, simulator.positions[slots])

    def measure_moved(self, simulator: Simulator) -> Float[np.ndarray, "n"]:
        """Measure the bodies that moved; returns (N,) metres of progress.

        A step from or to where the goal cannot be reached makes no progress.
        """
        progress = np.zeros(len(self.distance))
        moved = simulator.bodies.moved.nonzero()[0]
        if len(moved):
            before = self.distance[moved]
            self.measure(moved, simulator)
            now = self.distance[moved]
            reachable = np.isfinite(now) & np.isfinite(before)
            progress[moved[reachable]] = before[reachable] - now[reachable]
        return progress


State = TypeVar("State", bound=TaskState, default=Any)
"""What a task remembers of its episodes, or a goal sensor looks at."""


class TaskRules:
    """Rules of one protocol that bodies in scenes and agents on graphs share.

    Attributes:
        protocol_id: names the rules; a change that can move a result makes a new id. With options
            that depart from them it names these, too (see core.protocol_ids).
        actions: names; an action is an index into them (see `is_continuous`).
        sensors: names of the observations the protocol offers.
        metrics: names of the numbers it reports.
        common_metrics: names of what is computed beside them in every evaluation.
        hidden_goal_metrics: what it reports where a file hides the goal (test splits); empty for protocols
            that refuse such episodes.
        max_steps: actions after which an episode is truncated.
        success_distance: metres, geodesic, within which the declaration succeeds.
        declaration: the action by which the agent says that it has arrived.
        is_continuous: whether an action is a row of numbers within [-1, 1], one for each of `actions`; the
            agent then declares by a positive number in the place of `declaration`.
        default_dataset: name of the episodes it is evaluated on.
        options_type: frozen dataclass of the protocol's options, whose defaults are the protocol; the
            task is then called with one. None when there are no options.
        tour_scoring: how t-nDTW is computed, for protocols whose episodes come in tours; None for others.
    """

    protocol_id: str
    actions: tuple[str, ...]
    sensors: tuple[str, ...]
    metrics: tuple[str, ...]
    common_metrics: tuple[str, ...] = COMMON_METRICS
    hidden_goal_metrics: tuple[str, ...] = ()
    max_steps: int
    success_distance: float
    default_dataset: str
    declaration: str = "stop"
    is_continuous: bool = False
    options_type: type | None = None
    tour_scoring: TourScoring | None = None


class Task(TaskRules, ABC, Generic[State]):
    """The rules of a protocol for bodies in scenes: settings only; what changes lives in its State.

    Attributes (beside those of TaskRules):
        embodiment: the body, with the cameras of the protocol.
        images: sizes of images and type of depth of a run, where they are not the protocol's.
        expert_distance: metres, geodesic, within which the expert arrives; None for `success_distance`.
        actuation: turns commanded movements into executed ones; None means exactly.
        drives: whether it moves the bodies by a controller of its own (see `execute`), which is exact:
            neither actuation nor corruptions of motion reach it.
        corruptions: the noise that belongs to the protocol, each as "name:severity" or with words.
        declares_itself: whether it declares in the agent's place, whose own declaration means nothing.
        starts_along_path: whether a record's start distance is the length of its shortest path, which is then
            always found.
        oracle: how bodies are led from one episode of a tour to the next; None where each episode of a
            tour begins at its start.
        state_type: what it remembers of the episodes in N slots.
    """

    embodiment: Embodiment
    images: ImageOptions = ImageOptions()
    expert_distance: float | None = None
    declares_itself: bool = False
    starts_along_path: bool = False
    actuation: Actuation | None = None
    drives: bool = False
    corruptions: tuple[str, ...] = ()
    oracle: OracleRules | None = None
    state_type: type[State] = cast(Any, TaskState)

    def require_oracle(self) -> OracleRules:
        """The rules of its oracle; raises InputError for a protocol without one."""
        if self.oracle is None:
            raise InputError(f"expected a protocol with oracle phases, got {self.protocol_id}")
        return self.oracle

    def make_state(self, slots: int) -> State:
        """Fresh memory for `slots` slots."""
        return self.state_type(slots)

    def make_sensor(self, name: str) -> Sensor | None:
        """The protocol's own version of the sensor `name` (such as its depth range).

        None means the sensor that is registered under this name, with its defaults.
        """
        return None

    @final
    def find_sensor(self, name: str) -> Sensor | None:
        """`make_sensor` with the sizes and the type of depth of `images`."""
        found = self.make_sensor(name)
        return self.images.change_sensor(Depth() if found is None and name == "depth" else found)

    @property
    def camera_body(self) -> Embodiment:
        """The body with cameras of the sizes of `images`; what decides success looks through `embodiment`."""
        return self.images.change_body(self.embodiment, isinstance(self.make_sensor("rgb"), ResizedRgb))

    @abstractmethod
    def begin(
        self,
        simulator: Simulator,
        state: State,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Write the goals and start distances of `episodes` (K) into `slots` (K,) of `state`.

        The bodies already stand at their starts.
        """

    def execute(
        self, simulator: Simulator, state: State, actions: Actions, active: Bool[np.ndarray, "n"]
    ) -> None:
        """Let the bodies of the `active` slots carry out their actions; raises ActionError."""
        simulator.step(actions, active)

    @abstractmethod
    def judge(
        self,
        simulator: Simulator,
        state: State,
        actions: Actions,
        active: Bool[np.ndarray, "n"],
    ) -> StepResult:
        """Update `state` after bodies moved; returns rewards and ends.

        actions: (N,) indices into `self.actions`, or (N, K) numbers; active: (N,) bool, the slots that
        acted.
        """

    def is_stop(self, actions: Actions) -> Bool[np.ndarray, "n"]:
        """(N,) bool: whether each action is STOP."""
        index = self.actions.index(self.declaration)
        chosen: np.ndarray = np.asarray(actions)
        return np.asarray(chosen[:, index] > 0 if self.is_continuous else chosen == index)

    def has_arrived(
        self, simulator: Simulator, state: State, slots: Int64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """(K,) bool: whether a declaration in `slots` (K,) would succeed now."""
        return np.asarray(state.distance[slots] < self.success_distance)

    def final_actions(self, simulator: Simulator, state: State, slot: int) -> tuple[str, ...] | None:
        """Actions that a body near the goal still has to make before STOP; none by default.

        Names of actions that do not walk: where what counts is what the body sees, it turns there. None
        where no such actions help.
        """
        return ()

    def goal_ids(self, state: State, slot: int) -> list[frozenset[int]]:
        """For each goal of `slot`, in order, the ids of its objects in instance images.

        Empty sets for what cannot be seen, such as points.
        """
        return [frozenset()]

    def shortest_path(
        self, simulator: Simulator, state: State, slot: int, start: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres: the shortest path from `start` (3,) to the goal of `slot`; (0, 3) without one.

        Tasks of several goals give the path along all of them.
        """
        return state.goal_fields.shortest_path(slot, start)

    def show_instruction(self, state: State, slot: int, episode: Episode | None) -> None:
        """Let the agent of `slot` read the instruction of `episode`, or none; for tasks that have some."""

    def complete(self, trajectory: Trajectory, state: State, slot: int) -> Trajectory:
        """The record of `slot` with task-specific fields; metrics read nothing else."""
        return trajectory


def find_metrics(task: TaskRules, episode: Episode) -> tuple[str, ...]:
    """Names of the protocol's metrics that `episode` can have: fewer where its file hides the goal."""
    is_hidden = episode.geodesic_distance is None and task.hidden_goal_metrics
    return task.hidden_goal_metrics if is_hidden else task.metrics


Wanted = TypeVar("Wanted", bound=TaskState)


def require_state(state: TaskState, wanted: type[Wanted], task: TaskRules, who: str) -> Wanted:
    """`state` of `task` as the `wanted` kind, which `who` needs; raises InputError for another kind."""
    if not isinstance(state, wanted):
        raise InputError(
            f"expected a protocol {wanted.protocols} for {who}, got {task.protocol_id}; "
            "choose another protocol, or do without"
        )
    return state
