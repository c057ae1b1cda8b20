"""PointNav of RoboTHOR as RobustNav sets it up: the clean task, and the one that it evaluates."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int64

from navarena.episodes.object_nav_robothor import APARTMENTS
from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.resized import ResizedDepth, ResizedRgb
from navarena.simulation.sensors.sensor import Sensor
from navarena.simulation.simulator import Simulator
from navarena.tasks.options import RunOptions, apply_options
from navarena.tasks.protocols.goal_task import PointGoalTask
from navarena.tasks.task import TaskState

NETWORK_PX = 224
"""Width and height of the images that RobustNav's networks see (spec 3.1)."""


DECIMALS = 1
"""Positions are rounded to so many decimals of a metre (spec 3.3, "Distance cache")."""


class CachedDistances(TaskState):
    """A state with distances as in allenact: those of the first position measured in each cell of 0.1 m.

    The original shares its cache among all episodes of a worker, so that a distance depends on what ran
    before; here each episode has its own.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self._cells: list[dict[tuple[float, ...], float]] = [{} for _ in range(slots)]

    def set_goal(self, slot: int, navmesh: NavMesh, places: Float[np.ndarray, "g 3"]) -> None:
        """Set the goal as TaskState does, and clear the cache."""
        super().set_goal(slot, navmesh, places)
        self._cells[slot] = {}

    def measure(self, slots: Int64[np.ndarray, "k"], simulator: Simulator) -> None:
        """Measure as TaskState does, to the precision of the cache."""
        super().measure(slots, simulator)
        cells = np.round(simulator.positions[slots], DECIMALS) + 0.0
        for slot, cell in zip(slots.tolist(), cells.tolist()):
            self.distance[slot] = self._cells[slot].setdefault(tuple(cell), float(self.distance[slot]))


@dataclass(frozen=True)
class RobothorPointOptions(RunOptions):
    """Options of RobustNav's PointNav; the defaults are the protocol.

    Attributes:
        distances: exact, or those of the code's cache, which rounds positions to 0.1 m.
        shaping: progress counts once (what the code means, and the paper says), or is always 0 (what the
            released code computes).
        track, sliding, max_steps: as of RunOptions; the code trains with 500 steps.
    """

    distances: Literal["exact", "cached"] = "exact"
    shaping: Literal["once", "zero"] = "once"


@dataclass(frozen=True)
class RobustPointOptions(RobothorPointOptions):
    """Options of RobustNav's evaluation.

    Attributes:
        max_steps: actions after which the episode is truncated; the code evaluates with 300.
    """

    max_steps: int = 300


class PointNavRobothor(PointGoalTask):
    """Go to a point: the protocol `pointnav-robothor-v1`.

    ## Body

    The LoCoBot of RobustNav: radius 0.175 m, height 0.9 m, one camera of 400 x 300 pixels and 79 degrees
    at 0.88 m. A blocked step does not slide. Movements are exact: the engine's own noise is a corruption.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 1     | turn_left    | 30 degrees |
    | 2     | turn_right   | 30 degrees |
    | 3     | stop         | ends the episode |

    The order is RobustNav's: MoveAhead, RotateLeft, RotateRight, End.

    ## Observations

    | key                        | shape, dtype          | bounds    | meaning |
    |----------------------------|-----------------------|-----------|---------|
    | rgb                        | (300, 400, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth                      | (300, 400, 1) float32 | 0 to 10   | metres along the optical axis |
    | pointgoal_with_gps_compass | (2,) float32          | unbounded | [metres, radians], see below |

    The goal is [plan distance, bearing positive to the left] from the pose now. RobustNav's networks
    resize images to 224 x 224; that is the agent's business.

    ## Goal and success

    STOP at 0.2 m or less from the goal, measured along the floor (geodesic).

    ## Reward

    Progress - 0.01 each step, and 10 for success: progress is the decrease of the geodesic distance in
    metres; a step from or to where there is no path makes none. (The released code computes progress
    twice, so that its shaping is always 0; this is what it meant, as in allenact.)

    ## Start

    Position and yaw of the episode: at rest, level. Generated episodes start 1 to 30 m (geodesic) away.

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, spl, success_robustnav, spl_robustnav, soft_spl, distance_to_goal, path_length, collisions,
    num_actions. SPL takes the path that was walked; RobustNav's own leaves the first displacement out and
    counts the last one twice. An episode with STOP where there is no path to the goal is a failure; in
    success_robustnav and spl_robustnav it leaves the mean, as in the code, and is counted apart.

    ## Options

    distances, shaping, track, sliding, max_steps: see `RobothorPointOptions`. They are written behind the id,
    as in `pointnav-robothor-v1+distances=cached`; the result then shows as custom.

    ## Versions

    * v1: first version, after Chattopadhyay et al. 2021 and allenai/robustnav. An unreachable goal is a
      failure.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    protocol_id = "pointnav-robothor-v1"
    embodiment = LOCOBOT_ROBUSTNAV
    actions = ("move_forward", "turn_left", "turn_right", "stop")
    sensors: tuple[str, ...] = ("rgb", "depth", "pointgoal_with_gps_compass")
    metrics = (
        "success",
        "spl",
        "success_robustnav",
        "spl_robustnav",
        "soft_spl",
        "distance_to_goal",
        "path_length",
        "collisions",
        "num_actions",
    )
    success_distance = math.nextafter(0.2, 1.0)  # nearer than this is at most 0.2 m
    success_reward = 10.0
    default_dataset: str = "houses-v1"
    options_type: type = RobothorPointOptions

    def __init__(self, options: RobothorPointOptions | None = None) -> None:
        chosen: Any = type(self).options_type() if options is None else options
        self.options: RobothorPointOptions = chosen
        apply_options(self, chosen)
        self.shaping_weight = 0.0 if chosen.shaping == "zero" else 1.0

    def make_state(self, slots: int) -> TaskState:
        """Fresh memory for `slots` slots; distances as the options say."""
        return CachedDistances(slots) if self.options.distances == "cached" else TaskState(slots)

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth in metres."""
        return Depth(min_range=0.0, max_range=10.0, normalize=False) if name == "depth" else None


class RobustPointNav(PointNavRobothor):
    """Go to a point: the protocol `robustnav-pointnav-v1`, by which RobustNav evaluates.

    ## Body

    As of `pointnav-robothor-v1`, with the engine's own noise: steps are N(0.25, 0.005) m and turns
    N(30, 0.5) degrees (the corruption `native_noise`, in evaluation as in training).

    ## Observations

    | key                        | shape, dtype          | bounds    | meaning |
    |----------------------------|-----------------------|-----------|---------|
    | rgb                        | (224, 224, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth                      | (224, 224, 1) float32 | 0 to 10   | metres along the optical axis |
    | pointgoal_with_gps_compass | (2,) float32          | unbounded | [metres, radians] |

    Images are taken at 400 x 300 pixels, corrupted, and then resized as by Pillow's bilinear filter.

    ## End

    STOP terminates. The 300th action truncates, unless it is STOP; the code trains with 500
    (`max_steps=500`).

    ## Actions, goal and success, reward, start, metrics

    As of `pointnav-robothor-v1`.

    ## Versions

    * v1: first version, after Chattopadhyay et al. 2021 and allenai/robustnav.
    """

    protocol_id = "robustnav-pointnav-v1"
    options_type = RobustPointOptions
    default_dataset = APARTMENTS
    corruptions = ("native_noise",)

    def make_sensor(self, name: str) -> Sensor | None:
        """Images of the size that the networks see."""
        return make_network_sensor(name)


def make_network_sensor(name: str) -> Sensor | None:
    """RobustNav's images, resized to 224 x 224; None for other sensors."""
    if name == "rgb":
        return ResizedRgb(NETWORK_PX, NETWORK_PX)
    return ResizedDepth(NETWORK_PX, NETWORK_PX) if name == "depth" else None
