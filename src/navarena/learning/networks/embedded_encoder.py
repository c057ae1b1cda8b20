"""Encoder of the papers' agents: a network for images, one for each map, a layer or table for each number."""

from collections.abc import Callable, Mapping, Sequence

from navarena.core.errors import InputError
from navarena.learning.inputs import GOAL_VECTOR, InputSpec
from navarena.learning.networks.encoder_kernels import stack_images
from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.networks.encoders import (
    Encoder,
    ImageEncoder,
    find_reading,
    measure_images,
    scale_goals,
)
from navarena.learning.networks.grounding import GroundingNetwork
from navarena.learning.networks.map_encoder import MapEncoder
from navarena.learning.networks.normaliser import RunningNormaliser
from navarena.learning.networks.resnet import ResNet, shrink
from navarena.learning.tensors import Tensor, Tree, torch

STATISTICS_ROWS = 64
"""Frames that are read at once for statistics, so that memory does not grow with a rollout."""


def _turn_goal(values: Tensor) -> Tensor:
    distance, bearing = values.unbind(1)
    return torch.stack((distance, (-bearing).cos(), (-bearing).sin()), 1)


NUMBERS: Mapping[str, tuple[int, Callable[[Tensor], Tensor]]] = {
    "pointgoal_with_gps_compass": (3, _turn_goal),
    "pointgoal": (2, lambda values: values),
    "frontier_direction": (3, _turn_goal),
    "gps": (2, lambda values: values),
    "compass": (2, lambda values: torch.cat((values.cos(), values.sin()), 1)),
}
"""Sensor of numbers -> how many features habitat-lab makes of it, and of which values (B, K): metres as they
are, angles as cosine and sine (rl/ddppo/policy/resnet_policy.py)."""


class EmbeddedEncoder(Encoder):
    """Maps through a network each, images through one, numbers through layers, categories through tables.

    The parts follow each other as the inputs do, maps first, then images.

    Args:
        inputs: what the policy sees; all images of one size.
        image_features: of the network of images.
        number_features: of each layer and table.
        settings: which networks read images and maps.

    Raises InputError for images of different sizes or too small ones, for too small maps, for images that are
    grounded without a goal.
    """

    def __init__(
        self,
        inputs: Sequence[InputSpec],
        image_features: int,
        number_features: int,
        settings: EncoderSettings,
    ) -> None:
        super().__init__()
        self._unit_goals = settings.goals == "unit"
        self._images = [one for one in inputs if one.is_image]
        self._maps = [one for one in inputs if one.is_map]
        self._numbers = [one for one in inputs if not (one.is_image or one.is_map)]
        self._resize = settings.resize
        self.features = number_features * len(self._numbers) + settings.map_features * len(self._maps)
        goals = [one for one in self._numbers if one.classes] if settings.weighs_maps else []
        self._goal = goals[0].name if goals else ""
        count = goals[0].classes if goals else 0
        self._grounded = _find_goal(inputs) if settings.images == "grounding" else ""
        self.maps = torch.nn.ModuleDict({one.name: MapEncoder(one, settings, count) for one in self._maps})
        if self._images:
            channels, height, width = measure_images(self._images)
            if settings.resize:
                height = width = settings.resize
            sizes = channels, height, width, image_features
            self.images = (
                GroundingNetwork(*sizes, number_features)
                if self._grounded
                else _make_image_network(*sizes, settings)
            )
            self.features += image_features
        self.numbers = make_number_layers(self._numbers, number_features, settings.spare_categories)

    def forward(self, observations: Tree) -> Tensor:
        goals = observations[self._goal] if self._goal else None
        parts = [self.maps[one.name](observations[one.name], goals) for one in self._maps]
        numbers = {one.name: self._read_number(one, observations[one.name]) for one in self._numbers}
        if self._images:
            images = self._read_images(observations)
            is_residual = isinstance(self.images, ResNetEncoder)
            goal = (numbers[self._grounded],) if self._grounded else ()
            parts.append(self.images(stack_images(images, 0.0, 255.0) if is_residual else images, *goal))
        return torch.cat((*parts, *numbers.values()), 1)

    def _read_number(self, one: InputSpec, values: Tensor) -> Tensor:
        """(B, number_features) features of the `values` (B, K) of the input `one`."""
        if one.name.startswith(GOAL_VECTOR):
            values = scale_goals(values, self._unit_goals)
        return apply_number_layer(one, self.numbers[one.name], values)

    def learn_statistics(self, observations: Tree) -> None:
        if self._images and isinstance(self.images, ResNetEncoder):
            rows = len(observations[self._images[0].name])
            for first in range(0, rows, STATISTICS_ROWS):
                part = {
                    one.name: observations[one.name][first : first + STATISTICS_ROWS] for one in self._images
                }
                self.images.learn_statistics(stack_images(self._read_images(part), 0.0, 255.0))

    def _read_images(self, observations: Tree) -> list[Tensor]:
        """The images (B, H, W, C), resized where the settings say so."""
        images = [observations[one.name] for one in self._images]
        return [resize(one, self._resize) for one in images] if self._resize else images


