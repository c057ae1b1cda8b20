"""ObjectNav of RoboTHOR: stop where the object is visible within a metre."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError
from navarena.episodes.goals import ObjectGoal
from navarena.episodes.object_nav_robothor import (
    APARTMENTS,
    ARRIVAL,
    ROBOTHOR_CATEGORIES,
    VISIBLE_WITHIN,
    robothor_view_points,
    visible_nearness,
)
from navarena.episodes.view_points import ViewPointSettings, find_view_points
from navarena.metrics.object_goal import SeenGoalTrajectory
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.scene import SceneObject
from navarena.simulation.body_catalog import LOCOBOT_ROBOTHOR, LOCOBOT_ROBOTHOR_2020
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World
from navarena.tasks.options import RunOptions, apply_options, require_positive
from navarena.tasks.protocols.goal_task import GOAL_METRICS
from navarena.tasks.protocols.object_goal_task import ObjectGoalState, ObjectGoalTask, require_world
from navarena.tasks.protocols.success_zone import axis_distance
from navarena.tasks.protocols.visibility import find_turns, see_objects
from navarena.tasks.sensors.class_goal import ObjectGoalSensor

BOX_SLACK = 0.05
"""Metres by which surfaces may stand out of an object's box."""


@dataclass(frozen=True)
class RobothorOptions(RunOptions):
    """Options of RoboTHOR's ObjectNav; the defaults are the protocol.

    Attributes:
        visible_within: metres of AI2-THOR's visibilityDistance.
        visible_pixels: pixels of near surface from which on an object is visible.
        start_distance: what SPL divides by: that of the episode file (as the challenges do), or the one
            measured at the start.
        track, sliding: as of RunOptions.
        max_steps: actions after which the episode is truncated; 100 in the README of 2020.
    """

    visible_within: float = VISIBLE_WITHIN
    visible_pixels: int = 1
    start_distance: Literal["file", "measured"] = "file"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "visible_pixels")
        if not self.visible_within > ARRIVAL:
            raise InputError(f"expected visible_within above {ARRIVAL:g} m, got {self.visible_within:g}")


@dataclass(frozen=True)
class Robothor2020Options(RobothorOptions):
    """Options of RoboTHOR's ObjectNav of 2020; the defaults are the protocol.

    Attributes:
        actions: with MoveBack (code), or the six of the Habitat challenge (paper).
        view: 60 degrees vertically (code), or 79 degrees horizontally (paper).
    """

    actions: Literal["code", "paper"] = "code"
    view: Literal["code", "paper"] = "code"


