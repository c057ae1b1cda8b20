"""MultiON's learned maps without their networks: what ProjNeuralMap and ObjRecogMap write, and where.

Facts are those of the code (saimwani/multiON) for ProjNeuralMap and of the paper (Wani et al. 2020) for
ObjRecogMap, which the code does not have.
"""

import math
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.mapping.binning import bin_max
from navarena.mapping.egocentric import crop_turned, turn_blended
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.oracle_map import oracle_grid
from navarena.simulation.body import Camera

EGO_CELLS, CELL = 13, 0.8
"""Cells along a side of the projection, and their side in metres."""

GLOBAL_CELLS, WINDOW = 275, 51
"""Cells along a side of the global map (110 m wide), and of the window that is read from it."""

LOWEST, HIGHEST = -0.5, 1.0
"""Metres relative to the camera between which points are projected."""


def feature_grid(cells: int = GLOBAL_CELLS) -> MapGrid:
    """The global map: 275 x 275 cells of 0.8 m around the start, in the frame of the start pose.

    Its cell (row, column) is round((110 - gps[0]) / 0.8), round((gps[1] + 110) / 0.8) of the code; fewer
    `cells` along a side lie around the start alike.
    """
    edge = -cells * CELL / 2 - CELL / 2
    return MapGrid(cells, cells, CELL, (edge, edge))


