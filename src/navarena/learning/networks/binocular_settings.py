"""Settings of the binocular network of two images. Nothing here needs PyTorch."""

from dataclasses import dataclass

from navarena.core.errors import InputError

PATCH = 8
"""Pixels along a side of the patch that becomes a token."""


@dataclass(frozen=True)
class BinocularSettings:
    """Sizes of the binocular network.

    Attributes:
        side: pixels along a side of the largest images.
        width: numbers of a token.
        layers: of the encoder, which both images share.
        crossings: layers of the decoder, in which the tokens of one image attend to those of the other.
        heads: of attention.
        expansion: hidden units of a layer for each number of a token.

    Raises InputError for a side that is no multiple of 16, and for sizes that do not fit together.
    """

    side: int = 64
    width: int = 96
    layers: int = 2
    crossings: int = 2
    heads: int = 3
    expansion: int = 4

    def __post_init__(self) -> None:
        if self.side < 1 or self.side % (2 * PATCH):
            raise InputError(f"expected a side of a multiple of {2 * PATCH} pixels, got {self.side}")
        if min(self.width, self.crossings, self.heads, self.expansion) < 1 or self.layers < 0:
            raise InputError(f"expected positive sizes, got {self}")
        if self.width % (2 * self.heads):
            raise InputError(f"expected a width of a multiple of {2 * self.heads}, got {self.width}")

    @property
    def grid(self) -> int:
        """Tokens along a side of the largest images."""
        return self.side // PATCH
