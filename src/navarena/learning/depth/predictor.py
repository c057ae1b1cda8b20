"""Depth from colours at work: a checkpoint that predicts the depth of each pixel of an image."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.learning.checkpoints.fitted import FittedInfo, load_fitted, load_once
from navarena.learning.depth.network import FARTHEST, NEAREST, DepthNetwork, see_floor
from navarena.learning.inputs import resize_nearest
from navarena.learning.perception.settings import UNetSettings
from navarena.learning.tensors import torch
from navarena.simulation.body import Camera
from navarena.tasks.catalog import get_body_task

CERTAIN = 0.15
"""Predicted mean error of the logarithm of depth up to which the network is certain of a pixel."""


@dataclass(frozen=True, kw_only=True)
class DepthInfo(FittedInfo):
    """Description of the checkpoint of a network that predicts depth.

    Attributes:
        size: (height, width) pixels of the images that it learned from; others are brought to as many.
        network: sizes.
    """

    noun: ClassVar[str] = "depth from colours"
    command: ClassVar[str] = "navarena train depth-small"
    own_format: ClassVar[str] = "navarena-depth-v2"

    size: tuple[int, int]
    network: UNetSettings

    def build(self) -> DepthNetwork:
        return DepthNetwork(self.network)


def count_rows(camera: Camera, width: int) -> int:
    """Rows of square pixels in images of all that `camera` sees, `width` pixels wide."""
    return round(width * camera.height_px / camera.width_px)


class DepthPredictor:
    """Predicts depth by the network in a folder; each image is computed by itself, in float32.

    Args:
        folder: of the checkpoint.

    Attributes:
        info: what it is.

    Raises FileError when a file is missing or damaged, or when the files do not belong together.
    """

    def __init__(self, folder: Path) -> None:
        self.info, network = load_fitted(folder, DepthInfo)
        self._network = network.to(memory_format=torch.channels_last)
        self._camera = get_body_task(self.info.protocol).embodiment.cameras[0]

    def predict(
        self, rgb: UInt8[np.ndarray, "n h w 3"], camera: Camera | None = None
    ) -> tuple[Float32[np.ndarray, "n h2 w2"], Float32[np.ndarray, "n h2 w2"]]:
        """Depth and its errors, as it judges by itself.

        Two arrays (N, H', W') float32: metres along the optical axis, NEAREST to FARTHEST, and the mean
        absolute error of their natural logarithm, about a share of the depth. W' is that of `info.size`, H'
        the rows of square pixels that the camera sees.

        Args:
            rgb: (N, H, W, 3) uint8 sRGB, all that the camera sees, of any size.
            camera: that sees it; None for that of the protocol.
        """
        camera = camera or self._camera
        height, width = self.info.size
        count = count_rows(camera, width)
        # it has learned from square pixels; of a camera that sees fewer rows the outermost are repeated
        above = (height - count) // 2
        edges = (0, 0), (above, height - count - above), (0, 0), (0, 0)
        images = np.pad(resize_nearest(rgb, (count, width)), edges, "edge")
        rows = torch.from_numpy(see_floor(camera, count, *edges[1]))
        predicted = np.zeros((len(images), 2, count, width), np.float32)
        with torch.inference_mode():
            for image, out in zip(images, predicted):
                colours = torch.from_numpy(image[None].astype(np.float32) / np.float32(255))
                out[:] = self._network(colours, rows)[0][0, :, above : above + count].exp().numpy()
        metres, errors = predicted[:, 0], predicted[:, 1]
        return np.clip(metres, NEAREST, FARTHEST, out=metres), errors


def find_depth_predictor(folder: Path) -> DepthPredictor:
    """The predictor of the checkpoint in `folder`, loaded once; raises FileError."""
    return load_once(DepthPredictor, folder, DepthInfo)
