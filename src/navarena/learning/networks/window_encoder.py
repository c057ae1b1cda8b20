"""Networks that read windows of neural maps: convolutions, and EgoMap's query of cells."""

from typing import Any

from navarena.learning.networks.encoders import start_as_multion
from navarena.learning.networks.map_windows import BLOCK, BLOCKS, SIDE, Windows
from navarena.learning.networks.neural_map_settings import PROJECTED_CHANNELS
from navarena.learning.tensors import Tensor, torch, working_dtype
from navarena.mapping.feature_map import WINDOW

OUT = SIDE - 1
"""Outputs along a side of the first convolution, each of 2 x 2 blocks."""

MIN_ROWS = 16
"""Rows of a product below which its last bits depend on how many there are.

In float32 1 to 3 on AMD, 1 to 12 on Intel, measured.
"""


class WindowEncoder(torch.nn.Module):
    """Windows of 51 x 51 x 32 as vectors: three convolutions and a linear layer.

    With multiON's first weights; ReLU after all but the third convolution (rl/models/simple_cnn.py).

    Args:
        features: of the output.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(PROJECTED_CHANNELS, 32, 2 * BLOCK, BLOCK),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(32, 64, 4, 2),
            torch.nn.ReLU(inplace=True),
            torch.nn.Conv2d(64, 32, 2, 1),
            torch.nn.Flatten(),
            torch.nn.Linear(1152, features),
            torch.nn.ReLU(inplace=True),
        )
        start_as_multion(self.layers)

    def forward(self, windows: Windows) -> Tensor:
        """(B, features) of B `windows`."""
        first = self.layers[0]
        dtype = working_dtype(first.weight.device)
        own = windows.values[:0] if windows.own is None else windows.own
        seen = _FirstConvolution.apply(own, first.weight, first.bias, windows, dtype)
        return self.layers[2:](seen.permute(0, 3, 1, 2))


class _FirstConvolution(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any to the type checker
    """(B, 16, 16, 32): the first convolution of windows and its ReLU, of the blocks that are not 0.

    Its kernel of 6 x 6 covers 2 x 2 blocks: each block is multiplied with all four quarters of it in one
    product, and each output is the sum of four such parts.
    """

    @staticmethod
    def forward(
        context: Any, own: Tensor, weight: Tensor, bias: Tensor, windows: Windows, dtype: Any
    ) -> Tensor:
        blocks = windows.values.flatten(1).to(dtype)
        out, channels = weight.shape[:2]
        # rows: quarter, output; columns: cell of a block, channel
        quarters = weight.unflatten(2, (2, BLOCK)).unflatten(4, (2, BLOCK)).permute(2, 4, 0, 3, 5, 1)
        matrix = quarters.reshape(4 * out, BLOCK**2 * channels).to(dtype)
        few = max(MIN_ROWS - len(blocks), 0)  # a window then does not depend on those beside it
        rows = torch.nn.functional.pad(blocks, (0, 0, 0, few))
        parts = torch.mm(rows, matrix.t())[: len(blocks)].reshape(-1, out)
        to = _find_outputs(windows.places, windows.count)
        # summed up in float32, and rounded once
        seen = bias.float().repeat(windows.count * OUT**2 + 1, 1)
        seen.scatter_add_(0, to[:, None].expand(-1, out), parts.float())
        seen = seen[:-1].relu().to(dtype).unflatten(0, (windows.count, OUT, OUT))
        context.save_for_backward(blocks, matrix, to, windows.inner, seen)
        context.has_own = own.requires_grad
        return seen

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, wanted: Tensor) -> tuple[Tensor | None, ...]:
        blocks, matrix, to, inner, seen = context.saved_tensors
        out = wanted.shape[3]
        rows = torch.where(seen > 0, wanted, 0.0).reshape(-1, out)
        of_bias = rows.sum(0, dtype=torch.float32)
        # an output beside the window has no gradient
        rows = torch.cat((rows, rows.new_zeros(1, out)))
        of_parts = rows.index_select(0, to).reshape(-1, 4 * out)
        of_matrix = torch.mm(of_parts.t(), blocks).float()
        of_weight = of_matrix.reshape(2, 2, out, BLOCK, BLOCK, -1).permute(2, 5, 0, 3, 1, 4)
        of_own = None
        if context.has_own:
            of_own = torch.mm(of_parts[inner], matrix).float().unflatten(1, (BLOCK**2, -1))
        return of_own, of_weight.reshape(out, -1, 2 * BLOCK, 2 * BLOCK), of_bias, None, None


def _find_outputs(places: Tensor, count: int) -> Tensor:
    """(M * 4,) int64: to which outputs blocks contribute as their quarters; the number behind all for none.

    Quarter 0 of an output is the block above and to the left, quarter 3 the one below and to the right.
    """
    block = places % BLOCKS
    down = torch.tensor([0, 0, 1, 1], device=places.device)
    across = torch.tensor([0, 1, 0, 1], device=places.device)
    row, column = (block // SIDE)[:, None] - down, (block % SIDE)[:, None] - across
    inside = (row >= 0) & (row < OUT) & (column >= 0) & (column < OUT)
    numbers = ((places // BLOCKS)[:, None] * OUT + row) * OUT + column
    return torch.where(inside, numbers, count * OUT**2).flatten()


class MapQuery(torch.nn.Module):
    """EgoMap's attention read (Beeching et al. 2020, ego_map.py): cells weighted by similarity to a query.

    Cosine similarities of a query with all cells, sharpened by 1 + log(1 + e^s), become shares by a softmax.
    The outcome is the mean cell and its place, column and row of -1 to 1. s is a number of its own, where
    the published code takes the last one of the query. Cells of zeros are alike to nothing; those outside
    the blocks that are not 0 are counted, not computed.

    Args:
        inputs: of the linear layer that asks.

    Attributes:
        features: of the outcome.
    """

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(inputs, PROJECTED_CHANNELS + 1)
        torch.nn.init.orthogonal_(self.layer.weight)
        torch.nn.init.zeros_(self.layer.bias)
        self.features = PROJECTED_CHANNELS + 2

    def forward(self, asked: Tensor, windows: Windows) -> Tensor:
        """(B, features) float32: the read from B `windows` for queries (B, inputs)."""
        query, sharp = self.layer(asked).float().split((PROJECTED_CHANNELS, 1), 1)
        with torch.autocast(asked.device.type, enabled=False):
            return self._read(query, 1.0 + torch.nn.functional.softplus(sharp[:, 0]), windows)

    def _read(self, query: Tensor, sharp: Tensor, windows: Windows) -> Tensor:
        """As `forward`, of queries (B, 32) and their sharpness (B,)."""
        steps, cells = windows.places // BLOCKS, windows.cells()
        asked = (torch.nn.functional.normalize(query, dim=1) * sharp[:, None]).index_select(0, steps)
        # a cell of zeros passes no gradient on
        squares = cells.square().sum(2)
        lengths = torch.where(squares > 0, squares, 1.0).sqrt().clamp_min(1e-8)
        alike = (cells * asked[:, None]).sum(2) / lengths
        with torch.no_grad():  # all shares of a step are divided by the same number, so that none overflows
            most = torch.zeros_like(sharp).scatter_reduce_(0, steps, alike.amax(1), "amax")
        weights = (alike - most.index_select(0, steps)[:, None]).exp()
        places = _find_places(cells.device).index_select(0, windows.places % BLOCKS)
        # what zeros weigh is taken of all cells, whose mean place is 0, and off those that are computed
        empty = (-most).exp()
        more = weights - empty.index_select(0, steps)[:, None]
        features = torch.cat(
            (
                (weights[..., None] * cells).sum(1),
                (more[..., None] * places).sum(1),
                more.sum(1, keepdim=True),
            ),
            1,
        )
        summed = features.new_zeros(windows.count, features.shape[1]).index_add(0, steps, features)
        return summed[:, :-1] / (summed[:, -1:] + WINDOW**2 * empty[:, None])


def _find_places(device: Any) -> Tensor:
    """(289, 9, 2) float32: columns and rows of -1 to 1 of the cells of blocks."""
    side = torch.linspace(-1.0, 1.0, WINDOW, device=device).unflatten(0, (SIDE, BLOCK))
    rows = side[:, None, :, None].expand(-1, SIDE, -1, BLOCK)
    columns = side[None, :, None, :].expand(SIDE, -1, BLOCK, -1)
    return torch.stack((columns, rows), -1).reshape(BLOCKS, BLOCK**2, 2)