class RobothorState(ObjectGoalState):
    """State of RoboTHOR's ObjectNav in N slots.

    Attributes:
        goal_seen: (N,) bool, whether the goal was visible when the agent stopped.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.goal_seen = np.zeros(slots, bool)


class ObjectNavRobothor(ObjectGoalTask[RobothorState]):
    """Base of RoboTHOR's protocols: go to an object and stop where it is visible.

    ## Start

    Position and yaw of the episode, at rest. Movements have the engine's own noise: each step first turns by
    N(0, 0.25) degrees and then goes N(0.251, 0.005) m, turns are N(30, 0.5) degrees (the corruption
    `native_noise`). The camera is level in 2020 and looks down by the episode's
    horizon, 30 degrees, in 2021. Generated episodes start 1 to 30 m (geodesic) from the nearest place
    from which the object is visible.

    ## Goal and success

    STOP while the object is visible: its surface appears in the camera's image at a point that is at
    most 1 m from the body's axis, horizontally, and not higher than 1 m above the body's centre
    (1.9 m above the floor). AI2-THOR asks the same of points that its authors put on the objects, here
    every point counts that a pixel shows. Distances are geodesic to the nearest place of a grid from which a
    body that may stand 0.1 m beside it sees the object so.

    ## Reward

    Progress - 0.01 each step, and 10 for success: progress is the decrease of that distance in metres; a
    step from or to where there is no path makes none (allenact; its bound by the distance moved follows from
    exact distances).

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, spl, soft_spl, distance_to_goal, path_length, collisions, num_actions. SPL divides by the
    distance of the episode's file, which is the shortest path to where the object becomes visible.

    ## Options

    visible_within, visible_pixels, start_distance, track, sliding, max_steps (100 in the README of 2020); in
    2020 also actions and view: see `RobothorOptions` and `Robothor2020Options`. They are written behind
    the id, as in `objectnav-robothor2020-v1+max_steps=100`; the result then shows as custom.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    sensors: tuple[str, ...] = ("rgb", "depth", "objectgoal")
    metrics: tuple[str, ...] = GOAL_METRICS
    categories = ROBOTHOR_CATEGORIES
    default_dataset = APARTMENTS
    options_type = RobothorOptions
    success_distance = ARRIVAL
    corruptions: tuple[str, ...] = ("native_noise",)
    success_reward = 10.0
    slack_reward = -0.01
    state_type = RobothorState

    def __init__(self, options: RobothorOptions | None = None) -> None:
        self.options: Any = type(self).options_type() if options is None else options
        apply_options(self, self.options)
        self.takes_filed_start = self.options.start_distance == "file"

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth in metres; the goal with the protocol's number of categories."""
        if name == "depth":
            return Depth(min_range=0.0, max_range=10.0, normalize=False)
        return ObjectGoalSensor(len(self.categories)) if name == "objectgoal" else None

    @property
    def view_points(self) -> ViewPointSettings:
        """Places from which the object is visible."""
        return robothor_view_points(type(self).embodiment, self.options.visible_within)

    def succeed(
        self, simulator: Simulator, state: RobothorState, stopped: Bool[np.ndarray, "n"]
    ) -> Bool[np.ndarray, "n"]:
        """Whether an object of the goal is visible."""
        slots = np.flatnonzero(stopped)
        state.goal_seen[slots] = self.has_arrived(simulator, state, slots)
        return np.asarray(stopped & state.goal_seen)

    def has_arrived(
        self, simulator: Simulator, state: RobothorState, slots: Int64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """(K,) bool: whether the goal is visible in `slots` (K,)."""
        bodies = simulator.bodies
        looks = [(int(slot), bodies.yaws[slot : slot + 1], bodies.tilts[slot : slot + 1]) for slot in slots]
        seen = [bool(self._see(simulator, state, *look)[0]) for look in looks]
        return np.array(seen, bool)

    def final_actions(self, simulator: Simulator, state: RobothorState, slot: int) -> tuple[str, ...] | None:
        """The fewest turns and looks after which the goal is visible; None if it is never."""
        if self.has_arrived(simulator, state, np.array([slot]))[0]:
            return ()
        bodies = simulator.bodies
        yaw, tilt = float(bodies.yaws[slot]), float(bodies.tilts[slot])
        turns = find_turns(self.embodiment, yaw, tilt, self.actions)
        yaws, tilts = np.array([one[1] for one in turns]), np.array([one[2] for one in turns])
        seen = np.flatnonzero(self._see(simulator, state, slot, yaws, tilts))
        return turns[int(seen[0])][0] if len(seen) else None

    def _see(
        self, simulator: Simulator, state: RobothorState, slot: int, yaws: np.ndarray, tilts: np.ndarray
    ) -> Bool[np.ndarray, "c"]:
        """(C,) bool: whether the goal is visible from where the body stands, looking so."""
        world, objects = require_world(simulator, slot), state.goal_objects[slot]
        if objects is None:
            raise InputError(
                f"expected the objects of {world.scene_id!r} to be labelled, got none that the goal names: "
                "RoboTHOR's success is what is seen of them; choose a scene with labels"
            )
        nearness, pixels = visible_nearness(self.options.visible_within), self.options.visible_pixels
        place = simulator.bodies.positions[slot]
        reach = nearness.reach + BOX_SLACK
        near = [obj for obj in objects if axis_distance(place, nearness.rise, obj) <= reach]
        if not near:  # nothing needs to be drawn
            return np.zeros(len(yaws), bool)
        return see_objects(world, self.embodiment, place, yaws, tilts, near, nearness, pixels)

    def complete(self, trajectory: Trajectory, state: RobothorState, slot: int) -> Trajectory:
        """The record with the visible goal objects at STOP."""
        seen = bool(state.stopped[slot] and state.goal_seen[slot])
        return SeenGoalTrajectory(**vars(trajectory), goal_seen=seen)


class ObjectNavRobothor2021(ObjectNavRobothor):
    """Go to any object of a type: the protocol `objectnav-robothor2021-v1`.

    ## Body

    The LoCoBot of RoboTHOR: radius 0.175 m, height 0.9 m, one camera of 640 x 480 pixels, 63.45 degrees
    vertically (79 horizontally), tilted by at most 30 degrees. A blocked step does not slide.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 1     | turn_right   | 30 degrees |
    | 2     | turn_left    | 30 degrees |
    | 3     | look_up      | 30 degrees, up to 30 above level |
    | 4     | look_down    | 30 degrees, down to 30 below level |
    | 5     | stop         | ends the episode |

    The order is RoboTHOR's: MoveAhead, RotateRight, RotateLeft, LookUp, LookDown, Stop.

    ## Observations

    | key        | shape, dtype          | bounds   | meaning |
    |------------|-----------------------|----------|---------|
    | rgb        | (480, 640, 3) uint8   | 0 to 255 | sRGB bytes |
    | depth      | (480, 640, 1) float32 | 0 to 10  | metres along the optical axis |
    | objectgoal | (1,) int64            | 0 to 11  | type of the object |

    Types by id: AlarmClock, Apple, BaseballBat, BasketBall, Bowl, GarbageCan, HousePlant, Laptop, Mug,
    SprayBottle, Television, Vase. Any object of the type counts.

    ## Versions

    * v1: first version, after Deitke et al. 2020 and allenai/robothor-challenge (2021).
    """

    protocol_id = "objectnav-robothor2021-v1"
    embodiment = LOCOBOT_ROBOTHOR
    actions = ("move_forward", "turn_right", "turn_left", "look_up", "look_down", "stop")


class ObjectNavRobothor2020(ObjectNavRobothor):
    """Go to one object of a type: the protocol `objectnav-robothor2020-v1`.

    ## Body

    The LoCoBot of RoboTHOR: radius 0.175 m, height 0.9 m, one camera of 640 x 480 pixels and 60 degrees
    vertically (75.18 horizontally; the paper says 79), tilted by at most 30 degrees. A blocked step does
    not slide.

    ## Actions

    | index | name          | effect |
    |-------|---------------|--------|
    | 0     | move_forward  | 0.25 m along the heading; cut short by obstacles |
    | 1     | move_backward | 0.25 m against it, likewise |
    | 2     | turn_right    | 30 degrees |
    | 3     | turn_left     | 30 degrees |
    | 4     | look_up       | 30 degrees, up to 30 above level |
    | 5     | look_down     | 30 degrees, down to 30 below level |
    | 6     | stop          | ends the episode |

    The order is RoboTHOR's: MoveAhead, MoveBack, RotateRight, RotateLeft, LookUp, LookDown, Stop. The
    paper knows no MoveBack.

    ## Observations

    | key        | shape, dtype          | bounds   | meaning |
    |------------|-----------------------|----------|---------|
    | rgb        | (480, 640, 3) uint8   | 0 to 255 | sRGB bytes |
    | depth      | (480, 640, 1) float32 | 0 to 10  | metres along the optical axis |
    | objectgoal | (1,) int64            | 0 to 11  | type of the object |

    Types by id as of 2021. The one object that the episode names counts, not others of its type.

    ## Versions

    * v1: first version, after Deitke et al. 2020 and allenai/robothor-challenge (2020).
    """

    protocol_id = "objectnav-robothor2020-v1"
    embodiment = LOCOBOT_ROBOTHOR_2020
    actions: tuple[str, ...] = (
        "move_forward",
        "move_backward",
        "turn_right",
        "turn_left",
        "look_up",
        "look_down",
        "stop",
    )
    options_type = Robothor2020Options

    def __init__(self, options: Robothor2020Options | None = None) -> None:
        super().__init__(options)
        if self.options.actions == "paper":
            self.actions = tuple(name for name in self.actions if name != "move_backward")
        if self.options.view == "paper":
            camera = replace(self.embodiment.cameras[0], hfov=math.radians(79))
            self.embodiment = replace(self.embodiment, cameras=(camera,))

    def find_goal_objects(self, world: World, goal: ObjectGoal) -> tuple[SceneObject, ...] | None:
        """The single goal object of the episode: by its number here, or by its name in the simulator."""
        found = world.scene.find_object(goal.closest)
        return None if found is None else (found,)

    def find_places(self, world: World, goal: ObjectGoal) -> Float[np.ndarray, "g 3"]:
        """(G, 3) metres: the places from which that object is visible."""
        views = find_view_points(world, self.view_points)
        numbers = [obj.object_id for obj in self.find_goal_objects(world, goal) or ()]
        return views.positions[views.rows_of_objects(numbers)]
