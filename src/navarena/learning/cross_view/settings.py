"""Settings of cross-view completion: its pairs of views and its training. Nothing here needs PyTorch."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from navarena.core.errors import InputError
from navarena.learning.networks.binocular_settings import BinocularSettings
from navarena.learning.recipes.base import ADAM, FittingRecipe
from navarena.learning.settings import OptimiserSettings, Precision

if TYPE_CHECKING:
    from navarena.learning.cross_view.training import CrossViewTraining


@dataclass(frozen=True)
class ViewPairSettings:
    """Settings of the pairs of views that see common surface.

    The ranges hold the camera of GOAT-Bench, whose images of 64 x 36 pixels are the middle of square ones of
    68.7 degrees, and most cameras of goal images.

    Attributes:
        houses: the first of its split.
        scenes: a set of scenes.
        pairs: of each house.
        overlap: (least, most) share of either image's pixels whose surface the other image shows, too; the
            smaller of the two shares counts.
        reach: metres between the two places at most, on each axis.
        hfov: (least, most) degrees, of either camera.
        height: (least, most) metres of a camera above the floor.
        tilt: (least, most) degrees, upwards, of the first camera; the second one looks towards a point that
            the first one sees.

    Raises InputError for numbers below 1, and for ranges that are empty or impossible.
    """

    houses: int = 100
    scenes: str = "houses-v1"
    pairs: int = 150
    overlap: tuple[float, float] = (0.3, 0.9)
    reach: float = 2.5
    hfov: tuple[float, float] = (60.0, 90.0)
    height: tuple[float, float] = (0.8, 1.5)
    tilt: tuple[float, float] = (-30.0, 15.0)

    def __post_init__(self) -> None:
        if min(self.houses, self.pairs) < 1 or not self.reach > 0:
            raise InputError(f"expected positive numbers of pairs, got {self}")
        ranges = {"overlap": (0, 1), "hfov": (1, 170), "height": (0, 10), "tilt": (-89, 89)}
        for name, (low, high) in ranges.items():
            least, most = getattr(self, name)
            if not low <= least <= most <= high:
                raise InputError(f"expected {name} within {low} to {high}, got {least} to {most}")


@dataclass(frozen=True)
class CrossViewRecipe(FittingRecipe):
    """Everything that determines the training of cross-view completion beside the machine.

    Attributes:
        protocol: whose image goals it is meant for.
        pairs: what it learns from, in train houses.
        network: sizes of the binocular network; its side is that of the views.
        masked: share of a view's patches that are completed (0.9 of CroCo, Weinzaepfel et al. 2022).
        optimiser: with the decay of weights of CroCo.
        precision: of the network's products; "auto" takes bfloat16 where the processor is fast in it.
        seed: of weights, pairs, masks and minibatches.

    Raises InputError for sizes below 1, and for a share outside of (0, 1).
    """

    kind: ClassVar[str] = "completion"

    protocol: str = "instance-imagenav-v1"
    pairs: ViewPairSettings = field(default_factory=ViewPairSettings)
    network: BinocularSettings = field(default_factory=BinocularSettings)
    masked: float = 0.9
    optimiser: OptimiserSettings = field(default=replace(ADAM, weight_decay=0.05))
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.masked < 1:
            raise InputError(f"expected masked between 0 and 1, got {self.masked}")

    def begin_fitting(self, folder: Path, threads: int) -> "CrossViewTraining":
        from navarena.learning.cross_view.training import CrossViewTraining

        return CrossViewTraining(self, folder, threads)

    def advise(self, folder: Path) -> str:
        return f"navarena cross-view score {folder}"
