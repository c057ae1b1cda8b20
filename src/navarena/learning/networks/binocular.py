"""The binocular network: two images as tokens by one encoder; those of the first attend to the second's.

Its form is that of CroCo (Weinzaepfel et al. 2022), which DEBiT (Bono et al. 2024) steers to goal images by.
"""

from navarena.core.errors import InputError
from navarena.learning.networks.binocular_settings import PATCH, BinocularSettings
from navarena.learning.networks.encoders import CENTRE, SPREAD
from navarena.learning.tensors import Tensor, torch


class BinocularNetwork(torch.nn.Module):
    """Convolutions and a transformer that both images share, and a decoder that joins them.

    The convolutions' strides are their kernels, so that a token has seen nothing but its patch of 8 x 8
    pixels. An image may be smaller than the largest ones: it is what lies in the middle of one, and has only
    the tokens of its own patches. It is cut, or gets an empty margin, for a whole even number of them: of 64
    x 36 pixels 64 x 32 are read.

    Args:
        settings: sizes.
    """

    def __init__(self, settings: BinocularSettings) -> None:
        super().__init__()
        nn, width = torch.nn, settings.width
        self._settings = settings
        self.patches = nn.Sequential(
            nn.Conv2d(3, width // 2, PATCH // 2, PATCH // 2), nn.ReLU(), nn.Conv2d(width // 2, width, 2, 2)
        )
        self.places = nn.Parameter(0.02 * torch.randn(settings.grid, settings.grid, width))
        self.layers = nn.ModuleList(_Layer(settings, False) for _ in range(settings.layers))
        self.norm = nn.LayerNorm(width)
        self.crossings = nn.ModuleList(_Layer(settings, True) for _ in range(settings.crossings))
        self.last_norm = nn.LayerNorm(width)

    def encode(self, images: Tensor, visible: Tensor | None = None) -> Tensor:
        """(B, K, W) tokens of `images` (B, H, W, 3) uint8, row by row.

        Args:
            images: sRGB.
            visible: (B, K) int64 tokens that are encoded, the only ones that are seen; None for all.

        Raises InputError for images that are larger than the largest ones.
        """
        height, width = (count_patches(side, self._settings) for side in images.shape[1:3])
        fitted = centre_colours(fit(images, height, width)).permute(0, 3, 1, 2)
        top, left = ((self._settings.grid - one) // 2 for one in (height, width))
        places = self.places[top : top + height, left : left + width]
        tokens = self.patches(fitted).permute(0, 2, 3, 1) + places
        tokens = tokens.flatten(1, 2)
        if visible is not None:
            tokens = tokens.gather(1, visible[..., None].expand(-1, -1, tokens.shape[2]))
        for layer in self.layers:
            tokens = layer(tokens)
        return self.norm(tokens)

    def cross(self, tokens: Tensor, others: Tensor) -> Tensor:
        """(B, K, W) `tokens` (B, K, W) of one image after attending to `others` (B, L, W) of the other."""
        for layer in self.crossings:
            tokens = layer(tokens, others)
        return self.last_norm(tokens)


def count_patches(side: int, settings: BinocularSettings) -> int:
    """Patches along a side of `side` pixels: the nearest even number, as the largest images have one.

    Raises InputError for more pixels than these have.
    """
    if not 1 <= side <= settings.side:
        raise InputError(f"expected images of at most {settings.side} x {settings.side} pixels, got {side}")
    return 2 * max(round(side / (2 * PATCH)), 1)


def fit(images: Tensor, rows: int, columns: int) -> Tensor:
    """(B, rows * 8, columns * 8, 3) uint8 `images` (B, H, W, 3), cut on all sides or in a grey margin."""
    down, across = rows * PATCH - images.shape[1], columns * PATCH - images.shape[2]
    if not (down or across):
        return images
    margin = (0, 0, across // 2, across - across // 2, down // 2, down - down // 2)
    return torch.nn.functional.pad(images, margin, value=int(CENTRE))


def centre_colours(images: Tensor) -> Tensor:
    """float32 of bytes of colours, of a mean of about 0 and a deviation of about 1."""
    return (images.float() - CENTRE) / SPREAD


class _Layer(torch.nn.Module):
    """A transformer layer, normalised before each part: attention to itself, to others, two linear layers."""

    def __init__(self, settings: BinocularSettings, is_crossing: bool) -> None:
        super().__init__()
        nn, width = torch.nn, settings.width
        attentions = 2 if is_crossing else 1
        self.attentions = nn.ModuleList(_Attention(width, settings.heads) for _ in range(attentions))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(attentions + 1))
        hidden = settings.expansion * width
        self.linear = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))

    def forward(self, tokens: Tensor, others: Tensor | None = None) -> Tensor:
        """(B, K, W) of `tokens` (B, K, W), which also attend to `others` (B, L, W) in a crossing."""
        normed = self.norms[0](tokens)
        tokens = tokens + self.attentions[0](normed, normed)
        if others is not None:
            tokens = tokens + self.attentions[1](self.norms[1](tokens), others)
        return tokens + self.linear(self.norms[-1](tokens))


class _Attention(torch.nn.Module):
    """Attention of several heads, in plain products: PyTorch's own is five times slower to learn in bfloat16.

    On a processor, for so few tokens.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.query, self.out = (torch.nn.Linear(width, width) for _ in range(2))
        self.memory = torch.nn.Linear(width, 2 * width)

    def forward(self, tokens: Tensor, others: Tensor) -> Tensor:
        """(B, K, W) that `tokens` (B, K, W) read in `others` (B, L, W)."""
        key, value = self.memory(others).unflatten(2, (2, self._heads, -1)).permute(2, 0, 3, 1, 4)
        query = self.query(tokens).unflatten(2, (self._heads, -1)).transpose(1, 2)
        scores = (query * query.shape[-1] ** -0.5) @ key.transpose(2, 3)
        return self.out((scores.softmax(3) @ value).transpose(1, 2).flatten(2))
