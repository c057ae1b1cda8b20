"""The two towers of the joint space, on frozen features, and their contrastive loss."""

import math

from navarena.learning.joint.settings import JointSettings
from navarena.learning.perception.lite0 import POOLED
from navarena.learning.tensors import Tensor, torch

MAX_SCALE = 100.0
"""Largest factor of cosines in the loss (Radford et al. 2021)."""


class JointNetwork(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Brings features of crops and of texts into one space, at length 1.

    Args:
        text_features: of the encoder of words.
        settings: sizes.
        temperature: of the cosines in the loss, at the start.
    """

    def __init__(self, text_features: int, settings: JointSettings, temperature: float = 0.07) -> None:
        super().__init__()
        nn, size = torch.nn, settings.dimension
        self.images = nn.Sequential(
            nn.LayerNorm(POOLED),
            nn.Linear(POOLED, settings.image_hidden),
            nn.ReLU(),
            nn.Linear(settings.image_hidden, size),
        )
        self.texts = nn.Sequential(
            nn.Linear(text_features, settings.text_hidden), nn.ReLU(), nn.Linear(settings.text_hidden, size)
        )
        self.scale = nn.Parameter(torch.tensor(-math.log(temperature)))

    def embed_images(self, features: Tensor) -> Tensor:
        """(B, D) float32, rows of length 1, of (B, 1280) float32 features of crops."""
        return torch.nn.functional.normalize(self.images(features), dim=1)

    def embed_texts(self, features: Tensor) -> Tensor:
        """(B, D) float32, rows of length 1, of (B, F) float32 vectors of texts."""
        return torch.nn.functional.normalize(self.texts(features), dim=1)

    def factor(self) -> Tensor:
        """() float32 factor of cosines, 1 / temperature; at most MAX_SCALE."""
        return self.scale.exp().clamp(max=MAX_SCALE)


def contrast(first: Tensor, second: Tensor, factor: Tensor, also: Tensor) -> Tensor:
    """() float32: the symmetric contrastive loss (InfoNCE) of B pairs.

    Args:
        first: (B, D) rows of length 1.
        second: (B, D) the same; row k belongs to row k of `first`.
        factor: () of their cosines.
        also: (B, B) bool: further rows of `second` that belong to a row of `first`, which are no negatives.
    """
    own = torch.eye(len(first), dtype=torch.bool)
    scores = (factor * first @ second.T).masked_fill(also & ~own, -torch.inf)
    places = torch.arange(len(first))
    loss = torch.nn.functional.cross_entropy
    return (loss(scores, places) + loss(scores.T, places)) / 2
