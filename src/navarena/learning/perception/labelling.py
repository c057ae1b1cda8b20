"""Segmenters at work: a checkpoint that labels images of any size, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Float32, Int32, UInt8

from navarena.core.errors import InputError
from navarena.learning.checkpoints.fitted import FittedInfo, load_fitted, load_once
from navarena.learning.inputs import resize_nearest
from navarena.learning.perception import rednet
from navarena.learning.perception.images import depth_image
from navarena.learning.perception.rednet import RedNet
from navarena.learning.perception.settings import STRIDE, UNetSettings
from navarena.learning.perception.unet import UNet
from navarena.learning.shipped import find_folder
from navarena.learning.tensors import torch
from navarena.mapping.labellers import SHIPPED_SEGMENTERS


@dataclass(frozen=True, kw_only=True)
class SegmenterInfo(FittedInfo):
    """Description of a segmenter's checkpoint.

    Attributes:
        vocabulary: whose words the classes are.
        classes: by number, "void" first.
        size: (height, width) pixels of the images that it learned from; others are brought to as many.
        network: sizes of a U-Net; None is RedNet.
        offsets: one for each class, subtracted from the scores before the highest is chosen; none by default.
    """

    noun: ClassVar[str] = "a segmenter"
    command: ClassVar[str] = "navarena train segmenter-small"
    own_format: ClassVar[str] = "navarena-segmenter-v1"

    vocabulary: str
    classes: tuple[str, ...]
    size: tuple[int, int]
    network: UNetSettings | None
    offsets: tuple[float, ...] = ()

    def build(self) -> UNet | RedNet:
        return build_network(self.network, len(self.classes))


def build_network(settings: UNetSettings | None, classes: int) -> UNet | RedNet:
    """A U-Net of these sizes, or RedNet without sizes, for `classes` classes, with random weights."""
    return RedNet(classes) if settings is None else UNet(classes, settings)


class SegmenterLabeller:
    """Labels images by the segmenter in a folder.

    Images are brought to about as many pixels as it learned from, and its labels back, by the nearest pixel.
    Each image is computed by itself, in float32: its labels do not depend on the others of a batch.

    Args:
        folder: of the checkpoint.

    Attributes:
        info: what it is.
        classes: names by number, "void" first.
        model_sha256: of its weights.

    Raises FileError when a file is missing or damaged, or when the files do not belong together.
    """

    def __init__(self, folder: Path) -> None:
        self.info, network = load_fitted(folder, SegmenterInfo)
        self.model_sha256 = self.info.model_sha256
        self.classes: Sequence[str] = self.info.classes
        self._stride = STRIDE if self.info.network is not None else rednet.STRIDE
        self._network = network.to(memory_format=torch.channels_last)
        offsets = np.array(self.info.offsets or np.zeros(len(self.classes)), np.float32)
        self._offsets = torch.from_numpy(offsets[:, None, None])

    def label(
        self, rgb: UInt8[np.ndarray, "n h w 3"], depth: Float32[np.ndarray, "n h2 w2"]
    ) -> Int32[np.ndarray, "n h2 w2"]:
        """(N, H', W') int32 class numbers, of the size of the depth images.

        Args:
            rgb: (N, H, W, 3) uint8 sRGB.
            depth: (N, H', W') float32 metres, of the same view; its pixels may be of another size.

        Raises InputError for views of different shapes.
        """
        (height, width), seen = depth.shape[1:], rgb.shape[1:3]
        if abs(height * seen[1] - width * seen[0]) > max(height, width):
            raise InputError(
                f"expected colours and depth of one view to label, got {seen[1]} x {seen[0]} and "
                f"{width} x {height} pixels; give both cameras one aspect ratio"
            )
        size = choose_size((height, width), self.info.size, self._stride)
        images = stack_images(resize_nearest(rgb, size), resize_nearest(depth, size))
        labels = np.zeros((len(images), *size), np.int32)
        with torch.inference_mode():
            for one, out in zip(images, labels):
                out[:] = (self._network(torch.from_numpy(one[None]))[0][0] - self._offsets).argmax(0).numpy()
        return np.ascontiguousarray(resize_nearest(labels, (height, width)))


def choose_size(size: tuple[int, int], learned: tuple[int, int], stride: int = STRIDE) -> tuple[int, int]:
    """(height, width) pixels, multiples of `stride`, as wide as `size` and about as many as `learned`."""
    scale = float(np.sqrt(learned[0] * learned[1] / (size[0] * size[1])))
    height, width = (max(1, round(side * scale / stride)) * stride for side in size)
    return height, width


def stack_images(rgb: UInt8[np.ndarray, "n h w 3"], depth: np.ndarray) -> Float32[np.ndarray, "n h w 4"]:
    """(N, H, W, 4) float32, 0 to 1, as the network sees `rgb` and `depth` (N, H, W) metres."""
    stacked = np.zeros((*depth.shape, 4), np.float32)
    stacked[..., :3] = rgb
    stacked[..., :3] /= np.float32(255)
    stacked[..., 3] = depth_image(depth)
    return stacked


def find_segmenter(text: str) -> SegmenterLabeller:
    """The labeller of the segmenter in the folder `text`, or shipped by that name, loaded once.

    Raises FileError for a folder without one, InputError for a shipped one that is not installed.
    """
    shipped = find_folder(text) if text in SHIPPED_SEGMENTERS and not Path(text).is_dir() else None
    folder = shipped or Path(text)
    return load_once(SegmenterLabeller, folder, SegmenterInfo)
