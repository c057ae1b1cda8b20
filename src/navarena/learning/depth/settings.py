"""Settings of depth from colours: its images, network and training. Nothing here needs PyTorch."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from navarena.core.errors import InputError
from navarena.learning.perception.settings import ImageSettings, UNetSettings
from navarena.learning.recipes.base import FittingRecipe
from navarena.learning.settings import Precision

if TYPE_CHECKING:
    from navarena.learning.depth.training import DepthTraining


@dataclass(frozen=True)
class DepthRecipe(FittingRecipe):
    """Everything that determines the training of depth from colours beside the machine.

    Attributes:
        protocol: whose first camera takes the images: depth is learned for its field of view and height.
        images: what it learns from, in train houses; `cameras` do not count.
        network: sizes of the U-Net.
        jitter: largest relative change of brightness and saturation, and of contrast.
        noise: largest standard deviation of normal noise in colours, as a share of their range; that of an
            image is drawn between 0 and this.
        coarse_weight: of the losses at 1/2, 1/4, 1/8 and 1/16 of the image beside that of the image.
        precision: of the network's products; "auto" takes bfloat16 where the processor is fast in it.
        seed: of weights, images, minibatches and augmentations.

    Raises InputError for sizes below 1, and for negative changes.
    """

    kind: ClassVar[str] = "depth"

    protocol: str = "pointnav-habitat2020-v1"
    images: ImageSettings = field(default_factory=ImageSettings)
    network: UNetSettings = field(default_factory=UNetSettings)
    jitter: float = 0.25
    noise: float = 0.1
    coarse_weight: float = 0.25
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.jitter < 1 or not self.noise >= 0:
            raise InputError(f"expected jitter of 0 to 1 and noise from 0, got {self.jitter}, {self.noise}")

    def begin_fitting(self, folder: Path, threads: int) -> "DepthTraining":
        from navarena.learning.depth.training import DepthTraining

        return DepthTraining(self, folder, threads)

    def advise(self, folder: Path) -> str:
        return f"navarena depth score {folder}"
