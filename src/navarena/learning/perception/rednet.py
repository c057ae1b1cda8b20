"""RedNet: the segmenter of Iterative VLN's paper, by the names of the published weights.

Jiang et al. 2018, "RedNet: Residual Encoder-Decoder Network for indoor RGB-D Semantic Segmentation". Modules
are called as in JindongJiang/RedNet, so that its state dicts, and Iterative VLN's of 13 classes, load.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from navarena.core.errors import FileError, InputError
from navarena.core.files import read_bytes
from navarena.learning.tensors import Tensor, torch

RGB_MEAN, RGB_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet, by which colours of 0 to 1 are normalised."""

DEPTH_MEAN, DEPTH_DEVIATION = 0.213, 0.285
"""By which depth of 0 to 1 is normalised."""

STRIDE = 32
"""Pixels of the image in one of the coarsest level."""

ENCODER = ((64, 3), (128, 4), (256, 6), (512, 3))
"""Units and blocks of each stage of both encoders (ResNet-50)."""

DECODER = ((256, 6), (128, 4), (64, 3), (64, 3))
"""Channels and blocks of each stage of the decoder, coarsest first."""

PAPER_SIZE = (256, 256)
"""(height, width) pixels to which Iterative VLN brings images."""

_nn = torch.nn


def _normed(*layers: Any, features: int) -> list[Any]:
    return [*layers, _nn.BatchNorm2d(features)]


