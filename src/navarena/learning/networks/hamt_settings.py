"""Settings of HAMT, the transformer that follows instructions on graphs. Nothing here needs PyTorch."""

from dataclasses import dataclass
from typing import Any, Literal

from navarena.core.errors import InputError

HAMTBlank = Literal["instruction", "vision"]
"""What a control does not see."""


@dataclass(frozen=True)
class HAMTSettings:
    """Sizes of HAMT (Chen et al. 2021), and how it remembers tours (TourHAMT of IVLN).

    The defaults are the published sizes; see SMALL.

    Attributes:
        words: of the vocabulary.
        max_words: of an instruction, without which the rest is cut off.
        features: of a view.
        width: of all tokens.
        heads: of each attention.
        inner: of the layers between.
        text_layers: that read the instruction.
        panorama_layers: that read the 36 views of an earlier step.
        cross_layers: in which words, earlier steps and views attend to each other.
        steps: numbers of steps that tokens of earlier steps can carry; and how many tokens of earlier steps
            there are at most, with those that mark their beginnings.
        dropout: of tokens and attention.
        feature_dropout: of features of views.
        tour: whether earlier episodes of a tour are remembered (PH).
        parts_tour: whether a token of its own begins what earlier episodes left (PHI).
        frozen_text: whether the text layers stay as they are.
        frozen_history: whether what makes tokens of earlier steps stays as it is; TourHAMT learns it (TH).
        weighs_turns: whether steps of large turns and the stop count more (IW).
        blank: what the agent does not see, for controls: the words, or the features of all views, whose
            directions stay.

    Raises InputError for sizes that do not fit together.
    """

    words: int = 30_522
    max_words: int = 60
    features: int = 768
    width: int = 768
    heads: int = 12
    inner: int = 3072
    text_layers: int = 9
    panorama_layers: int = 2
    cross_layers: int = 4
    steps: int = 50
    dropout: float = 0.1
    feature_dropout: float = 0.4
    tour: bool = False
    parts_tour: bool = False
    frozen_text: bool = False
    frozen_history: bool = False
    weighs_turns: bool = False
    blank: tuple[HAMTBlank, ...] = ()

    def __post_init__(self) -> None:
        if self.width % self.heads or min(self.width, self.words, self.steps, self.max_words) < 2:
            raise InputError(f"expected a width of whole heads, got {self.width} and {self.heads}")
        if (self.parts_tour or self.weighs_turns) and not self.tour:
            raise InputError("expected tour=true for parts_tour and weighs_turns, got tour=false")


SMALL = HAMTSettings(
    words=233,
    max_words=60,
    features=128,
    width=128,
    heads=4,
    inner=256,
    text_layers=2,
    panorama_layers=1,
    cross_layers=2,
    feature_dropout=0.3,
)
"""Sizes for processors."""

TOUR_ROWS: dict[str, dict[str, Any]] = {
    "ph": {"tour": True, "frozen_text": True, "frozen_history": True},
    "ph+th": {"tour": True, "frozen_text": True},
    "ph+th+phi": {"tour": True, "frozen_text": True, "parts_tour": True},
    "ph+th+phi+iw": {"tour": True, "frozen_text": True, "parts_tour": True, "weighs_turns": True},
}
"""Rows 5 to 2 of IVLN's table 2 -> what they change of HAMT."""
