"""PointNav of RoboTHOR as RobustNav sets it up: the clean task that corruptions are applied to."""

import math

from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV
from navarena.simulation.sensors.pictures import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.tasks.point_goal_task import PointGoalTask


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
    resize pictures to 224 x 224; that is the agent's business.

    ## Goal and success

    STOP at 0.2 m or less from the goal, measured along the floor (geodesic).

    ## Reward

    Progress - 0.01 each step, and 10 for success: progress is the decrease of the geodesic distance in
    metres; a step from or to where there is no way makes none. (The released code computes progress
    twice, so that its shaping is always 0; this is what it meant, as in allenact.)

    ## Start

    Position and yaw of the episode: at rest, level. Generated episodes start 1 to 30 m (geodesic) away.

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, spl, soft_spl, distance_to_goal, path_length, collisions, num_actions. SPL takes the path that
    was walked; RobustNav's own leaves the first displacement out and counts the last one twice.

    ## Versions

    * v1: first version, after Chattopadhyay et al. 2021 and allenai/robustnav. An unreachable goal is a
      failure; there it leaves the mean.
    """

    protocol_id = "pointnav-robothor-v1"
    embodiment = LOCOBOT_ROBUSTNAV
    actions = ("move_forward", "turn_left", "turn_right", "stop")
    sensors = ("rgb", "depth", "pointgoal_with_gps_compass")
    metrics = (
        "success",
        "spl",
        "soft_spl",
        "distance_to_goal",
        "path_length",
        "collisions",
        "num_actions",
    )
    max_steps = 500
    success_distance = math.nextafter(0.2, 1.0)  # nearer than this is at most 0.2 m
    success_reward = 10.0
    default_dataset = "houses-v1"

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth in metres."""
        return Depth(nearest=0.0, farthest=10.0, normalize=False) if name == "depth" else None
