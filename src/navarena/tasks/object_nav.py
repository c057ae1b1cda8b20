"""ObjectNav: go to any object of a category, and stop where it can be seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float, Int, Int64

from navarena.core.errors import InputError
from navarena.core.protocol_ids import join_protocol
from navarena.core.suggest import require_name
from navarena.episodes.episode import Episode
from navarena.episodes.goals import ObjectGoal, ObjectInstance
from navarena.episodes.object_nav import HM3D_CATEGORIES, MP3D_CATEGORIES, require_object_goal
from navarena.episodes.view_points import ViewPointSettings, find_view_points
from navarena.metrics.success_zone import ObjectGoalTrajectory
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.scene import SceneObject
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.sensors.pictures import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World
from navarena.tasks.options import find_departures
from navarena.tasks.sensors.class_goal import ClassGoalState, ObjectGoalSensor
from navarena.tasks.success_zone import NOTHING, Sighting, sight_objects
from navarena.tasks.task import StepResult, Task, TaskState

SUCCESS_REWARD = 2.5
"""The baseline of the challenges (habitat-lab, SUCCESS_REWARD)."""

SLACK_REWARD = -1e-3
"""The baseline of the challenges (habitat-lab, SLACK_REWARD of the ObjectNav configurations)."""

DEPTH_RANGES = {"code": (0.5, 5.0), "paper": (0.5, 6.0)}
"""Metres: of the challenge configurations, and of the text of Batra et al. 2020."""


@dataclass(frozen=True)
class ObjectNavOptions:
    """The knobs of the consensus and of the challenges; the defaults are the protocol.

    Attributes:
        success_distance: metres, geodesic, from a view point, below which STOP succeeds.
        start_distance: what SPL divides by: the distance measured at the start (since April 2020), or
            that of the episode file (challenge of 2020 as it was run).
        depth: clipped to 0.5 to 5 m (code), or to 6 m (paper).
        track: the RGB track has no depth.
        zone_distance: metres from an object's box, within which it is near (the consensus: 1 m).
        zone_pixels: pixels from which on it counts as seen.
        zone_box: boxes are oriented, or aligned with the axes of the world.
        sliding: whether blocked steps slide along obstacles.
        max_steps: actions after which the episode is truncated.
    """

    success_distance: float = 0.1
    start_distance: Literal["measured", "file"] = "measured"
    depth: Literal["code", "paper"] = "code"
    track: Literal["rgbd", "rgb"] = "rgbd"
    zone_distance: float = 1.0
    zone_pixels: int = 1
    zone_box: Literal["oriented", "aligned"] = "oriented"
    sliding: bool = False
    max_steps: int = 500

    def __post_init__(self) -> None:
        if self.max_steps < 1 or not self.success_distance > 0:
            raise InputError(
                "expected max_steps of at least 1 and a positive success_distance, got "
                f"{self.max_steps} and {self.success_distance:g}"
            )


class ObjectNavState(ClassGoalState):
    """What ObjectNav remembers of the episodes in N slots.

    Attributes:
        things: for each slot the objects of the scene that fulfil the goal; None without labels.
        sightings: for each slot what was measured of them at STOP.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.things: list[tuple[SceneObject, ...] | None] = [None] * slots
        self.sightings: list[Sighting] = [NOTHING] * slots


