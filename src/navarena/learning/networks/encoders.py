"""Encoders: images and numbers of observations into features."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

from navarena.core.errors import InputError
from navarena.learning.inputs import GOAL_VECTOR, InputSpec
from navarena.learning.networks.encoder_kernels import stack_images
from navarena.learning.tensors import Tensor, Tree, torch

GOAL_SCALE = 10.0
"""Metres that make 1 in the features of positions, so that most of a house lies within -3 to 3."""


CENTRE, SPREAD = 127.5, 64.0
"""Of bytes of colours, whose mean and deviation in houses are about these."""

ROWS = 256
"""Images that a processor encodes at once: what lies between layers then stays in its cache."""


class ImageEncoder(torch.nn.Module):
    """Three convolutions and a linear layer: the small encoder of images of the field.

    Kernels 8, 4, 3 with strides 4, 2, 1 and 32, 64, 32 channels, as `SimpleCNN` of habitat-lab
    (rl/models/simple_cnn.py); ReLU after each, and after the linear layer.

    Args:
        channels: C.
        height: pixels, at least 36.
        width: pixels, at least 36.
        features: of the output.
        is_multion: whether it is multiON's: no ReLU after the third convolution, and smaller first weights.
        is_centred: whether bytes are scaled to a mean of about 0; else 255 is 1, as in the papers' agents.

    Raises InputError for smaller images.
    """

    def __init__(
        self,
        channels: int,
        height: int,
        width: int,
        features: int,
        is_multion: bool = False,
        is_centred: bool = False,
    ) -> None:
        super().__init__()
        self._is_centred = is_centred
        if min(height, width) < 36:
            raise InputError(f"expected images of at least 36 x 36 pixels, got {width} x {height}")
        rows, columns = (size_after(side, ((8, 4), (4, 2), (3, 1))) for side in (height, width))
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(channels, 32, 8, 4),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(32, 64, 4, 2),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(64, 32, 3, 1),
            torch.nn.Identity() if is_multion else torch.nn.ReLU(inplace=True),
            torch.nn.Flatten(),
            torch.nn.Linear(32 * rows * columns, features),
            torch.nn.ReLU(inplace=True),
        )
        if is_multion:
            start_as_multion(self.layers)

    def forward(self, images: Sequence[Tensor]) -> Tensor:
        """(B, features) of `images` (B, H, W, C_i) one behind the other: bytes or floating-point numbers."""
        scaling = (CENTRE, SPREAD) if self._is_centred else (0.0, 255.0)
        seen = (
            convolve_first(self.layers[0], stack_images(part, *scaling)) for part in split_rows(images, ROWS)
        )
        return torch.cat([self.layers[1:](one) for one in seen])


def split_rows(images: Sequence[Tensor], rows: int) -> Iterator[Sequence[Tensor]]:
    """All `images` (B, ...) of up to `rows` steps at a time on a processor, else of all."""
    count = rows if images[0].device.type == "cpu" else max(len(images[0]), 1)
    return zip(*(one.split(count) for one in images))


def start_as_multion(layers: torch.nn.Module) -> None:
    """Give the convolutions and linear layers in `layers` multiON's first weights (simple_cnn.py).

    The gain of ReLU is handed over as the slope of a leaky one.
    """
    for layer in layers.modules():
        if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear):
            torch.nn.init.kaiming_normal_(layer.weight, a=math.sqrt(2.0))
            torch.nn.init.zeros_(layer.bias)


def convolve_first(first: torch.nn.Module, images: Tensor) -> Tensor:
    """The convolution `first` without padding, on `images` (B, H, W, C) float32.

    Neighbouring columns count as channels where a row is made of whole strides: a view of the images, whose
    convolution is a narrower one of more channels, and faster.
    """
    (tall, wide), (down, across) = first.kernel_size, first.stride
    batch, height, width, channels = images.shape
    if width % across or wide % across:
        return first(images.permute(0, 3, 1, 2))
    seen = images.reshape(batch, height, width // across, across * channels).permute(0, 3, 1, 2)
    weight = first.weight.reshape(-1, channels, tall, wide // across, across).permute(0, 2, 3, 4, 1)
    weight = weight.flatten(3).permute(0, 3, 1, 2)
    return torch.nn.functional.conv2d(seen, weight, first.bias, (down, 1))


def size_after(side: int, layers: Sequence[tuple[int, int]]) -> int:
    """Pixels that are left of `side` after convolutions `layers`, (kernel, stride) each, without padding."""
    for kernel, stride in layers:
        side = (side - kernel) // stride + 1
    return side


def _polar(values: Tensor) -> Tensor:
    distance, bearing = values[:, 0], values[:, 1]
    return torch.stack((distance / GOAL_SCALE, torch.log1p(distance), bearing.cos(), bearing.sin()), 1)


NUMBERS: Mapping[str, tuple[int, Callable[[Tensor], Tensor]]] = {
    "pointgoal_with_gps_compass": (4, _polar),
    "pointgoal": (4, _polar),
    "frontier_direction": (4, _polar),
    "gps": (2, lambda values: values / GOAL_SCALE),
    "compass": (2, lambda values: torch.cat((values.cos(), values.sin()), 1)),
}
"""Sensor of numbers -> how many features it makes, and of which values (B, K): distances count in units of
GOAL_SCALE and as log(1 + metres), angles as cosine and sine."""


def find_reading(
    table: Mapping[str, tuple[int, Callable[[Tensor], Tensor]]], one: InputSpec
) -> tuple[int, Callable[[Tensor], Tensor]]:
    """How many features the numbers of `one` make by `table`, and of which values (B, ...).

    Those of a sensor that is not in the table, such as one of a package, are taken as they are.
    """
    return table.get(one.name, (math.prod(one.shape), lambda values: values.flatten(1)))


FROZEN = ".frozen"


def name_frozen(image: str) -> str:
    """Name of the features that frozen layers compute from `image`."""
    return image + FROZEN


class Encoder(torch.nn.Module):
    """Interface of encoders: observations of N steps as one vector each.

    Attributes:
        features: length of the vectors.
        frozen: for images that layers read first which do not learn, what these make of one: a rollout
            keeps it beside the image, by the name of `name_frozen`, so that they run once for each image.
    """

    features: int
    frozen: tuple[InputSpec, ...] = ()

    @abstractmethod
    def forward(self, observations: Tree) -> Tensor:
        """(B, features) float32 features of name -> (B, ...) observations of a rollout.

        An image is not read where what stands in `frozen` is there.
        """

    def see_frozen(self, observations: Tree) -> Tree:
        """Frozen features, name -> (B, ...) float32, of the images in name -> (B, ...)."""
        return {}

    def learn_statistics(self, observations: Tree) -> None:
        """Count `observations`, name -> (B, ...), in what scales the inputs; most scale by constants."""


class ObservationEncoder(Encoder):
    """All observations of a policy as one vector: images through one ImageEncoder, numbers through a layer.

    Images are stacked along their channels; categories become one-hot. Pixels of categories become the
    features of a table, and where there is one goal of a category, the products of these with the goal's: a
    image of where the goal is, as soon as the tables have learned which category means it.

    Args:
        inputs: what the policy sees; all images of one size.
        image_features: of the ImageEncoder.
        number_features: of the layer for numbers, categories and goals as vectors.
        unit_goals: whether these vectors are brought to one length.

    Attributes:
        features: length of the output.

    Raises InputError for images of different sizes and for maps.
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
        self._images = [one for one in inputs if one.is_image]
        self._numbers = [one for one in inputs if not one.is_image]
        if any(one.is_map for one in inputs):
            raise InputError(
                f"expected numbers=embedded for maps, got joined with {', '.join(one.name for one in inputs)}"
            )
        self.features = 0
        labelled = [one for one in self._images if one.classes]
        goals = [one for one in self._numbers if one.classes and one.shape == (1,)]
        self._goal = goals[0] if labelled and len(goals) == 1 else None
        if labelled:
            self.pixel_tables = torch.nn.ModuleList(
                torch.nn.Embedding(one.classes, PIXEL_FEATURES) for one in labelled
            )
        if self._goal is not None:
            self.goal_table = torch.nn.Embedding(self._goal.classes, PIXEL_FEATURES)
        if self._images:
            channels, height, width = measure_images(self._images)
            more = PIXEL_FEATURES - 1 + (self._goal is not None)
            channels += sum(one.shape[2] * more for one in labelled)
            # RobustNav's from bytes of 0 to 1 died: images changed features by 2 % after 61,000 frames (26 %
            # where bytes are centred), and by nothing after 3 million
            self.image_encoder = ImageEncoder(channels, height, width, image_features, is_centred=True)
            self.features += image_features
        if self._numbers:
            size = sum(_count_features(one) for one in self._numbers)
            self.number_encoder = torch.nn.Sequential(torch.nn.Linear(size, number_features), torch.nn.ReLU())
            self.features += number_features

    def forward(self, observations: Tree) -> Tensor:
        """(B, features) float32 features of name -> (B, ...) observations of a rollout."""
        parts = []
        if self._images:
            parts.append(self.image_encoder(self._read_images(observations)))
        if self._numbers:
            numbers = [_as_numbers(one, observations[one.name], self._unit_goals) for one in self._numbers]
            parts.append(self.number_encoder(torch.cat(numbers, 1)))
        return torch.cat(parts, 1)

    def _read_images(self, observations: Tree) -> list[Tensor]:
        """The images (B, H, W, C), with the features of categories in their place."""
        found, number = [], 0
        for one in self._images:
            values = observations[one.name]
            if not one.classes:
                found.append(values)
                continue
            features = self.pixel_tables[number](values.long())
            number += 1
            if self._goal is not None:
                goal = self.goal_table(observations[self._goal.name].long())[:, 0]
                where = torch.einsum("bhwcf,bf->bhwc", features, goal)[..., None]
                features = torch.cat((features, where / PIXEL_FEATURES**0.5), 4)
            found.append(features.flatten(3))
        return found


