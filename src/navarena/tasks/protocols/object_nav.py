"""ObjectNav: go to any object of a category, and stop where it can be seen."""

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from jaxtyping import Bool
from typing_extensions import TypeVar

from navarena.episodes.object_nav import HM3D_CATEGORIES, MP3D_CATEGORIES, OBJECTNAV_HABITAT2020_V1
from navarena.episodes.view_points import ViewPointSettings
from navarena.metrics.object_goal import ObjectGoalTrajectory
from navarena.metrics.trajectory import Trajectory
from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.options import RunOptions, apply_options, require_positive
from navarena.tasks.protocols.object_goal_task import ObjectGoalState, ObjectGoalTask
from navarena.tasks.protocols.success_zone import NOTHING, Sighting, sight_objects
from navarena.tasks.sensors.class_goal import ObjectGoalSensor

SUCCESS_REWARD = 2.5
"""The baseline of the challenges (habitat-lab, SUCCESS_REWARD)."""

SLACK_REWARD = -1e-3
"""The baseline of the challenges (habitat-lab, SLACK_REWARD of the ObjectNav configurations)."""

DEPTH_RANGES = {"code": (0.5, 5.0), "paper": (0.5, 6.0)}
"""Metres: of the challenge configurations, and of the text of Batra et al. 2020."""


@dataclass(frozen=True)
class ObjectNavOptions(RunOptions):
    """Options of the consensus and of the challenges; the defaults are the protocol.

    Attributes:
        success_distance: metres, geodesic, from a view point, below which STOP succeeds.
        start_distance: what SPL divides by: the distance measured at the start (since April 2020), or
            that of the episode file (challenge of 2020 as it was run).
        depth: clipped to 0.5 to 5 m (code), or to 6 m (paper).
        zone_distance: metres from an object's box, within which it is near (the consensus: 1 m).
        zone_pixels: pixels from which on it counts as seen.
        zone_box: boxes are oriented, or aligned with the axes of the world.
        path_actions: most actions in which the planner solves an episode when it is drawn (see
            ObjectNavRecipe); the consensus has 750, which its step limit of 500 makes unreachable.
        track, sliding, max_steps: as of RunOptions.
    """

    success_distance: float = 0.1
    start_distance: Literal["measured", "file"] = "measured"
    depth: Literal["code", "paper"] = "code"
    zone_distance: float = 1.0
    zone_pixels: int = 1
    zone_box: Literal["oriented", "aligned"] = "oriented"
    path_actions: int = OBJECTNAV_HABITAT2020_V1.max_steps

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "success_distance", "zone_distance", "zone_pixels", "path_actions")


