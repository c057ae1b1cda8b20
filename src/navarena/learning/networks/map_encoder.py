"""Encoder of maps whose channels hold categories: a table for each channel, and convolutions."""

from navarena.core.errors import InputError
from navarena.learning.inputs import InputSpec
from navarena.learning.networks.encoder_kernels import CategoryConvolution
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
    that, since the categories are fewer than the features of the tables; on processors by adding what cells
    of other categories than 0 change. Tables start from N(0, 1), as PyTorch's do.

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
        self._counts = torch.tensor(one.categories)
        self._nothing = self._counts.cumsum(0) - self._counts
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

        Raises InputError for a category or a goal that there is no table for.
        """
        if self.relevance is None:
            goals = maps.new_zeros((len(maps), 1), dtype=torch.int64)
        if goals is None:
            raise InputError("expected the current goals, by which cells of maps are weighed, got none")
        first, weights = self.layers[0], self._weigh()
        if maps.device.type != "cpu":
            return self.layers[1:](self.convolve_marks(maps, goals, weights))
        side, stride = first.kernel_size[0], first.stride[0]
        nothing, last = self._nothing.repeat_interleave(self._counts), self._nothing + self._counts - 1
        tables = weights.permute(0, 2, 3, 4, 1).flatten(2, 3)
        base, changes = first.bias + tables[:, self._nothing].sum((1, 2)), tables - tables[:, nothing]
        parts = [
            CategoryConvolution.apply(part, goal, self._nothing, last, base, changes, side, stride)
            for part, goal in zip(maps.split(ROWS), goals[:, 0].long().split(ROWS))
        ]
        return torch.cat([self.layers[1:](part) for part in parts])

    def convolve_marks(self, maps: Tensor, goals: Tensor, weights: Tensor) -> Tensor:
        """(B, out, H', W'): the first convolution, of maps as one-hot; arguments as of forward, `_weigh`."""
        first, batch = self.layers[0], len(maps)
        marked = self._mark(maps, weights.dtype)
        if len(weights) == 1:
            return torch.nn.functional.conv2d(marked, weights[0], first.bias, first.stride)
        of_maps = weights[goals[:, 0].long()].flatten(0, 1)
        joined = torch.nn.functional.conv2d(
            marked.flatten(0, 1)[None], of_maps, None, first.stride, groups=batch
        )
        return joined[0].unflatten(0, (batch, -1)) + first.bias[:, None, None]

    def _weigh(self) -> Tensor:
        """(G, out, sum of categories, K, K): weights of the first convolution of maps as one-hot, by goal.

        G is 1 where cells are not weighed.
        """
        parts = self.layers[0].weight.split(self.tables[0].embedding_dim, 1)
        folded = [
            torch.einsum("oekl,ce->ockl", part, table.weight) for part, table in zip(parts, self.tables)
        ]
        plain = torch.cat(folded, 1)[None].to(self.tables[0].weight.dtype)  # products may be of bfloat16
        if self.relevance is None:
            return plain
        return plain + torch.einsum("gc,okl->gockl", self.relevance.weight, parts[-1][:, 0])

    def _mark(self, maps: Tensor, dtype: torch.dtype) -> Tensor:
        """(B, sum of categories, H, W) of 0 and 1: which category each channel has there."""
        parts = []
        for channel, count in enumerate(self._counts.tolist()):
            numbers = torch.arange(count, dtype=maps.dtype, device=maps.device)
            parts.append(maps[:, None, :, :, channel] == numbers[:, None, None])
        return torch.cat(parts, 1).to(dtype)
