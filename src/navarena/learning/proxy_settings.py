"""Settings of HAMT's proxy tasks and of its actor and critic. Nothing here needs PyTorch."""

from dataclasses import dataclass

from navarena.core.errors import InputError

BERT_MASK = 103
"""Number of BERT's word that hides another."""

PROXIES = ("mlm", "sap", "sar", "sprel", "mrc", "itm")
"""Proxy tasks by the names of the published code."""


@dataclass(frozen=True)
class ProxySettings:
    """Settings of HAMT's pre-training tasks (Chen et al. 2021, pretrain_src).

    Every minibatch learns one task, drawn by the weights. The shares are the published ones.

    Attributes:
        mlm: weight of masked words, from the whole path.
        sap: of the next action.
        sar: of the next action's heading and elevation, and of how far the path is done.
        sprel: of where all views are relative to one of them.
        mrc: of what is seen in steps whose views are hidden.
        itm: of whether a path is the one that the words describe.
        word_share: of the words that are to be predicted: 0.8 of them masked, 0.1 replaced by others.
        step_share: of the steps whose views are hidden.
        image_share: of the steps of sap, sar and sprel in which what is seen has no features.
        angle_share: of the others, in which it has no angles.
        mask: number of the word that hides another: the unknown word, or BERT_MASK.

    Raises InputError for weights of which none is positive, and for shares that are not of 0 to 1.
    """

    mlm: float = 5.0
    sap: float = 1.0
    sar: float = 1.0
    sprel: float = 1.0
    mrc: float = 2.0
    itm: float = 2.0
    word_share: float = 0.15
    step_share: float = 0.15
    image_share: float = 0.3
    angle_share: float = 0.43
    mask: int = 1

    def __post_init__(self) -> None:
        shares = (self.word_share, self.step_share, self.image_share, self.angle_share)
        if min(self.weights) < 0 or not sum(self.weights) or not all(0 <= one <= 1 for one in shares):
            raise InputError(f"expected weights of which one is positive, and shares of 0 to 1, got {self}")

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of PROXIES, in order."""
        return (self.mlm, self.sap, self.sar, self.sprel, self.mrc, self.itm)
