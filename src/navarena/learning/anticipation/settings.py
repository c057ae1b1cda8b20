"""Settings of occupancy anticipation: its windows, network and training. Nothing here needs PyTorch."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from navarena.core.errors import InputError
from navarena.learning.perception.settings import STRIDE, UNetSettings
from navarena.learning.recipes.base import FittingRecipe
from navarena.learning.settings import Precision

if TYPE_CHECKING:
    from navarena.learning.anticipation.training import AnticipationTraining


@dataclass(frozen=True)
class WindowSettings:
    """Settings of the windows of maps that are learned from.

    A window is an image of cells, the heading of its body upwards.

    Attributes:
        side: cells along a side.
        cell: metres, side of a cell.
        ahead: metres from the body to the middle of its window.
        views: images that a map is made of at most, each a turn further; how many is drawn for each window.
        turn: degrees of such a turn.
        scenes: a set of scenes.
        houses: the first of its split.
        windows: of each house.

    Raises InputError for sizes below 1, and for a side that is no multiple of 16.
    """

    side: int = 128
    cell: float = 0.05
    ahead: float = 1.6
    views: int = 6
    turn: float = 30.0
    scenes: str = "houses-v1"
    houses: int = 200
    windows: int = 100

    def __post_init__(self) -> None:
        if min(self.side, self.views, self.houses, self.windows) < 1 or not self.cell > 0 or self.ahead < 0:
            raise InputError(f"expected positive numbers of windows, got {self}")
        if self.side % STRIDE:
            raise InputError(f"expected a side that is a multiple of {STRIDE} cells, got {self.side}")


@dataclass(frozen=True)
class AnticipationRecipe(FittingRecipe):
    """Everything that determines the training of an anticipation beside the machine.

    Attributes:
        protocol: whose first camera of depth sees the houses.
        windows: what it learns from, in train houses.
        network: sizes of the U-Net.
        coarse_weight: of the losses at 1/2, 1/4, 1/8 and 1/16 of the window beside that of the window.
        precision: of the network's products; "auto" takes bfloat16 where the processor is fast in it.
        seed: of weights, windows and minibatches.

    Raises InputError for sizes below 1.
    """

    kind: ClassVar[str] = "anticipation"

    protocol: str = "pointnav-habitat2020-v1"
    windows: WindowSettings = field(default_factory=WindowSettings)
    network: UNetSettings = field(default_factory=UNetSettings)
    coarse_weight: float = 0.25
    precision: Precision = "auto"

    def begin_fitting(self, folder: Path, threads: int) -> "AnticipationTraining":
        from navarena.learning.anticipation.training import AnticipationTraining

        return AnticipationTraining(self, folder, threads)

    def advise(self, folder: Path) -> str:
        return f"navarena anticipation score {folder}"
