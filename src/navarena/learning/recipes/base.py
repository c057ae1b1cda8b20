"""What all recipes have in common: what is trained and for how long, and the training that they name."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from navarena.core.errors import InputError
from navarena.learning.settings import OptimiserSettings, Schedule

if TYPE_CHECKING:
    from navarena.learning.distributed import Machine
    from navarena.learning.trainings.log import Row


@runtime_checkable
class TrainedInfo(Protocol):
    """Interface of descriptions of checkpoints, as trainings return them."""

    @property
    def protocol(self) -> str:
        """What was learned."""
        ...

    @property
    def frames(self) -> int:
        """That were learned from."""
        ...

    @property
    def updates(self) -> int:
        """Made in all."""
        ...


@runtime_checkable
class RecipeTraining(Protocol):
    """Interface of the trainings that recipes begin: `frames` says how many were there before."""

    frames: int

    def run(self, report: "Callable[[Row], None]" = ...) -> TrainedInfo:
        """Train on the recipe's frames, calling `report` with every line of the log."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


@dataclass(frozen=True)
class TrainingRecipe(ABC):
    """Everything that determines a training beside the machine.

    Derive a frozen dataclass for another kind of training; `navarena train` knows no more of it than this.

    Attributes:
        description: one line: what is trained, and what it takes.
        protocol: id, with options.
        frames: to learn from, repetitions included.
        core_hours: process time that it takes on a core of an AMD EPYC with AVX512-BF16, without `first`: of
            a whole training, or reckoned from the speed of a few updates; 0 where neither was measured.
        seed: of all random draws.
        save_updates: updates between checkpoints.
        log_updates: updates in a line of the log.
    """

    description: str
    protocol: str
    _: KW_ONLY
    frames: int = 1_000_000
    core_hours: float = 0.0
    seed: int = 0
    save_updates: int = 50
    log_updates: int = 10

    @property
    @abstractmethod
    def shown(self) -> tuple[str, ...]:
        """Names of the numbers of the log that are shown while it trains, where a line has them."""

    @abstractmethod
    def begin(self, folder: Path, machine: "Machine", demos: Path | None = None) -> RecipeTraining:
        """The training, new or gone on with from the checkpoint in `folder`; raises as its class does.

        Args:
            folder: of checkpoint and log.
            machine: on which it computes.
            demos: folder of demonstrations to learn from; None for what the recipe says.

        Raises InputError for a machine or demonstrations that it cannot train with.
        """

    @abstractmethod
    def make_first(self) -> "tuple[str, TrainingRecipe] | None":
        """Name and recipe of the training whose weights this one starts from; None where there is none."""

    @abstractmethod
    def advise(self, folder: Path) -> str:
        """The command that shows what the checkpoint in `folder` has learned."""

    def _require_positive(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) < 1:
                raise InputError(f"expected {name} of at least 1, got {getattr(self, name)}")


ADAM = OptimiserSettings(rate=Schedule(1e-3, 1e-5), epsilon=1e-8, max_gradient=5.0)
"""Of supervised trainings."""


@dataclass(frozen=True)
class FittingRecipe(TrainingRecipe):
    """A recipe of supervised training from examples in minibatches.

    Attributes:
        optimiser: Adam; the rate falls along half a cosine from `first` to `last`.
        batch: examples of an update.

    Raises InputError for sizes below 1.
    """

    kind: ClassVar[str]
    """What is trained: "segmenter"; names its loss in the log, and its random streams."""

    _: KW_ONLY
    optimiser: OptimiserSettings = field(default=ADAM)
    batch: int = 16
    frames: int = 100_000
    save_updates: int = 500
    log_updates: int = 100

    def __post_init__(self) -> None:
        self._require_positive("frames", "batch", "save_updates", "log_updates")

    @property
    def shown(self) -> tuple[str, ...]:
        return (f"{self.kind}_loss", "frames_per_second")

    def begin(self, folder: Path, machine: "Machine", demos: Path | None = None) -> RecipeTraining:
        if demos is not None:
            raise InputError(f"expected a policy for --demos, got a recipe of the kind {self.kind}")
        if machine.device != "cpu" or machine.processes.count > 1:
            raise InputError(
                f"expected one process on the processor to train the kind {self.kind}, got "
                f"{machine.processes.count} on {machine.device}; leave out --device and torchrun"
            )
        return self.begin_fitting(folder, machine.threads)

    @abstractmethod
    def begin_fitting(self, folder: Path, threads: int) -> RecipeTraining:
        """`begin` with `threads` of PyTorch on the processor."""

    def make_first(self) -> None:
        return None