def _find_goal(inputs: Sequence[InputSpec]) -> str:
    """The input that says what is looked for: one vector, or else one category."""
    vectors = [one.name for one in inputs if one.name.startswith(GOAL_VECTOR)]
    found = vectors or [one.name for one in inputs if one.classes and not one.is_image]
    if len(found) != 1 or not any(one.is_image for one in inputs):
        raise InputError(
            "expected images and one goal as a vector or a category for images=grounding, got "
            f"{', '.join(one.name for one in inputs)}"
        )
    return found[0]


def _make_image_network(
    channels: int, height: int, width: int, features: int, settings: EncoderSettings
) -> torch.nn.Module:
    if settings.images in ("resnet18", "resnet50"):
        return ResNetEncoder(channels, height, width, features, settings)
    return ImageEncoder(channels, height, width, features, settings.images == "multion")


class ResNetEncoder(torch.nn.Module):
    """habitat-lab's network of images for DD-PPO: halved, scaled, a ResNet, a compression, a linear layer.

    Weights start as PyTorch's do: habitat-lab has another rule but never applies it.

    Args:
        channels: C.
        height: pixels, at least 64.
        width: pixels, at least 64.
        features: of the output.
        settings: depth and sizes.

    Raises InputError for smaller images.
    """

    def __init__(
        self, channels: int, height: int, width: int, features: int, settings: EncoderSettings
    ) -> None:
        super().__init__()
        if min(height, width) < 64:
            raise InputError(f"expected images of at least 64 x 64 pixels, got {width} x {height}")
        self.normaliser = RunningNormaliser(channels) if settings.normalise else None
        is_deep = settings.images == "resnet50"
        self.trunk = ResNet(channels, settings.base_planes, 50 if is_deep else 18, "group")
        places = shrink(height // 2) * shrink(width // 2)
        planes = max(round(settings.compressed / places), 1)
        self.compression = torch.nn.Sequential(
            torch.nn.Conv2d(self.trunk.features, planes, 3, padding=1, bias=False),
            torch.nn.GroupNorm(1, planes),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(planes * places, features),
            torch.nn.ReLU(),
        )

    def forward(self, images: Tensor) -> Tensor:
        """(B, features) float32 of `images` (B, H, W, C), float32."""
        halved = self._halve(images)
        if self.normaliser is not None:
            halved = self.normaliser(halved)
        return self.compression(self.trunk(halved))

    def learn_statistics(self, images: Tensor) -> None:
        """Count `images` (B, H, W, C) float32 in the normaliser, where there is one."""
        if self.normaliser is not None:
            self.normaliser.learn(self._halve(images))

    def _halve(self, images: Tensor) -> Tensor:
        return torch.nn.functional.avg_pool2d(images.permute(0, 3, 1, 2), 2)


def resize(values: Tensor, side: int) -> Tensor:
    """(B, side, side, C) of images (B, H, W, C): their middle, the shorter side averaged to `side` pixels.

    Bytes stay whole numbers, as habitat-lab's do (utils/common.py).
    """
    height, width = values.shape[1:3]
    scale = side / min(height, width)
    size = int(height * scale), int(width * scale)
    small = torch.nn.functional.interpolate(values.float().permute(0, 3, 1, 2), size=size, mode="area")
    top, left = size[0] // 2 - side // 2, size[1] // 2 - side // 2
    square = small.permute(0, 2, 3, 1)[:, top : top + side, left : left + side]
    return square.floor().to(values.dtype) if values.dtype == torch.uint8 else square


def make_number_layer(
    one: InputSpec, features: int, is_plain: bool = False, spare: int = 0
) -> torch.nn.Module:
    """The table of a category, or the linear layer of numbers.

    Args:
        one: the input.
        features: of the outcome.
        is_plain: whether numbers are taken as they are.
        spare: rows of the table that no category has.
    """
    if one.classes:
        return torch.nn.Embedding(one.classes + spare, features)
    if one.name.startswith(GOAL_VECTOR):
        return torch.nn.Linear(one.shape[0], features)
    return torch.nn.Linear(one.shape[0] if is_plain else find_reading(NUMBERS, one)[0], features)


def make_number_layers(numbers: Sequence[InputSpec], features: int, spare: int = 0) -> torch.nn.ModuleDict:
    """The table or layer of each of `numbers`, by name; arguments as of `make_number_layer`."""
    return torch.nn.ModuleDict({one.name: make_number_layer(one, features, spare=spare) for one in numbers})


def apply_number_layer(
    one: InputSpec, layer: torch.nn.Module, values: Tensor, is_plain: bool = False
) -> Tensor:
    """(B, features) float32 features of the `values` (B, K) of input `one`, by its layer."""
    if one.classes:
        return layer(values.long()).flatten(1)
    is_plain = is_plain or one.name.startswith(GOAL_VECTOR)
    return layer(values.float() if is_plain else find_reading(NUMBERS, one)[1](values.float()))
