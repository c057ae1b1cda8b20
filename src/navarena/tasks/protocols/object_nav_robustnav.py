"""ObjectNav as RobustNav evaluates it."""

from dataclasses import dataclass
from typing import Literal

from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV
from navarena.simulation.sensors.sensor import Sensor
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor, RobothorOptions
from navarena.tasks.protocols.point_nav_robothor import make_network_sensor


@dataclass(frozen=True)
class RobustObjectOptions(RobothorOptions):
    """Options of RobustNav's ObjectNav; the defaults are the protocol.

    Attributes:
        shaping: progress counts once (what the code means, and the paper says), or is always 0 (what the
            released code computes).
        max_steps: actions after which the episode is truncated; the code trains with 500.
    """

    max_steps: int = 300
    shaping: Literal["once", "zero"] = "once"


class RobustObjectNav(ObjectNavRobothor):
    """Go to any object of a type: the protocol `robustnav-objectnav-v1`, by which RobustNav evaluates.

    ## Body

    The LoCoBot of RobustNav: radius 0.175 m, height 0.9 m, one camera of 400 x 300 pixels and 79 degrees
    at 0.88 m, tilted by at most 30 degrees. A blocked step does not slide.

    ## Actions

    | index | name         | effect |
    |-------|--------------|--------|
    | 0     | move_forward | 0.25 m along the heading; cut short by obstacles |
    | 1     | turn_left    | 30 degrees |
    | 2     | turn_right   | 30 degrees |
    | 3     | stop         | ends the episode |
    | 4     | look_up      | 30 degrees, up to 30 above level |
    | 5     | look_down    | 30 degrees, down to 30 below level |

    The order is RobustNav's: MoveAhead, RotateLeft, RotateRight, End, LookUp, LookDown.

    ## Observations

    | key        | shape, dtype          | bounds   | meaning |
    |------------|-----------------------|----------|---------|
    | rgb        | (224, 224, 3) uint8   | 0 to 255 | sRGB bytes |
    | depth      | (224, 224, 1) float32 | 0 to 10  | metres along the optical axis |
    | objectgoal | (1,) int64            | 0 to 11  | type of the object |

    Images are taken at 400 x 300 pixels, corrupted, and then resized as by Pillow's bilinear filter. Types
    by id are those of RoboTHOR. There is no gps and no compass.

    ## End

    STOP terminates. The 300th action truncates, unless it is STOP; the code trains with 500
    (`max_steps=500`).

    ## Options

    Those of RoboTHOR's ObjectNav, and shaping: see `RobustObjectOptions`.

    ## Versions

    * v1: first version, after Chattopadhyay et al. 2021 and allenai/robustnav.
    """

    protocol_id = "robustnav-objectnav-v1"
    embodiment = LOCOBOT_ROBUSTNAV
    actions = ("move_forward", "turn_left", "turn_right", "stop", "look_up", "look_down")
    metrics = (
        "success",
        "spl",
        "spl_robustnav",
        "soft_spl",
        "distance_to_goal",
        "path_length",
        "collisions",
        "num_actions",
    )
    options_type = RobustObjectOptions

    def __init__(self, options: RobustObjectOptions | None = None) -> None:
        super().__init__(options)
        self.shaping_weight = 0.0 if self.options.shaping == "zero" else 1.0

    def make_sensor(self, name: str) -> Sensor | None:
        """Images of the size that the networks see."""
        return make_network_sensor(name) or super().make_sensor(name)
