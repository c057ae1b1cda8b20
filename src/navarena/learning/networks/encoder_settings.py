"""Settings of encoders: how the observations of a policy become one vector. Nothing here needs PyTorch."""

from dataclasses import dataclass, field
from typing import Literal

from navarena.core.errors import InputError
from navarena.learning.networks.binocular_settings import BinocularSettings

RANDOM_TRUNK = "random"
"""In the place of a file: a frozen trunk of random weights, which shows that everything else works."""


@dataclass(frozen=True)
class EncoderSettings:
    """Settings of the encoder that turns observations into one vector.

    Attributes:
        images: the network of images. "small": three convolutions and a layer, a ReLU after each (SimpleCNN
            of habitat-lab). "multion": the same without the third ReLU, with multiON's first weights.
            "resnet18" and "resnet50": habitat-lab's of DD-PPO, with group normalisation; images are halved by
            averaging, and a convolution compresses the outcome. "frozen_resnet18": RobustNav's, an ImageNet
            network that is not trained, whose map of features is compressed and joined with the goal at every
            place, for colour and depth each. "frozen_resnet50" and "frozen_clip_resnet50": the same behind a
            larger ImageNet network, behind CLIP's, as EmbCLIP has it, and "frozen_lite0" behind
            EfficientNet-Lite0. "clip_resnet50": GOAT-Bench's, CLIP's network of colours, which is not
            trained, beside the goal as a vector. "grounding": four convolutions, whose features are compared
            with the goal place by place; the auxiliary loss `goal_mask` teaches where it is.
        numbers: "joined": numbers and categories together through one layer. "embedded": each through a
            layer or a table of its own, in the order of the inputs, as all the papers' agents.
        base_planes: of a ResNet that is trained: channels after its first convolution; even, from 16 on,
            below which PyTorch's kernels for the processor write beyond their memory.
        compressed: of a ResNet that is trained: about how many numbers are left of an image.
        resize: pixels of the shorter side to which images are averaged before the square in the middle is
            cut out; 0 leaves them as they are.
        normalise: whether channels of images are scaled by mean and variance of all frames that were learned
            from; of ResNets that are trained.
        maps: the network of maps of categories (oracle maps, maps of what was seen), with a table for each
            channel. "multion": three convolutions and a layer, of 3 million parameters for 50 x 50 cells.
            "small": narrower, with longer strides.
        map_features: that are left of a map.
        category_features: of each channel's table.
        weighs_maps: whether a map's cells are weighed by what their categories mean for the current goal: one
            channel more, from a table of goals and categories that is learned.
        spare_categories: rows of the tables of goals beyond the goals that there are; multiON's agents
            with oracle maps have one.
        trunk: file with the weights of the frozen network, as torchvision stores them (of CLIP as
            CLIP does), or "random"; read when a training begins, and part of its checkpoint from then on. Of
            Lite0 those of its package where it is empty.
        goals: of goals as vectors. "raw": of the length that their network gives them, by which texts and
            images may be told apart. "unit": every one as long as the root of its numbers.

        binocular: folder of a cross-view completion (`navarena train cross-view-small`) whose binocular
            network reads colours and the goal's image together, beside the small network; or "random"; read
            when a training begins. Empty for none.
        binocular_network: sizes of it, those of the folder.
        frozen_binocular: whether it does not learn.

    Raises InputError for sizes that do not fit together.
    """

    images: Literal[
        "small",
        "multion",
        "resnet18",
        "resnet50",
        "frozen_resnet18",
        "frozen_resnet50",
        "frozen_clip_resnet50",
        "frozen_lite0",
        "clip_resnet50",
        "grounding",
    ] = "small"
    numbers: Literal["joined", "embedded"] = "joined"
    base_planes: int = 32
    compressed: int = 2048
    resize: int = 0
    normalise: bool = False
    maps: Literal["multion", "small"] = "multion"
    map_features: int = 256
    category_features: int = 16
    weighs_maps: bool = False
    spare_categories: int = 0
    trunk: str = ""
    goals: Literal["raw", "unit"] = "raw"
    binocular: str = ""
    binocular_network: BinocularSettings = field(default_factory=BinocularSettings)
    frozen_binocular: bool = False

    def __post_init__(self) -> None:
        if self.base_planes < 16 or self.base_planes % 2:
            raise InputError(f"expected an even number of base_planes from 16 on, got {self.base_planes}")
        if self.compressed < 1 or self.resize < 0 or self.spare_categories < 0:
            raise InputError(f"expected positive sizes, got {self}")
        if self.map_features < 1 or self.category_features < 1:
            raise InputError(f"expected positive sizes, got {self}")
        if self.normalise and self.images not in ("resnet18", "resnet50"):
            raise InputError(f"expected a ResNet that is trained for normalise, got images={self.images}")
        if self.resize and (self.numbers == "joined" or self.images.startswith(("frozen_", "clip_"))):
            raise InputError(
                "expected numbers=embedded and a network of images that learns for resize, got "
                f"numbers={self.numbers} and images={self.images}"
            )
        if self.weighs_maps and self.numbers == "joined":
            raise InputError("expected numbers=embedded for weighs_maps, got joined")
        if self.binocular and (self.images != "small" or self.numbers != "joined"):
            raise InputError(
                f"expected images=small and numbers=joined beside binocular, got {self.images} and "
                f"{self.numbers}"
            )
        if self.images != "small" and self.numbers == "joined":
            raise InputError(f"expected numbers=embedded for images={self.images}, got joined")
