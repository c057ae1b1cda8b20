"""Encoders of agents with neural maps: image features, and the inputs of the map memory."""

import math
from collections.abc import Sequence

from navarena.core.errors import InputError
from navarena.learning.inputs import POSE_INPUTS, InputSpec
from navarena.learning.networks.embedded_encoder import apply_number_layer, make_number_layers
from navarena.learning.networks.encoder_kernels import stack_images
from navarena.learning.networks.encoders import (
    ROWS,
    Encoder,
    ImageEncoder,
    convolve_first,
    measure_images,
    split_rows,
    start_as_multion,
)
from navarena.learning.networks.neural_map_settings import PROJECTED_CHANNELS, PROJECTION, RECOGNISED
from navarena.learning.networks.neural_maps import project
from navarena.learning.settings import PolicySettings
from navarena.learning.tensors import Tensor, Tree, torch


class ProjectingEncoder(Encoder):
    """The projection of the image's features, 13 x 13 x 32 numbers, then the image's and the goal's features.

    multiON's network of agents with maps of their own: three convolutions with ReLU, whose feature map is
    projected, and a linear layer without.

    Args:
        inputs: "depth" and maybe other images, categories of goals, gps and compass.
        settings: sizes.

    Raises InputError for inputs without depth, and as `EmbeddedEncoder`.
    """

    def __init__(self, inputs: Sequence[InputSpec], settings: PolicySettings) -> None:
        super().__init__()
        self._map = settings.neural_map
        self._images, self._numbers = split_inputs(inputs)
        if "depth" not in {one.name for one in self._images}:
            raise InputError("expected the input depth, by which features are projected")
        channels, height, width = measure_images(self._images)
        self.convolutions = torch.nn.Sequential(
            torch.nn.Conv2d(channels, 32, 8, 4),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(32, 64, 4, 2),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(64, PROJECTED_CHANNELS, 3, 1),
            torch.nn.ReLU(inplace=True),
        )
        start_as_multion(self.convolutions)
        if min(height, width) < 36:
            raise InputError(f"expected images of at least 36 x 36 pixels, got {width} x {height}")
        with torch.no_grad():
            shape = self.convolutions(torch.zeros(1, channels, height, width)).shape
        self._points = self._map.points or min(shape[2:])
        # the name by which auxiliary losses find it; its first weights are PyTorch's, as in multiON
        self.image_encoder = torch.nn.Linear(shape.numel(), settings.image_features)
        spare = settings.encoder.spare_categories
        self.numbers = make_number_layers(self._numbers, settings.number_features, spare)
        self.features = PROJECTION + settings.image_features + settings.number_features * len(self._numbers)

    def forward(self, observations: Tree) -> Tensor:
        images = [observations[one.name] for one in self._images]
        features = torch.cat(
            [
                self.convolutions[1:](convolve_first(self.convolutions[0], stack_images(part, 0.0, 255.0)))
                for part in split_rows(images, ROWS)
            ]
        )
        depth = stack_images([observations["depth"]], 0.0, 255.0)[..., 0] * self._map.depth_metres
        projected = project(features, depth, math.radians(self._map.hfov_deg), self._points)
        seen = self.image_encoder(features.flatten(1))
        numbers = read_numbers(self._numbers, self.numbers, observations)
        return torch.cat((projected.flatten(1), seen, *numbers), 1)


class RecognisingEncoder(Encoder):
    """The class of the goal object that is seen, that of the current goal, features of image and goal.

    multiON's network of images of agents with oracle maps, and a linear layer that says the class. What it
    says is learned by the auxiliary loss "seen_class" alone.

    Args:
        inputs: images, one goal, gps and compass.
        settings: sizes.

    Raises InputError for other inputs, and for goals of other classes than the map has.
    """

    def __init__(self, inputs: Sequence[InputSpec], settings: PolicySettings) -> None:
        super().__init__()
        self._images, self._numbers = split_inputs(inputs)
        classes = settings.neural_map.classes
        if not self._images or [one.classes for one in self._numbers] != [classes]:
            raise InputError(f"expected images and a goal of {classes} classes, got {list(inputs)}")
        self.image_encoder = ImageEncoder(*measure_images(self._images), settings.image_features, True)
        self.classifier = torch.nn.Linear(settings.image_features, classes + 1)
        torch.nn.init.orthogonal_(self.classifier.weight)
        torch.nn.init.zeros_(self.classifier.bias)
        spare = settings.encoder.spare_categories
        self.numbers = make_number_layers(self._numbers, settings.number_features, spare)
        self.features = RECOGNISED + settings.image_features + settings.number_features

    def forward(self, observations: Tree) -> Tensor:
        seen = self.image_encoder([observations[one.name] for one in self._images])
        recognised = self.classifier(seen).argmax(1, keepdim=True)
        goal = observations[self._numbers[0].name]
        numbers = read_numbers(self._numbers, self.numbers, observations)
        return torch.cat((recognised.float(), goal.float(), seen, *numbers), 1)


def split_inputs(inputs: Sequence[InputSpec]) -> tuple[list[InputSpec], list[InputSpec]]:
    """Images, and numbers that are no pose."""
    numbers = [one for one in inputs if not one.is_image and one.name not in POSE_INPUTS]
    return [one for one in inputs if one.is_image], numbers


def read_numbers(
    numbers: Sequence[InputSpec], layers: torch.nn.ModuleDict, observations: Tree
) -> list[Tensor]:
    """(B, number_features) features of each of `numbers`, by its layer."""
    return [apply_number_layer(one, layers[one.name], observations[one.name]) for one in numbers]
