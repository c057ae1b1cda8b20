"""Inputs of policies: which observations a policy sees, their sizes, and how they are stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Shaped

from navarena.core.errors import InputError, unknown_name
from navarena.simulation.sensors.images import Depth
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.task import Task

POSE_INPUTS = ("gps", "compass")
"""Inputs that together are a pose, as memories take it."""

MAX_CLASSES = 512
"""Integers of more values are no categories that are written as one-hot."""


TOKENS = "instruction_tokens"
"""The sensor of the words of an instruction."""

GRAPH_INPUTS = (
    TOKENS,
    "view_features",
    "view_index",
    "candidate_views",
    "candidate_angles",
    "phase",
    "tour_position",
)
"""What HAMT sees; features of candidates and angles of views follow from these."""

GOAL_VECTOR = "goal_vector"
"""How the names of goals as vectors begin."""

GOAL_IMAGE = "image_goal"
"""The sensor of the image of a goal, a square; black where no image gives the goal."""

COUNTS = ("candidate_views", "tour_position")
"""Sensors of whole numbers that are no categories, kept as they are."""

MAPS = "semantic_map"
"""How the names of semantic maps begin."""


@dataclass(frozen=True)
class InputSpec:
    """One observation of a policy.

    Attributes:
        name: of the sensor.
        shape: without leading dimensions; (H, W, C) of an image or a map, (C, W, W) of a semantic map.
        dtype: in which rollouts store it: "uint8" as rendered, "float16" for other images, "float32" for
            numbers, "int64" for categories, "int16" for images of them, "int32" for words.
        classes: number of categories, of each pixel of an image; 0 for others.
        categories: of each channel of a map, how many; empty for others.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    classes: int = 0
    categories: tuple[int, ...] = ()

    @property
    def is_image(self) -> bool:
        """Whether it is an image."""
        return len(self.shape) == 3 and not (self.is_map or self.is_semantic_map)

    @property
    def is_map(self) -> bool:
        """Whether it is a map, whose channels hold categories."""
        return bool(self.categories)

    @property
    def is_semantic_map(self) -> bool:
        """Whether it is a semantic map: planes of cells, (C, W, W)."""
        return self.name.startswith(MAPS)


def choose_inputs(
    specs: Mapping[str, ObservationSpec], names: Sequence[str], image_size: tuple[int, int]
) -> tuple[InputSpec, ...]:
    """The inputs `names` of a policy that sees images of `image_size` (height, width).

    Args:
        specs: of the observations that there are.
        names: of those that the policy uses.
        image_size: pixels; larger images are resized to it, those of goals to a square of its longer side.

    Raises UnknownNameError for a name without observation, InputError for images that are smaller, and for
    integers that are no categories.
    """
    return tuple(_choose_input(specs, name, image_size) for name in names)


def choose_targets(specs: Mapping[str, ObservationSpec], names: Sequence[str]) -> tuple[InputSpec, ...]:
    """Specs of the observations `names` that losses predict: bytes, other integers as int32, else float32.

    Raises UnknownNameError for a name without observation.
    """
    found = []
    for name in names:
        if name not in specs:
            raise unknown_name("observation", name, specs)
        spec = specs[name]
        kind = np.dtype(spec.dtype)
        dtype = "uint8" if kind == np.uint8 else "int32" if kind.kind in "iu" else "float32"
        is_class = kind.kind in "iu" and spec.low == 0 and spec.high < MAX_CLASSES
        found.append(InputSpec(name, spec.shape, dtype, int(spec.high) + 1 if is_class else 0))
    return tuple(found)


def require_goal_images(names: Sequence[str], protocol: str, offered: Sequence[str]) -> None:
    """Raise InputError for a policy that sees images of goals where no goal is given by one.

    Args:
        names: of its inputs.
        protocol: id.
        offered: names of the observations of the protocol.
    """
    if GOAL_IMAGE in names and GOAL_IMAGE not in offered:
        raise InputError(
            f"expected a protocol whose goals are images for {GOAL_IMAGE}, such as instance-imagenav-v1, got "
            f"{protocol}; choose it by --protocol, or other sensors"
        )


def _choose_input(specs: Mapping[str, ObservationSpec], name: str, image_size: tuple[int, int]) -> InputSpec:
    if name not in specs:
        raise unknown_name("observation", name, specs)
    spec = specs[name]
    kind = np.dtype(spec.dtype)
    if spec.categories:
        return InputSpec(name, spec.shape, kind.name, categories=spec.categories)
    if name.startswith(MAPS):
        return InputSpec(name, spec.shape, "uint8")
    if name == TOKENS:
        return InputSpec(name, spec.shape, "int32")
    if name in COUNTS:
        return InputSpec(name, spec.shape, "int64")
    if len(spec.shape) == 3:
        height, width, channels = spec.shape
        image_size = (max(image_size),) * 2 if name == GOAL_IMAGE else image_size
        if height < image_size[0] or width < image_size[1]:
            raise InputError(
                f"expected {name} of at least {image_size[1]} x {image_size[0]} pixels, got "
                f"{width} x {height}"
            )
        shape = (*image_size, channels)
        if kind.kind in "iu" and kind != np.uint8:
            return InputSpec(name, shape, "int16", _count_categories(spec, name))
        return InputSpec(name, shape, "uint8" if kind == np.uint8 else "float16")
    if kind.kind == "f":
        return InputSpec(name, spec.shape, "float32")
    return InputSpec(name, spec.shape, "int64", _count_categories(spec, name))


def _count_categories(spec: ObservationSpec, name: str) -> int:
    if spec.low < 0 or spec.high >= MAX_CLASSES:
        raise InputError(
            f"expected categories 0 to {MAX_CLASSES - 1} of {name}, got {spec.low} to {spec.high}"
        )
    return int(spec.high) + 1


def resize_nearest(
    images: Shaped[np.ndarray, "n h w *c"], size: tuple[int, int]
) -> Shaped[np.ndarray, "n h2 w2 *c"]:
    """(N, H', W', ...) of `images` (N, H, W, ...), same dtype: the pixels nearest to the centres of `size`'s.

    A smaller rendering of `size` itself differs from it by up to half a pixel of the larger image. A view
    where the sides are equal or multiples.

    Args:
        images: any dtype.
        size: (H', W') pixels.
    """
    (height, width), (rows, columns) = images.shape[1:3], size
    if (height, width) == size:
        return images
    if height % rows == 0 and width % columns == 0:
        down, across = height // rows, width // columns
        return images[:, down // 2 :: down, across // 2 :: across]
    down = ((np.arange(rows) + 0.5) * height / rows).astype(np.int64)
    across = ((np.arange(columns) + 0.5) * width / columns).astype(np.int64)
    return images[:, down[:, None], across]


def resize_input(one: InputSpec, observed: Shaped[np.ndarray, "n ..."]) -> Shaped[np.ndarray, "n ..."]:
    """(N, *shape) of the observation `observed` (N, ...), any dtype: images resized, others as is."""
    return resize_nearest(observed, (one.shape[0], one.shape[1])) if one.is_image else observed


def describe_input(one: InputSpec) -> str:
    """Name, shape, dtype and number of categories of an input, in words."""
    counts = " + ".join(map(str, one.categories)) or one.classes
    return f"{one.name} of {one.shape}, {one.dtype}, {counts} categories"


def describe_unit(task: Task, name: str, spec: ObservationSpec) -> str:
    """The unit of an observation of `task`, or of what depth counts shares; empty without."""
    sensor = task.find_sensor(name)
    if isinstance(sensor, Depth) and not spec.unit:
        return f"shares of {sensor.max_range:.0f} m"
    return spec.unit
