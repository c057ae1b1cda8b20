"""GOAT-Bench: go to one object after another, given by name, in words or by an image."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.metrics.subtasks import LifelongTrajectory
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.houses.vocabulary import GOAT, find_named
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.options import apply_options
from navarena.tasks.protocols.goat_options import THE_PROTOCOL, GoatOptions, SkillOptions
from navarena.tasks.protocols.goat_subtasks import Ending, SubtaskProgress, plan_subtasks
from navarena.tasks.protocols.object_goal_task import require_world
from navarena.tasks.sensors.goal_mask import VisibleGoalState
from navarena.tasks.sensors.lifelong_goal import LifelongGoalState, ObjectNameGoal
from navarena.tasks.task import Actions, StepResult, Task

VIEW_POINT_DISTANCE = 0.25
"""Metres, geodesic, strictly nearer (spec ivln_goat 4.2, code)."""

OBJECT_DISTANCE = 1.0
"""Metres, straight, from the object's box (paper: 1 m Euclidean)."""

EXPERT_DISTANCE = 0.1
"""Metres from a view point, within which the expert arrives where the object's distance counts; it goes to
those that are nearer to the object by as much."""

SUBTASK_REWARD, COMPLETION_REWARD = 5.0, 10.0
"""For each goal reached, and for all of them (spec 4.4)."""

SKILL_REWARD = 2.5
"""For the goal of a single skill (spec 4.4)."""

SLACK_REWARD = -1e-3
"""Each step (spec 4.4)."""

DEPTH_RANGE = (0.5, 5.0)
"""Metres. The paper mentions depth without a range, the code's agents have none: that of the Habitat
challenges is taken."""

MOVES = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down")


