"""The network of depth from colours: a U-Net that predicts depth relative to that of the floor."""

import functools
import math

import numpy as np
from jaxtyping import Float32

from navarena.core.geometry import focal_length
from navarena.learning.perception.settings import UNetSettings
from navarena.learning.perception.unet import UNet
from navarena.learning.tensors import Tensor, torch
from navarena.simulation.body import Camera

NEAREST, FARTHEST = 0.05, 10.0
"""Metres; the logarithm of depths between these is learned."""

ERRORS = (-4.0, 1.0)
"""Least and greatest logarithm of the error that is predicted."""

CHANNELS = 5
"""Red, green and blue, each 0 to 1, and the two numbers of the pixel's row by `see_floor`."""


@functools.lru_cache(maxsize=16)
def see_floor(camera: Camera, height: int, above: int = 0, below: int = 0) -> Float32[np.ndarray, "h 2"]:
    """How the rays of each row rise, and the logarithm of the depth at which they meet a level floor.

    (above + H + below, 2) float32: metres upwards for a metre of depth, which is along the optical axis, and
    the natural logarithm of metres of depth, of FARTHEST where rays have not come down to the floor before.

    Args:
        camera: that the body carries.
        height: H, rows of all that it sees; pixels need not be square.
        above: further rows over it.
        below: further rows under it.
    """
    focal = height / camera.height_px * focal_length(camera.width_px, camera.hfov)
    upwards = (height / 2 - (np.arange(-above, height + below) + 0.5)) / focal
    rises = upwards * math.cos(camera.pitch) + math.sin(camera.pitch)
    metres = camera.mount[1] / np.maximum(-rises, camera.mount[1] / FARTHEST)
    return np.stack((rises, np.log(np.maximum(metres, NEAREST))), -1).astype(np.float32)


class DepthNetwork(torch.nn.Module):
    """A U-Net that predicts the logarithm of depth, less that of a level floor in the same pixel.

    Where floor is seen the network has to predict 0, whatever the pixel's row; so small errors of what it
    predicts raise no obstacles from a floor far away. It also predicts how far it errs (Kendall and Gal
    2017): before a bare wall nobody can tell its distance.

    Args:
        settings: sizes of the U-Net.
    """

    def __init__(self, settings: UNetSettings) -> None:
        super().__init__()
        self.layers = UNet(2, settings, CHANNELS)

    def forward(self, images: Tensor, rows: Tensor) -> list[Tensor]:
        """Predictions (B, 2, H / s, W / s) for s of 1, 2, 4, 8, 16, as of `UNet.forward`.

        The first is the natural logarithm of metres, the second the logarithm of its mean absolute error.

        Args:
            images: (B, H, W, 3) float32 sRGB, 0 to 1.
            rows: (H, 2) float32, as of `see_floor`.
        """
        count, height, width, _ = images.shape
        beside = rows[None, :, None].expand(count, height, width, 2)
        predicted = []
        for one in self.layers(torch.cat((images, beside), -1)):
            step = height // one.shape[2]
            floor = rows[step // 2 :: step, 1, None]
            logs, errors = one.float().unbind(1)
            predicted.append(torch.stack((logs + floor, errors.clamp(*ERRORS)), 1))
        return predicted
