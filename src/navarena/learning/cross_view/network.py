"""Cross-view completion: masked patches of a view from its visible ones and another view.

CroCo (Weinzaepfel et al. 2022), with the binocular network in the place of its transformers.
"""

import numpy as np
from jaxtyping import Int64

from navarena.learning.networks.binocular import BinocularNetwork, centre_colours
from navarena.learning.networks.binocular_settings import PATCH, BinocularSettings
from navarena.learning.tensors import Tensor, torch


class CompletionNetwork(torch.nn.Module):  # type: ignore[misc, name-defined]
    """The binocular network, a token for all masked patches, and a layer that makes pixels of tokens.

    Args:
        settings: sizes of the binocular network.
    """

    def __init__(self, settings: BinocularSettings) -> None:
        super().__init__()
        self.binocular = BinocularNetwork(settings)
        self.mask = torch.nn.Parameter(0.02 * torch.randn(settings.width))
        self.pixels = torch.nn.Linear(settings.width, 3 * PATCH**2)

    def forward(self, images: Tensor, visible: Tensor, others: Tensor) -> Tensor:
        """(B, K, 192) float32 centred colours of all K patches of `images` (B, S, S, 3) uint8.

        Args:
            images: of which the visible patches are seen.
            visible: (B, V) int64 patches, row by row.
            others: (B, S, S, 3) uint8, another view of each.
        """
        seen = self.binocular.encode(images, visible)
        tokens = (self.mask + self.binocular.places.flatten(0, 1)).expand(len(images), -1, -1)
        rows = visible[..., None].expand(-1, -1, tokens.shape[2])
        tokens = tokens.scatter(1, rows, seen.to(tokens.dtype))
        return self.pixels(self.binocular.cross(tokens, self.binocular.encode(others))).float()

    def measure_errors(self, images: Tensor, visible: Tensor, others: Tensor) -> Tensor:
        """(B,) float32 mean squared errors of centred colours in masked patches; arguments as `forward`."""
        errors = (self(images, visible, others) - cut_patches(images)).square().mean(2)
        masked = torch.ones_like(errors).scatter(1, visible, 0.0)
        return (errors * masked).sum(1) / masked.sum(1)


def cut_patches(images: Tensor) -> Tensor:
    """(B, K, 192) float32 centred colours of the K patches of `images` (B, S, S, 3) uint8, row by row."""
    grid = images.shape[1] // PATCH
    cut = centre_colours(images).unflatten(2, (grid, PATCH)).unflatten(1, (grid, PATCH))
    return cut.transpose(2, 3).flatten(3).flatten(1, 2)


def draw_visible(
    count: int, patches: int, masked: float, generator: np.random.Generator
) -> Int64[np.ndarray, "b v"]:
    """(B, V) int64 rising: the patches of B views that stay visible, at least one and not all.

    Args:
        count: B.
        patches: of a view.
        masked: share that is masked.
        generator: draws.
    """
    left = min(max(round((1 - masked) * patches), 1), patches - 1)
    return np.sort(generator.random((count, patches)).argsort(1)[:, :left], 1)
