"""What images and poses must be before kernels, which check nothing, read them.

What is judged here may have any shape and type, so annotations of arguments promise none.
"""

import numpy as np
from jaxtyping import Bool, Float, Int64, Shaped

from navarena.core.errors import InputError
from navarena.simulation.body import Camera

STRETCH = 1e-3
"""Greatest difference of a pose's axes from unit length and right angles: more than rounding to float32."""


def chosen_agents(active: Shaped[np.ndarray, "..."] | None, count: int) -> Bool[np.ndarray, "n"]:
    """(N,) bool: `active`, by default all `count`; raises InputError for another shape or type."""
    if active is None:
        return np.ones(count, bool)
    if active.shape != (count,) or active.dtype != bool:
        raise InputError(f"expected active of {count} bool, got {active.dtype} of shape {active.shape}")
    return np.asarray(active, bool)


def chosen_middles(middles: Shaped[np.ndarray, "..."] | None, count: int) -> Float[np.ndarray, "k 2"]:
    """(K, 2) metres, x and z: `middles`, by default `count` times (0, 0); raises InputError unless finite."""
    if middles is None:
        return np.zeros((count, 2))
    if np.shape(middles) != (count, 2) or not np.isfinite(middles).all():
        raise InputError(
            f"expected {count} finite middles of maps (x, z), got {np.asarray(middles).tolist()}"
        )
    return np.asarray(middles, float)


def require_images(name: str, images: Shaped[np.ndarray, "..."], count: int, camera: Camera) -> None:
    """Raise InputError unless `images`, called `name`, are (N, H, W) pixels: `count` of `camera`'s."""
    expected = (count, camera.height_px, camera.width_px)
    if images.shape != expected:
        raise InputError(f"expected {name} of shape {expected}, got {images.shape}")


def require_numbers(
    name: str, numbers: Shaped[np.ndarray, "..."], count: int, rows: Int64[np.ndarray, "k"]
) -> None:
    """Raise InputError unless `numbers` of any unit, called `name`, are (`count`,), finite in `rows` (K,)."""
    if numbers.shape != (count,) or not np.isfinite(numbers[rows]).all():
        raise InputError(f"expected {count} finite {name}, got {numbers.tolist()}")


def require_poses(
    world_from_camera: Shaped[np.ndarray, "..."], count: int, rows: Int64[np.ndarray, "k"] | None = None
) -> None:
    """Raise InputError unless there are `count` poses (N, 4, 4), metres, that do not stretch or mirror.

    Of them only `rows` (K,) matter, by default all.
    """
    if world_from_camera.shape != (count, 4, 4):
        raise InputError(
            f"expected camera poses (world_from_camera) of shape ({count}, 4, 4), got "
            f"{world_from_camera.shape}"
        )
    rows = np.arange(count) if rows is None else rows
    poses = world_from_camera[rows]
    bad = ~np.isfinite(poses).all((1, 2))
    if bad.any():
        raise InputError(
            f"expected finite camera poses (world_from_camera), got NaN or infinity in row {rows[bad][0]}"
        )
    turns = poses[:, :3, :3]
    apart = np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max((1, 2))
    bad = (apart > STRETCH) | (np.linalg.det(turns) < 0)
    if bad.any():
        raise InputError(
            "expected camera poses (world_from_camera) that neither stretch nor mirror, with the axes right, "
            f"up and backward, got {turns[bad][0].round(3).tolist()} in row {rows[bad][0]}"
        )
