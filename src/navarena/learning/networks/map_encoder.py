"""Encoder of maps whose channels hold categories: a table for each channel, and convolutions."""

from navarena.core.errors import InputError
from navarena.learning.inputs import InputSpec
from navarena.learning.networks.encoder_settings import EncoderSettings
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

    A vector of a whole map beside one of the goal hardly teaches a policy to tell objects apart: after
    128,000 drawn maps of three objects, guesses of the goal's direction (12 sectors) were right in 40 %, as
    for any of the three, but in 99 % where the goal weighs cells.

    Args:
        one: the input, a map.
        settings: sizes.
        goals: categories of the current goal, by which cells are weighed; 0 weighs none. A table of goals and
            the map's categories then gives one channel more; it starts from 0.

    Raises InputError for a map that is too small.
    """

    def __init__(self, one: InputSpec, settings: EncoderSettings, goals: int = 0) -> None:
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
        self.relevance = torch.nn.Embedding(goals, sum(one.categories)) if goals else None
        into = settings.category_features * len(one.categories) + (goals > 0)
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
            if self.relevance is not None:
                self.relevance.weight.zero_()

    def forward(self, maps: Tensor, goals: Tensor | None = None) -> Tensor:
        """(B, map_features) of `maps` (B, H, W, C).

        Args:
            maps: whole numbers below the categories of each channel.
            goals: (B, 1) categories of the current goals, where cells are weighed by them.
        """
        first, weight = self.layers[0], self._fold()
        rows = ROWS if maps.device.type == "cpu" else max(len(maps), 1)
        seen = []
        for number, part in enumerate(maps.split(rows)):
            marked = self._mark(part, weight.dtype)
            if self.relevance is not None and goals is not None:
                weights = self.relevance(goals[number * rows : number * rows + len(part), 0])
                weighed = torch.einsum("bchw,bc->bhw", marked, weights.to(marked.dtype))
                marked = torch.cat((marked, weighed[:, None]), 1)
            seen.append(self.layers[1:](torch.nn.functional.conv2d(marked, weight, first.bias, first.stride)))
        return torch.cat(seen)

    def _fold(self) -> Tensor:
        """(out, sum of categories, K, K): the weights of the first convolution behind the tables.

        Those of the channel of weighed cells, where there is one, come last as they are.
        """
        parts = self.layers[0].weight.split(self.tables[0].embedding_dim, 1)
        folded = [
            torch.einsum("oekl,ce->ockl", part, table.weight) for part, table in zip(parts, self.tables)
        ]
        return torch.cat((*folded, *parts[len(folded) :]), 1)

    def _mark(self, maps: Tensor, dtype: torch.dtype) -> Tensor:
        """(B, sum of categories, H, W) of 0 and 1: which category each channel has there."""
        parts = []
        for channel, count in enumerate(self._counts):
            numbers = torch.arange(count, dtype=maps.dtype, device=maps.device)
            parts.append(maps[:, None, :, :, channel] == numbers[:, None, None])
        return torch.cat(parts, 1).to(dtype)
