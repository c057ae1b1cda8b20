"""Compiled loops of encoders on processors: images scaled and joined, maps of categories convolved.

PyTorch does the same by several passes over memory, which take longer.
"""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from typing import Any

import numpy as np

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.learning.tensors import Tensor, torch


@kernel
def scale_pixels(image, centre, spread, first, out):
    """Write (image - centre) / spread into the channels of `out` (P, C) from `first` on; image (P, K)."""
    for p in range(image.shape[0]):
        for k in range(image.shape[1]):
            out[p, first + k] = (np.float32(image[p, k]) - centre) / spread


def stack_images(images: Sequence[Tensor], centre: float, spread: float) -> Tensor:
    """(B, H, W, C) float32 of images (B, H, W, C_i) one behind the other; bytes less `centre`, by `spread`.

    The numbers are those of PyTorch, bit for bit.
    """
    if images[0].device.type != "cpu" or any(one.requires_grad for one in images):
        parts = [
            (one.float() - centre) / spread if one.dtype == torch.uint8 else one.float() for one in images
        ]
        return torch.cat(parts, 3)
    out = torch.empty(*images[0].shape[:3], sum(one.shape[3] for one in images))
    flat, first = out.reshape(-1, out.shape[3]).numpy(), 0
    for one in images:
        is_bytes = one.dtype == torch.uint8
        pixels = (one if is_bytes else one.float()).reshape(-1, one.shape[3]).numpy()
        scaling = (centre, spread) if is_bytes else (0.0, 1.0)
        scale_pixels(pixels, np.float32(scaling[0]), np.float32(scaling[1]), first, flat)
        first += one.shape[3]
    return out


@kernel
def windows_of(cell, side, stride, count):
    """First and last window, of `side` cells and `stride` cells apart, that holds a cell; at most `count`."""
    return max(0, (cell - side + stride) // stride), min(count - 1, cell // stride)


@kernel
def convolve_categories(maps, goals, first, last, tables, side, stride, windows, is_backward):
    """Add to `windows` (B, R, S, O) what `tables` (G, M, side * side, O) say of cells of categories above 0.

    Backward, `windows` are the gradients of the result, and are added to those of the tables. maps: (B, H, W,
    C) categories; goals: (B,) which table; first, last: (C,) rows of a channel's least and greatest category.
    Returns whether all cells have one of these; else nothing that was written means anything.
    """
    batch, rows, columns, features = windows.shape
    for b in range(batch):
        table = tables[goals[b]]
        for y in range(maps.shape[1]):
            for x in range(maps.shape[2]):
                for c in range(first.shape[0]):
                    if maps[b, y, x, c] == 0:
                        continue
                    row = first[c] + maps[b, y, x, c]
                    if not first[c] < row <= last[c]:
                        return False
                    top, bottom = windows_of(y, side, stride, rows)
                    left, right = windows_of(x, side, stride, columns)
                    for i in range(top, bottom + 1):
                        for j in range(left, right + 1):
                            entry = table[row, (y - i * stride) * side + x - j * stride]
                            window = windows[b, i, j]
                            if is_backward:
                                for o in range(features):
                                    entry[o] += window[o]
                            else:
                                for o in range(features):
                                    window[o] += entry[o]
    return True


class CategoryConvolution(torch.autograd.Function):
    """A convolution of maps of categories as one-hot, in which cells of category 0 cost nothing.

    `apply` gives (B, O, R, S) in the dtype of `tables`, of channels that follow each other in memory. Its
    arguments:

    * maps (B, H, W, C) whole numbers, without gradient,
    * goals (B,) int64, which of the tables is a map's,
    * first, last (C,) int64, rows of a channel's least and greatest category in the tables,
    * base (G, O), the result where all cells are of category 0,
    * tables (G, M, K * K, O), what a category under each cell of a window adds to that,
    * the side K of a window, and the stride.

    InputError for a category or a goal that the tables do not have.
    """

    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        """See the class."""
        maps, goals, first, last, base, tables, side, stride = given
        batch, height, width, _ = maps.shape
        if batch and not 0 <= int(goals.min()) <= int(goals.max()) < len(tables):
            raise InputError(f"expected goals of 0 to {len(tables) - 1}, got {goals.unique().tolist()}")
        rows, columns = ((one - side) // stride + 1 for one in (height, width))
        shape = batch, base.shape[1], rows, columns
        out = torch.empty(shape, dtype=base.dtype, memory_format=torch.channels_last)
        out.copy_(base.detach()[goals][:, :, None, None])
        arrays = [one.detach().contiguous().numpy() for one in (maps, goals, first, last, tables)]
        if not convolve_categories(*arrays, side, stride, out.permute(0, 2, 3, 1).numpy(), False):
            raise InputError(
                f"expected categories of 0 to {(last - first).tolist()} on the channels of a map, got "
                f"{maps.amin((0, 1, 2)).tolist()} to {maps.amax((0, 1, 2)).tolist()}"
            )
        ctx.save_for_backward(maps, goals, first, last)
        ctx.sizes = tables.shape, side, stride
        return out

    @staticmethod
    def backward(ctx: Any, *given: Any) -> tuple[Any, ...]:
        """Gradients of base and tables."""
        shape, side, stride = ctx.sizes
        gradient = given[0].permute(0, 2, 3, 1).contiguous()
        of_tables = gradient.new_zeros(shape)
        goals = ctx.saved_tensors[1]
        arrays = [one.contiguous().numpy() for one in (*ctx.saved_tensors, of_tables)]
        convolve_categories(*arrays, side, stride, gradient.numpy(), True)
        of_base = gradient.new_zeros(shape[0], shape[3]).index_add(0, goals, gradient.sum((1, 2)))
        return None, None, None, None, of_base, of_tables, None, None
