"""Settings of segmenters: their images, network and training. Nothing here needs PyTorch."""

from dataclasses import dataclass, field

from navarena.core.errors import InputError
from navarena.learning.settings import OptimiserSettings, Precision, Schedule


@dataclass(frozen=True)
class ImageSettings:
    """Settings of the labelled images that a segmenter learns from, or is scored on.

    Attributes:
        vocabulary: whose words the classes are (see `class_names`).
        cameras: protocols through whose first cameras the houses are seen, house by house in turn.
        size: (height, width) pixels. The camera's field of view is kept horizontally; pixels are square.
        scenes: a set of scenes.
        houses: the first of its split.
        images: of each house.
        candidates: poses drawn for each image that is kept.
        least_share: of a candidate's pixels that a class must fill to count as seen.
        tilts: degrees, upwards, of the camera; one is drawn for each pose.

    Raises InputError for sizes below 1, and for a side that is no multiple of 16.
    """

    vocabulary: str = "ivln"
    cameras: tuple[str, ...] = (
        "r2r-ce-v1",
        "multion-3on-v1",
        "objectnav-habitat2020-v1",
        "goat-v1",
    )
    size: tuple[int, int] = (128, 128)
    scenes: str = "houses-v1"
    houses: int = 200
    images: int = 100
    candidates: int = 4
    least_share: float = 0.01
    # level most of the time; ObjectNav and GOAT look up and down by 30 degrees
    tilts: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -30.0, -30.0, 30.0)

    def __post_init__(self) -> None:
        numbers = (self.houses, self.images, self.candidates, *self.size)
        if min(numbers) < 1 or not self.cameras or not self.tilts:
            raise InputError(f"expected houses, images, candidates, cameras and tilts, got {self}")
        if any(side % STRIDE for side in self.size):
            raise InputError(f"expected image sides of multiples of {STRIDE} pixels, got {self.size}")


STRIDE = 16
"""Pixels that make one of the coarsest level of the network."""


@dataclass(frozen=True)
class UNetSettings:
    """Sizes of the segmenter's network.

    Attributes:
        widths: channels of the four levels, at 1/2, 1/4, 1/8 and 1/16 of the image.
    """

    widths: tuple[int, int, int, int] = (16, 32, 64, 128)


_ADAM = OptimiserSettings(rate=Schedule(1e-3, 1e-5), epsilon=1e-8, max_gradient=5.0)


@dataclass(frozen=True)
class SegmenterRecipe:
    """Everything that determines the training of a segmenter beside the machine.

    Attributes:
        description: one line: what is trained, and what it takes.
        protocol: whose first camera the images of val houses are taken through.
        images: what it learns from, in train houses.
        network: sizes of a U-Net; None is RedNet, at the paper's size.
        optimiser: Adam; the rate falls along half a cosine from `first` to `last`.
        frames: images learned from, repetitions included.
        batch: images of an update.
        jitter: largest relative change of brightness and saturation, and of contrast.
        smoothing: c of the weights 1 / ln(c + share of the class in the pixels) (ENet, Paszke et al. 2016).
        coarse_weight: of the losses at 1/2, 1/4, 1/8 and 1/16 of the image beside that of the image.
        precision: of the network's products; "auto" takes bfloat16 where the processor is fast in it.
        seed: of weights, images, minibatches and augmentations.
        save_updates: updates between checkpoints.
        log_updates: updates in a line of the log.

    Raises InputError for sizes below 1.
    """

    description: str
    protocol: str = "r2r-ce-v1"
    images: ImageSettings = field(default_factory=ImageSettings)
    network: UNetSettings | None = field(default_factory=UNetSettings)
    optimiser: OptimiserSettings = _ADAM
    frames: int = 100_000
    batch: int = 16
    jitter: float = 0.25
    smoothing: float = 1.02
    coarse_weight: float = 0.25
    precision: Precision = "auto"
    seed: int = 0
    save_updates: int = 500
    log_updates: int = 100

    def __post_init__(self) -> None:
        for name in ("frames", "batch", "save_updates", "log_updates"):
            if getattr(self, name) < 1:
                raise InputError(f"expected {name} of at least 1, got {getattr(self, name)}")
