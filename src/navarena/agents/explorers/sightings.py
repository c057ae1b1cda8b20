"""Places of objects in the frame of the map, from masks and depth images."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.geometry import focal_length
from navarena.simulation.body import Camera


@dataclass(frozen=True, eq=False)
class DepthView:
    """A depth image with its camera and pose.

    Attributes:
        depth: (H, W) as observed; in metres it is offset + scale * depth.
        scale: metres per unit of depth.
        offset: metres at depth 0.
        depth_range: (nearest, farthest) metres between which depths are exact.
        camera: that took the image.
        pose: (4, 4) of the camera, metres, in the frame of the map.
    """

    depth: Float[np.ndarray, "h w"]
    scale: float
    offset: float
    depth_range: tuple[float, float]
    camera: Camera
    pose: Float[np.ndarray, "4 4"]

    def metres(self, depth: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """(...) metres of (...) pixels of `depth`: only of those that matter, images are large."""
        return np.asarray(self.offset + self.scale * depth)


@dataclass(frozen=True, eq=False)
class Sighting:
    """Place of an object in one image.

    Attributes:
        points: (K, 3) metres, in the frame of the map, of pixels whose depth is known.
        beyond: (3,) metres, where the nearest of its other pixels lies at least; None where all are known.
    """

    points: Float[np.ndarray, "k 3"]
    beyond: Float[np.ndarray, "3"] | None


def locate(mask: Bool[np.ndarray, "h w"], view: DepthView, max_pixels: int = 200) -> Sighting:
    """The place of an object from its masked pixels, without those of NaN depth.

    Args:
        mask: (H, W) bool, pixels of the object.
        view: the image.
        max_pixels: pixels that are read, evenly chosen.
    """
    marked = np.flatnonzero(mask)
    rows, columns = np.divmod(marked[:: max(1, len(marked) // max_pixels)], mask.shape[1])
    metres = view.metres(view.depth[rows, columns])
    measured = ~np.isnan(metres)
    rows, columns, metres = rows[measured], columns[measured], metres[measured]
    min_range, max_range = view.depth_range
    known = (metres > min_range) & (metres < max_range)
    points = project(rows[known], columns[known], metres[known], view)
    if known.any() or not len(rows):
        return Sighting(points, None)
    middle = slice(len(rows) // 2, len(rows) // 2 + 1)
    away = np.clip(metres[middle], min_range, max_range)
    return Sighting(points, project(rows[middle], columns[middle], away, view)[0])


def project(
    rows: Int[np.ndarray, "k"], columns: Int[np.ndarray, "k"], metres: Float[np.ndarray, "k"], view: DepthView
) -> Float[np.ndarray, "k 3"]:
    """(K, 3) metres, in the frame of the map, of K pixels of `view` at depths `metres`."""
    camera, pose = view.camera, view.pose
    focal = focal_length(camera.width_px, camera.hfov)
    right = (columns + 0.5 - camera.width_px / 2) / focal * metres
    up = (camera.height_px / 2 - rows - 0.5) / focal * metres
    return np.stack([right, up, -metres], 1) @ pose[:3, :3].T + pose[:3, 3]