class ObjectNav(Task):
    """Go to an object of a category: `objectnav-habitat2020-v1` and `objectnav-hm3d2022-v1`.

    ## Body

    The LoCoBot of the Habitat challenges: radius 0.18 m, height 0.88 m, one camera of 640 x 480 pixels
    and 79 degrees at 0.88 m, whose tilt has no limit. A blocked step does not slide.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | stop         | ends the episode |
    | 1     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 2     | turn_left    | 30 degrees |
    | 3     | turn_right   | 30 degrees |
    | 4     | look_up      | 30 degrees |
    | 5     | look_down    | 30 degrees |

    ## Observations

    | key        | shape, dtype          | bounds    | meaning |
    |------------|-----------------------|-----------|---------|
    | rgb        | (480, 640, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth      | (480, 640, 1) float32 | 0 to 1    | (d - 0.5) / 4.5, d in metres clipped to 0.5 to 5 |
    | objectgoal | (1,) int64            | see below | id of the category |
    | gps        | (2,) float32          | unbounded | metres ahead of and right of the start pose |
    | compass    | (1,) float32          | -pi to pi | radians turned left since the start |

    Categories by id, of 2020 (21): chair, table, picture, cabinet, cushion, sofa, bed, chest_of_drawers,
    plant, sink, toilet, stool, towel, tv_monitor, shower, bathtub, counter, fireplace, gym_equipment,
    seating, clothes. Of 2022 (6): chair, bed, plant, toilet, tv_monitor, sofa.

    ## Goal and success

    STOP nearer than 0.1 m (strictly; geodesic) to a view point of any object of the category in the scene.
    View points are places on a grid of half the body's radius, at most 1 m from the object's oriented
    box, from which a render shows it; an episode file's own are taken where it has some.

    The consensus's own rule is measured beside it: `zone_success` says that the body stopped within 1 m of
    an object's oriented box, and that at least one pixel of a camera turned to its centre shows it (oracle
    visibility); `zone_success_seen` that the picture at STOP itself does. In scenes without labels
    these cannot be measured, and repeat what the view points say.

    ## Reward

    Progress - 0.001 each step, and 2.5 for success: progress is the decrease of the geodesic distance to
    the nearest view point in metres; a step from or to where there is no way makes none.

    ## Start

    Position and yaw of the episode: level, at rest, 1 to 30 m (geodesic) from the nearest view point.

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, zone_success, zone_success_seen, spl, soft_spl, distance_to_goal, path_length, collisions,
    num_actions. Distances are geodesic
    to the nearest view point of the category.

    ## Options

    success_distance, start_distance, depth, track, zone_distance, zone_pixels, zone_box, sliding,
    max_steps: see `ObjectNavOptions`. They are
    written behind the id, as in `objectnav-habitat2020-v1+track=rgb`; the result then shows as custom.

    ## Versions

    * v1: first version, after Batra et al. 2020 and the configurations of the Habitat challenges.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    categories: ClassVar[tuple[str, ...]]
    embodiment = LOCOBOT
    actions = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down")
    sensors: tuple[str, ...] = ("rgb", "depth", "objectgoal", "gps", "compass")
    metrics = (
        "success",
        "spl",
        "soft_spl",
        "zone_success",
        "zone_success_seen",
        "distance_to_goal",
        "path_length",
        "collisions",
        "num_actions",
    )
    default_dataset = "houses-v0"
    options_type = ObjectNavOptions

    def __init__(self, options: ObjectNavOptions = ObjectNavOptions()) -> None:
        self.options = options
        self.protocol_id = join_protocol(type(self).protocol_id, find_departures(options))
        self.success_distance, self.max_steps = options.success_distance, options.max_steps
        if options.track == "rgb":
            self.sensors = tuple(name for name in self.sensors if name != "depth")
        if options.sliding:
            self.embodiment = replace(self.embodiment, slides=True)

    def make_state(self, slots: int) -> ObjectNavState:
        """Fresh memory for `slots` slots."""
        return ObjectNavState(slots)

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth as the options say; the goal with the protocol's number of categories."""
        if name == "depth":
            nearest, farthest = DEPTH_RANGES[self.options.depth]
            return Depth(nearest, farthest, normalize=True)
        return ObjectGoalSensor(len(self.categories)) if name == "objectgoal" else None

    def begin(
        self,
        simulator: Simulator,
        state: TaskState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Find the view points of the episodes' goals and measure the way to the nearest."""
        state = require_state(state)
        for slot, episode in zip(slots.tolist(), episodes):
            goal, world = require_object_goal(episode), simulator.stage.world(slot)
            if world is None:
                raise InputError(f"expected a placed body in slot {slot}, got none; call place first")
            require_name("object category", goal.category, self.categories)
            state.things[slot] = find_objects(world, goal)
            state.sightings[slot] = NOTHING
            state.goal_class[slot] = self.categories.index(goal.category)
            state.set_goal(slot, simulator.navmesh(slot), self._find_places(world, episode, goal))
        state.measure(slots, simulator)
        state.start_distance[slots] = state.distance[slots]
        if self.options.start_distance == "file":
            state.start_distance[slots] = [_filed_distance(episode) for episode in episodes]

    def _find_places(self, world: World, episode: Episode, goal: ObjectGoal) -> Float[np.ndarray, "g 3"]:
        """(G, 3) metres: the view points of all objects that count, of the file or else of the scene."""
        if goal.instances:
            places = view_point_positions(goal.instances)
        else:
            settings = ViewPointSettings(self.categories, type(self).embodiment)
            views = find_view_points(world, settings)
            places = views.positions[views.rows_of(goal.category)]
        if not len(places):
            raise InputError(
                f"expected a view point of {goal.category!r} for episode {episode.episode_id!r} in "
                f"{world.scene_id!r}, got none; leave the episode out, or make episodes for this scene"
            )
        return places

    def judge(
        self,
        simulator: Simulator,
        state: TaskState,
        actions: Int[np.ndarray, "n"],
        active: Bool[np.ndarray, "n"],
    ) -> StepResult:
        """Reward progress, end at STOP, truncate at the step limit."""
        progress = state.measure_moved(simulator)
        stopped = active & (actions == self.actions.index("stop"))
        state.stopped |= stopped
        self._sight(simulator, require_state(state), stopped)
        succeeded = stopped & (state.distance < self.success_distance)
        reward = np.where(active, progress + SLACK_REWARD, 0.0) + SUCCESS_REWARD * succeeded
        truncated = active & ~stopped & (state.steps >= self.max_steps)
        return StepResult(reward, stopped, truncated)

    def _sight(self, simulator: Simulator, state: ObjectNavState, stopped: Bool[np.ndarray, "n"]) -> None:
        """Measure the objects of the goal from the bodies that `stopped` (N,) bool."""
        for slot in np.flatnonzero(stopped).tolist():
            world, things = simulator.stage.world(slot), state.things[slot]
            if world is None or things is None:
                continue
            bodies, options = simulator.bodies, self.options
            pose = (bodies.positions[slot], float(bodies.yaws[slot]), float(bodies.tilts[slot]))
            is_oriented = options.zone_box == "oriented"
            reach = options.zone_distance
            state.sightings[slot] = sight_objects(world, self.embodiment, pose, things, reach, is_oriented)

    def complete(self, trajectory: Trajectory, state: TaskState, slot: int) -> Trajectory:
        """The record with what was near and seen at STOP, in scenes with labels."""
        state = require_state(state)
        if state.things[slot] is None:
            return trajectory
        sighting = state.sightings[slot]
        return ObjectGoalTrajectory(
            **vars(trajectory),
            object_distances=sighting.distances,
            pixels_seen=sighting.seen,
            pixels_framed=sighting.framed,
            zone_distance=self.options.zone_distance,
            zone_pixels=self.options.zone_pixels,
        )


class ObjectNavHabitat2020(ObjectNav):
    """ObjectNav with the 21 categories of 2020: `objectnav-habitat2020-v1`; the card is that of ObjectNav."""

    protocol_id = "objectnav-habitat2020-v1"
    categories = MP3D_CATEGORIES


class ObjectNavHm3d2022(ObjectNav):
    """ObjectNav with the 6 categories of 2022: `objectnav-hm3d2022-v1`; the card is that of ObjectNav."""

    protocol_id = "objectnav-hm3d2022-v1"
    categories = HM3D_CATEGORIES


def require_state(state: TaskState) -> ObjectNavState:
    """`state`, which must be one that ObjectNav made; raises InputError."""
    if not isinstance(state, ObjectNavState):
        raise InputError(f"expected the state of ObjectNav, got {type(state).__name__}; use make_state")
    return state


def find_objects(world: World, goal: ObjectGoal) -> tuple[SceneObject, ...] | None:
    """The objects of the scene that fulfil `goal`: those its file lists, else all of the category.

    None where the scene is not labelled, or has none of the listed ids.
    """
    if goal.instances:
        listed = {one.object_id for one in goal.instances}
        found = tuple(one for one in world.scene.objects if str(one.object_id) in listed)
    else:
        found = tuple(one for one in world.scene.objects if one.category == goal.category)
    return found or None


def view_point_positions(instances: Sequence[ObjectInstance]) -> Float[np.ndarray, "g 3"]:
    """(G, 3) metres, world frame: the view points of all `instances`, in their order."""
    positions = [point.position for one in instances for point in one.view_points]
    return np.array(positions, float).reshape(-1, 3)


def _filed_distance(episode: Episode) -> float:
    if episode.geodesic_distance is None:
        raise InputError(
            f"expected a geodesic distance of episode {episode.episode_id!r}, got none: its file hides it; "
            "take start_distance=measured"
        )
    return episode.geodesic_distance
