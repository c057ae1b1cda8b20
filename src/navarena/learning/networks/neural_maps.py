"""MultiON's neural maps on tensors, for many bodies at once: projection, turning, and registration.

The numbers are those of `navarena.mapping.feature_map`, up to rounding, and gradients reach the features
that are projected. Maps lie flat, as (N, cells * cells, F), in the frame of the start pose; windows and
projections have the body in the middle, ahead is up. Cells are read and written as whole rows of F numbers,
which is what PyTorch does fast on a processor.
"""

import math
from typing import Any

from navarena.core.geometry import focal_length
from navarena.learning.tensors import Tensor, torch
from navarena.mapping.feature_map import CELL, EGO_CELLS, HIGHEST, LOWEST, feature_grid
from navarena.mapping.oracle_map import CELLS, oracle_grid

PATCH = EGO_CELLS**2
"""Cells of a projection."""


def project(features: Tensor, depth: Tensor, hfov: float, points: int) -> Tensor:
    """(B, 13, 13, F) float32: the features of images, dropped into cells around the body.

    The greatest of each feature in a cell passes the gradient on; equal ones share it.

    Args:
        features: (B, F, A, A') of floating-point numbers.
        depth: (B, H, W) float32 metres; 0, NaN and infinity are no points.
        hfov: radians, of a level camera.
        points: P along each side of the image, as of `project_features`.
    """
    batch, channels, tall, wide = features.shape
    height, width = depth.shape[1:]
    focal, middle = focal_length(width, hfov), EGO_CELLS // 2
    steps = torch.arange(points, device=depth.device)
    rows, columns = steps * height // points, steps * width // points
    # in float64, as the reference: a point at the border of a cell then falls into the same one
    shown = depth[:, rows[:, None], columns].double()
    metres = torch.where(torch.isfinite(shown), shown, 0.0)
    over = ((height / 2 - rows - 0.5) / focal)[:, None] * metres
    right = ((columns + 0.5 - width / 2) / focal) * metres
    down, across = ((one / CELL + middle + 0.5).floor().long() for one in (-metres, right))
    kept = (metres > 0) & (over > LOWEST) & (over < HIGHEST)
    kept &= (down >= 0) & (down < EGO_CELLS) & (across >= 0) & (across < EGO_CELLS)
    first = torch.arange(batch, device=depth.device)[:, None, None]
    seen = (steps * tall // points)[:, None] * wide + steps * wide // points
    cells = (first * PATCH + down * EGO_CELLS + across)[kept]
    sources = (first * (tall * wide) + seen)[kept]
    dropped: Tensor = _ScatterMax.apply(
        features.permute(0, 2, 3, 1).reshape(-1, channels), sources, cells, batch * PATCH
    )
    return dropped.reshape(batch, EGO_CELLS, EGO_CELLS, channels)


class _ScatterMax(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any to the type checker
    """(C, F) float32: for each of C cells the greatest of the features (R, F) that fall into it, else 0."""

    @staticmethod
    def forward(context: Any, features: Tensor, sources: Tensor, cells: Tensor, count: int) -> Tensor:
        picked = features.index_select(0, sources).float()
        out = picked.new_full((count, features.shape[1]), -math.inf)
        out.scatter_reduce_(0, _widen(cells, picked), picked, "amax")
        out.masked_fill_(out == -math.inf, 0.0)
        context.save_for_backward(picked, sources, cells, out)
        context.rows, context.dtype = len(features), features.dtype
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, wanted: Tensor) -> tuple[Tensor | None, ...]:
        picked, sources, cells, out = context.saved_tensors
        greatest = (picked == out.index_select(0, cells)).float()
        equals = torch.zeros_like(out).scatter_add_(0, _widen(cells, greatest), greatest)
        shares = greatest.mul_((wanted / equals.clamp_min_(1.0)).index_select(0, cells))
        found = out.new_zeros(context.rows, out.shape[1])
        found.scatter_add_(0, _widen(sources, shares), shares)
        return found.to(context.dtype), None, None, None


def _widen(rows: Tensor, values: Tensor) -> Tensor:
    """`rows` (K,) as the index of whole rows `values` (K, F), in the form that PyTorch scatters fast."""
    return rows[:, None].expand(-1, values.shape[1])


def sum_rows(rows: Tensor, places: Tensor, weights: Tensor) -> Tensor:
    """(K, F): for each of K cells the sum of `rows` (R, F) at `places` (K, P) int32, weighed by (K, P)."""
    if not len(places):
        return rows.new_zeros(0, rows.shape[1])
    summed: Tensor = torch.nn.functional.embedding_bag(places, rows, mode="sum", per_sample_weights=weights)
    return summed


def turn_offsets(turns: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and columns from which cells at `rows` and `columns` from the middle come, turned by `turns`.

    Angles and offsets of shapes that broadcast. Turned by -`turns` it is the way back.
    """
    sine, cosine = turns.sin(), turns.cos()
    return cosine * rows + sine * columns, cosine * columns - sine * rows


def blend(
    first: tuple[Tensor, Tensor],
    share: tuple[Tensor, Tensor],
    own: tuple[Tensor, Tensor],
    start: Tensor,
    cells: int,
    half: int,
) -> tuple[Tensor, Tensor]:
    """The four cells of a map between which a place lies, (K, 4) int32, and their weights (K, 4) float32.

    A cell beside the map, or farther than `half` from the middle, weighs 0.

    Args:
        first: whole rows and columns from the middle, int32, of shapes that broadcast to K numbers.
        share: float32, how far the place lies beyond, 0 to 1.
        own: row and column of the middle in the map, int32.
        start: int32, the number of the map's first cell.
        cells: along a side of the map.
        half: cells from the middle.
    """
    sides = []
    for offset, part, middle in zip(first, share, own):
        cell = middle + offset
        low = (cell >= 0) & (cell < cells) & (offset >= -half) & (offset <= half)
        high = (cell >= -1) & (cell < cells - 1) & (offset >= -half - 1) & (offset < half)
        near = (cell.clamp(0, cells - 1), (1.0 - part) * low)
        sides.append((near, ((cell + 1).clamp(0, cells - 1), part * high)))
    taps = [(row * cells + column, tall * wide) for row, tall in sides[0] for column, wide in sides[1]]
    places = torch.stack([start + place for place, _ in taps], -1).reshape(-1, 4)
    return places, torch.stack([weight for _, weight in taps], -1).reshape(-1, 4)


def spread(turns: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which cells of a turned map a cell goes into: `blend` from the other side, for gradients.

    Returns rows and columns from the middle (K, 9) int32, and weights (K, 9) float32. Cells that are blended
    from one lie less than a cell's diagonal from where it is turned to: 3 x 3 around that hold all of them.

    Args:
        turns: (K,) float64, of the map.
        rows: (K,) whole numbers, of the cell, from the middle; and so the columns.
        columns: as `rows`.
    """
    tall, wide = turn_offsets(-turns, rows, columns)
    near = torch.tensor([-1.0, 0.0, 1.0], dtype=turns.dtype, device=turns.device)
    found_rows = tall.round()[:, None] + near.repeat_interleave(3)
    found_columns = wide.round()[:, None] + near.repeat(3)
    apart = turn_offsets(turns[:, None], found_rows - tall[:, None], found_columns - wide[:, None])
    weights = (1.0 - apart[0].abs()).clamp_min_(0.0) * (1.0 - apart[1].abs()).clamp_min_(0.0)
    return found_rows.int(), found_columns.int(), weights.float()


def turn_maps(maps: Tensor, turns: Tensor, side: int) -> Tensor:
    """(B, side, side, F) float32: maps (B, R, R, F) turned about their middles by `turns` (B,) radians.

    As `turn_blended`; what is wider than the maps is filled with 0 before.
    """
    turned: Tensor = _Turning.apply(maps, turns, side)
    return turned


class _Turning(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any to the type checker
    """`turn_maps`, and its gradient."""

    @staticmethod
    def forward(context: Any, maps: Tensor, turns: Tensor, side: int) -> Tensor:
        context.save_for_backward(turns)
        batch, own, _, channels = context.shape = maps.shape
        offsets = _count_from_middle(side, turns.device)
        places = turn_offsets(turns.double()[:, None, None], offsets[:, None], offsets)
        below = [one.floor() for one in places]
        start = torch.arange(batch, dtype=torch.int32, device=turns.device)[:, None, None] * own**2
        taps = blend(
            (below[0].int(), below[1].int()),
            ((places[0] - below[0]).float(), (places[1] - below[1]).float()),
            (torch.full_like(start, own // 2), torch.full_like(start, own // 2)),
            start,
            own,
            own // 2,
        )
        return sum_rows(maps.reshape(-1, channels), *taps).reshape(batch, side, side, channels)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, wanted: Tensor) -> tuple[Tensor | None, ...]:
        (turns,) = context.saved_tensors
        batch, own, _, channels = context.shape
        side = wanted.shape[1]
        offsets = _count_from_middle(own, turns.device)
        rows, columns = offsets.repeat_interleave(own).repeat(batch), offsets.repeat(own * batch)
        rows, columns, weights = spread(turns.double().repeat_interleave(own**2), rows, columns)
        inside = (rows.abs() <= side // 2) & (columns.abs() <= side // 2)
        start = torch.arange(batch, dtype=torch.int32, device=turns.device).repeat_interleave(own**2)
        places = start[:, None] * side**2 + (rows + side // 2) * side + columns + side // 2
        found = sum_rows(wanted.reshape(-1, channels), torch.where(inside, places, 0), weights * inside)
        return found.reshape(context.shape), None, None


def _count_from_middle(side: int, device: Any) -> Tensor:
    """(side,) float64: places of cells along an odd side, from the middle."""
    return torch.arange(side, dtype=torch.float64, device=device) - side // 2


def find_cells(gps: Tensor, cells: int) -> Tensor:
    """(B, 2) int64: row and column of `gps` (B, 2) metres in maps of so many `cells` along a side."""
    edge = feature_grid(cells).corner[0]
    points = torch.stack((-gps[:, 0], gps[:, 1]), 1).double()
    return ((points - edge) / CELL).floor().long()


def find_patches(own: Tensor, cells: int, maps: int) -> tuple[Tensor, Tensor]:
    """Rows (B, 169) int64 of flat maps that projections cover, and whether (B, 169) a cell lies on the map.

    A cell beside the map has the row of some cell of it.

    Args:
        own: (B, 2) int64, the cells of the bodies; body b has the map b modulo `maps`.
        cells: along a side of the maps.
        maps: N.
    """
    offsets = torch.arange(EGO_CELLS, device=own.device) - EGO_CELLS // 2
    rows, columns = own[:, :1] + offsets, own[:, 1:] + offsets
    inside = ((rows >= 0) & (rows < cells))[:, :, None] & ((columns >= 0) & (columns < cells))[:, None]
    places = torch.where(inside, rows[:, :, None] * cells + columns[:, None], 0)
    first = torch.arange(len(own), device=own.device) % maps * cells**2
    return places.flatten(1) + first[:, None], inside.flatten(1)


def raise_rows(maps: Tensor, rows: Tensor, values: Tensor) -> Tensor:
    """Raise `rows` (K,) of flat maps (R, F), at least 0, to `values` (K, F), in place.

    Returns where the values are the greater, (K, F) bool.
    """
    wins = values > maps.index_select(0, rows)
    maps.scatter_reduce_(0, _widen(rows, values), values, "amax")
    return wins


def read_classes(maps: Tensor, own: Tensor, yaws: Tensor, window: int) -> Tensor:
    """(N, window, window, 1) of maps (N, 300 * 300) of any dtype, cut out as by `crop_oracle`: ahead is down.

    Args:
        maps: of `oracle_grid`.
        own: (N, 2) int64, the cells of the bodies.
        yaws: (N,) radians.
        window: cells along a side.
    """
    turns = math.pi / 2 - yaws.double()[:, None, None]
    offsets = torch.arange(window, device=maps.device) - (window - 1) / 2
    sine, cosine = turns.sin(), turns.cos()
    rows = (cosine * offsets[:, None] + sine * offsets + own[:, :1, None]).floor().long()
    columns = (cosine * offsets - sine * offsets[:, None] + own[:, 1:, None]).floor().long()
    inside = (rows >= 0) & (rows < CELLS) & (columns >= 0) & (columns < CELLS)
    places = torch.where(inside, rows * CELLS + columns, 0)
    found = maps.gather(1, places.flatten(1)).unflatten(1, (window, window))
    return torch.where(inside, found, torch.zeros((), dtype=maps.dtype, device=maps.device))[..., None]


def find_oracle_cells(gps: Tensor) -> Tensor:
    """(B, 2) int64: row and column of `gps` (B, 2) metres in `oracle_grid`, whose origin is the start."""
    grid = oracle_grid()
    points = gps.double()
    rows, columns = grid.corner[0] - points[:, 1], -points[:, 0] - grid.corner[1]
    return (torch.stack((rows, columns), 1) / grid.cell).floor().long()
