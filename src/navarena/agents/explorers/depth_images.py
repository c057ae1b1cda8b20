"""Depth images made fit for maps: resized ones, and those of cameras that look into things."""

import numpy as np
from jaxtyping import Float32

EDGE = 0.06
"""Share of the inverse depth; the crease between a wall 6 m away and the floor bends by 0.04 at 224 rows."""


def stretch(depths: Float32[np.ndarray, "n h w"], rows: int, columns: int) -> Float32[np.ndarray, "n r c"]:
    """Depth images (N, H, W) of any unit at the size in which the camera took them, by the nearest pixels.

    Protocols for networks resize images without keeping their aspect; a map needs the camera's own rays.
    """
    height, width = depths.shape[1:]
    if (height, width) == (rows, columns):
        return depths
    nearest = [np.arange(count) * size // count for count, size in ((rows, height), (columns, width))]
    return np.ascontiguousarray(depths[:, nearest[0][:, None], nearest[1]])


def forget_edges(depths: Float32[np.ndarray, "n h w"]) -> Float32[np.ndarray, "n h w"]:
    """Resized depth images (N, H, W), metres, NaN beside edges.

    Where images were resized, the pixels at an edge lie between what is before it and what is behind, where
    nothing is: a map would close doors with them. The inverse depth of a plane is linear in the image, so
    edges are where it bends by more than EDGE of itself.
    """
    inverse = 1.0 / np.maximum(depths, np.float32(0.05))
    bends = np.zeros_like(inverse)
    bends[:, 1:-1] = np.abs(inverse[:, 2:] + inverse[:, :-2] - 2 * inverse[:, 1:-1])
    across = np.abs(inverse[..., 2:] + inverse[..., :-2] - 2 * inverse[..., 1:-1])
    np.maximum(bends[..., 1:-1], across, out=bends[..., 1:-1])
    edges = bends > np.float32(EDGE) * inverse
    beside = edges.copy()
    beside[:, 1:] |= edges[:, :-1]
    beside[:, :-1] |= edges[:, 1:]
    edges = beside.copy()
    edges[..., 1:] |= beside[..., :-1]
    edges[..., :-1] |= beside[..., 1:]
    return np.where(edges, np.float32(np.nan), depths)


def forget_nearest(depths: Float32[np.ndarray, "n h w"], nearest: float) -> Float32[np.ndarray, "n h w"]:
    """Depth images (N, H, W) of any unit, NaN where they say `nearest` or less.

    For cameras that tell depths apart from nearer than the body lets anything come: what is clipped to the
    nearest depth there is no obstacle, but a hole, where a real camera measures nothing and says 0.
    """
    return np.where(depths > np.float32(nearest), depths, np.float32(np.nan))
