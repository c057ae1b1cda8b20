"""Sensors of the body's own pose."""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np

from navarena.core.kernels import kernel
from navarena.simulation.bodies import Bodies
from navarena.simulation.sensors.sensor import BodySensor, ObservationSpec

FAR = float(np.finfo(np.float32).max)
HALF_TURN = float(np.float32(np.pi))


@kernel
def episode_coordinates(positions, start_positions, start_yaws, out):
    """Write [-z, x] metres (N, 2) of `positions` (N, 3) in the frames of the start poses."""
    for i in range(positions.shape[0]):
        east = positions[i, 0] - start_positions[i, 0]
        south = positions[i, 2] - start_positions[i, 2]
        sine, cosine = math.sin(start_yaws[i]), math.cos(start_yaws[i])
        out[i, 0] = -(sine * east + cosine * south)
        out[i, 1] = cosine * east - sine * south


@kernel
def wrapped_differences(angles, origins, out):
    """Write angles - origins (N, 1) radians, moved into [-pi, pi) before and after rounding."""
    limit = np.float32(math.pi)
    for i in range(angles.shape[0]):
        difference = (angles[i] - origins[i] + math.pi) % (2 * math.pi) - math.pi
        out[i, 0] = min(max(np.float32(difference), -limit), limit)


@kernel
def relative_motions(positions, yaws, last_positions, last_yaws, errors, out):
    """Write [ahead m, right m, left-turn rad] (N, 3) since the last poses, in their frames, plus errors."""
    for i in range(positions.shape[0]):
        east = positions[i, 0] - last_positions[i, 0]
        south = positions[i, 2] - last_positions[i, 2]
        sine, cosine = math.sin(last_yaws[i]), math.cos(last_yaws[i])
        out[i, 0] = -(sine * east + cosine * south) + errors[i, 0]
        out[i, 1] = cosine * east - sine * south + errors[i, 1]
        out[i, 2] = (yaws[i] - last_yaws[i] + errors[i, 2] + math.pi) % (2 * math.pi) - math.pi


class Gps(BodySensor):
    """(2,) float32 metres: [-z, x] in the frame of the start pose: [ahead, to the right].

    As Habitat's EpisodicGPSSensor with two dimensions.
    """

    name = "gps"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((2,), np.float32, -FAR, FAR, "metres")

    def observe(self, bodies: Bodies, out: np.ndarray) -> None:
        episode_coordinates(bodies.estimated_positions, bodies.start_positions, bodies.start_yaws, out)


class Compass(BodySensor):
    """(1,) float32 radians within [-pi, pi]: yaw relative to the start, growing to the left.

    As Habitat's EpisodicCompassSensor.
    """

    name = "compass"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.float32, -HALF_TURN, HALF_TURN, "radians")

    def observe(self, bodies: Bodies, out: np.ndarray) -> None:
        wrapped_differences(bodies.estimated_yaws, bodies.start_yaws, out)


class Odometry(BodySensor):
    """(3,) float32 [metres, metres, radians]: the motion of the last step.

    [ahead, to the right, turn to the left within [-pi, pi]] in the frame of the pose before the step;
    zeros at the start.
    """

    name = "odometry"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((3,), np.float32, -FAR, FAR, "metres, metres, radians")

    def observe(self, bodies: Bodies, out: np.ndarray) -> None:
        before = bodies.last_positions, bodies.last_yaws
        relative_motions(bodies.positions, bodies.yaws, *before, bodies.motion_errors, out)


class Heading(BodySensor):
    """(1,) float32 radians within [-pi, pi]: true yaw in the world, 0 along -z, growing to the left."""

    name = "heading"
    privileged = True

    def spec(self) -> ObservationSpec:
        return Compass().spec()

    def observe(self, bodies: Bodies, out: np.ndarray) -> None:
        wrapped_differences(bodies.yaws, np.zeros_like(bodies.yaws), out)


class Position(BodySensor):
    """(3,) float32 metres: the foot point in the world frame."""

    name = "position"
    privileged = True

    def spec(self) -> ObservationSpec:
        return ObservationSpec((3,), np.float32, -FAR, FAR, "metres")

    def observe(self, bodies: Bodies, out: np.ndarray) -> None:
        out[:] = bodies.positions


class Collided(BodySensor):
    """(1,) uint8: 1 when the last step was cut short by an obstacle, else 0."""

    name = "collided"

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.uint8, 0, 1)

    def observe(self, bodies: Bodies, out: np.ndarray) -> None:
        out[:, 0] = bodies.collided
