"""Sensors of the cameras themselves: K and world_from_camera."""

import numpy as np
from jaxtyping import Float

from navarena.core.geometry import intrinsic_matrix
from navarena.simulation.body import Camera
from navarena.simulation.sensors.pose import FAR
from navarena.simulation.sensors.sensor import CameraSensor, ObservationSpec


class IntrinsicMatrix(CameraSensor):
    """(3, 3) float32 K, pixels: (column, row, 1) * depth = K @ (right, down, forward)."""

    name = "K"

    def spec(self, camera: Camera) -> ObservationSpec:
        return ObservationSpec((3, 3), np.float32, 0.0, FAR, "pixels")

    def observe(self, camera: Camera, world_from_camera: Float[np.ndarray, "n 4 4"], out: np.ndarray) -> None:
        out[:] = intrinsic_matrix(camera.width_px, camera.height_px, camera.hfov)


class WorldFromCamera(CameraSensor):
    """(4, 4) float32 rigid transform: world metres from the camera's (right, up, backward, 1)."""

    name = "world_from_camera"
    privileged = True

    def spec(self, camera: Camera) -> ObservationSpec:
        return ObservationSpec((4, 4), np.float32, -FAR, FAR, "metres")

    def observe(self, camera: Camera, world_from_camera: Float[np.ndarray, "n 4 4"], out: np.ndarray) -> None:
        out[:] = world_from_camera
