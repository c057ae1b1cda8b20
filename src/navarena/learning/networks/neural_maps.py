"""MultiON's neural maps on tensors, for many bodies at once: projection, registration and reading.

The numbers are those of `navarena.mapping.feature_map`, up to rounding, and gradients reach the features
that are projected. Maps lie flat, as (N, cells * cells, F), in the frame of the start pose; windows and
projections have the body in the middle, ahead is up.
"""

import math

from navarena.core.geometry import focal_length
from navarena.learning.tensors import Tensor, torch
from navarena.mapping.feature_map import CELL, EGO_CELLS, HIGHEST, LOWEST, feature_grid
from navarena.mapping.oracle_map import CELLS, oracle_grid

REACHED = 2 * math.floor(EGO_CELLS / math.sqrt(2)) + 1
"""Cells along a side that a projection reaches however it is turned: 19."""


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
    cells = torch.where(kept, down * EGO_CELLS + across, EGO_CELLS**2).flatten(1)
    picked = features.permute(0, 2, 3, 1)[:, (steps * tall // points)[:, None], steps * wide // points]
    picked = picked.reshape(batch, points * points, channels).float()
    out = picked.new_full((batch, EGO_CELLS**2 + 1, channels), -math.inf)
    out = out.scatter_reduce(1, cells[..., None].expand(-1, -1, channels), picked, "amax")[:, :-1]
    return torch.where(out == -math.inf, 0.0, out).unflatten(1, (EGO_CELLS, EGO_CELLS))


def turn_maps(maps: Tensor, turns: Tensor, side: int) -> Tensor:
    """(B, side, side, F) float32: maps (B, R, R, F) turned about their middles by `turns` (B,) radians.

    As `turn_blended`; what is wider than the maps is filled with 0 before.
    """
    grid = (_turned_places(turns, side).flip(3) * (2.0 / maps.shape[1])).float()
    turned = torch.nn.functional.grid_sample(maps.permute(0, 3, 1, 2), grid, align_corners=False)
    return turned.permute(0, 2, 3, 1)


def _turned_places(turns: Tensor, side: int) -> Tensor:
    """(B, side, side, 2) float64: where each cell comes from, rows and columns from the middle."""
    offsets = torch.arange(side, device=turns.device, dtype=torch.float64) - (side - 1) / 2
    sine, cosine = turns.double().sin()[:, None, None], turns.double().cos()[:, None, None]
    rows = cosine * offsets[:, None] + sine * offsets
    return torch.stack((rows, cosine * offsets - sine * offsets[:, None]), 3)


def find_cells(gps: Tensor, cells: int) -> Tensor:
    """(B, 2) int64: row and column of `gps` (B, 2) metres in maps of so many `cells` along a side."""
    edge = feature_grid(cells).corner[0]
    points = torch.stack((-gps[:, 0], gps[:, 1]), 1).double()
    return ((points - edge) / CELL).floor().long()


class Patches:
    """The cells of the maps that projections of N bodies cover.

    Args:
        own: (N, 2) int64, the cells of the bodies.
        cells: along a side of the maps.
    """

    def __init__(self, own: Tensor, cells: int) -> None:
        offsets = torch.arange(EGO_CELLS, device=own.device) - EGO_CELLS // 2
        rows, columns = own[:, :1] + offsets, own[:, 1:] + offsets
        inside = ((rows >= 0) & (rows < cells))[:, :, None] & ((columns >= 0) & (columns < cells))[:, None]
        places = torch.where(inside, rows[:, :, None] * cells + columns[:, None], 0)
        self._inside, self._places = inside.flatten(1)[..., None], places.flatten(1)[..., None]

    def read(self, maps: Tensor) -> Tensor:
        """(N, 169, F) of `maps` (N, cells * cells, F); means nothing where a cell lies off the map."""
        return maps.gather(1, self._places.expand(-1, -1, maps.shape[2]))

    def keep_inside(self, values: Tensor) -> Tensor:
        """`values` (N, 169, F), 0 where a cell lies off the map."""
        return torch.where(self._inside, values, 0.0)

    def raise_maps(self, maps: Tensor, values: Tensor) -> None:
        """Raise `maps` (N, cells * cells, F), at least 0, to `values` (N, 169, F), in place."""
        places = self._places.expand(-1, -1, maps.shape[2])
        maps.scatter_reduce_(1, places, self.keep_inside(values), "amax")


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


def read_windows(maps: Tensor, own: Tensor, turns: Tensor, cells: int, window: int) -> Tensor:
    """(N, window, window, F) float32 of maps (N, cells * cells, F), without gradient.

    Cut out around the cells `own` (N, 2) int64, then turned by `turns` (N,) radians about their middles, as
    `FeatureMaps.read`: corners that the square does not reach are 0.
    """
    slots = len(maps)
    places = _turned_places(turns, window).flatten(1, 2)
    below = places.floor()
    share = (places - below).float()
    first = below.long()
    half, taps, weights = window // 2, [], []
    rows: list[Tensor] = []
    columns: list[Tensor] = []
    for axis, found in ((0, rows), (1, columns)):
        for more in (0, 1):
            offset = first[..., axis] + more
            cell = own[:, axis, None] + offset
            inside = (offset.abs() <= half) & (cell >= 0) & (cell < cells)
            part = share[..., axis] if more else 1.0 - share[..., axis]
            found.append((torch.where(inside, cell, 0), torch.where(inside, part, 0.0)))
    start = (torch.arange(slots, device=maps.device) * cells**2)[:, None]
    for row, tall in rows:
        for column, wide in columns:
            taps.append(start + row * cells + column)
            weights.append(tall * wide)
    read = torch.nn.functional.embedding_bag(
        torch.stack(taps, 2).flatten(0, 1),
        maps.detach().flatten(0, 1),
        mode="sum",
        per_sample_weights=torch.stack(weights, 2).flatten(0, 1),
    )
    return read.reshape(slots, window, window, maps.shape[2])