PIXEL_FEATURES = 8
"""Of the category of a pixel."""


def measure_images(images: Sequence[InputSpec]) -> tuple[int, int, int]:
    """(channels, height, width) of all `images` together; raises InputError where their sizes differ."""
    sizes = {one.shape[:2] for one in images}
    if len(sizes) > 1:
        raise InputError(f"expected images of one size, got {sorted(sizes)}")
    height, width = sizes.pop()
    return sum(one.shape[2] for one in images), height, width


def _count_features(one: InputSpec) -> int:
    if one.classes:
        return one.classes * math.prod(one.shape)
    if one.name.startswith(GOAL_VECTOR):
        return one.shape[0]
    return find_reading(NUMBERS, one)[0]


def scale_goals(vectors: Tensor, is_unit: bool) -> Tensor:
    """(B, D) float32 of goals' `vectors` (B, D): as they are, or as long as the root of D; 0 stays 0."""
    values = vectors.float()
    if not is_unit:
        return values
    return torch.nn.functional.normalize(values, dim=1) * math.sqrt(values.shape[1])


def _as_numbers(one: InputSpec, values: Tensor, unit_goals: bool) -> Tensor:
    if one.classes:
        return torch.nn.functional.one_hot(values.long(), one.classes).float().flatten(1)
    if one.name.startswith(GOAL_VECTOR):
        return scale_goals(values, unit_goals)
    return find_reading(NUMBERS, one)[1](values.float())
