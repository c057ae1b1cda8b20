"""Residual networks: ResNet-18 and -50 of images, with group or batch normalisation."""

from typing import Literal

from navarena.learning.tensors import Tensor, torch

BLOCKS = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}
"""Depth -> blocks in each of the four stages."""


class ResNet(torch.nn.Module):
    """A residual network without its last pooling: images become maps of features, 32 times smaller.

    The layers are those of He et al. (2016), strides in the 3 x 3 convolutions. With group normalisation (of
    base_planes / 2 groups) it is habitat-lab's (rl/ddppo/policy/resnet.py), with batch normalisation
    torchvision's.

    Args:
        channels: of the images.
        base_planes: channels after the first convolution; 32 in habitat-lab, 64 in torchvision.
        depth: 18 or 50.
        norm: "group" or "batch".

    Attributes:
        features: channels of the output.
    """

    def __init__(
        self, channels: int, base_planes: int, depth: Literal[18, 50], norm: Literal["group", "batch"]
    ) -> None:
        super().__init__()
        groups = base_planes // 2 if norm == "group" else 0
        self.stem = torch.nn.Sequential(
            torch.nn.Conv2d(channels, base_planes, 7, 2, 3, bias=False),
            _normalise(base_planes, groups),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(3, 2, 1),
        )
        stages, width = [], base_planes
        for stage, count in enumerate(BLOCKS[depth]):
            planes = base_planes * 2**stage
            blocks = []
            for number in range(count):
                stride = 2 if stage and number == 0 else 1
                blocks.append(_Block(width, planes, stride, depth == 50, groups))
                width = blocks[-1].features
            stages.append(torch.nn.Sequential(*blocks))
        self.stages = torch.nn.Sequential(*stages)
        self.features: int = width

    def forward(self, images: Tensor) -> Tensor:
        """(B, features, H / 32, W / 32) of `images` (B, C, H, W), float32; sides rounded up."""
        return self.stages(self.stem(images))


class _Block(torch.nn.Module):
    """Two or (bottleneck) three convolutions beside a shortcut."""

    def __init__(self, width: int, planes: int, stride: int, is_bottleneck: bool, groups: int) -> None:
        super().__init__()
        self.features = 4 * planes if is_bottleneck else planes
        shapes = (
            [(width, planes, 1, 1), (planes, planes, 3, stride), (planes, self.features, 1, 1)]
            if is_bottleneck
            else [(width, planes, 3, stride), (planes, planes, 3, 1)]
        )
        layers: list[torch.nn.Module] = []
        for into, out, kernel, step in shapes:
            convolution = torch.nn.Conv2d(into, out, kernel, step, kernel // 2, bias=False)
            layers += [convolution, _normalise(out, groups), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers[:-1])
        self.shortcut = None
        if stride != 1 or width != self.features:
            convolution = torch.nn.Conv2d(width, self.features, 1, stride, bias=False)
            self.shortcut = torch.nn.Sequential(convolution, _normalise(self.features, groups))

    def forward(self, values: Tensor) -> Tensor:
        kept = values if self.shortcut is None else self.shortcut(values)
        return torch.relu(self.layers(values) + kept)


def _normalise(planes: int, groups: int) -> torch.nn.Module:
    return torch.nn.GroupNorm(groups, planes) if groups else torch.nn.BatchNorm2d(planes)


def shrink(side: int) -> int:
    """Pixels of the output of a ResNet for an image of `side` pixels: halved five times, rounded up."""
    for _ in range(5):
        side = (side + 1) // 2
    return side
