"""Windows of neural maps, read where something is written; elsewhere they are 0.

A window of 51 x 51 cells is 17 x 17 blocks of 3 x 3. After 320 steps in houses-v1 a body has written into
about 150 cells, and 32 of the 289 blocks of its window reach some of them. Only these are read, convolved and
compared: the others would give zeros.
"""

from dataclasses import dataclass
from typing import Any

from navarena.learning.networks.neural_maps import (
    PATCH,
    blend,
    find_cells,
    find_patches,
    raise_rows,
    spread,
    sum_rows,
    turn_offsets,
)
from navarena.learning.tensors import Tensor, torch
from navarena.mapping.feature_map import EGO_CELLS, WINDOW

BLOCK = 3
"""Cells along a side of a block: the stride of the convolution that reads windows."""

SIDE = WINDOW // BLOCK
"""Blocks along a side of a window."""

BLOCKS = SIDE**2
"""Blocks of a window."""

INNER = 5, 12
"""First block, and the one behind the last, along a side that a projection reaches however it is turned."""

INNER_SIDE = INNER[1] - INNER[0]
"""Blocks along a side of these."""

REACH = 2
"""Rows or columns between the middle of a block and the farthest cell of the map that it is blended from."""


@dataclass(frozen=True)
class Windows:
    """Windows of B steps, as the blocks of them that are not 0.

    Attributes:
        count: B.
        places: (M,) int64, step * 289 + block, in order.
        values: (M, 9, F) float32, cells of the blocks, without gradient.
        inner: (K,) int64, which of the blocks a projection may have reached.
        own: (K, 9, F) float32, the same numbers with the gradient of the step's projection; None without.
    """

    count: int
    places: Tensor
    values: Tensor
    inner: Tensor
    own: Tensor | None = None

    def cells(self) -> Tensor:
        """(M, 9, F): `values` with the gradient of `own`."""
        return self.values if self.own is None else self.values.index_copy(0, self.inner, self.own)

    def whole(self) -> Tensor:
        """(B, 51, 51, F) with all zeros."""
        channels = self.values.shape[2]
        blocks = self.values.new_zeros(self.count * BLOCKS, BLOCK**2, channels)
        blocks = blocks.index_copy(0, self.places, self.cells())
        return join_blocks(blocks.unflatten(0, (self.count, BLOCKS)))


def join_blocks(blocks: Tensor) -> Tensor:
    """(B, 3 S, 3 S, F) of blocks (B, S * S, 9, F)."""
    batch, count, _, channels = blocks.shape
    side = round(count**0.5)
    joined = blocks.reshape(batch, side, side, BLOCK, BLOCK, channels).transpose(2, 3)
    return joined.reshape(batch, side * BLOCK, side * BLOCK, channels)


def split_blocks(windows: Tensor) -> Tensor:
    """(B, S * S, 9, F) of windows (B, 3 S, 3 S, F)."""
    batch, width, _, channels = windows.shape
    side = width // BLOCK
    split = windows.reshape(batch, side, BLOCK, side, BLOCK, channels).transpose(2, 3)
    return split.reshape(batch, side**2, BLOCK**2, channels)


def write_and_read(
    maps: Tensor, turned: Tensor, poses: Tensor, mask: Tensor, cells: int, reads_inner: bool = False
) -> tuple[Windows, Tensor]:
    """Windows of T steps, and where the projections won, (T * N, 169, F) bool; without gradient.

    What does not depend on the step before is computed for all steps at once.

    Args:
        maps: (N * cells * cells, F) float32, before the first step, at least 0; changed in place.
        turned: (T * N, 169, F) float32, projections in the frame of the start.
        poses: (T, N, 3).
        mask: (T, N) bool, False where a step finds its map empty; of the first step it is not read.
        cells: along a side of the maps.
        reads_inner: whether all blocks are read that a projection may have reached.
    """
    steps, slots = mask.shape
    own = find_cells(poses.flatten(0, 1), cells)
    turns = -poses[..., 2].flatten()
    rows, inside = find_patches(own, cells, slots)
    begun = _find_begun(mask)
    marks = _mark_near((turned.amax(2) > 0) & inside, own, slots, cells)
    blocks = _find_blocks(marks, own, turns, begun, _near_filled(maps, slots, cells), reads_inner)
    taps, weights = _find_taps(blocks, own, turns, slots, cells)
    values = torch.where(inside[..., None], turned, 0.0).unflatten(0, (steps, -1)).flatten(1, 2)
    wins, read = [], []
    whole = maps.unflatten(0, (slots, -1))
    first = _find_borders(blocks.places, steps, slots * BLOCKS)
    for step, own_rows in enumerate(rows.reshape(steps, -1)):
        if begun[step] is not None:
            whole[begun[step]] = 0.0
        wins.append(raise_rows(maps, own_rows, values[step]))
        now = slice(first[step] * BLOCK**2, first[step + 1] * BLOCK**2)
        read.append(sum_rows(maps, taps[now], weights[now]))
    inner = torch.nonzero(_is_inner(blocks.places))[:, 0]
    found = torch.cat(read).reshape(-1, BLOCK**2, maps.shape[1])
    return Windows(len(own), blocks.places, found, inner), torch.cat(wins).unflatten(0, (-1, PATCH))


