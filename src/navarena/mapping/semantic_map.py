"""Iterative VLN's semantic map: the highest point of every column, with its label.

Facts are those of the code of Iterative VLN (Krantz et al. 2023, MAP-CMA). An image's points between 0.25
and 1.75 m over the floor are dropped into columns of 5 cm; of each column only the highest point is kept,
over the whole life of the map. The view is a square of 6.4 m around the body, ahead is up.
"""

# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Float32, Int32, Int64, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length
from navarena.core.kernels import kernel
from navarena.core.threads import run_in_shares
from navarena.mapping.image_checks import (
    chosen_agents,
    chosen_middles,
    require_images,
    require_numbers,
    require_poses,
)
from navarena.mapping.storeys import Storeys
from navarena.scenes.datasets.hm3d import mpcat40_of
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.houses.vocabulary import IVLN
from navarena.simulation.body import Camera

CLASSES = ("void", *IVLN)
"""The labels of the map, by id (spec ivln_goat 3.2); 0 is everything else."""

_CLASS_IDS = {category: number for number, word in enumerate(IVLN, 1) for category in (word, *IVLN[word])}

WINDOW = 64
"""Cells along a side of the view."""

VIEW_CELL = 0.1
"""Metres, side of a cell of the view."""


@dataclass(frozen=True)
class SemanticMapSettings:
    """Settings of semantic maps.

    Attributes:
        column: metres, side of a column of the cloud.
        size: metres, side of the square that is remembered.
        min_range: metres; points nearer to the camera are left out (normalised depth of 0.01).
        max_range: metres; points farther away are left out (normalised depth of 0.99 of 10 m).
        below: metres under the camera, down to which points are kept.
        above: metres over the camera, up to which points are kept.
        shown_below: metres under the camera, down to which the view shows points.
        shown_above: metres over it.
        highest: "any" keeps the highest point of a column, whatever it is, so that void hides what is
            under it (code); "labelled" the highest that has a label (paper).
        layers: storeys that are kept apart; with 1 (code) an upper storey replaces a lower one.
        is_world_aligned: whether columns end at multiples of `column` in the world (code); else the middle
            of the map lies between columns.
        void_reference: whether the plane of void is 1 wherever no label is shown, unseen cells included, as
            in the input of the reference network, whose weights expect it; else it is 0 everywhere.
        limit_bytes: of all maps together.
    """

    column: float = 0.05
    size: float = 40.0
    min_range: float = 0.1
    max_range: float = 9.9
    below: float = 1.0
    above: float = 0.5
    shown_below: float = 1.25
    shown_above: float = 0.75
    highest: str = "any"
    layers: int = 1
    is_world_aligned: bool = False
    void_reference: bool = False
    limit_bytes: int = 2 << 30

    def __post_init__(self) -> None:
        if self.highest not in ("any", "labelled"):
            raise InputError(f"expected highest 'any' or 'labelled' of a semantic map, got {self.highest!r}")
        if not (0 < self.column <= self.size and 0 <= self.min_range < self.max_range and self.layers > 0):
            raise InputError(
                "expected 0 < column <= size, 0 <= min_range < max_range (metres) and a layer of a semantic "
                f"map, got {self.column}, {self.size}, {self.min_range}, {self.max_range} and {self.layers}"
            )

    @property
    def side(self) -> int:
        """Columns along a side of the map."""
        return math.ceil(self.size / self.column - 1e-9)


@kernel
def add_points(
    cloud, labels, depth, classes, focal, pose, min_range, max_range, below, above, only_labelled, corner_x,
    corner_z, column,
):  # fmt: skip
    """Keep the highest point of each column (R, C) of an image's points.

    cloud: (R, C, 3) float32 metres, the point of each column, height -infinity for none; labels: (R, C)
    uint8; depth: (H, W) float32 metres; classes: (H, W) int32.
    """
    height, width = depth.shape
    per_focal, per_column = 1.0 / focal, 1.0 / column
    for i in range(height):
        up = (0.5 * height - i - 0.5) * per_focal
        for j in range(width):
            metres = np.float64(depth[i, j])
            if not (metres > min_range and metres < max_range):
                continue
            across = (j + 0.5 - 0.5 * width) * per_focal
            over = metres * (pose[1, 0] * across + pose[1, 1] * up - pose[1, 2])
            if over <= -below or over >= above:
                continue
            label = classes[i, j]
            if only_labelled and label == 0:
                continue
            x = pose[0, 3] + metres * (pose[0, 0] * across + pose[0, 1] * up - pose[0, 2])
            z = pose[2, 3] + metres * (pose[2, 0] * across + pose[2, 1] * up - pose[2, 2])
            r, c = math.floor((z - corner_z) * per_column), math.floor((x - corner_x) * per_column)
            if not (0 <= r < labels.shape[0] and 0 <= c < labels.shape[1]):
                continue
            y = np.float32(pose[1, 3] + over)
            if y > cloud[r, c, 1] or (y == cloud[r, c, 1] and label > labels[r, c]):
                cloud[r, c, 0], cloud[r, c, 1], cloud[r, c, 2] = x, y, z
                labels[r, c] = label


