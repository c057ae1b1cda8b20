"""Frames, rotations, cameras, movements and polylines.

Right-handed, y up, metres, radians. A body at yaw 0 looks along -z; yaw grows to the left
(counter-clockwise seen from above); pitch grows upwards. Quaternions are [x, y, z, w] and
rotate local to world. A camera's local frame is x right, y up, -z forward.
"""

import math

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.elementary import arctan2

Angles = Float[np.ndarray, "..."] | float
"""One angle or an array of them, in radians unless said otherwise."""


def wrap_angle(angle: Angles) -> Float[np.ndarray, "..."]:
    """Angles (radians) moved into [-pi, pi)."""
    return np.asarray((np.asarray(angle) + np.pi) % (2 * np.pi) - np.pi)


def quaternion_from_yaw(yaw: Angles) -> Float[np.ndarray, "... 4"]:
    """(..., 4) unit quaternions [x, y, z, w] of turns by `yaw` (radians) about +y."""
    half = np.asarray(yaw, float) / 2
    zero = np.zeros_like(half)
    return np.stack([zero, np.sin(half), zero, np.cos(half)], -1)


def yaw_from_quaternion(quaternion: Float[np.ndarray, "... 4"]) -> Float[np.ndarray, "..."]:
    """Yaw (radians) of upright rotations (..., 4) [x, y, z, w]; any non-zero length is accepted.

    Some published episode files hold quaternions that are not of unit length.
    """
    q = np.asarray(quaternion, float)
    return np.asarray(wrap_angle(2 * arctan2(q[..., 1], q[..., 3])))


def forward_from_yaw(yaw: Angles) -> Float[np.ndarray, "... 3"]:
    """(..., 3) unit vectors along which bodies at `yaw` (radians) look."""
    yaw = np.asarray(yaw, float)
    return np.stack([-np.sin(yaw), np.zeros_like(yaw), -np.cos(yaw)], -1)


def rotation_from_yaw_pitch(yaw: float, pitch: float) -> Float[np.ndarray, "3 3"]:
    """(3, 3) world-from-camera rotation; columns are the camera's right, up and backward axes."""
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    return about_y @ about_x


def rotation_from_quaternion(quaternion: Float[np.ndarray, "4"]) -> Float[np.ndarray, "3 3"]:
    """(3, 3) rotation matrix of one quaternion [x, y, z, w], normalised first."""
    x, y, z, w = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def focal_length(width_px: int, hfov: float) -> float:
    """Focal length in pixels of a pinhole camera `width_px` wide with horizontal view `hfov` (radians)."""
    return width_px / 2 / math.tan(hfov / 2)


def intrinsic_matrix(width_px: int, height_px: int, hfov: float) -> Float[np.ndarray, "3 3"]:
    """(3, 3) K: pixel coordinates (column, row, 1) * depth = K @ (right, down, forward).

    Pixel (row i, column j) is sampled at its centre, (j + 0.5, i + 0.5); pixels are square.
    """
    f = focal_length(width_px, hfov)
    return np.array([[f, 0, width_px / 2], [0, f, height_px / 2], [0, 0, 1]])


def episode_frame(
    position: Float[np.ndarray, "... 3"],
    start: Float[np.ndarray, "... 3"],
    start_yaw: Angles,
) -> Float[np.ndarray, "... 3"]:
    """World points (..., 3) expressed in the frame of an episode's start pose.

    The result is metres: x right, y up, z backward of the starting body.
    """
    offset = np.asarray(position, float) - np.asarray(start, float)
    c, s = np.cos(start_yaw), np.sin(start_yaw)
    x, y, z = offset[..., 0], offset[..., 1], offset[..., 2]
    return np.stack([c * x - s * z, y, s * x + c * z], -1)


def world_from_unity(position: Float[np.ndarray, "... 3"]) -> Float[np.ndarray, "... 3"]:
    """(..., 3) points of Unity (left-handed, y up, forward +z; metres) in our frame: z changes its sign."""
    return np.asarray(position, float) * np.array([1.0, 1.0, -1.0])


def yaw_from_unity(degrees: Angles) -> Float[np.ndarray, "..."]:
    """Unity headings (degrees, clockwise from +z) as yaw (radians, to the left from -z)."""
    return np.asarray(wrap_angle(-np.deg2rad(np.asarray(degrees, float))))


def unity_from_world(position: Float[np.ndarray, "... 3"]) -> Float[np.ndarray, "... 3"]:
    """(..., 3) points of our frame, metres, in that of Unity: the inverse of world_from_unity."""
    return world_from_unity(position)  # a mirror is its own inverse


def unity_from_yaw(yaw: Angles) -> Float[np.ndarray, "..."]:
    """Yaw (radians) as Unity headings, degrees within [0, 360): the inverse of yaw_from_unity."""
    return np.asarray(np.rad2deg(-np.asarray(yaw, np.float64)) % 360.0)


def world_from_z_up(position: Float[np.ndarray, "... 3"]) -> Float[np.ndarray, "... 3"]:
    """(..., 3) points of a right-handed frame with z up (Matterport3D; metres) in our frame, y up.

    Its +y becomes our -z, so that a Matterport heading of 0 is a yaw of 0.
    """
    point = np.asarray(position, float)
    return np.stack([point[..., 0], point[..., 2], -point[..., 1]], -1)


def yaw_from_heading(heading: Angles) -> Float[np.ndarray, "..."]:
    """Matterport headings (radians, clockwise from its +y) as yaw (radians, to the left from -z)."""
    return np.asarray(wrap_angle(-np.asarray(heading, float)))


ALONG, ACROSS, TURN, TILT = range(4)
"""Columns of a movement: metres forward, metres to the right, radians to the left, radians upwards.

The translation comes first, the turns after it.
"""


def has_translation(movements: Float[np.ndarray, "n 4"]) -> Bool[np.ndarray, "n"]:
    """(N,) whether a movement translates the body."""
    return (movements[:, ALONG] != 0) | (movements[:, ACROSS] != 0)


def resample_path(path: Float[np.ndarray, "k 3"], spacing: float) -> Float[np.ndarray, "n 3"]:
    """(N, 3) points at equal distances along a path of corners (K, 3), both ends included.

    Args:
        path: metres; a path of length 0 gives its one place once.
        spacing: metres, largest distance between two points.
    """
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    return divide_path(path, math.ceil(along[-1] / spacing) + 1)


def divide_path(path: Float[np.ndarray, "k 3"], count: int) -> Float[np.ndarray, "n 3"]:
    """(count, 3) points at equal distances along a path of corners (K, 3), metres, both ends included."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(at, along, path[:, axis]) for axis in range(3)], 1)
