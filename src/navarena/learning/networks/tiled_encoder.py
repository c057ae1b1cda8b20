"""Encoder of RobustNav and EmbCLIP: features of a frozen network, joined with the goal at every place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from navarena.core.errors import InputError
from navarena.learning.inputs import InputSpec
from navarena.learning.networks import clip_resnet
from navarena.learning.networks.clip_resnet import ClipResNet, shrink_clip
from navarena.learning.networks.embedded_encoder import apply_number_layer, make_number_layer
from navarena.learning.networks.encoders import Encoder, name_frozen
from navarena.learning.networks.resnet import ResNet, shrink
from navarena.learning.perception import lite0
from navarena.learning.perception.lite0 import Lite0Map
from navarena.learning.tensors import Tensor, Tree, torch

TRUNK_ROWS = 32
"""Frames that go through the frozen trunk at once: its activations need 15 MB each."""

COLOUR_MEAN, COLOUR_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet, of colours of 0 to 1."""

DEPTH_MEAN, DEPTH_DEVIATION = 0.5, 0.25
"""Metres, that RobustNav takes from depth and divides it by."""


@dataclass(frozen=True)
class TiledTrunk:
    """A frozen network that makes maps of features.

    Attributes:
        make: with random weights; has `features`, the channels of its maps.
        shrink: pixels of the side of an image -> of its map.
        colours: mean and deviation that it expects of colours of 0 to 1.
    """

    make: Callable[[], torch.nn.Module]
    shrink: Callable[[int], int]
    colours: tuple[tuple[float, float, float], tuple[float, float, float]]


TILED_TRUNKS: Mapping[str, TiledTrunk] = {
    "frozen_resnet18": TiledTrunk(
        lambda: ResNet(3, 64, 18, "batch"), shrink, (COLOUR_MEAN, COLOUR_DEVIATION)
    ),
    "frozen_resnet50": TiledTrunk(
        lambda: ResNet(3, 64, 50, "batch"), shrink, (COLOUR_MEAN, COLOUR_DEVIATION)
    ),
    "frozen_clip_resnet50": TiledTrunk(ClipResNet, shrink_clip, (clip_resnet.MEAN, clip_resnet.DEVIATION)),
    "frozen_lite0": TiledTrunk(Lite0Map, shrink, (lite0.MEAN, lite0.DEVIATION)),
}
"""`images` of EncoderSettings -> the frozen network."""


class TiledGoalEncoder(Encoder):
    """RobustNav's encoder (point_nav_models.py and object_nav_models.py): 32 x 7 x 7 numbers for each image.

    Of each image: the frozen trunk (512 x 7 x 7 of 224 x 224 pixels by a ResNet-18), two 1 x 1
    convolutions with ReLU, the features of the goal at every place, two more convolutions, the first with
    ReLU. The trunk is shared, does not learn, and its batch normalisation stays that of evaluation.

    Args:
        inputs: one goal (distance and bearing, or a category), and "rgb", "depth" or both; depth in metres.
        goal_features: of the goal's layer; 32 in RobustNav.
        trunk: one of TILED_TRUNKS; EmbCLIP is RobustNav's network behind "frozen_clip_resnet50".

    Raises InputError for other inputs.
    """

    def __init__(
        self, inputs: Sequence[InputSpec], goal_features: int, trunk: str = "frozen_resnet18"
    ) -> None:
        super().__init__()
        self._images = [one for one in inputs if one.is_image]
        goals = [one for one in inputs if not one.is_image]
        if len(goals) != 1 or not self._images or {one.shape[2] for one in self._images} - {1, 3}:
            raise InputError(
                f"expected images of 1 or 3 channels and one goal, got {[one.name for one in inputs]}"
            )
        self._goal = goals[0]
        self.goal_layer = make_number_layer(self._goal, goal_features, is_plain=True)
        kind = TILED_TRUNKS[trunk]
        self.trunk = kind.make().requires_grad_(False)
        self.compressors = torch.nn.ModuleDict(
            {one.name: _make_convolutions(self.trunk.features, True) for one in self._images}
        )
        self.combiners = torch.nn.ModuleDict(
            {one.name: _make_convolutions(32 + goal_features, False) for one in self._images}
        )
        self.frozen = tuple(
            InputSpec(
                name_frozen(one.name),
                (self.trunk.features, kind.shrink(one.shape[0]), kind.shrink(one.shape[1])),
                "float32",
            )
            for one in self._images
        )
        self.image_encoder = torch.nn.Identity()  # auxiliary losses take what passes it: images, no goal
        self.features = sum(32 * one.shape[1] * one.shape[2] for one in self.frozen)
        colour = torch.tensor(kind.colours).reshape(2, 1, 3, 1, 1)
        self.register_buffer("_colour", colour, persistent=False)
        self.train()

    def train(self, mode: bool = True) -> "TiledGoalEncoder":
        """Set the training mode, but keep the trunk in evaluation mode."""
        super().train(mode)
        self.trunk.eval()
        return self

    def forward(self, observations: Tree) -> Tensor:
        goal = apply_number_layer(self._goal, self.goal_layer, observations[self._goal.name], is_plain=True)
        seen = self.see_frozen({k: v for k, v in observations.items() if name_frozen(k) not in observations})
        seen |= {one.name: observations[one.name] for one in self.frozen if one.name in observations}
        compressed = {
            one.name: self.compressors[one.name](seen[name_frozen(one.name)]) for one in self._images
        }
        self.image_encoder(torch.cat([one.flatten(1) for one in compressed.values()], 1))
        parts = []
        for name, small in compressed.items():
            tiled = goal[:, :, None, None].expand(-1, -1, *small.shape[2:])
            parts.append(self.combiners[name](torch.cat((small, tiled), 1)).flatten(1))
        return torch.cat(parts, 1)

    def see_frozen(self, observations: Tree) -> Tree:
        names = [one.name for one in self._images if one.name in observations]
        return {name_frozen(name): self._see(observations[name]) for name in names}

    def _see(self, values: Tensor) -> Tensor:
        """(B, features, H / 32, W / 32) float32 of an image (B, H, W, C) as it stands in a rollout."""
        with torch.no_grad():
            return torch.cat([self.trunk(self._scale(part)) for part in values.split(TRUNK_ROWS)])

    def _scale(self, values: Tensor) -> Tensor:
        images = values.permute(0, 3, 1, 2).float()
        if values.shape[3] == 1:
            return ((images - DEPTH_MEAN) / DEPTH_DEVIATION).expand(-1, 3, -1, -1)
        mean, deviation = self._colour
        return (images / 255 - mean) / deviation


def _make_convolutions(channels: int, last_relu: bool) -> torch.nn.Sequential:
    layers = [torch.nn.Conv2d(channels, 128, 1), torch.nn.ReLU(), torch.nn.Conv2d(128, 32, 1)]
    return torch.nn.Sequential(*layers, *([torch.nn.ReLU()] if last_relu else []))
