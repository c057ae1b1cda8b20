"""Odometry from actions and depth images by scan matching, batched."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from navarena.core.errors import InputError
from navarena.core.geometry import focal_length, wrap_angle
from navarena.core.threads import run_in_shares, thread_count
from navarena.mapping.image_checks import chosen_agents, require_images, require_poses
from navarena.mapping.scan_kernels import ROWS, keep_seen, mark_seen, match_scan, read_scan, stamp_scan
from navarena.simulation.body import Camera

MAX_ROLL = 1e-3
"""Radians; cameras that roll more are refused."""

SPARSE = 8
"""Every which pixel, across and down, is compared with the image before."""

BEARINGS = 360
"""Bearings around a body to which it is kept how far was seen."""


@dataclass(frozen=True)
class ScanSettings:
    """Settings of scan matching.

    The numbers are ours, chosen on 20 walks with the challenge's noise and 20 without, in houses of `test`
    and `val` of `houses-v1`.

    Attributes:
        min_range, max_range: metres between which depths are used.
        bands: tangents of the angles over the middle of the image at which rows are read.
        columns: pixels across of a scan, about; larger images are read at every second or third.
        softness: per metre; a depth d has the weight 1 / (1 + (softness d^2)^2), as the error of a disparity.
        lowest_layer: metres over the floor where the lowest layer begins.
        layer_height: metres.
        layers: of heights.
        size: metres, side of the field, with the start in its middle.
        cell: metres, side of a cell of the field, and step of the search.
        turn: radians, step of the search.
        spread: metres, standard deviation of a point of the field.
        known: share of the field's height from which on a point is known already, and left out of the field;
            so the field stays as sharp, and as where it began, as the first scans made it.
        margin: metres nearer than a point, added to those of a walk, where earlier scans must have looked
            for the point to count.
        sideways: radians to either side of it, where they must have looked.
        stride: every which point the search looks at; all of them where it is refined.
        walk_sigmas: standard deviations of a walk: metres ahead, metres to the right, radians. They cover
            PyRobot's models of LoCoBot.
        turn_sigmas: the same of a turn.
        max_sigmas: farthest offset that is searched.
        unmoved: metres, mean difference of depth images below which a walk was blocked where it began. Of
            1,010 random walks of MultiON in houses-v1 that moved by a centimetre or more, 4 % change less.
        trust: log-likelihood of a scan that fits perfectly, against which the sigmas stand.
    """

    min_range: float = 0.11
    max_range: float = 9.0
    bands: tuple[float, ...] = (-0.26, -0.175, -0.0875, 0.0, 0.0875, 0.175, 0.26)
    columns: int = 160
    softness: float = 0.03
    lowest_layer: float = 0.1
    layer_height: float = 0.2
    layers: int = 9
    size: float = 60.0
    cell: float = 0.05
    turn: float = math.radians(2)
    spread: float = 0.05
    known: float = 0.9
    margin: float = 0.1
    sideways: float = 0.03
    stride: int = 8
    walk_sigmas: tuple[float, float, float] = (0.1, 0.1, 0.1)
    turn_sigmas: tuple[float, float, float] = (0.04, 0.05, 0.1)
    max_sigmas: float = 2.5
    unmoved: float = 2e-3
    trust: float = 60.0

    def __post_init__(self) -> None:
        lengths = (
            self.layer_height, self.cell, self.turn, self.spread, self.margin, self.sideways, self.unmoved,
            *self.walk_sigmas, *self.turn_sigmas,
        )  # fmt: skip
        if not (all(value > 0 for value in lengths) and self.cell < self.size < math.inf):
            raise InputError(
                "expected positive lengths, angles and sigmas of a scan, and cells smaller than the field, "
                f"got {self}"
            )
        if not (self.layers > 0 and self.columns > 0 and self.stride > 0 and self.bands):
            raise InputError(
                f"expected at least one layer, column, stride and band of a scan, got {self.layers}, "
                f"{self.columns}, {self.stride} and {len(self.bands)}"
            )
        if not 0 <= self.min_range < self.max_range < math.inf:
            raise InputError(
                f"expected 0 <= min_range < max_range (metres) of a scan, got {self.min_range} and "
                f"{self.max_range}"
            )


class ScanOdometry:
    """Follows N bodies on a level floor, each from where its depth image was first seen.

    A scan, a few rows of the image at several heights, is laid on all scans before at the pose where it
    fits best and that the motion expected of the last action makes likely. Only what lies where earlier scans
    looked is compared. Where nothing can be seen, or everything fits (a long bare wall), the expected motion
    alone counts. A walk after which the image is as before was blocked. There is no correction of poses in
    hindsight. On stairs the scans of other heights mislead it.

    Args:
        bodies: N.
        camera: takes the depth images, level or not, but without roll.
        settings: see ScanSettings.
        threads: to match with; None for all.

    Attributes:
        poses: (N, 3) float64 [metres to the right (x), metres backward (z), radians to the left], in the
            frame of each body's first image.
    """

    def __init__(
        self,
        bodies: int,
        camera: Camera,
        settings: ScanSettings = ScanSettings(),
        threads: int | None = None,
    ) -> None:
        self.settings, self.camera = settings, camera
        self.poses: Float[np.ndarray, "n 3"] = np.zeros((bodies, 3))
        self._is_new = np.ones(bodies, bool)
        self._threads = min(threads or thread_count(), bodies)
        side = math.ceil(settings.size / settings.cell)
        self._fields = np.zeros((bodies, settings.layers, side, side), np.uint8)
        self._seen = np.zeros((bodies, side, side), bool)
        self._last = sparse(np.zeros((bodies, camera.height_px, camera.width_px), np.float32))
        self._column_step = max(1, camera.width_px // settings.columns)
        self._row_step = max(1, camera.height_px // 180)
        across = len(range(self._column_step // 2, camera.width_px, self._column_step))
        self._max_points = across * len(settings.bands)

    def reset(self, bodies: Sequence[int] | Int64[np.ndarray, "k"]) -> None:
        """Reset `bodies` (K,): their next image is taken at the origin of a new frame."""
        rows = np.asarray(bodies, np.int64)
        self._fields[rows], self._seen[rows] = 0, False
        self.poses[rows] = 0.0
        self._is_new[rows] = True

    def update(
        self,
        depths: Float32[np.ndarray, "n h w"],
        expected: Float[np.ndarray, "n 3"],
        body_from_camera: Float[np.ndarray, "n 4 4"],
        active: Bool[np.ndarray, "n"] | None = None,
        scale: float = 1.0,
        offset: float = 0.0,
    ) -> Float[np.ndarray, "n 3"]:
        """The poses (N, 3) after one more depth image of each `active` body (all by default).

        Args:
            depths: (N, H, W) float32, of the camera; in metres it is offset + scale * depth.
            expected: (N, 3) motion since the image before: metres ahead, metres to the right, radians to
                the left, in the frame of the pose before; it is not looked at for a first image.
            body_from_camera: (N, 4, 4) metres: the camera's axes (right, up, backward) in the body's frame.
            active: (N,) bool.
            scale: metres per unit of depth.
            offset: metres at depth 0.

        Raises InputError for images of another size, motions and frames that are not finite, frames that
        stretch, and cameras that roll.
        """
        bodies = len(self.poses)
        chosen = chosen_agents(active, bodies)
        require_images("depths", depths, bodies, self.camera)
        require_poses(body_from_camera, bodies, np.flatnonzero(chosen))
        moved = chosen & ~self._is_new
        if expected.shape != (bodies, 3) or not np.isfinite(expected[moved]).all():
            raise InputError(
                f"expected {bodies} finite motions (metres, metres, radians), got shape {expected.shape}, "
                "or NaN or infinity"
            )
        if (np.abs(body_from_camera[chosen, 1, 0]) > MAX_ROLL).any():
            raise InputError("expected cameras that do not roll, got a right axis that is not level")
        depths = np.ascontiguousarray(depths, np.float32)
        frames = np.ascontiguousarray(body_from_camera, np.float64)
        is_blocked = moved & expected[:, :2].any(1) & self._look(depths, scale, offset, chosen)
        expected = np.where(is_blocked[:, None], (0.0, 0.0, 1.0) * expected, expected)

        def follow(share: int, first: int, last: int) -> None:
            points, scratch = np.zeros((self._max_points, 4)), np.zeros((2, 3))
            for row in range(first, last):
                if chosen[row]:
                    self._follow(row, depths[row], expected[row], frames[row], scale, offset, points, scratch)

        run_in_shares(follow, len(self.poses), self._threads)
        self._is_new[chosen] = False
        return self.poses

    def _look(
        self, depths: Float32[np.ndarray, "n h w"], scale: float, offset: float, chosen: Bool[np.ndarray, "n"]
    ) -> Bool[np.ndarray, "n"]:
        """(N,) whether the `chosen` see the same as in their last image; remembers what they see.

        Depth out of range counts as 0, as before a wall that is nearer than the sensor sees; NaN is left out.
        """
        metres = offset + scale * sparse(depths)
        is_out = (metres <= self.settings.min_range) | (metres >= self.settings.max_range)
        seen = np.where(is_out, np.float32(0), metres)
        changes = np.abs(seen - self._last)
        compared = np.isfinite(changes)
        change = np.where(compared, changes, 0.0).sum((1, 2)) / np.maximum(compared.sum((1, 2)), 1)
        self._last[chosen] = seen[chosen]
        return (change < self.settings.unmoved) & compared.any((1, 2))

    def _follow(
        self,
        row: int,
        depth: Float32[np.ndarray, "h w"],
        expected: Float[np.ndarray, "3"],
        frame: Float[np.ndarray, "4 4"],
        scale: float,
        offset: float,
        points: Float[np.ndarray, "p 4"],
        scratch: Float[np.ndarray, "2 3"],
    ) -> None:
        """Match one body's scan and add it to its field; points and scratch are written over."""
        one = self.settings
        focal = focal_length(self.camera.width_px, self.camera.hfov)
        count = read_scan(
            depth, float(scale), float(offset), focal, frame, np.array(one.bands), self._row_step,
            self._column_step, one.min_range, one.max_range, one.softness, one.lowest_layer,
            one.layer_height, one.layers, np.zeros(ROWS), points,
        )  # fmt: skip
        if not self._is_new[row]:
            likely = compose(self.poses[row], expected)
            # a walk that ended early shows what earlier scans saw from farther away
            margin = one.margin + max(0.0, float(expected[0]))
            known = keep_seen(self._seen[row], points, count, likely, one.cell, margin, one.sideways)
            sigmas = one.walk_sigmas if expected[:2].any() else one.turn_sigmas
            match_scan(
                self._fields[row], points, known, one.stride, self._max_points, likely, np.array(sigmas),
                one.max_sigmas, one.trust, one.cell, one.turn, scratch, self.poses[row],
            )  # fmt: skip
            self.poses[row, 2] = wrap_angle(self.poses[row, 2])
        stamp = np.zeros((2, 2 * math.ceil(2.5 * one.spread / one.cell) + 1))
        stamp_scan(self._fields[row], points, count, self.poses[row], one.cell, one.spread, one.known, stamp)
        mark_seen(self._seen[row], points, count, self.poses[row], one.cell, np.zeros(BEARINGS))


def sparse(images: Float32[np.ndarray, "n h w"]) -> Float32[np.ndarray, "n a b"]:
    """Every SPARSE-th pixel of images (N, H, W), across and down; a view."""
    return images[:, SPARSE // 2 :: SPARSE, SPARSE // 2 :: SPARSE]


def compose(pose: Float[np.ndarray, "3"], motion: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """The pose (3,) [x, z, yaw] after the motion (3,) [ahead, right, left turn]; metres, radians."""
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    ahead, right, turn = motion
    return np.array(
        [pose[0] - sine * ahead + cosine * right, pose[1] - cosine * ahead - sine * right, pose[2] + turn]
    )
