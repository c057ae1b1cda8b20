"""Settings of segmenters: their images, network and training. Nothing here needs PyTorch."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from navarena.core.errors import InputError
from navarena.learning.recipes.base import FittingRecipe
from navarena.learning.settings import Precision

if TYPE_CHECKING:
    from navarena.learning.perception.training import SegmenterTraining


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
        min_share: of a candidate's pixels that a class must fill to count as seen.
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
    min_share: float = 0.01
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


@dataclass(frozen=True)
class SegmenterRecipe(FittingRecipe):
    """Everything that determines the training of a segmenter beside the machine.

    Attributes:
        protocol: whose first camera the images of val houses are taken through.
        images: what it learns from, in train houses.
        network: sizes of a U-Net; None is RedNet, at the paper's size.
        jitter: largest relative change of brightness and saturation, and of contrast.
        smoothing: c of the weights 1 / ln(c + share of the class in the pixels) (ENet, Paszke et al. 2016).
        correction: share of the logarithm of these weights that is subtracted from the scores at use.
            Weights make a network call rare classes too often (logit adjustment, Menon et al. 2021); of 0
            to 1 the mean IoU was highest at 0.75, 0.43 beside 0.37 at 0, in 20 train houses outside the
            200 learned from.
        coarse_weight: of the losses at 1/2, 1/4, 1/8 and 1/16 of the image beside that of the image.
        quarters: whether each update learns the finest scores in a random quarter of the pixels alone. With
            the 158 classes of GOAT-Bench an update takes a fifth of the time.
        precision: of the network's products; "auto" takes bfloat16 where the processor is fast in it.
        seed: of weights, images, minibatches and augmentations.

    Raises InputError for sizes below 1, for a correction outside of [0, 1], and for quarters of RedNet.
    """

    kind: ClassVar[str] = "segmenter"

    protocol: str = "r2r-ce-v1"
    images: ImageSettings = field(default_factory=ImageSettings)
    network: UNetSettings | None = field(default_factory=UNetSettings)
    jitter: float = 0.25
    smoothing: float = 1.02
    correction: float = 0.75
    coarse_weight: float = 0.25
    quarters: bool = False
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.correction <= 1:
            raise InputError(f"expected correction of 0 to 1, got {self.correction}")
        if self.quarters and self.network is None:
            raise InputError("expected quarters=false of RedNet, which scores all pixels, got true")

    def begin_fitting(self, folder: Path, threads: int) -> "SegmenterTraining":
        from navarena.learning.perception.training import SegmenterTraining

        return SegmenterTraining(self, folder, threads)

    def advise(self, folder: Path) -> str:
        return f"navarena segmenter score {folder}"
