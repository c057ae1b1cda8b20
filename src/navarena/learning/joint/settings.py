"""Settings of the joint space of texts and images. Nothing here needs PyTorch."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from navarena.core.errors import InputError
from navarena.learning.recipes.base import ADAM, FittingRecipe
from navarena.learning.settings import OptimiserSettings

if TYPE_CHECKING:
    from navarena.learning.joint.training import JointTraining


@dataclass(frozen=True)
class PairSettings:
    """Settings of the crops and words that the space is learned from.

    Attributes:
        houses: the first of the train split.
        scenes: a set of scenes with labels.
        views: crops of each object: half through the cameras of its goal images, half from its view points.
        wordings: of each description.
        names: split of GOAT-Bench whose names are learned; those of other splits reach the space only by
            what the texts' encoder knows.
        side: pixels of a crop, which is square.
        margin: largest share of its box that is left around an object; drawn for each crop.
        whole: share of the images through goals' cameras that are not cropped, as goals are not.

    Raises InputError for numbers below 1 and shares outside 0 to 1.
    """

    houses: int = 150
    scenes: str = "houses-v1"
    views: int = 6
    wordings: int = 4
    names: str = "train"
    side: int = 96
    margin: float = 0.6
    whole: float = 0.5

    def __post_init__(self) -> None:
        if min(self.houses, self.wordings, self.side) < 1 or self.views < 2:
            raise InputError(f"expected houses, wordings, a side and at least 2 views, got {self}")
        if not 0 <= self.whole <= 1 or self.margin < 0:
            raise InputError(f"expected a share of 0 to 1 of whole images and a margin, got {self}")


@dataclass(frozen=True)
class JointSettings:
    """Sizes of the two towers, each a layer, a ReLU and a layer.

    Attributes:
        dimension: of the space.
        image_hidden, text_hidden: features after the first layer.
    """

    dimension: int = 256
    image_hidden: int = 512
    text_hidden: int = 384


@dataclass(frozen=True)
class JointRecipe(FittingRecipe):
    """Everything that determines the training of a joint space beside the machine.

    Attributes:
        protocol: whose goals it is meant for.
        pairs: what it learns from, in train houses.
        texts: name of the frozen encoder of words, as of `make_encoder`.
        network: sizes of the towers on the frozen features.
        optimiser: with AdamW's usual decay of weights.
        batch: pairs of an update, each the negatives of the others.
        names: share of the pairs that are by a name; the others are by a description where there is one.
        views: weight of the loss between two views of one object, beside that of views and texts.
        temperature: at the start (Radford et al. 2021), learned from there on; at least 1 / 100.
        seed: of weights, crops, pairs and words.

    Raises InputError for sizes below 1.
    """

    kind: ClassVar[str] = "joint"

    protocol: str = "goat-v1"
    pairs: PairSettings = field(default_factory=PairSettings)
    texts: str = "minilm"
    network: JointSettings = field(default_factory=JointSettings)
    optimiser: OptimiserSettings = field(default=replace(ADAM, weight_decay=0.01))
    frames: int = 600_000
    batch: int = 256
    names: float = 0.5
    views: float = 0.5
    temperature: float = 0.07
    log_updates: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch < 2 or self.temperature < 0.01 or not 0 <= self.names <= 1 or self.views < 0:
            raise InputError(
                "expected at least 2 pairs in a batch, a temperature of at least 0.01, a share of names of "
                f"0 to 1 and a weight of views, got {self}"
            )

    def begin_fitting(self, folder: Path, threads: int) -> "JointTraining":
        from navarena.learning.joint.training import JointTraining

        return JointTraining(self, folder, threads)

    def advise(self, folder: Path) -> str:
        return f"navarena encoder score joint:{folder}"
