"""Driving with continuous commands: velocities for a moment, or a waypoint for a while.

What the Habitat challenge of 2023 asks of Stretch (spec section 2.1, "2023 controllers"). Commands are
numbers within [-1, 1]; each is mapped linearly onto its range, so that 0 is the middle.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.elementary import arctan2
from navarena.core.errors import ActionError
from navarena.core.geometry import ALONG, TILT, TURN, wrap_angle
from navarena.simulation.simulator import Simulator

TIME_STEP = 0.1
"""Seconds for which a velocity holds (spec 2.1); waypoints are steered as often."""

Seconds = Float[np.ndarray, "n"]


def require_commands(commands: np.ndarray, slots: int, names: tuple[str, ...]) -> Float[np.ndarray, "n k"]:
    """Commands (N, K) as float64; raises ActionError for another shape, NaN, or numbers outside [-1, 1]."""
    wanted = (slots, len(names))
    if commands.shape != wanted or commands.dtype.kind not in "fiu":
        raise ActionError(
            f"expected {wanted} numbers, one row for each slot ({', '.join(names)}), got {commands.dtype} "
            f"{commands.shape}"
        )
    if not (np.abs(commands) <= 1).all():
        slot, column = np.argwhere(~(np.abs(commands) <= 1))[0]
        raise ActionError(
            f"expected {names[column]} within [-1, 1], got {commands[slot, column]} in slot {slot}; clip it"
        )
    return commands.astype(np.float64)


def onto(commands: Float[np.ndarray, "n"], low: float, high: float) -> Float[np.ndarray, "n"]:
    """Numbers within [-1, 1] (N,) mapped linearly onto [low, high], whose unit (such as m/s) they take."""
    return low + (commands + 1) / 2 * (high - low)


@dataclass(frozen=True)
class VelocityControl:
    """Velocities that hold for a moment. The body walks along its heading, then turns.

    Attributes:
        linear: (least, most) metres per second.
        angular: most radians per second, left or right.
        pitch: most radians per second of the camera, up or down.
        time_step: seconds.
    """

    linear: tuple[float, float] = (0.0, 0.3)
    angular: float = 0.45
    pitch: float = 0.45
    time_step: float = TIME_STEP

    names = ("linear_velocity", "angular_velocity", "camera_pitch_velocity", "velocity_stop")

    def drive(
        self, simulator: Simulator, commands: Float[np.ndarray, "n k"], active: Bool[np.ndarray, "n"]
    ) -> Seconds:
        """Carry out `commands` (N, 4) of the `active` slots (N,); (N,) seconds that passed.

        The last column, when positive, is the stop: the body stays, and no time passes.
        """
        going = active & ~(commands[:, 3] > 0)
        movements = np.zeros((len(commands), 4))
        movements[:, ALONG] = onto(commands[:, 0], *self.linear)
        movements[:, TURN] = commands[:, 1] * self.angular
        movements[:, TILT] = commands[:, 2] * self.pitch
        movements *= self.time_step * going[:, None]
        simulator.move(movements)
        return going * self.time_step


@dataclass(frozen=True)
class WaypointControl:
    """A place and a heading relative to the body, driven to by a feedback law that plans nothing.

    The body turns towards the place, walks once its heading is right within `max_heading`, faster the
    farther the place is, and turns to the wanted heading when it is there. The speeds are those of a ramp
    with constant acceleration that ends at the target; the walk is slow enough for the heading to close
    before the place is passed.

    Attributes:
        reach: most metres ahead or back, and to either side.
        longest: most seconds.
        v_max, w_max: metres and radians per second.
        v_acc, w_acc: metres and radians per second squared.
        max_heading: radians.
        near, straight: metres and radians within which a target is reached.
        v_min, w_min: metres and radians per second; the body stands still below both.
        pitch: most radians by which a waypoint tilts the camera, up or down, at most at `w_max`. Not
            published; one look of the discrete control.
        time_step: seconds between two corrections of the speeds.
    """

    reach: float = 0.5
    longest: float = 10.0
    v_max: float = 0.3
    w_max: float = 0.45
    v_acc: float = 0.2
    w_acc: float = 0.6
    max_heading: float = float(np.pi / 4)
    near: float = 0.01
    straight: float = 0.025
    v_min: float = 0.025
    w_min: float = 0.018
    pitch: float = float(np.pi / 6)
    time_step: float = TIME_STEP

    names = (
        "waypoint_x",
        "waypoint_y",
        "waypoint_yaw",
        "max_duration",
        "delta_camera_pitch",
        "velocity_stop",
    )

    def drive(
        self, simulator: Simulator, commands: Float[np.ndarray, "n k"], active: Bool[np.ndarray, "n"]
    ) -> Seconds:
        """Carry out `commands` (N, 6) of the `active` slots (N,); (N,) seconds that passed.

        x is ahead, y to the left. The last column, when positive, is the stop: the body stays.
        """
        going = active & ~(commands[:, 5] > 0)
        targets = np.stack(
            [
                commands[:, 0] * self.reach,
                commands[:, 1] * self.reach,
                commands[:, 2] * np.pi,
                commands[:, 4] * self.pitch,
            ],
            1,
        )
        return self.go(simulator, targets, onto(commands[:, 3], 0.0, self.longest), going)

    def go(
        self,
        simulator: Simulator,
        targets: Float[np.ndarray, "n 4"],
        durations: Seconds,
        going: Bool[np.ndarray, "n"],
    ) -> Seconds:
        """Drive the `going` bodies to targets (N, 4), at most for `durations` (N,); (N,) seconds passed.

        targets: metres ahead and to the left, radians to turn and to tilt, from where the bodies are.
        """
        bodies = simulator.bodies
        starts, yaws = bodies.positions.copy(), bodies.yaws.copy()
        ahead, left = targets[:, 0], targets[:, 1]
        places = starts[:, ::2] + np.stack(
            [
                -np.sin(yaws) * ahead - np.cos(yaws) * left,
                -np.cos(yaws) * ahead + np.sin(yaws) * left,
            ],
            1,
        )
        wanted, tilts = yaws + targets[:, 2], bodies.tilts + targets[:, 3]
        tilts = np.clip(tilts, *simulator.embodiment.tilt_range)
        passed, collided = np.zeros(len(starts)), np.zeros(len(starts), bool)
        going = going.copy()
        while True:
            going &= passed + self.time_step <= durations + 1e-9
            movements = self._next_movements(simulator, places, wanted, tilts)
            going &= (movements != 0).any(1)
            if not going.any():
                break
            simulator.move(movements * going[:, None])
            collided |= bodies.collided
            passed += going * self.time_step
        bodies.collided[:] = collided
        bodies.last_positions[:], bodies.last_yaws[:] = starts, yaws
        np.any(bodies.positions != starts, axis=1, out=bodies.moved)
        return passed

    def _next_movements(
        self,
        simulator: Simulator,
        places: Float[np.ndarray, "n 2"],
        wanted: Float[np.ndarray, "n"],
        tilts: Float[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        """(N, 4) movements of the next time step; all 0 where everything is reached."""
        bodies = simulator.bodies
        offset = places - bodies.positions[:, ::2]
        far = np.hypot(offset[:, 0], offset[:, 1])
        heading = wrap_angle(arctan2(-offset[:, 0], -offset[:, 1]) - bodies.yaws)
        walks = far > self.near
        turn = np.where(walks, heading, wrap_angle(wanted - bodies.yaws))
        spin = ramp(turn, self.w_acc, self.w_max) * (walks | (np.abs(turn) > self.straight))
        off = np.abs(heading)
        limit = self.w_max / 2 * far / (np.sin(off) + off * np.cos(off) + 1e-5)
        speed = np.clip(ramp(far, self.v_acc, self.v_max), 0.0, limit) * (walks & (off <= self.max_heading))
        still = (speed < self.v_min) & (np.abs(spin) < self.w_min)
        tilt = np.clip(tilts - bodies.tilts, -self.w_max * self.time_step, self.w_max * self.time_step)
        movements = np.zeros((len(far), 4))
        movements[:, ALONG] = np.where(still, 0.0, speed) * self.time_step
        movements[:, TURN] = np.where(still, 0.0, spin) * self.time_step
        movements[:, TILT] = np.where(np.abs(tilt) > 1e-9, tilt, 0.0)
        return movements


@dataclass(frozen=True)
class DiscreteControl:
    """Discrete actions, each driven as a waypoint; bodies arrive only nearly.

    Attributes:
        waypoints: the law that drives.
        longest: most seconds of an action.
    """

    waypoints: WaypointControl = WaypointControl()
    longest: float = 3.0

    names = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down")

    def drive(
        self, simulator: Simulator, movements: Float[np.ndarray, "n 4"], active: Bool[np.ndarray, "n"]
    ) -> Seconds:
        """Drive the `active` bodies by `movements` (N, 4) of their actions; (N,) seconds that passed."""
        targets = np.zeros((len(movements), 4))
        targets[:, 0] = movements[:, ALONG]
        targets[:, 2:] = movements[:, [TURN, TILT]]
        return self.waypoints.go(simulator, targets, np.full(len(movements), self.longest), active)


Control = VelocityControl | WaypointControl | DiscreteControl
"""The three controls."""

CONTROLS: dict[str, Control] = {
    "velocity": VelocityControl(),
    "waypoint": WaypointControl(),
    "discrete": DiscreteControl(),
}
"""By the name that options say."""


def ramp(errors: Float[np.ndarray, "n"], acceleration: float, fastest: float) -> Float[np.ndarray, "n"]:
    """(N,) speeds, m/s or rad/s, that a constant `acceleration` brings to rest over `errors` (N,).

    Signed as the errors, and at most `fastest`: v = sqrt(2 a |x|).
    """
    return np.sign(errors) * np.minimum(np.sqrt(2 * acceleration * np.abs(errors)), fastest)
