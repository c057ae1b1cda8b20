"""Unprojection of depth images to points in the world.

A pixel (row i, column j) is sampled at its centre; K and world_from_camera are those of
`core.geometry` and of the simulation: depth runs along the optical axis, a camera's own frame is
x right, y up, z backward.
"""

# mypy: disable-error-code="no-untyped-def"

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32

from navarena.core.kernels import kernel
from navarena.mapping.image_checks import require_poses


@dataclass(frozen=True)
class PointClouds:
    """Points of N depth images.

    Attributes:
        points: (N, H, W, 3) float32 metres, world frame; the place of the camera where not `valid`.
        valid: (N, H, W) bool, pixels whose depth is finite and inside the range.
    """

    points: Float32[np.ndarray, "n h w 3"]
    valid: Bool[np.ndarray, "n h w"]


@kernel
def write_points(depths, focal_x, focal_y, center_x, center_y, poses, min_range, max_range, points, valid):
    """Write the points (N, H, W, 3) and validity (N, H, W) of `depths` (N, H, W) float32 metres.

    poses: (N, 4, 4) world_from_camera; a depth counts when nearest < depth < farthest.
    """
    for n in range(depths.shape[0]):
        pose = poses[n]
        for i in range(depths.shape[1]):
            up = (center_y - i - 0.5) / focal_y
            for j in range(depths.shape[2]):
                depth = np.float64(depths[n, i, j])
                is_valid = depth > min_range and depth < max_range  # NaN compares false
                valid[n, i, j] = is_valid
                ahead = depth if is_valid else 0.0
                right = (j + 0.5 - center_x) / focal_x * ahead
                for axis in range(3):
                    points[n, i, j, axis] = (
                        pose[axis, 0] * right
                        + pose[axis, 1] * (up * ahead)
                        - pose[axis, 2] * ahead
                        + pose[axis, 3]
                    )


def unproject(
    depths: Float32[np.ndarray, "n h w"],
    intrinsics: Float[np.ndarray, "3 3"],
    world_from_camera: Float[np.ndarray, "n 4 4"],
    min_range: float = 0.0,
    max_range: float = np.inf,
) -> PointClouds:
    """The points in the world that depth images show.

    Args:
        depths: (N, H, W) float32 metres along the optical axis. What is not above `min_range` and below
            `max_range` is no point: a sensor clips there, and 0 means that nothing was hit. NaN is none.
        intrinsics: (3, 3) K, pixels; see `core.geometry.intrinsic_matrix`.
        world_from_camera: (N, 4, 4) metres, any position, yaw, pitch and roll.
        min_range: metres, exclusive.
        max_range: metres, exclusive.

    Raises InputError for poses that are not finite or stretch.
    """
    require_poses(world_from_camera, len(depths))
    points = np.zeros((*depths.shape, 3), np.float32)
    valid = np.zeros(depths.shape, bool)
    k = np.asarray(intrinsics, float)
    poses = np.ascontiguousarray(world_from_camera, np.float64)
    focal_x, focal_y, center_x, center_y = float(k[0, 0]), float(k[1, 1]), float(k[0, 2]), float(k[1, 2])
    write_points(
        np.ascontiguousarray(depths),
        focal_x,
        focal_y,
        center_x,
        center_y,
        poses,
        float(min_range),
        float(max_range),
        points,
        valid,
    )
    return PointClouds(points, valid)