def project_features(
    features: Float32[np.ndarray, "f a b"],
    depth: Float32[np.ndarray, "h w"],
    camera: Camera,
    layout: Literal["square", "forward"] = "square",
    points: int | None = None,
) -> Float32[np.ndarray, "r c f"]:
    """The features of an image, dropped into cells around the body: ahead is up.

    Args:
        features: (F, A, B) float32, any feature image; pixel (i, j) takes floor(i A / H), floor(j B / W).
        depth: (H, W) float32 metres; 0, NaN and infinity are no points.
        camera: that took the image; level.
        layout: "square" gives 13 x 13 cells with the body in (6, 6) (code), "forward" the 7 x 13 before
            it (paper).
        points: P along each side of the image that are projected: point i lies in pixel floor(i H / P) and
            takes feature floor(i A / P). The code has as many as features; None takes every pixel.

    Returns:
        (13, 13, F) or (7, 13, F) float32: the greatest of each feature in a cell, 0 where there is no point.
    """
    height, width = depth.shape
    tall, wide = (height, width) if points is None else (points, points)
    focal = focal_length(width, camera.hfov)
    down, across = np.arange(tall) * height // tall, np.arange(wide) * width // wide
    shown = depth[down[:, None], across]
    of_row, of_column = np.nonzero(np.isfinite(shown) & (shown > 0))
    rows, columns, metres = down[of_row], across[of_column], shown[of_row, of_column].astype(float)
    over = (height / 2 - rows - 0.5) / focal * metres
    kept = (over > LOWEST) & (over < HIGHEST)
    of_row, of_column, columns, metres = of_row[kept], of_column[kept], columns[kept], metres[kept]
    right = (columns + 0.5 - width / 2) / focal * metres
    middle = EGO_CELLS // 2
    places = np.floor(np.stack([-metres, right], 1) / CELL + middle + 0.5).astype(np.int64)
    picked = features[:, of_row * features.shape[1] // tall, of_column * features.shape[2] // wide].T
    out = bin_max(places, np.ascontiguousarray(picked, np.float32), (EGO_CELLS, EGO_CELLS))
    return out if layout == "square" else out[: middle + 1]


class FeatureMaps:
    """The global maps of N bodies: (275, 275, F) float32 each, of features in the frame of the start.

    `navarena.learning.networks.neural_maps` does the same with gradients.

    Args:
        bodies: N.
        features: F.
        turns: how often the projection is turned by the compass before it is written: once, as the paper
            means, or twice, as the code does, which puts it where it belongs only near heading 0.
        limit_bytes: of all maps together.
        cells: along a side of each map.

    Attributes:
        maps: (N, 275, 275, F) float32.

    Raises InputError when the maps need more than `limit_bytes`.
    """

    def __init__(
        self,
        bodies: int,
        features: int,
        turns: Literal[1, 2] = 1,
        limit_bytes: int = 1 << 30,
        cells: int = GLOBAL_CELLS,
    ) -> None:
        need = bodies * cells**2 * features * 4
        if need > limit_bytes:
            raise InputError(
                f"expected feature maps of at most {limit_bytes:,} bytes, got {need:,}; take fewer bodies or "
                "features, or raise limit_bytes"
            )
        self.grid, self._turns = feature_grid(cells), turns
        self.maps: Float32[np.ndarray, "n r c f"] = np.zeros((bodies, cells, cells, features), np.float32)

    def reset(self, bodies: Int64[np.ndarray, "k"]) -> None:
        """Forget the maps of `bodies` (K,) indices."""
        self.maps[bodies] = 0.0

    def register(
        self,
        projections: Float32[np.ndarray, "n r r f"],
        gps: Float[np.ndarray, "n 2"],
        compass: Float[np.ndarray, "n"],
    ) -> None:
        """Raise the global maps to the projections, turned into the frame of the start.

        Args:
            projections: (N, 13, 13, F) float32, as of `project_features`.
            gps: (N, 2) metres ahead of and right of the start.
            compass: (N,) radians turned left since the start.

        What lies off the map is left out. Raises InputError for gps or compass that are not finite.
        """
        turned = projections
        for _ in range(self._turns):
            turned = turn_blended(turned, np.asarray(compass, float))
        middle = EGO_CELLS // 2
        for n, (row, column) in enumerate(self._cells(gps).tolist()):
            top, left = row - middle, column - middle
            rows, columns = _overlap(top, self.grid.rows), _overlap(left, self.grid.columns)
            part = turned[n, rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
            self.maps[n, rows, columns] = np.maximum(self.maps[n, rows, columns], part)

    def read(
        self, gps: Float[np.ndarray, "n 2"], compass: Float[np.ndarray, "n"]
    ) -> Float32[np.ndarray, "n w w f"]:
        """(N, 51, 51, F) windows around bodies, ahead up; gps (N, 2) metres, compass (N,) radians."""
        flat = np.zeros(len(gps))
        windows = crop_turned(self.maps, self._cells(gps).astype(float), flat, (WINDOW, WINDOW))
        return np.asarray(turn_blended(windows, -np.asarray(compass, float)), np.float32)

    def _cells(self, gps: Float[np.ndarray, "n 2"]) -> Int64[np.ndarray, "n 2"]:
        points = np.stack([gps[:, 1], np.zeros(len(gps)), -gps[:, 0]], 1).astype(float)
        return self.grid.cells_of(points)


def _overlap(first: int, cells: int) -> slice:
    """The cells of a map of `cells` that a projection from cell `first` on covers; none if it is beside."""
    begin = min(max(0, first), cells)
    return slice(begin, max(begin, min(cells, first + EGO_CELLS)))


def nearest_seen_class(
    distances: Float[np.ndarray, "g"],
    bearings: Float[np.ndarray, "g"],
    visible: Bool[np.ndarray, "g"],
    classes: Int64[np.ndarray, "g"],
    reach: float = 2.5,
    fov: float = math.radians(79),
) -> int:
    """The class that ObjRecogMap's classifier should say: of the nearest goal object in view, -1 for none.

    Args:
        distances: (G,) metres, from the body to each goal object.
        bearings: (G,) radians from straight ahead.
        visible: (G,) bool, whether nothing stands in between.
        classes: (G,) ids.
        reach: metres; 2.5 in the paper's text, 5 in its appendix.
        fov: radians.
    """
    in_view = visible & (distances < reach) & (np.abs(bearings) <= fov / 2)
    return int(classes[np.argmin(np.where(in_view, distances, np.inf))]) if in_view.any() else -1


def write_recognised(
    maps: Float32[np.ndarray, "r c f"], position: Float[np.ndarray, "3"], embedding: Float32[np.ndarray, "f"]
) -> None:
    """Write the embedding (F,) of a recognised class into the body's own cell of a map (R, C, F), in place.

    The map is the 300 x 300 of `oracle_grid`, position (3,) metres, world frame; off the map nothing is
    written. Where the classifier says "none" nothing is written either: do not call this then.
    """
    grid = oracle_grid(maps.shape[0])
    cell = grid.cells_of(position)
    if grid.contains(cell):
        maps[cell[0], cell[1]] = embedding
