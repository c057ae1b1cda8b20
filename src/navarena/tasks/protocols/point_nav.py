"""PointNav: go to a position that is given by GPS and compass."""

from dataclasses import dataclass

from navarena.simulation.body_catalog import LOCOBOT
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import Sensor
from navarena.tasks.options import RunOptions, apply_options, require_positive
from navarena.tasks.protocols.goal_task import GOAL_METRICS, PointGoalTask


@dataclass(frozen=True)
class PointNavOptions(RunOptions):
    """Options of PointNav; the defaults are the protocol.

    Attributes:
        success_distance: metres, geodesic, from the goal, below which STOP succeeds.
        track, sliding, max_steps: as of RunOptions.
    """

    success_distance: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "success_distance")


class PointNav(PointGoalTask):
    """Go to a point: the protocol `pointnav-v1`.

    ## Body

    The LoCoBot of the Habitat 2020 challenge: radius 0.18 m, height 0.88 m, one camera of
    640 x 480 pixels and 79 degrees at 0.88 m. A blocked step does not slide.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | stop         | ends the episode |
    | 1     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 2     | turn_left    | 30 degrees |
    | 3     | turn_right   | 30 degrees |

    ## Observations

    | key                        | shape, dtype          | bounds    | meaning |
    |----------------------------|-----------------------|-----------|---------|
    | rgb                        | (480, 640, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth                      | (480, 640, 1) float32 | 0 to 1    | see below |
    | pointgoal_with_gps_compass | (2,) float32          | unbounded | see below |

    Depth is (d - 0.5) / 4.5, where d is the distance in metres along the optical axis, clipped to
    0.5 to 5.0 m. The goal is [plan distance in metres, bearing in radians, positive to the left]
    from the pose now.

    Further sensors (gps, compass, collided, semantic, K, ...) are computed when they are asked
    for by name; they are outside the protocol.

    ## Goal and success

    STOP nearer than 0.2 m to the goal, measured along the floor (geodesic). Nearer is strict, as in
    habitat-lab.

    ## Reward

    Progress - 0.01 each step, and 2.5 for success: progress is the decrease of the geodesic
    distance in metres; a step from or to where the goal cannot be reached makes none.
    (habitat-lab: SUCCESS_REWARD 2.5, SLACK_REWARD -0.01, distance_to_goal reward measure.)

    ## Start

    Position and yaw of the episode: at rest, level, on the same floor and island as the goal,
    1 to 30 m (geodesic) from it.

    ## End

    STOP terminates. The 500th action truncates, unless it is STOP.

    ## Metrics

    success, spl, soft_spl, distance_to_goal, path_length, collisions, num_actions.

    ## Options

    success_distance, track, sliding, max_steps: see `PointNavOptions`. They are written behind the id, as in
    `pointnav-v1+sliding=true`; the result then shows as custom.

    ## Versions

    * v1: first version. Evaluated on `houses-v1`.
    """

    protocol_id = "pointnav-v1"
    embodiment = LOCOBOT
    actions = ("stop", "move_forward", "turn_left", "turn_right")
    sensors: tuple[str, ...] = ("rgb", "depth", "pointgoal_with_gps_compass")
    metrics = GOAL_METRICS
    default_dataset = "houses-v1"
    options_type = PointNavOptions

    def __init__(self, options: PointNavOptions = PointNavOptions()) -> None:
        self.options = options
        apply_options(self, options)
        self.success_distance = options.success_distance

    def make_sensor(self, name: str) -> Sensor | None:
        """Depth is clipped and normalised as the Habitat 2020 challenge does."""
        return Depth(min_range=0.5, max_range=5.0, normalize=True) if name == "depth" else None
