"""ObjectNav of the Habitat challenge 2023: Stretch, driven continuously."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Int64

from navarena.episodes.episode import Episode
from navarena.episodes.object_nav import HM3D_CATEGORIES, OBJECTNAV_STRETCH2023_V1
from navarena.episodes.view_points import ViewPointSettings
from navarena.simulation.body_catalog import STRETCH_2023
from navarena.simulation.motion import movement_table
from navarena.simulation.simulator import Simulator
from navarena.simulation.steering import (
    CONTROLS,
    TIME_STEP,
    DiscreteControl,
    VelocityControl,
    WaypointControl,
    require_commands,
)
from navarena.tasks.options import require_positive
from navarena.tasks.protocols.object_nav import ObjectNav, ObjectNavOptions, ObjectNavState
from navarena.tasks.task import Actions

SECONDS = 500.0
"""Spec 2.1: 500 s of wall-clock time in the challenge, of simulated time here, so that it means the same
on every machine."""


@dataclass(frozen=True)
class StretchOptions(ObjectNavOptions):
    """Options of the challenge of 2023; the defaults are the protocol.

    Attributes:
        control: velocities (continuous), waypoints (continuous), or discrete actions driven as waypoints.
        camera_pitch: whether commands of the camera's pitch move it, or are ignored (as in the code at the
            tag of the challenge, where a name was mistaken).
        walk_speed: metres per second, the greatest.
        turn_speed: radians per second, the greatest.
        time_step: seconds for which velocities hold.
        seconds: simulated, after which the episode is truncated.
        max_steps: actions after which it is.
        path_actions: as of ObjectNavOptions, in discrete actions.
    """

    max_steps: int = 1000
    control: Literal["velocity", "waypoint", "discrete"] = "velocity"
    camera_pitch: Literal["moves", "ignored"] = "moves"
    walk_speed: float = 0.3
    turn_speed: float = 0.45
    time_step: float = TIME_STEP
    seconds: float = SECONDS
    path_actions: int = OBJECTNAV_STRETCH2023_V1.max_steps

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "walk_speed", "turn_speed", "time_step", "seconds")


class StretchState(ObjectNavState):
    """State of the protocol's episodes in N slots.

    Attributes:
        seconds: (N,) float64, simulated since the start.
    """

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.seconds = np.zeros(slots)


class ObjectNavStretch2023(ObjectNav[StretchState]):
    """Go to an object of a category by continuous control: the protocol `objectnav-stretch2023-v1`.

    ## Body

    The Stretch of the Habitat 2023 challenge: radius 0.17 m, height 1.41 m, steps of at most 0.1 m, one
    upright camera of 480 x 640 pixels (width x height) and 42 degrees at 1.31 m, tilted by -1.57 to 0.43
    radians. A blocked movement does not slide.

    ## Actions

    A row of numbers within [-1, 1], each mapped linearly onto its range, so that 0 is the middle:

    | column | name                  | range |
    |--------|-----------------------|-------|
    | 0      | linear_velocity       | 0 to 0.3 m/s along the heading |
    | 1      | angular_velocity      | -0.45 to 0.45 rad/s, to the left |
    | 2      | camera_pitch_velocity | -0.45 to 0.45 rad/s, upwards |
    | 3      | velocity_stop         | above 0 ends the episode; the body stays |

    Velocities hold for 0.1 s: the body walks, then turns. With `control=waypoint` the columns are
    waypoint_x and waypoint_y (0.5 m ahead and to the left, or less than 0), waypoint_yaw (half a turn,
    either side), max_duration (0 to 10 s), delta_camera_pitch (30 degrees, up or down) and velocity_stop: a
    feedback law drives there at 0.3 m/s and 0.45 rad/s at most (see `WaypointControl`). With
    `control=discrete` an action is an index, as in 2022 (stop, move_forward, turn_left, turn_right,
    look_up, look_down); each is driven as a waypoint for at most 3 s, and reached within 1 cm and 0.025
    radians.

    ## Observations

    | key        | shape, dtype          | bounds    | meaning |
    |------------|-----------------------|-----------|---------|
    | rgb        | (640, 480, 3) uint8   | 0 to 255  | sRGB bytes |
    | depth      | (640, 480, 1) float32 | 0 to 1    | (d - 0.5) / 4.5, d in metres clipped to 0.5 to 5 |
    | objectgoal | (1,) int64            | 0 to 5    | chair, bed, plant, toilet, tv_monitor, sofa |
    | gps        | (2,) float32          | unbounded | metres ahead of and right of the start pose |
    | compass    | (1,) float32          | -pi to pi | radians turned left since the start |

    ## Goal and success, reward, metrics

    As of `objectnav-hm3d2022-v1`: STOP nearer than 0.1 m (geodesic) to a view point. An object is seen from
    there by a camera that is level, or turned 30 degrees up or down.

    ## Start

    Position and yaw of the episode: level, at rest, at least 1 m (geodesic) from the nearest view point,
    on its floor. Generated episodes can be solved in 80 discrete actions, which leaves time to drive.

    ## End

    STOP terminates. The 1000th action truncates, and so does the 500th simulated second.

    ## Options

    Those of ObjectNav, and control, camera_pitch, walk_speed, turn_speed, time_step, seconds: see
    `StretchOptions`.

    ## Versions

    * v1: first version, after the configurations of the Habitat 2023 challenge. Its 500 s of wall-clock
      time are simulated time here.

    Args:
        options: the knobs; a value that departs from the protocol makes the id custom.
    """

    protocol_id = "objectnav-stretch2023-v1"
    drives = True
    categories = HM3D_CATEGORIES
    embodiment = STRETCH_2023
    options_type = StretchOptions
    state_type = StretchState

    def __init__(self, options: StretchOptions = StretchOptions()) -> None:
        super().__init__(options)
        self.seconds = options.seconds
        control = CONTROLS[options.control]
        if isinstance(control, VelocityControl):
            control = replace(
                control,
                linear=(0.0, options.walk_speed),
                angular=options.turn_speed,
                time_step=options.time_step,
                pitch=control.pitch if options.camera_pitch == "moves" else 0.0,
            )
        elif isinstance(control, DiscreteControl):
            control = replace(control, waypoints=_with_speeds(control.waypoints, options))
        else:
            control = _with_speeds(control, options)
        self.control = control
        self.is_continuous = not isinstance(control, DiscreteControl)
        self.actions = control.names
        self.declaration = control.names[-1] if self.is_continuous else "stop"
        self.embodiment = replace(
            self.embodiment, walk_speed=options.walk_speed, turn_speed=options.turn_speed
        )

    @property
    def view_points(self) -> ViewPointSettings:
        """View points as in the challenges, with the head down, level and up."""
        return OBJECTNAV_STRETCH2023_V1.view_points

    def begin(
        self,
        simulator: Simulator,
        state: StretchState,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Begin as ObjectNav does, and start the clocks."""
        super().begin(simulator, state, slots, episodes)
        state.seconds[slots] = 0.0

    def execute(
        self, simulator: Simulator, state: StretchState, actions: Actions, active: Bool[np.ndarray, "n"]
    ) -> None:
        """Drive; raises ActionError for commands outside [-1, 1] and actions out of range."""
        control = self.control
        if isinstance(control, DiscreteControl):
            chosen = simulator.check_actions(np.asarray(actions), active)
            table = movement_table(self.embodiment, self.actions)
            passed = control.drive(simulator, table[chosen], active)
        else:
            filled = np.where(active[:, None], actions, 0.0) if np.ndim(actions) == 2 else np.asarray(actions)
            passed = control.drive(simulator, require_commands(filled, len(active), control.names), active)
        state.seconds += passed

    def is_over(self, state: StretchState) -> Bool[np.ndarray, "n"]:
        """(N,) bool: whose steps or seconds are used up."""
        over = state.seconds >= self.seconds - 1e-9
        return np.asarray(super().is_over(state) | over)


def _with_speeds(control: WaypointControl, options: StretchOptions) -> WaypointControl:
    return replace(
        control,
        v_max=options.walk_speed,
        w_max=options.turn_speed,
        time_step=options.time_step,
        pitch=control.pitch if options.camera_pitch == "moves" else 0.0,
    )