class ObjectNavState(ObjectGoalState):
    """State of ObjectNav's episodes in N slots.

    Attributes:
        sightings: for each slot what was measured of the objects at STOP.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.sightings: list[Sighting] = [NOTHING] * slots


NavState = TypeVar("NavState", bound=ObjectNavState, default=ObjectNavState)
"""What a protocol of the Habitat challenges remembers."""


class ObjectNav(ObjectGoalTask[NavState]):
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

    Categories by id, of 2020 (21): chair, table, image, cabinet, cushion, sofa, bed, chest_of_drawers,
    plant, sink, toilet, stool, towel, tv_monitor, shower, bathtub, counter, fireplace, gym_equipment,
    seating, clothes. Of 2022 (6): chair, bed, plant, toilet, tv_monitor, sofa.

    ## Goal and success

    STOP nearer than 0.1 m (strictly; geodesic) to a view point of any object of the category in the scene.
    View points are places on a grid of half the body's radius, at most 1 m from the object's oriented
    box, from which a render shows it; an episode file's own are taken where it has some.

    The consensus's own rule is measured beside it: `zone_success` says that the body stopped within 1 m of
    an object's oriented box, and that at least one pixel of a camera turned to its centre shows it (oracle
    visibility); `zone_success_seen` that the image at STOP itself does. In scenes without labels
    these cannot be measured, and repeat what the view points say.

    ## Reward

    Progress - 0.001 each step, and 2.5 for success: progress is the decrease of the geodesic distance to
    the nearest view point in metres; a step from or to where there is no path makes none.

    ## Start

    Position and yaw of the episode: level, at rest, 1 to 30 m (geodesic) from the nearest view point.

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, zone_success, zone_success_seen, spl, soft_spl, distance_to_goal, path_length, collisions,
    num_actions. Distances are geodesic
    to the nearest view point of the category.

    ## Options

    success_distance, start_distance, depth, track, zone_distance, zone_pixels, zone_box, path_actions,
    sliding, max_steps: see `ObjectNavOptions`. They are
    written behind the id, as in `objectnav-habitat2020-v1+track=rgb`; the result then shows as custom.

    ## Versions

    * v1: first version, after Batra et al. 2020 and the configurations of the Habitat challenges.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    embodiment = LOCOBOT
    actions: tuple[str, ...] = (
        "stop",
        "move_forward",
        "turn_left",
        "turn_right",
        "look_up",
        "look_down",
    )
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
    default_dataset = "houses-v1"
    options_type = ObjectNavOptions
    success_reward = SUCCESS_REWARD
    slack_reward = SLACK_REWARD
    state_type: type[NavState] = cast(Any, ObjectNavState)

    def __init__(self, options: ObjectNavOptions = ObjectNavOptions()) -> None:
        self.options = options
        apply_options(self, options)
        self.success_distance = options.success_distance
        self.takes_filed_start = options.start_distance == "file"

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth as the options say; the goal with the protocol's number of categories."""
        if name == "depth":
            nearest, farthest = DEPTH_RANGES[self.options.depth]
            return Depth(nearest, farthest, normalize=True)
        return ObjectGoalSensor(len(self.categories)) if name == "objectgoal" else None

    @property
    def view_points(self) -> ViewPointSettings:
        """Settings of the challenges' generators."""
        return ViewPointSettings(self.categories, type(self).embodiment)

    def succeed(
        self, simulator: Simulator, state: NavState, stopped: Bool[np.ndarray, "n"]
    ) -> Bool[np.ndarray, "n"]:
        """Whether a view point is near; near and visible objects are recorded, too."""
        for slot in np.flatnonzero(stopped).tolist():
            state.sightings[slot] = self._sight(simulator, state, slot)
        return np.asarray(stopped & (state.distance < self.success_distance))

    def _sight(self, simulator: Simulator, state: ObjectNavState, slot: int) -> Sighting:
        """Near and visible goal objects of the body in `slot`."""
        world, objects = simulator.slot_worlds.world(slot), state.goal_objects[slot]
        if world is None or objects is None:
            return NOTHING
        bodies, options = simulator.bodies, self.options
        pose = (bodies.positions[slot], float(bodies.yaws[slot]), float(bodies.tilts[slot]))
        is_oriented = options.zone_box == "oriented"
        return sight_objects(world, self.embodiment, pose, objects, options.zone_distance, is_oriented)

    def complete(self, trajectory: Trajectory, state: NavState, slot: int) -> Trajectory:
        """The record with near and visible goal objects at STOP, in scenes with labels."""
        if state.goal_objects[slot] is None:
            return trajectory
        sighting = state.sightings[slot] if state.stopped[slot] else NOTHING
        return ObjectGoalTrajectory(
            **vars(trajectory),
            object_distances=sighting.distances,
            pixels_seen=sighting.seen,
            pixels_framed=sighting.framed,
            zone_distance=self.options.zone_distance,
            zone_pixels=self.options.zone_pixels,
        )


class ObjectNavHabitat2020(ObjectNav):
    """ObjectNav with the 21 categories of 2020: `objectnav-habitat2020-v1`; see ObjectNav."""

    protocol_id = "objectnav-habitat2020-v1"
    categories = MP3D_CATEGORIES


class ObjectNavHm3d2022(ObjectNav):
    """ObjectNav with the 6 categories of 2022: `objectnav-hm3d2022-v1`; see ObjectNav."""

    protocol_id = "objectnav-hm3d2022-v1"
    categories = HM3D_CATEGORIES