@kernel
def draw_view(cloud, labels, x, y, z, yaw, below, above, corner_x, corner_z, column, cell, out):
    """Draw the columns around a body into `out` (K + 1, W, W) uint8: occupancy, then a plane a label."""
    out[:] = 0
    window = out.shape[1]
    half = 0.5 * window * cell
    # beyond the middles of the outermost cells, as far as a point may be from the middle of its column
    side = half + cell + column
    reach = side * math.sqrt(2.0)
    sine, cosine = math.sin(yaw), math.cos(yaw)
    top = max(0, math.floor((z - reach - corner_z) / column))
    bottom = min(labels.shape[0], math.floor((z + reach - corner_z) / column) + 1)
    for r in range(top, bottom):
        # of the row, what may lie in the turned square
        middle = corner_z + (r + 0.5) * column - z
        west, east = -reach, reach
        for along, across in ((sine, cosine * middle), (cosine, -sine * middle)):
            if abs(along) > 1e-6:
                one, other = (-side - across) / along, (side - across) / along
                west, east = max(west, min(one, other)), min(east, max(one, other))
        left = max(0, math.floor((x + west - corner_x) / column))
        right = min(labels.shape[1], math.floor((x + east - corner_x) / column) + 1)
        for c in range(left, right):
            over = cloud[r, c, 1] - y
            if not (over > -below and over < above):
                continue
            east, south = cloud[r, c, 0] - x, cloud[r, c, 2] - z
            i = math.floor((sine * east + cosine * south + half) / cell + 0.5)
            j = math.floor((cosine * east - sine * south + half) / cell + 0.5)
            if 0 <= i < window and 0 <= j < window:
                out[0, i, j] = 1
                if labels[r, c] > 0:
                    out[1, i, j] = labels[r, c]
    # the plane of void held the labels
    for i in range(window):
        for j in range(window):
            label = out[1, i, j]
            if label > 0:
                out[1, i, j] = 0
                out[1 + label, i, j] = 1