class _Bottleneck(_nn.Module):  # type: ignore[misc, name-defined]
    """ResNet's block of three convolutions, whose middle one may take strides."""

    def __init__(self, channels: int, units: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = _nn.Conv2d(channels, units, 1, bias=False), _nn.BatchNorm2d(units)
        self.conv2 = _nn.Conv2d(units, units, 3, stride, 1, bias=False)
        self.bn2 = _nn.BatchNorm2d(units)
        self.conv3, self.bn3 = _nn.Conv2d(units, 4 * units, 1, bias=False), _nn.BatchNorm2d(4 * units)
        self.downsample = None
        if channels != 4 * units or stride != 1:
            shortcut = _nn.Conv2d(channels, 4 * units, 1, stride, bias=False)
            self.downsample = _nn.Sequential(*_normed(shortcut, features=4 * units))

    def forward(self, values: Tensor) -> Tensor:
        kept = values if self.downsample is None else self.downsample(values)
        values = self.bn1(self.conv1(values)).relu()
        values = self.bn2(self.conv2(values)).relu()
        return (self.bn3(self.conv3(values)) + kept).relu()


class _UpBlock(_nn.Module):  # type: ignore[misc, name-defined]
    """A block of two convolutions; where `doubles`, the second one doubles the resolution."""

    def __init__(self, channels: int, features: int, doubles: bool) -> None:
        super().__init__()
        self.conv1, self.bn1 = _nn.Conv2d(channels, channels, 3, 1, 1, bias=False), _nn.BatchNorm2d(channels)
        self.upsample = None
        if doubles:
            self.conv2 = _nn.ConvTranspose2d(channels, features, 3, 2, 1, output_padding=1, bias=False)
            shortcut = _nn.ConvTranspose2d(channels, features, 2, 2, bias=False)
            self.upsample = _nn.Sequential(*_normed(shortcut, features=features))
        else:
            self.conv2 = _nn.Conv2d(channels, features, 3, 1, 1, bias=False)
        self.bn2 = _nn.BatchNorm2d(features)

    def forward(self, values: Tensor) -> Tensor:
        kept = values if self.upsample is None else self.upsample(values)
        values = self.bn1(self.conv1(values)).relu()
        return (self.bn2(self.conv2(values)) + kept).relu()


class RedNet(_nn.Module):  # type: ignore[misc, name-defined]
    """Two ResNet-50 encoders, of colours and of depth, summed at every stage; a decoder of residual blocks.

    Args:
        classes: C, void included.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        for suffix, channels in (("", 3), ("_d", 1)):
            stem = _nn.Conv2d(channels, 64, 7, 2, 3, bias=False)
            self.add_module(f"conv1{suffix}", stem)
            self.add_module(f"bn1{suffix}", _nn.BatchNorm2d(64))
            width = 64
            for number, (units, count) in enumerate(ENCODER, 1):
                blocks = [_Bottleneck(width, units, 1 if number == 1 else 2)]
                width = 4 * units
                blocks += [_Bottleneck(width, units, 1) for _ in range(count - 1)]
                self.add_module(f"layer{number}{suffix}", _nn.Sequential(*blocks))
        sides = [(64, 64), *((4 * units, units) for units, _ in ENCODER)]
        for number, (channels, features) in enumerate(sides):
            layers = _normed(_nn.Conv2d(channels, features, 1, bias=False), features=features)
            self.add_module(f"agant{number}", _nn.Sequential(*layers, _nn.ReLU(inplace=True)))
        width = 512
        for number, (features, count) in enumerate(DECODER, 1):
            kept = [_UpBlock(width, width, False) for _ in range(count - 1)]
            self.add_module(f"deconv{number}", _nn.Sequential(*kept, _UpBlock(width, features, True)))
            self.add_module(f"out{6 - number}_conv", _nn.Conv2d(features, classes, 1))
            width = features
        self.final_conv = _nn.Sequential(*(_UpBlock(64, 64, False) for _ in range(3)))
        self.final_deconv = _nn.ConvTranspose2d(64, classes, 2, 2)

    def forward(self, images: Tensor) -> list[Tensor]:
        """Scores (B, C, H / s, W / s) for s of 1, 2, 4, 8, 16 of `images` (B, H, W, 4) float32, 0 to 1.

        Sides are multiples of STRIDE pixels.
        """
        mean = torch.tensor((*RGB_MEAN, DEPTH_MEAN), device=images.device)
        deviation = torch.tensor((*RGB_DEVIATION, DEPTH_DEVIATION), device=images.device)
        seen = ((images - mean) / deviation).permute(0, 3, 1, 2)
        part = dict(self.named_children())
        colours = part["bn1"](part["conv1"](seen[:, :3])).relu()
        depth = part["bn1_d"](part["conv1_d"](seen[:, 3:])).relu()
        joined = [colours + depth]
        colours, depth = (_nn.functional.max_pool2d(one, 3, 2, 1) for one in (joined[0], depth))
        for number in range(1, 5):
            colours, depth = part[f"layer{number}"](colours), part[f"layer{number}_d"](depth)
            colours = colours + depth
            joined.append(colours)
        values, scores = part["agant4"](joined[4]), []
        for number in range(1, 5):
            values = part[f"deconv{number}"](values)
            scores.append(part[f"out{6 - number}_conv"](values))
            values = values + part[f"agant{4 - number}"](joined[4 - number])
        return [self.final_deconv(self.final_conv(values)), *reversed(scores)]


def load_published(path: Path, classes: int) -> RedNet:
    """RedNet with the weights of a published file (.pth or .pkl of PyTorch): a state dict, or one within it.

    Names may begin with "module.", as of weights that were trained on several devices. Only tensors and plain
    values are read. Raises FileError for a file that is damaged or holds no state dict, and InputError, with
    the name, for weights that are missing, left over, or of another shape.
    """
    read_bytes(path, "weights")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # zipfile's, pickle's and PyTorch's own kinds
        raise FileError(f"weights {path} are damaged or no tensors ({str(error)[:200]})") from error
    for key in ("model_state", "state_dict", "model"):
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
    if not isinstance(found, Mapping):
        raise FileError(f"expected a state dict in {path}, got {type(found).__name__}")
    weights = {str(name).removeprefix("module."): value for name, value in found.items()}
    network = RedNet(classes)
    _require_layout(weights, network.state_dict(), path)
    network.load_state_dict(weights)
    return network.eval()


def _require_layout(weights: Mapping[str, Any], wanted: Mapping[str, Tensor], path: Path) -> None:
    """Raise InputError with the first name of `weights` that does not fit those `wanted`."""
    for name, value in wanted.items():
        if name not in weights:
            raise InputError(f"expected {name!r} {tuple(value.shape)} in {path}, got no such weights")
        shape = tuple(getattr(weights[name], "shape", ()))
        if shape != tuple(value.shape):
            raise InputError(f"expected {name!r} of the shape {tuple(value.shape)} in {path}, got {shape}")
    left = [name for name in weights if name not in wanted]
    if left:
        raise InputError(
            f"expected the weights of RedNet in {path}, got {left[0]!r} too ({len(left)} in all)"
        )
