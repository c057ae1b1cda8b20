"""From pictures in which things are marked to places in the frame of the map."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from navarena.simulation.body import Camera


@dataclass(frozen=True, eq=False)
class Sighting:
    """What one picture shows of a thing.

    Attributes:
        points: (K, 3) metres, in the frame of the map, of pixels whose depth is known.
        beyond: (3,) metres, where the nearest of its other pixels lies at least; None where all are known.
    """

    points: Float[np.ndarray, "k 3"]
    beyond: Float[np.ndarray, "3"] | None


def locate(
    mask: Bool[np.ndarray, "h w"],
    depth: Float[np.ndarray, "h w"],
    depth_range: tuple[float, float],
    camera: Camera,
    pose: Float[np.ndarray, "4 4"],
    most: int = 200,
) -> Sighting:
    """Where the marked pixels lie.

    Args:
        mask: (H, W) bool, pixels of the thing.
        depth: (H, W) metres.
        depth_range: (nearest, farthest) metres between which depths are told apart.
        camera: that took the picture.
        pose: (4, 4) of the camera, metres, in the frame of the map.
        most: pixels that are read, evenly chosen.
    """
    rows, columns = np.nonzero(mask)
    every = max(1, len(rows) // most)
    rows, columns = rows[::every], columns[::every]
    metres = depth[rows, columns]
    nearest, farthest = depth_range
    known = (metres > nearest) & (metres < farthest)
    points = _points(rows[known], columns[known], metres[known], camera, pose)
    if known.any() or not len(rows):
        return Sighting(points, None)
    middle = slice(len(rows) // 2, len(rows) // 2 + 1)
    away = np.clip(metres[middle], nearest, farthest)
    return Sighting(points, _points(rows[middle], columns[middle], away, camera, pose)[0])


def _points(
    rows: np.ndarray, columns: np.ndarray, metres: np.ndarray, camera: Camera, pose: Float[np.ndarray, "4 4"]
) -> Float[np.ndarray, "k 3"]:
    focal = camera.width_px / 2 / np.tan(camera.hfov / 2)
    right = (columns + 0.5 - camera.width_px / 2) / focal * metres
    up = (camera.height_px / 2 - rows - 0.5) / focal * metres
    return np.stack([right, up, -metres], 1) @ pose[:3, :3].T + pose[:3, 3]