class SemanticMaps:
    """The semantic maps of N bodies.

    Depths that are zero, NaN or outside the range give no point; points off the map are left out. A body
    off the map sees what of the map lies around it.

    Args:
        bodies: N.
        settings: what the maps are like.
        threads: to draw with; None for all.

    Attributes:
        cloud: (N, L, R, C, 3) float32 metres, the point of each column.
        labels: (N, L, R, C) uint8, its label.
        storeys: the floors that the bodies have found.
        corners: (N, 2) float64 metres, x and z of the outer corner of column (0, 0).

    Raises InputError when the maps need more than `limit_bytes`.
    """

    def __init__(
        self,
        bodies: int,
        settings: SemanticMapSettings = SemanticMapSettings(),
        threads: int | None = None,
    ) -> None:
        side = settings.side
        need = bodies * settings.layers * side * side * 13
        if need > settings.limit_bytes:
            raise InputError(
                f"expected semantic maps of at most {settings.limit_bytes:,} bytes, got {need:,} for "
                f"{bodies} bodies, {settings.layers} layers and {side} x {side} columns; take a smaller "
                "size, or raise limit_bytes"
            )
        self.bodies, self.settings, self._threads = bodies, settings, threads
        shape = (bodies, settings.layers, side, side)
        self.cloud: Float32[np.ndarray, "n l r c 3"] = np.full((*shape, 3), -np.inf, np.float32)
        self.labels: UInt8[np.ndarray, "n l r c"] = np.zeros(shape, np.uint8)
        self.storeys = Storeys(bodies, settings.layers, 1.5 if settings.layers > 1 else np.inf)
        self.corners: Float[np.ndarray, "n 2"] = np.full((bodies, 2), -side * settings.column / 2)

    def reset(
        self, bodies: Sequence[int] | Int64[np.ndarray, "k"], middles: Float[np.ndarray, "k 2"] | None = None
    ) -> None:
        """Forget the maps of `bodies` (K,); new ones are centred on `middles` (K, 2) x and z, metres."""
        rows = np.asarray(bodies, np.int64)
        places = chosen_middles(middles, len(rows))
        self.cloud[rows] = -np.inf
        self.labels[rows] = 0
        self.storeys.reset(rows)
        column = self.settings.column
        corners = places - self.settings.side * column / 2
        self.corners[rows] = (
            np.floor(corners / column) * column if self.settings.is_world_aligned else corners
        )

    def update(
        self,
        depths: Float32[np.ndarray, "n h w"],
        classes: Int32[np.ndarray, "n h w"],
        camera: Camera,
        world_from_camera: Float[np.ndarray, "n 4 4"],
        feet: Float[np.ndarray, "n"],
        active: Bool[np.ndarray, "n"] | None = None,
    ) -> None:
        """Add one labelled depth image of each `active` body (all by default).

        Args:
            depths: (N, H, W) float32 metres.
            classes: (N, H, W) int32 ids into CLASSES, true or predicted.
            camera: that took them.
            world_from_camera: (N, 4, 4) metres, in the frame of the maps.
            feet: (N,) metres, y of the floor under each body.
            active: (N,) bool.

        Raises InputError for poses that are not finite or stretch, images of another size, and ids that are
        no class.
        """
        chosen = chosen_agents(active, self.bodies)
        rows = np.flatnonzero(chosen)
        require_images("depths", depths, self.bodies, camera)
        require_images("classes", classes, self.bodies, camera)
        require_poses(world_from_camera, self.bodies, rows)
        require_numbers("heights of the floor under the bodies (metres)", feet, self.bodies, rows)
        if classes.dtype.kind not in "iu":
            raise InputError(f"expected integer classes, got {classes.dtype}")
        seen = classes[rows]
        if seen.size and (seen.min() < 0 or seen.max() >= len(CLASSES)):
            raise InputError(
                f"expected labels within 0..{len(CLASSES) - 1}, got {seen.min()} to {seen.max()}; turn the "
                "scene's categories into these classes first (label_table)"
            )
        added = self.storeys.enter(chosen, feet)
        one, focal = self.settings, focal_length(camera.width_px, camera.hfov)
        poses = np.ascontiguousarray(world_from_camera, np.float64)
        range_ = (float(one.min_range), float(one.max_range), float(one.below), float(one.above))
        only_labelled, column = one.highest == "labelled", float(one.column)
        depths, classes = np.ascontiguousarray(depths, np.float32), np.ascontiguousarray(classes, np.int32)

        def add(share: int, first: int, last: int) -> None:
            for n in range(first, last):
                if added[n]:
                    layer, corner = self.storeys.layer[n], self.corners[n].tolist()
                    cloud, labels = self.cloud[n, layer], self.labels[n, layer]
                    image = (depths[n], classes[n], focal, poses[n])
                    add_points(cloud, labels, *image, *range_, only_labelled, *corner, column)

        run_in_shares(add, self.bodies, self._threads)

    def views(
        self,
        eyes: Float[np.ndarray, "n 3"],
        yaws: Float[np.ndarray, "n"],
    ) -> UInt8[np.ndarray, "n k w w"]:
        """(N, 14, 64, 64) uint8 views: occupancy, then one plane for each of the 13 classes.

        The plane of void is as `void_reference` of the settings says.

        Row 0 is 3.2 m ahead, column 0 as far to the left; the body is at (32, 32), cells are 0.1 m wide.

        Args:
            eyes: (N, 3) metres, where the cameras are.
            yaws: (N,) radians.
        """
        out = np.zeros((self.bodies, len(CLASSES) + 1, WINDOW, WINDOW), np.uint8)
        one = self.settings

        def draw(share: int, first: int, last: int) -> None:
            for n in range(first, last):
                layer = self.storeys.layer[n]
                draw_view(
                    self.cloud[n, layer],
                    self.labels[n, layer],
                    float(eyes[n, 0]),
                    float(eyes[n, 1]),
                    float(eyes[n, 2]),
                    float(yaws[n]),
                    float(one.shown_below),
                    float(one.shown_above),
                    float(self.corners[n, 0]),
                    float(self.corners[n, 1]),
                    float(one.column),
                    VIEW_CELL,
                    out[n],
                )

        run_in_shares(draw, self.bodies, self._threads)
        if one.void_reference:
            out[:, 1] = ~out[:, 2:].any(1)
        return out


def label_table(categories: Sequence[str]) -> Int32[np.ndarray, "c1"]:
    """(C + 1,) int32 class ids by values of semantic images: index in `categories` plus 1, or 0.

    A category belongs to the class of its own name, or to the class whose word stands for it in generated
    houses ("armchair" is a chair); one that generated houses do not have, to that of its mpcat40 name
    (HM3D's "couch" is a sofa).
    """
    return np.array([0, *(_class_id(name) for name in categories)], np.int32)


@cache
def _class_id(category: str) -> int:
    own = category if category in CATEGORIES else mpcat40_of(category)
    return _CLASS_IDS.get(category, _CLASS_IDS.get(own, 0))