class GoatState(LifelongGoalState, VisibleGoalState):
    """State of GOAT-Bench's episodes in N slots.

    Attributes:
        progress: for each slot its goals and how they ended; None before the first episode.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.progress: list[SubtaskProgress | None] = [None] * slots

    def progress_of(self, slot: int) -> SubtaskProgress:
        """Progress of the episode in `slot`; raises InputError before the first."""
        progress = self.progress[slot]
        if progress is None:
            raise InputError(f"expected an episode in slot {slot}, got none yet; call begin first")
        return progress

    def goal_count(self, slot: int) -> int:
        return len(self.progress_of(slot).subtasks)

    def current_ids(self, slot: int) -> frozenset[int]:
        progress = self.progress[slot]
        return frozenset() if progress is None else progress.numbers[progress.current]

    def current_category(self, slot: int) -> str:
        progress = self.progress[slot]
        if progress is None or progress.subtasks[progress.current].modality != "object":
            return ""
        return progress.subtasks[progress.current].category

    def current_classes(self, slot: int) -> tuple[str, ...] | None:
        """As of any goal; of a description the categories that the first name in it stands for."""
        progress = self.progress[slot]
        goal = None if progress is None else progress.subtasks[progress.current]
        if goal is not None and goal.modality == "object":
            return tuple(dict.fromkeys((goal.category, *GOAT.get(goal.category, ()))))
        return (goal is not None and find_named(goal.description)) or None


class Goat(Task[GoatState]):
    """Find one object after another, for as long as the episode lasts: the protocol `goat-v1`.

    ## Body

    The Stretch of GOAT-Bench: radius 0.17 m, height 1.41 m, steps of at most 0.1 m, one upright camera of
    360 x 640 pixels (width x height) and 42 degrees at 1.31 m. A blocked step does not slide.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | stop         | ends the episode |
    | 1     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 2     | turn_left    | 30 degrees |
    | 3     | turn_right   | 30 degrees |
    | 4     | look_up      | 30 degrees |
    | 5     | look_down    | 30 degrees |
    | 6     | subtask_stop | declares that the current goal is reached; right or wrong, the next one begins |

    ## Observations

    | key             | shape, dtype          | bounds    | meaning |
    |-----------------|-----------------------|-----------|---------|
    | rgb             | (640, 360, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth           | (640, 360, 1) float32 | 0 to 1    | (d - 0.5) / 4.5, d in metres clipped to 0.5 to 5 |
    | gps             | (2,) float32          | unbounded | metres ahead of and right of the start pose |
    | compass         | (1,) float32          | -pi to pi | radians turned left since the start |
    | current_subtask | (1,) int64            | 0 to 3    | 0 name, 1 description, 2 image; 3 no goal left |
    | objectgoal      | () text               | 64 letters | the category, while it gives the goal |
    | language_goal   | () text               | 1024 letters | the description, while it gives the goal |
    | image_goal      | (512, 512, 3) uint8   | 0 to 255  | the image, while it shows the goal |

    Observations of the other modalities are empty or black. GPS and compass are never set back within an
    episode. Memory lasts for the whole episode: an agent learns of a new goal (Boundary.SUBTASK), and
    evaluation with `--forget subtask` makes it forget there.

    ## Goal and success

    A goal given by its category is any object of that category or of one below it; otherwise the one
    object that is described or shown. `subtask_stop` reaches it nearer than 0.25 m (strictly; geodesic)
    to one of its view points: places at most 1 m from its box from which it is seen. With `success=object`
    it must be within 1 m of the box of the object, straight (the paper's rule). Both are reported.

    ## Reward

    Progress - 0.001 each step, 5 for each goal reached, and 10 when all are: progress is the decrease of
    the geodesic distance to the nearest view point of the current goal in metres; a change of goal makes
    none, nor a step from or to where there is no path.

    ## Start

    Position and yaw of the episode: level, 1 to 30 m (geodesic) from the first goal, all goals on its storey.

    ## End

    `stop` terminates, and so does the last `subtask_stop`, right or wrong. The 5000th action truncates, and
    so does the end of the last sub-task's budget, where there is one (`subtask_budget`). With
    `subtasks` above 10 the limit is 500 actions for each, a tenth of `max_steps`.

    ## Metrics

    success (all sub-tasks), subtask_success, subtask_spl, subtask_soft_spl, both rules of success, success
    and SPL by modality and by place in the episode, distance_to_goal, path_length, collisions, num_actions.
    A sub-task starts where the one before ended; those that do not end count as failures.

    ## Options

    success, subtask_budget, subtasks, track, sliding, max_steps: see `GoatOptions`. They are written behind
    the id, as in `goat-v1+subtask_budget=500+success=object`, the paper's rules; the result then shows as
    custom.

    ## Versions

    * v1: first version, after Khanna et al. 2024 and Ram81/goat-bench. Where these differ the code's
      definition is the protocol, since published numbers were computed by it.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    protocol_id = "goat-v1"
    embodiment = STRETCH
    actions: tuple[str, ...] = (*MOVES, "subtask_stop")
    sensors: tuple[str, ...] = (
        "rgb",
        "depth",
        "gps",
        "compass",
        "current_subtask",
        "objectgoal",
        "language_goal",
        "image_goal",
    )
    metrics: tuple[str, ...] = (
        "success",
        "subtasks",
        "subtask_success",
        "subtask_spl",
        "subtask_soft_spl",
        "view_point_success",
        "near_object_success",
        *(
            f"{modality}_{what}"
            for modality in ("object", "description", "image")
            for what in ("subtasks", "success", "spl")
        ),
        *(f"subtask_{place}_{what}" for place in range(1, 6) for what in ("success", "spl")),
        "distance_to_goal",
        "path_length",
        "collisions",
        "num_actions",
    )
    default_dataset = "houses-v1"
    declaration = "subtask_stop"
    success_distance = VIEW_POINT_DISTANCE
    options_type: type | None = GoatOptions
    success_reward = SUBTASK_REWARD
    completion_reward = COMPLETION_REWARD
    state_type = GoatState
    starts_along_path = True

    def __init__(self, options: SkillOptions = THE_PROTOCOL) -> None:
        self.options = options
        apply_options(self, options)
        self.subtask_budget = 0
        if isinstance(options, GoatOptions):
            self.subtask_budget, self.max_steps = options.subtask_budget, options.step_limit
        if options.success == "object":
            self.expert_distance = EXPERT_DISTANCE

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth in its range; the category as text."""
        if name == "depth":
            return Depth(*DEPTH_RANGE, normalize=True)
        return ObjectNameGoal() if name == "objectgoal" else None

    def begin(
        self,
        simulator: Simulator,
        state: GoatState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Plan the sub-tasks of the episodes and give their first goals."""
        for slot, episode in zip(slots.tolist(), episodes):
            state.progress[slot] = plan_subtasks(require_world(simulator, slot), episode)
            self._face_goal(simulator, state, slot)
        state.start_distance[slots] = state.distance[slots]

    def _face_goal(self, simulator: Simulator, state: GoatState, slot: int) -> None:
        """Give the goal that is to be found now, and measure distances to it from here on."""
        progress = state.progress_of(slot)
        state.show_goal(slot, progress.subtasks[progress.current], progress.current)
        state.set_goal(slot, simulator.navmesh(slot), progress.places[progress.current])
        state.measure(np.array([slot]), simulator)
        progress.begun_at = float(state.distance[slot])
        if self.options.success == "object":
            state.goal_places[slot] = self._near_places(progress)

    def _near_places(self, progress: SubtaskProgress) -> Float[np.ndarray, "g 3"]:
        """(G, 3) metres: the view points around which a declaration is near the object; all if none is."""
        places = progress.places[progress.current]
        metres = progress.object_distances(places, self.embodiment.height)
        near = places[metres <= OBJECT_DISTANCE - EXPERT_DISTANCE]
        return near if len(near) else places

    def judge(
        self,
        simulator: Simulator,
        state: GoatState,
        actions: Actions,
        active: Bool[np.ndarray, "n"],
    ) -> StepResult:
        """Reward progress and found goals, advance to the next goal, end after the last and at STOP."""
        progress = state.measure_moved(simulator)
        declared = active & self.is_stop(actions)
        stopped = active & (np.asarray(actions) == self.actions.index("stop")) & ~declared
        reward = np.where(active, progress + SLACK_REWARD, 0.0)
        ended, over = declared | (active & ~stopped & self._is_spent(state)), np.zeros_like(active)
        for slot in np.flatnonzero(ended).tolist():
            reward[slot] += self._end_subtask(simulator, state, slot, bool(declared[slot]))
            over[slot] = state.progress_of(slot).is_over
        terminated = stopped | (over & declared)
        state.stopped |= terminated
        truncated = active & ~terminated & (over | (state.steps >= self.max_steps))
        return StepResult(reward, terminated, truncated, ended & ~terminated & ~truncated)

    def _is_spent(self, state: GoatState) -> Bool[np.ndarray, "n"]:
        """(N,) bool: whose budget of the current sub-task is used up."""
        began = [0 if progress is None else progress.began_after for progress in state.progress]
        return np.asarray((self.subtask_budget > 0) & (state.steps - np.array(began) >= self.subtask_budget))

    def _end_subtask(self, simulator: Simulator, state: GoatState, slot: int, is_declared: bool) -> float:
        """Note how the current sub-task of `slot` ended and turn to the next; the reward for it."""
        progress, distance = state.progress_of(slot), float(state.distance[slot])
        near = (
            is_declared and distance < VIEW_POINT_DISTANCE,
            is_declared and self._object_distance(simulator, state, slot) <= OBJECT_DISTANCE,
        )
        ending = Ending(int(state.steps[slot]), progress.begun_at, distance, is_declared, *near)
        progress.endings.append(ending)
        if progress.is_over:
            state.clear_goal(slot)
        else:
            self._face_goal(simulator, state, slot)
        reward = self.success_reward * self._counts(ending)
        if progress.is_over and all(map(self._counts, progress.endings)):
            reward += self.completion_reward
        return reward

    def _counts(self, ending: Ending) -> bool:
        """Whether the sub-task succeeded, by the protocol's rule."""
        return ending.near_object if self.options.success == "object" else ending.near_view_point

    def _object_distance(self, simulator: Simulator, state: GoatState, slot: int) -> float:
        """Metres, straight, from the body in `slot` to the current goal."""
        position = simulator.positions[slot][None]
        return float(state.progress_of(slot).object_distances(position, self.embodiment.height)[0])

    def has_arrived(
        self, simulator: Simulator, state: GoatState, slots: Int64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """(K,) bool: whether a declaration in `slots` (K,) would succeed now."""
        if self.options.success == "viewpoint":
            return np.asarray(state.distance[slots] < VIEW_POINT_DISTANCE)
        metres = [self._object_distance(simulator, state, slot) for slot in slots.tolist()]
        return np.array(metres, float) <= OBJECT_DISTANCE

    def goal_ids(self, state: GoatState, slot: int) -> list[frozenset[int]]:
        """The objects of the scene that count for each sub-task; none where it is not labelled."""
        return list(state.progress_of(slot).numbers)

    def shortest_path(
        self, simulator: Simulator, state: GoatState, slot: int, start: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres: the path along all goals, each at its nearest view point; (0, 3) without one."""
        return state.progress_of(slot).shortest_path(require_world(simulator, slot), start)

    def complete(self, trajectory: Trajectory, state: GoatState, slot: int) -> Trajectory:
        """The record with how each sub-task ended; its start distance leads along all goals."""
        progress = state.progress_of(slot)
        known = vars(trajectory) | {
            "start_distance": np.inf if trajectory.shortest is None else trajectory.shortest.length
        }
        ends = progress.endings
        return LifelongTrajectory(
            **known,
            modalities=tuple(subtask.modality for subtask in progress.subtasks),
            ended_after=np.array([one.after for one in ends], np.int64),
            begun_at=np.array([one.begun_at for one in ends], float),
            ended_at=np.array([one.ended_at for one in ends], float),
            declared=np.array([one.is_declared for one in ends], bool),
            near_view_point=np.array([one.near_view_point for one in ends], bool),
            near_object=np.array([one.near_object for one in ends], bool),
            reached=np.array([self._counts(one) for one in ends], bool),
        )