def _find_begun(mask: Tensor) -> list[Tensor | None]:
    """For each step of `mask` (T, N) the slots where an episode begins; None for none, and for the first."""
    begins = (~mask.all(1)).tolist()
    return [torch.nonzero(~one)[:, 0] if step and begins[step] else None for step, one in enumerate(mask)]


def _find_borders(numbers: Tensor, steps: int, each: int) -> list[int]:
    """Where each of `steps` begins among `numbers` in order, which has `each` of them; then the end."""
    found: list[int] = torch.searchsorted(
        numbers, torch.arange(steps + 1, device=numbers.device) * each
    ).tolist()
    return found


def _is_inner(places: Tensor) -> Tensor:
    """Whether a projection may reach the blocks at `places`."""
    row, column = places % BLOCKS // SIDE, places % SIDE
    return (row >= INNER[0]) & (row < INNER[1]) & (column >= INNER[0]) & (column < INNER[1])


def _grow(marks: Tensor) -> Tensor:
    """(B, R + 4, R + 4) bool: cells that lie at most REACH rows and columns from a mark in (B, R, R)."""
    for axis in (1, 2):
        shape = list(marks.shape)
        length, shape[axis] = shape[axis], shape[axis] + 2 * REACH
        grown = marks.new_zeros(shape)
        for offset in range(2 * REACH + 1):
            grown.narrow(axis, offset, length).logical_or_(marks)
        marks = grown
    return marks


def _near_filled(maps: Tensor, slots: int, cells: int) -> Tensor:
    """(N * (cells + 4)^2,) bool: cells near one that is filled, of maps two cells wider on each side."""
    return _grow((maps.amax(1) > 0).reshape(slots, cells, cells)).flatten()


