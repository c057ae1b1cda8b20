"""Settings of occupancy anticipation: its windows, network and training. Nothing here needs PyTorch."""

from dataclasses import dataclass, field

from navarena.core.errors import InputError
from navarena.learning.perception.settings import STRIDE, UNetSettings
from navarena.learning.settings import OptimiserSettings, Precision, Schedule


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


_ADAM = OptimiserSettings(rate=Schedule(1e-3, 1e-5), epsilon=1e-8, max_gradient=5.0)


@dataclass(frozen=True)
class AnticipationRecipe:
    """Everything that determines the training of an anticipation beside the machine.

    Attributes:
        description: one line: what is trained, and what it takes.
        protocol: whose first camera of depth sees the houses.
        windows: what it learns from, in train houses.
        network: sizes of the U-Net.
        optimiser: Adam; the rate falls along half a cosine from `first` to `last`.
        frames: windows learned from, repetitions included.
        batch: windows of an update.
        coarse_weight: of the losses at 1/2, 1/4, 1/8 and 1/16 of the window beside that of the window.
        precision: of the network's products; "auto" takes bfloat16 where the processor is fast in it.
        seed: of weights, windows and minibatches.
        save_updates: updates between checkpoints.
        log_updates: updates in a line of the log.

    Raises InputError for sizes below 1.
    """

    description: str
    protocol: str = "pointnav-habitat2020-v1"
    windows: WindowSettings = field(default_factory=WindowSettings)
    network: UNetSettings = field(default_factory=UNetSettings)
    optimiser: OptimiserSettings = _ADAM
    frames: int = 100_000
    batch: int = 16
    coarse_weight: float = 0.25
    precision: Precision = "auto"
    seed: int = 0
    save_updates: int = 500
    log_updates: int = 100

    def __post_init__(self) -> None:
        for name in ("frames", "batch", "save_updates", "log_updates"):
            if getattr(self, name) < 1:
                raise InputError(f"expected {name} of at least 1, got {getattr(self, name)}")
