"""Settings of instruction followers: the cross-modal attention of VLN-CE. Nothing here needs PyTorch."""

from dataclasses import dataclass
from typing import Literal

from navarena.core.errors import InputError

Tour = Literal["none", "vision", "both", "pool", "pool_end"]
"""What an agent remembers beyond an episode; see FollowerSettings."""

Blank = Literal["instruction", "vision", "occupancy", "semantics"]
"""What a control does not see: the words; all images and maps; of maps the occupied cells, or the classes."""


@dataclass(frozen=True)
class FollowerSettings:
    """Sizes of an agent of cross-modal attention (CMA), and its memory along tours.

    The defaults are the small network; see PAPER for VLN-CE's (models/cma_policy.py).

    Attributes:
        words: of the vocabulary; instructions with other words are refused.
        word_features: of a word's vector, which is not learned where `frozen_words`.
        frozen_words: whether vectors of words stay as they are.
        text_hidden: of the LSTM that reads the instruction, in each direction.
        keys: length of queries and keys; also of the values of colour images and maps.
        depth_values: of the values of depth images.
        view_features: of the vector of colour images and of maps.
        depth_features: of the vector of depth images.
        positions: channels that say where in the image a place is.
        images: "small": three convolutions that are learned; "resnet50": VLN-CE's frozen networks, ImageNet's
            for colour and DD-PPO's for depth.
        map_channels: of the convolutions over the semantic map, each of which is followed by a halving.
        map_kernel: cells on a side of these.
        map_side: cells to which a map is brought first, by the greatest of those that become one.
        tour: what outlasts an episode in a tour: "none"; "both" states (TourCMA as the code has it) or that
            of "vision" alone (as the paper has it); or the greatest values of the vision's states, which are
            seen by the same ("pool") or added at the end, too ("pool_end").
        blank: what the agent does not see, for controls.
        rgb_trunk: file with the weights of ImageNet's ResNet-50, as torchvision stores them, or "random";
            read when a training begins, and part of its checkpoint from then on. Of "resnet50", as the next.
        depth_trunk: file of a habitat-lab checkpoint of DD-PPO with a ResNet-50 of depth, or "random".

    Raises InputError for sizes below 1.
    """

    words: int = 233
    word_features: int = 50
    frozen_words: bool = False
    text_hidden: int = 64
    keys: int = 128
    depth_values: int = 64
    view_features: int = 128
    depth_features: int = 64
    positions: int = 16
    images: Literal["small", "resnet50"] = "small"
    map_channels: tuple[int, ...] = (16, 32, 64)
    map_kernel: int = 3
    map_side: int = 32
    tour: Tour = "none"
    blank: tuple[Blank, ...] = ()
    rgb_trunk: str = ""
    depth_trunk: str = ""

    def __post_init__(self) -> None:
        sizes = (
            *(self.words, self.word_features, self.text_hidden, self.keys, self.depth_values),
            *(self.view_features, self.depth_features, self.positions, self.map_kernel),
        )
        if min(sizes) < 1 or not self.map_channels or self.map_side not in (32, 64):
            raise InputError(f"expected positive sizes and a map_side of 32 or 64, got {self}")


PAPER = FollowerSettings(
    words=2504,
    frozen_words=True,
    text_hidden=128,
    keys=256,
    depth_values=128,
    view_features=256,
    depth_features=128,
    positions=64,
    images="resnet50",
    map_channels=(32, 64, 128, 128),
    map_kernel=7,
    map_side=64,
)
"""The sizes of VLN-CE and IVLN-CE: with a hidden state of 512, 6.15 million weights are learned with images,
and 6.45 million with maps."""