def _mark_near(written: Tensor, own: Tensor, slots: int, cells: int) -> tuple[Tensor, Tensor]:
    """Which of `_near_filled` the projections of B steps fill: steps (K,), in order, and places (K,).

    Args:
        written: (B, 169) bool, the cells of the projections that write into the map.
        own: (B, 2) int64.
        slots: N.
        cells: along a side of the maps.
    """
    side, width = EGO_CELLS + 2 * REACH, cells + 2 * REACH
    steps, cell = torch.nonzero(_grow(written.reshape(-1, EGO_CELLS, EGO_CELLS)).flatten(1), as_tuple=True)
    # a mark of the map's own cells lies in the wider map by itself
    row, column = own[steps].unbind(1)
    row, column = (row + cell // side - EGO_CELLS // 2, column + cell % side - EGO_CELLS // 2)
    return steps, (steps % slots * width + row) * width + column


@dataclass(frozen=True)
class _Blocks:
    """Blocks that are read: where, and from which cell their middles come.

    Attributes:
        places: (M,) int64, as of Windows.
        steps: (M,) int64, of each block.
        middles: rows and columns (M,) float64, from the body, from which their middles come.
    """

    places: Tensor
    steps: Tensor
    middles: tuple[Tensor, Tensor]


def _find_blocks(
    marks: tuple[Tensor, Tensor],
    own: Tensor,
    turns: Tensor,
    begun: list[Tensor | None],
    near: Tensor,
    reads_inner: bool,
) -> _Blocks:
    """The blocks of windows that something filled may reach, of all steps.

    Args:
        marks: of `_mark_near`.
        own: (B, 2) int64.
        turns: (B,) radians, of the windows.
        begun: for each step, slots whose maps are empty before it.
        near: of `_near_filled`, before the first step; changed in place.
        reads_inner: as of `write_and_read`.
    """
    steps = len(begun)
    slots = len(own) // steps
    width = round((len(near) // slots) ** 0.5)
    offsets = (torch.arange(SIDE, device=own.device, dtype=torch.float64) - SIDE // 2) * BLOCK
    places = turn_offsets(turns.double()[:, None, None], offsets[:, None], offsets)
    start = torch.arange(len(own), device=own.device)[:, None, None] % slots * width**2
    # blocks in the corners, whose cells lie outside the square that is turned, are 0
    rows, columns = ((one + 0.5).floor().long() for one in places)
    reached = (rows.abs() <= WINDOW // 2 + REACH) & (columns.abs() <= WINDOW // 2 + REACH)
    rows, columns = rows + own[:, 0, None, None] + REACH, columns + own[:, 1, None, None] + REACH
    reached &= (rows >= 0) & (rows < width) & (columns >= 0) & (columns < width)
    cells = torch.where(reached, start + rows * width + columns, 0).reshape(steps, -1)
    borders = _find_borders(marks[0], steps, slots)
    whole, found = near.unflatten(0, (slots, -1)), []
    for step in range(steps):
        if begun[step] is not None:
            whole[begun[step]] = False
        near[marks[1][borders[step] : borders[step + 1]]] = True
        found.append(near[cells[step]])
    reached = torch.cat(found).reshape(reached.shape) & reached
    if reads_inner:
        reached[:, INNER[0] : INNER[1], INNER[0] : INNER[1]] = True
    chosen = torch.nonzero(reached.flatten())[:, 0]
    return _Blocks(chosen, chosen // BLOCKS, (places[0].flatten()[chosen], places[1].flatten()[chosen]))


def _find_taps(blocks: _Blocks, own: Tensor, turns: Tensor, slots: int, cells: int) -> tuple[Tensor, Tensor]:
    """Rows of flat maps from which the cells of `blocks` are blended, (M * 9, 4) int32, and their weights."""
    offsets = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64, device=own.device)
    turned = turn_offsets(turns.double()[:, None], offsets.repeat_interleave(3), offsets.repeat(3))
    # in float64: EgoMap's query sees the direction of a cell, however little of it is blended in
    places = [
        part.index_select(0, blocks.steps) + middle[:, None] for middle, part in zip(blocks.middles, turned)
    ]
    below = [one.floor() for one in places]
    # a body may be anywhere: what lies off the map by more than a window lies off it
    near = own.clamp(-WINDOW, cells + WINDOW).int().index_select(0, blocks.steps)[:, None]
    start = (blocks.steps % slots * cells**2).int()[:, None]
    return blend(
        (below[0].int(), below[1].int()),
        ((places[0] - below[0]).float(), (places[1] - below[1]).float()),
        (near[..., 0], near[..., 1]),
        start,
        cells,
        WINDOW // 2,
    )


def read_own(projections: Tensor, windows: Windows, wins: Tensor, turns: Tensor) -> Tensor:
    """(K, 9, F): the inner blocks of `windows`, whose gradient reaches the projections where these won.

    A cell of a projection that is all 0 gets none: nothing was seen there.

    Args:
        projections: (B, 169, F) as they were seen.
        windows: that were read behind them.
        wins: (B, 169, F) bool, where they won when they were turned.
        turns: (B,) radians by which they were turned; the windows were turned back.
    """
    own: Tensor = _Own.apply(projections, windows.values, windows.inner, windows.places, wins, turns)
    return own


class _Own(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any to the type checker
    """`read_own`, and its gradient."""

    @staticmethod
    def forward(
        context: Any,
        projections: Tensor,
        values: Tensor,
        inner: Tensor,
        places: Tensor,
        wins: Tensor,
        turns: Tensor,
    ) -> Tensor:
        context.save_for_backward(projections.abs().amax(2) > 0, places[inner], wins, turns.double())
        return values.index_select(0, inner)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, wanted: Tensor) -> tuple[Tensor | None, ...]:
        seen, places, wins, turns = context.saved_tensors
        channels, middle = wanted.shape[2], EGO_CELLS // 2
        # from the windows back to the map, for cells where something won
        steps, cells = torch.nonzero(wins.any(2), as_tuple=True)
        rows, columns, weights = _spread_cells(-turns, steps, cells)
        edge = INNER_SIDE * BLOCK // 2
        rows, columns = rows + edge, columns + edge
        numbers = _number(
            places // BLOCKS * INNER_SIDE**2
            + (places % BLOCKS // SIDE - INNER[0]) * INNER_SIDE
            + (places % SIDE - INNER[0]),
            len(seen) * INNER_SIDE**2,
        )
        blocks = numbers[steps[:, None] * INNER_SIDE**2 + rows // BLOCK * INNER_SIDE + columns // BLOCK]
        taps = blocks.clamp(min=0) * BLOCK**2 + rows % BLOCK * BLOCK + columns % BLOCK
        of_map = sum_rows(wanted.reshape(-1, channels), taps.int(), weights * (blocks >= 0))
        of_map *= wins[steps, cells]
        # from the map back to the projections, for cells where something was seen
        numbers = _number(steps * PATCH + cells, len(seen) * PATCH)
        steps, cells = torch.nonzero(seen, as_tuple=True)
        rows, columns, weights = _spread_cells(turns, steps, cells)
        inside = (rows.abs() <= middle) & (columns.abs() <= middle)
        taps = numbers[
            torch.where(inside, steps[:, None] * PATCH + (rows + middle) * EGO_CELLS + columns + middle, 0)
        ]
        found = wanted.new_zeros(len(seen) * PATCH, channels)
        if len(of_map):
            part = sum_rows(of_map, taps.clamp(min=0).int(), weights * (inside & (taps >= 0)))
            found.index_copy_(0, steps * PATCH + cells, part)
        return found.unflatten(0, (-1, PATCH)), None, None, None, None, None


def _spread_cells(turns: Tensor, steps: Tensor, cells: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`spread` of the `cells` (K,) of projections of `steps` (K,), which are turned by `turns` (B,)."""
    middle = EGO_CELLS // 2
    return spread(turns[steps], cells // EGO_CELLS - middle, cells % EGO_CELLS - middle)


def _number(places: Tensor, count: int) -> Tensor:
    """(count,) int64: at `places` (K,) their number, elsewhere -1."""
    numbers = torch.full((count,), -1, dtype=torch.int64, device=places.device)
    numbers[places] = torch.arange(len(places), device=places.device)
    return numbers
