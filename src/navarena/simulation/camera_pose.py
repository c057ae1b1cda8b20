"""Poses of the cameras of N bodies."""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np
from jaxtyping import Float

from navarena.core.kernels import kernel
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera


@kernel
def place_cameras(positions, yaws, tilts, mount, yaw, pitch, out):
    """Write world_from_camera (N, 4, 4) of a camera on N bodies.

    positions: (N, 3) float64 foot points; yaws, tilts: (N,) float64; mount: (3,) float64 in the
    body's frame; yaw, pitch: of the camera relative to the body, radians.
    The camera's axes are the columns: right, up, backward.
    """
    for i in range(positions.shape[0]):
        sine, cosine = math.sin(yaws[i]), math.cos(yaws[i])
        out[i, 0, 3] = positions[i, 0] + cosine * mount[0] + sine * mount[2]
        out[i, 1, 3] = positions[i, 1] + mount[1]
        out[i, 2, 3] = positions[i, 2] - sine * mount[0] + cosine * mount[2]
        sine, cosine = math.sin(yaws[i] + yaw), math.cos(yaws[i] + yaw)
        sine_up, cosine_up = math.sin(tilts[i] + pitch), math.cos(tilts[i] + pitch)
        out[i, 0, 0] = cosine
        out[i, 0, 1] = sine * sine_up
        out[i, 0, 2] = sine * cosine_up
        out[i, 1, 0] = 0.0
        out[i, 1, 1] = cosine_up
        out[i, 1, 2] = -sine_up
        out[i, 2, 0] = -sine
        out[i, 2, 1] = cosine * sine_up
        out[i, 2, 2] = cosine * cosine_up
        out[i, 3, 0] = out[i, 3, 1] = out[i, 3, 2] = 0.0
        out[i, 3, 3] = 1.0


def world_from_camera(bodies: Bodies, camera: Camera) -> Float[np.ndarray, "n 4 4"]:
    """(N, 4, 4) float64 transforms: world metres from the camera's (right, up, backward, 1)."""
    return _place(bodies.positions, bodies.yaws, bodies.tilts, camera)


def world_from_image(bodies: Bodies, camera: Camera) -> Float[np.ndarray, "n 4 4"]:
    """(N, 4, 4) float64, as `world_from_camera`, of the images in view: maybe those of earlier steps."""
    return _place(bodies.camera_positions, bodies.camera_yaws, bodies.camera_tilts, camera)


def _place(
    positions: Float[np.ndarray, "n 3"],
    yaws: Float[np.ndarray, "n"],
    tilts: Float[np.ndarray, "n"],
    camera: Camera,
) -> Float[np.ndarray, "n 4 4"]:
    out = np.zeros((len(yaws), 4, 4))
    place_cameras(
        positions,
        yaws,
        tilts,
        np.array(camera.mount, float),
        float(camera.yaw),
        float(camera.pitch),
        out,
    )
    return out
