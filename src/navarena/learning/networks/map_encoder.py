"""Encoder of maps whose channels hold categories: a table for each channel, and convolutions."""

from navarena.core.errors import InputError
from navarena.learning.encoder_settings import EncoderSettings
from navarena.learning.inputs import InputSpec
from navarena.learning.networks.encoders import size_after, start_as_multion
from navarena.learning.tensors import Tensor, torch

ROWS = 64
"""Maps that a processor encodes at once: what lies between layers then stays in its cache."""

LAYERS = {
    # kernels, strides and channels (saimwani/multiON, rl/models/simple_cnn.py)
    "multion": ((4, 2, 32), (3, 1, 64), (2, 1, 32)),
    "small": ((4, 2, 16), (3, 2, 32), (2, 1, 32)),
}
"""Network -> kernel, stride and channels of its convolutions."""


class MapEncoder(torch.nn.Module):
    """Maps of categories as vectors: a table for each channel, three convolutions, a linear layer.

    ReLU after the first two convolutions and after the linear layer. The first weights of "multion" are its
    own: what a goal on the map changes is then 0.01 beside embeddings of 1, which takes a policy long to
    notice. Those of "small" have the gain of ReLU, category 0 (nothing, unknown) starts as zeros, and the
    features are normalised at last.

    A table followed by a convolution is one convolution of the categories as one-hot: it is computed like
    that, since the categories are fewer than the features of the tables. Tables start from N(0, 1), as
    PyTorch's do.

    Args:
        one: the input, a map.
        settings: sizes.

    Raises InputError for a map that is too small.
    """

    def __init__(self, one: InputSpec, settings: EncoderSettings) -> None:
        super().__init__()
        layers = LAYERS[settings.maps]
        strides = [(kernel, stride) for kernel, stride, _ in layers]
        rows, columns = (size_after(side, strides) for side in one.shape[:2])
        if min(rows, columns) < 1:
            raise InputError(f"expected a larger map for maps={settings.maps}, got {one.name} of {one.shape}")
        self._counts = one.categories
        self.tables = torch.nn.ModuleList(
            torch.nn.Embedding(count, settings.category_features) for count in one.categories
        )
        into = settings.category_features * len(one.categories)
        found: list[torch.nn.Module] = []
        for kernel, stride, out in layers:
            found += [torch.nn.Conv2d(into, out, kernel, stride), torch.nn.ReLU(inplace=True)]
            into = out
        found[-1] = torch.nn.Flatten()
        found += [torch.nn.Linear(into * rows * columns, settings.map_features), torch.nn.ReLU(inplace=True)]
        if settings.maps == "small":
            found.append(torch.nn.LayerNorm(settings.map_features))
        self.layers = torch.nn.Sequential(*found)
        if settings.maps == "multion":
            start_as_multion(self.layers)
            return
        for layer in self.layers:
            if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear):
                torch.nn.init.kaiming_normal_(layer.weight)
                torch.nn.init.zeros_(layer.bias)
        with torch.no_grad():
            for table in self.tables:
                table.weight[0] = 0.0

    def forward(self, maps: Tensor) -> Tensor:
        """(B, map_features) of `maps` (B, H, W, C), whole numbers below the categories of each channel."""
        first, weight = self.layers[0], self._fold()
        seen = []
        for part in maps.split(ROWS if maps.device.type == "cpu" else max(len(maps), 1)):
            shown = torch.nn.functional.conv2d(
                self._mark(part, weight.dtype), weight, first.bias, first.stride
            )
            seen.append(self.layers[1:](shown))
        return torch.cat(seen)

    def _fold(self) -> Tensor:
        """(out, sum of categories, K, K): the weights of the first convolution behind the tables."""
        parts = self.layers[0].weight.split(self.tables[0].embedding_dim, 1)
        return torch.cat(
            [torch.einsum("oekl,ce->ockl", part, table.weight) for part, table in zip(parts, self.tables)], 1
        )

    def _mark(self, maps: Tensor, dtype: torch.dtype) -> Tensor:
        """(B, sum of categories, H, W) of 0 and 1: which category each channel has there."""
        parts = []
        for channel, count in enumerate(self._counts):
            numbers = torch.arange(count, dtype=maps.dtype, device=maps.device)
            parts.append(maps[:, None, :, :, channel] == numbers[:, None, None])
        return torch.cat(parts, 1).to(dtype)
