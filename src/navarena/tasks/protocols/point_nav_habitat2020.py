"""PointNav of the Habitat challenge 2020: noisy images, noisy motion, and no sensor of the pose."""

from dataclasses import dataclass
from typing import Literal

from navarena.core.protocol_ids import join_protocol
from navarena.simulation.body_catalog import LOCOBOT_POINTNAV
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.tasks.options import find_departures
from navarena.tasks.protocols.goal_task import GOAL_METRICS, PointGoalTask


@dataclass(frozen=True)
class PointNavHabitat2020Options:
    """Options that switch the protocol's noises.

    Attributes:
        rgb_noise: Gaussian noise of the colour images.
        depth_noise: the Redwood model of the depth images.
        actuation_noise: PyRobot's model of the motions.
        redwood_table: distortions of the Redwood model: our own fit, or the published table, a file that
            the user brings (see navarena.corruptions.redwood).
    """

    rgb_noise: bool = True
    depth_noise: bool = True
    actuation_noise: bool = True
    redwood_table: Literal["fit", "published"] = "fit"


THE_PROTOCOL = PointNavHabitat2020Options()


class PointNavHabitat2020(PointGoalTask):
    """Go to a point that is given at the start: the protocol `pointnav-habitat2020-v1`.

    ## Body

    The LoCoBot of the Habitat challenge 2020 (PointNav): radius 0.18 m, height 0.88 m, one camera of
    640 x 360 pixels and 70 degrees at 0.88 m. A blocked step does not slide.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | stop         | ends the episode |
    | 1     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 2     | turn_left    | 30 degrees |
    | 3     | turn_right   | 30 degrees |

    ## Observations

    | key       | shape, dtype          | bounds    | meaning |
    |-----------|-----------------------|-----------|---------|
    | rgb       | (360, 640, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth     | (360, 640, 1) float32 | 0 to 1    | see below |
    | pointgoal | (2,) float32          | unbounded | [metres, radians], see below |

    Depth is (d - 0.1) / 9.9, where d is the distance in metres along the optical axis, clipped to 0.1 to
    10.0 m. The goal is [plan distance, bearing positive to the left] from the start pose, and stays the
    same: there is no GPS and no compass.

    ## Noise

    * rgb: every channel of every pixel plus 255 N(0, 0.1), clipped, truncated (`gaussian_noise`);
    * depth: the Redwood model, before d is clipped (`redwood_depth`);
    * motion: PyRobot's LoCoBot under the proportional controller, halved (`pyrobot:proportional:half`).

    The options rgb_noise, depth_noise and actuation_noise switch one off (`+rgb_noise=false`), so that
    another corruption can stand in its place; `+redwood_table=published` reads the distortions of depth
    from the file of the Redwood benchmark.

    ## Goal and success

    STOP nearer than 0.36 m (twice the radius) to the goal, measured along the floor (geodesic).

    ## Reward

    Progress - 0.01 each step, and 2.5 for success: progress is the decrease of the geodesic distance in
    metres; a step from or to where the goal cannot be reached makes none.

    ## Start

    Position and yaw of the episode: at rest, level. Generated episodes start 1 to 30 m (geodesic) away.

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, spl, soft_spl, distance_to_goal, path_length, collisions, num_actions.

    ## Versions

    * v1: first version, after facebookresearch/habitat-challenge, branch challenge-2020
      (configs/challenge_pointnav2020.local.rgbd.yaml). The distortion table of depth is our own fit.
    """

    protocol_id = "pointnav-habitat2020-v1"
    options_type = PointNavHabitat2020Options
    embodiment = LOCOBOT_POINTNAV
    actions = ("stop", "move_forward", "turn_left", "turn_right")
    sensors = ("rgb", "depth", "pointgoal")
    metrics = GOAL_METRICS
    max_steps = 500
    success_distance = 0.36
    default_dataset = "houses-v1"

    def __init__(self, options: PointNavHabitat2020Options = THE_PROTOCOL) -> None:
        self.options = options
        self.protocol_id = join_protocol(type(self).protocol_id, find_departures(options))
        noises = (
            ("gaussian_noise", options.rgb_noise),
            (f"redwood_depth:{options.redwood_table}", options.depth_noise),
            ("pyrobot:proportional:half", options.actuation_noise),
        )
        self.corruptions = tuple(name for name, is_there in noises if is_there)

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth is clipped and normalised as in the challenge."""
        return Depth(min_range=0.1, max_range=10.0, normalize=True) if name == "depth" else None
