"""MultiON: find several objects in a given order, and declare each."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int, Int64

from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.episode import Episode
from navarena.episodes.goals import ObjectInstance
from navarena.episodes.multi_on import require_multi_goal
from navarena.metrics.multi_goal import MultiGoalTrajectory
from navarena.metrics.trajectory import Trajectory
from navarena.simulation.body_catalog import MULTION
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.options import apply_options
from navarena.tasks.protocols.goal_objects import (
    CYLINDER_GOALS,
    INSTANCE_OFFSET,
    RADII,
    SHAPE_GOALS,
    GoalKind,
    GoalObjects,
    class_id,
)
from navarena.tasks.protocols.multi_on_options import THE_PROTOCOL, MultiOnOptions
from navarena.tasks.sensors.class_goal import ClassGoalState, MultiObjectGoal, OneHotMultiObjectGoal
from navarena.tasks.sensors.goal_mask import VisibleGoalState
from navarena.tasks.shortest_path import chain_paths
from navarena.tasks.task import StepResult, Task

GOAL_REWARD = 3.0
"""For each goal found (paper, section 4.1; multiON, SUB_SUCCESS_REWARD)."""

DEPTH_RANGES = {"near": (0.5, 5.0), "far": (0.0, 10.0)}
"""Metres: of the oracle and no-map agents of multiON, and of its others."""


class MultiOnState(ClassGoalState, VisibleGoalState):
    """State of MultiON's episodes in N slots.

    Attributes:
        goals: for each slot (n, 3) float64 metres: the objects, in order.
        classes: for each slot (n,) int64 class ids.
        legs: for each slot (n,) float64 metres: start to first goal, first to second, ...
        found_after: for each slot, number of actions taken when each goal was found.
        wrong_found: (N,) int64, FOUND calls away from the goal.
        shown: what is drawn into the images.
    """

    protocols = "of MultiON"

    def __init__(self, slots: int, shown: GoalObjects) -> None:
        super().__init__(slots)
        self.goals: list[Float[np.ndarray, "m 3"]] = [np.zeros((0, 3))] * slots
        self.classes: list[Int64[np.ndarray, m]] = [np.zeros(0, np.int64)] * slots
        self.legs: list[Float[np.ndarray, m]] = [np.zeros(0)] * slots
        self.found_after: list[list[int]] = [[] for _ in range(slots)]
        self.wrong_found = np.zeros(slots, np.int64)
        self.shown = shown

    def goal_count(self, slot: int) -> int:
        return len(self.goals[slot])

    def current(self, slot: int) -> int:
        """Index of the goal that is to be found now; the last one when all are found."""
        return min(len(self.found_after[slot]), len(self.goals[slot]) - 1)

    def current_ids(self, slot: int) -> frozenset[int]:
        """The object that is to be found now, which images do not show if goals are hidden."""
        classes = self.classes[slot].tolist()
        return frozenset((INSTANCE_OFFSET + classes[self.current(slot)],) if classes else ())


class MultiOn(Task[MultiOnState]):
    """Find objects in order: `multion-1on-v1` to `multion-3on-v1`, `multion-shapes-1on-v1` to `-3on-v1`.

    ## Body

    A cylinder of radius 0.1 m and height 1.5 m with one camera of 256 x 256 pixels and 79 degrees at
    0.88 m. A blocked step does not slide.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | found        | declares that the current goal is near |
    | 1     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 2     | turn_left    | 30 degrees |
    | 3     | turn_right   | 30 degrees |

    ## Observations

    | key             | shape, dtype          | bounds    | meaning |
    |-----------------|-----------------------|-----------|---------|
    | rgb             | (256, 256, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth           | (256, 256, 1) float32 | 0 to 1    | (d - 0.5) / 4.5, d in metres clipped to 0.5 to 5 |
    | multiobjectgoal | (1,) int64            | 0 to 7    | class of the current goal |
    | gps             | (2,) float32          | unbounded | metres ahead of and right of the start pose |
    | compass         | (1,) float32          | -pi to pi | radians turned left since the start |

    Classes are red, green, blue, yellow, white, pink, black, cyan. `heading` and `position`, by which
    oracle agents read global maps, are computed when they are asked for; they are outside the protocol.

    ## Goal objects

    Cylinders of 0.75 m height and 0.10 m radius stand at the goals of the episode, those found
    included; nothing else is inserted, and bodies pass through them. In `multion-shapes-...` they are
    red objects 0.4 m wide on stands of 0.68 m: cone, cube, cylinder, frustum, joined inverted frustums,
    sphere, tetrahedron, torus (classes 0 to 7). Semantic images show them as
    1000 + class, instance images as 1000000 + class.

    ## Goal and success

    FOUND within 1.5 m of the current goal, measured along the floor (geodesic, 1.5 m included), finds
    it; the next one becomes current, and the next observation gives its class. The episode succeeds
    when all are found.

    ## Reward

    Progress - 0.01 each step, and 3 for each goal found: progress is the decrease of the geodesic
    distance to the current goal in metres; a step from or to where it cannot be reached makes none.

    ## Start

    Position and yaw of the episode: level, 2 to 20 m (geodesic) from the first goal; so far are the
    goals from one another. All lie on one floor.

    ## End

    FOUND of the last goal terminates, and so does FOUND away from the current goal. The 2500th action
    truncates, unless it terminates.

    ## Metrics

    success, progress, spl, ppl (the paper's definition), ppl_code (the code's: the path ends with the last
    goal found), distance_to_goal (to the current goal), distance_left (along all that are left),
    path_length, collisions, num_actions.

    ## Options

    found_budget, oracle_found, found_distance, found_limit, body_height, goal, late_goal, depth, hidden,
    distractors, cylinder, step_limit, step_cost, wrong_found_penalty, objects, path_actions, track, sliding,
    max_steps: see `MultiOnOptions`. They are written behind the id, as in
    `multion-3on-v1+found_budget=5`; the result then shows as custom.

    ## Versions

    * v1: first version, after Wani et al. 2020 and saimwani/multiON. Where these differ, the threshold
      and the objects are the code's, the goal changes at once (paper), and both PPL are reported.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    goals: int
    kind: GoalKind = CYLINDER_GOALS
    embodiment = MULTION
    actions = ("found", "move_forward", "turn_left", "turn_right")
    sensors: tuple[str, ...] = ("rgb", "depth", "multiobjectgoal", "gps", "compass")
    metrics = (
        "success",
        "progress",
        "spl",
        "ppl",
        "ppl_code",
        "distance_to_goal",
        "distance_left",
        "path_length",
        "collisions",
        "num_actions",
    )
    default_dataset = "houses-v1"
    declaration = "found"
    options_type = MultiOnOptions
    state_type = MultiOnState

    def __init__(self, options: MultiOnOptions = THE_PROTOCOL) -> None:
        self.options = options
        apply_options(self, options)
        self.success_distance = options.found_distance
        self.declares_itself = options.oracle_found
        self.goals = options.objects or self.goals
        share = self.goals / 3 if options.step_limit == "proportional" else 1.0
        self.max_steps = max(1, round(options.max_steps * share))
        self.embodiment = replace(self.embodiment, height=options.body_height)

    def make_state(self, slots: int) -> MultiOnState:
        """Fresh memory for `slots` slots; nothing is shown."""
        templates = self.kind.make_templates(RADII[self.options.cylinder])
        return MultiOnState(slots, GoalObjects(slots, templates, self.kind.colors))

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth and goal as the options say."""
        if name == "depth":
            nearest, farthest = DEPTH_RANGES[self.options.depth]
            return Depth(nearest, farthest, normalize=True)
        if name == "multiobjectgoal":
            kind = OneHotMultiObjectGoal if self.options.goal == "one_hot" else MultiObjectGoal
            return kind(len(self.kind.classes))
        return None

    def begin(
        self,
        simulator: Simulator,
        state: MultiOnState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Take the goals from the episodes, measure the paths between them, and show the objects."""
        for slot, episode in zip(slots.tolist(), episodes):
            objects = require_multi_goal(episode).objects
            state.goals[slot] = np.array([one.position for one in objects], float)
            state.classes[slot] = self._class_ids(objects)
            state.found_after[slot] = []
            state.wrong_found[slot] = 0
            self._face_goal(simulator, state, slot)
            state.goal_class[slot] = state.classes[slot][0]
            state.legs[slot] = self._measure_legs(simulator, state, slot)
            state.start_distance[slot] = state.legs[slot].sum()
            self._show(simulator, state, slot, episode)
        state.measure(slots, simulator)
        simulator.show(state.shown.extras())

    def _class_ids(self, objects: Sequence[ObjectInstance]) -> Int64[np.ndarray, "k"]:
        """(K,) class ids of `objects`; raises UnknownNameError."""
        return np.array([class_id(one.category, self.kind.classes) for one in objects], np.int64)

    def _face_goal(self, simulator: Simulator, state: MultiOnState, slot: int) -> None:
        """Make the goal that is to be found now the one that distances are measured to."""
        state.set_goal(slot, simulator.navmesh(slot), state.goals[slot][state.current(slot)][None])

    def _measure_legs(self, simulator: Simulator, state: MultiOnState, slot: int) -> Float[np.ndarray, "m"]:
        """(M,) metres from start to first goal, from first to second, and so on."""
        points = np.concatenate([simulator.positions[slot][None], state.goals[slot]])
        rows = np.full(len(points) - 1, slot, np.int64)
        return simulator.slot_worlds.geodesic_distance(rows, points[:-1], points[1:])

    def _show(self, simulator: Simulator, state: MultiOnState, slot: int, episode: Episode) -> None:
        """Place the objects that images of this episode show."""
        classes, positions = state.classes[slot], state.goals[slot]
        if self.options.hidden:
            classes, positions = classes[:0], positions[:0]
        if self.options.distractors:
            others, places = self._find_distractors(simulator, state, slot, episode)
            classes, positions = np.append(classes, others), np.concatenate([positions, places])
        state.shown.place(slot, classes, positions)

    def _find_distractors(
        self, simulator: Simulator, state: MultiOnState, slot: int, episode: Episode
    ) -> tuple[Int64[np.ndarray, "d"], Float[np.ndarray, "d 3"]]:
        """Class ids (D,) and places (D, 3), metres, of distractors: the episode's, or random ones."""
        given = require_multi_goal(episode).distractors
        if given:
            return self._class_ids(given), np.array([one.position for one in given], float)
        classes = np.setdiff1d(np.arange(len(self.kind.classes)), state.classes[slot])
        scene = scene_name(episode.scene_id)
        generator = make_generator("multion", "distractors", scene, episode.episode_id)
        navmesh = simulator.navmesh(slot)
        island = int(navmesh.island(simulator.positions[slot][None])[0])
        return classes, navmesh.random_point(generator, len(classes), island)

    def judge(
        self,
        simulator: Simulator,
        state: MultiOnState,
        actions: Int[np.ndarray, "n"],
        active: Bool[np.ndarray, "n"],
    ) -> StepResult:
        """Reward progress and found goals, advance to the next one, end with the last or a wrong FOUND."""
        progress = state.measure_moved(simulator)
        called = active & (actions == self.actions.index("found"))
        if self.options.late_goal:
            self._update_classes(state, active)
        found = wrong = terminated = np.zeros_like(called)
        reward = np.where(active, progress - self.options.step_cost, 0.0)
        if self.options.oracle_found or called.any():
            near = active & self.has_arrived(simulator, state, np.arange(len(active)))
            found = near if self.options.oracle_found else called & near
            wrong = wrong if self.options.oracle_found else called & ~near
            state.wrong_found += wrong
            done = self._count_goals(simulator, state, found)
            if not self.options.late_goal:
                self._update_classes(state, found)
            terminated = done | (wrong & (state.wrong_found > self.options.found_budget))
            state.stopped |= terminated
            reward = reward + GOAL_REWARD * found - self.options.wrong_found_penalty * wrong
        truncated = active & ~terminated & (state.steps >= self.max_steps)
        return StepResult(reward, terminated, truncated, found & ~terminated & ~truncated)

    def has_arrived(
        self, simulator: Simulator, state: MultiOnState, slots: Int64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """(K,) bool: whether FOUND in `slots` (K,) would succeed now."""
        if self.options.found_limit == "strict":
            return np.asarray(state.distance[slots] < self.success_distance)
        return np.asarray(state.distance[slots] <= self.success_distance)

    def _count_goals(
        self, simulator: Simulator, state: MultiOnState, found: Bool[np.ndarray, "n"]
    ) -> Bool[np.ndarray, "n"]:
        """Note the goals `found` (N,) in this step and turn to the next; (N,) bool, which were the last."""
        done = np.zeros_like(found)
        slots = np.flatnonzero(found)
        for slot in slots.tolist():
            state.found_after[slot].append(int(state.steps[slot]))
            done[slot] = len(state.found_after[slot]) == len(state.goals[slot])
            if not done[slot]:
                self._face_goal(simulator, state, slot)
        following = slots[~done[slots]]
        if len(following):
            state.measure(following, simulator)
        return done

    def _update_classes(self, state: MultiOnState, slots: Bool[np.ndarray, "n"]) -> None:
        """Let the agents in the marked slots (N,) bool see the class of the goal that is current."""
        for slot in np.flatnonzero(slots).tolist():
            state.goal_class[slot] = state.classes[slot][state.current(slot)]

    def goal_ids(self, state: MultiOnState, slot: int) -> list[frozenset[int]]:
        """The inserted objects; none when they are hidden."""
        classes = state.classes[slot].tolist()
        return [frozenset(() if self.options.hidden else (INSTANCE_OFFSET + one,)) for one in classes]

    def shortest_path(
        self, simulator: Simulator, state: MultiOnState, slot: int, start: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres: the shortest path along all goals; (0, 3) without one."""
        stations = np.concatenate([start[None], state.goals[slot]])
        return chain_paths(simulator.navmesh(slot), stations)

    def complete(self, trajectory: Trajectory, state: MultiOnState, slot: int) -> Trajectory:
        """The record with the paths between the goals, and when each was found."""
        return MultiGoalTrajectory(
            **vars(trajectory),
            legs=state.legs[slot].copy(),
            found_after=np.array(state.found_after[slot], np.int64),
        )


class MultiOn1(MultiOn):
    """MultiON with one goal: `multion-1on-v1`; see MultiOn."""

    protocol_id = "multion-1on-v1"
    goals = 1


class MultiOn2(MultiOn):
    """MultiON with two goals: `multion-2on-v1`; see MultiOn."""

    protocol_id = "multion-2on-v1"
    goals = 2


class MultiOn3(MultiOn):
    """MultiON with three goals: `multion-3on-v1`; see MultiOn."""

    protocol_id = "multion-3on-v1"
    goals = 3


class MultiOnShapes1(MultiOn):
    """MultiON with one goal of different shapes: `multion-shapes-1on-v1`; see MultiOn."""

    protocol_id = "multion-shapes-1on-v1"
    goals = 1
    kind = SHAPE_GOALS


class MultiOnShapes2(MultiOn):
    """MultiON with two goals of different shapes: `multion-shapes-2on-v1`; see MultiOn."""

    protocol_id = "multion-shapes-2on-v1"
    goals = 2
    kind = SHAPE_GOALS


class MultiOnShapes3(MultiOn):
    """MultiON with three goals of different shapes: `multion-shapes-3on-v1`; see MultiOn."""

    protocol_id = "multion-shapes-3on-v1"
    goals = 3
    kind = SHAPE_GOALS
