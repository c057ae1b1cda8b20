"""CLIP's ResNet-50 without its attention at the end, frozen, and the encoder of GOAT-Bench's agents."""

from collections import OrderedDict
from collections.abc import Sequence

from navarena.core.errors import InputError
from navarena.learning.inputs import GOAL_VECTOR, InputSpec
from navarena.learning.networks.embedded_encoder import apply_number_layer, make_number_layers
from navarena.learning.networks.encoders import Encoder, name_frozen, scale_goals
from navarena.learning.tensors import Tensor, Tree, torch

SIDE = 224
"""Pixels of the square to which images are averaged; their aspect is lost (goat_bench, clip_policy.py)."""

MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""Of CLIP, of colours of 0 to 1."""

ROWS = 16
"""Frames that go through the frozen network at once."""

STAGES = (3, 4, 6, 3)

_nn = torch.nn


class ClipResNet(_nn.Module):  # type: ignore[misc, name-defined]
    """The ResNet-50 of CLIP (Radford et al. 2021), its modules called as in its released weights.

    Three convolutions begin it, and strides are averages before convolutions.

    Attributes:
        features: 2048.
    """

    features = 2048

    def __init__(self) -> None:
        super().__init__()
        for number, (into, out, stride) in enumerate(((3, 32, 2), (32, 32, 1), (32, 64, 1)), 1):
            self.add_module(f"conv{number}", _nn.Conv2d(into, out, 3, stride, 1, bias=False))
            self.add_module(f"bn{number}", _nn.BatchNorm2d(out))
        width = 64
        for stage, count in enumerate(STAGES):
            planes, blocks = 64 * 2**stage, []
            for number in range(count):
                blocks.append(_Block(width, planes, 2 if stage and not number else 1))
                width = 4 * planes
            self.add_module(f"layer{stage + 1}", _nn.Sequential(*blocks))

    def forward(self, images: Tensor) -> Tensor:
        """(B, 2048, H / 32, W / 32) of `images` (B, 3, H, W) float32; sides as `shrink_clip` says."""
        values = images
        for number in (1, 2, 3):
            values = getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(values)).relu()
        values = _nn.functional.avg_pool2d(values, 2)
        for stage in range(len(STAGES)):
            values = getattr(self, f"layer{stage + 1}")(values)
        return values


def shrink_clip(side: int) -> int:
    """Pixels of the output for an image of `side` pixels: halved five times, rounded up once, then down."""
    side = (side + 1) // 2
    return side // 2**4


class _Block(_nn.Module):  # type: ignore[misc, name-defined]
    """Three convolutions beside a shortcut; a stride is an average before the last one."""

    def __init__(self, width: int, planes: int, stride: int) -> None:
        super().__init__()
        self._stride = stride
        sides = ((width, planes, 1), (planes, planes, 3), (planes, 4 * planes, 1))
        for number, (into, out, kernel) in enumerate(sides, 1):
            self.add_module(f"conv{number}", _nn.Conv2d(into, out, kernel, padding=kernel // 2, bias=False))
            self.add_module(f"bn{number}", _nn.BatchNorm2d(out))
        self.downsample = None
        if stride != 1 or width != 4 * planes:
            layers = {"0": _nn.Conv2d(width, 4 * planes, 1, bias=False), "1": _nn.BatchNorm2d(4 * planes)}
            self.downsample = _nn.Sequential(OrderedDict(layers))

    def forward(self, values: Tensor) -> Tensor:
        inner = self.bn1(self.conv1(values)).relu()
        inner = self.bn2(self.conv2(inner)).relu()
        if self._stride > 1:
            inner, values = (_nn.functional.avg_pool2d(one, self._stride) for one in (inner, values))
        inner = self.bn3(self.conv3(inner))
        return (inner + (values if self.downsample is None else self.downsample(values))).relu()


class ClipGoalEncoder(Encoder):
    """GOAT-Bench's encoder (clip_policy.py): CLIP's view, the goal's vector as it is, layers for numbers.

    Args:
        inputs: "rgb" first, then a goal's vector, then numbers, in which order they follow each other.
        image_features: of the layer behind the frozen network.
        number_features: of each layer for numbers.
        unit_goals: whether the vectors are brought to one length.

    Raises InputError for other inputs.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        image_features: int,
        number_features: int,
        unit_goals: bool = False,
    ) -> None:
        super().__init__()
        self._unit_goals = unit_goals
        self._image, *self._others = inputs
        vectors = [one for one in self._others if one.name.startswith(GOAL_VECTOR)]
        if self._image.name != "rgb" or len(vectors) != 1 or any(one.is_image for one in self._others):
            raise InputError(
                f"expected rgb, {GOAL_VECTOR}:ENCODER and numbers, got {[o.name for o in inputs]}"
            )
        self._vector = vectors[0]
        self.trunk = ClipResNet().requires_grad_(False)
        self.visual = torch.nn.Sequential(
            torch.nn.Linear(ClipResNet.features, image_features), torch.nn.ReLU()
        )
        numbers = [one for one in self._others if one is not self._vector]
        self.numbers = make_number_layers(numbers, number_features)
        self.features = image_features + self._vector.shape[0] + number_features * len(numbers)
        self.frozen = (InputSpec(name_frozen("rgb"), (ClipResNet.features,), "float32"),)
        scale = torch.tensor((MEAN, DEVIATION)).reshape(2, 1, 3, 1, 1)
        self.register_buffer("_scale", scale, persistent=False)
        self.train()

    def train(self, mode: bool = True) -> "ClipGoalEncoder":
        """Set the training mode, but keep the frozen network in evaluation mode."""
        super().train(mode)
        self.trunk.eval()
        return self

    def forward(self, observations: Tree) -> Tensor:
        name = name_frozen("rgb")
        seen = (observations if name in observations else self.see_frozen(observations))[name]
        parts = [self.visual(seen)]
        for one in self._others:
            values = observations[one.name]
            if one is self._vector:
                parts.append(scale_goals(values, self._unit_goals))
            else:
                parts.append(apply_number_layer(one, self.numbers[one.name], values))
        return torch.cat(parts, 1)

    def see_frozen(self, observations: Tree) -> Tree:
        with torch.no_grad():
            seen = [self._see(part) for part in observations["rgb"].split(ROWS)]
        return {name_frozen("rgb"): torch.cat(seen)}

    def _see(self, images: Tensor) -> Tensor:
        """(B, 2048) float32 of `images` (B, H, W, 3) uint8: the mean of all places."""
        return self.trunk(self._prepare(images)).mean((2, 3)).float()

    def _prepare(self, images: Tensor) -> Tensor:
        """(B, 3, SIDE, SIDE) float32 of `images` (B, H, W, 3) uint8, which stay whole numbers."""
        values = images.permute(0, 3, 1, 2).float()
        if values.shape[2:] != (SIDE, SIDE):
            values = torch.nn.functional.interpolate(values, size=(SIDE, SIDE), mode="area").floor()
        mean, deviation = self._scale
        return (values / 255 - mean) / deviation
