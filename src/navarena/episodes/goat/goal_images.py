"""Renders the images of image goals."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int32, UInt8

from navarena.core.errors import InputError
from navarena.episodes.goals import GoalImage, Rotation
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.world import World


def take_goal_images(
    world: World, images: Sequence[GoalImage]
) -> tuple[UInt8[np.ndarray, "k h w 3"], Int32[np.ndarray, "k h w"]]:
    """(K, H, W, 3) uint8 sRGB images through the cameras of goals, and (K, H, W) int32 object ids.

    Raises InputError for cameras of different sizes in pixels, and for none.
    """
    sizes = {(image.width_px, image.height_px) for image in images}
    if len(sizes) != 1:
        raise InputError(f"expected goal images of one size, got {sorted(sizes)}; take them one by one")
    width, height = sizes.pop()
    rgb = np.zeros((len(images), height, width, 3), np.uint8)
    instance = np.zeros((len(images), height, width), np.int32)
    renderer = VisibilityRenderer([world.render_mesh])
    for k, image in enumerate(images):
        camera = Camera(width_px=width, height_px=height, hfov=image.hfov)
        position, rotation = np.array(image.position)[None], rotation_matrix(image.rotation)[None]
        views = Views(camera, np.zeros(1, np.int32), position, rotation)
        renderer.render(views, Frames(rgb=rgb[k : k + 1], instance=instance[k : k + 1]))
    return rgb, instance


def rotation_matrix(rotation: Rotation) -> Float[np.ndarray, "3 3"]:
    """(3, 3) world from camera, columns right, up and backward, of a quaternion [x, y, z, w] of any length.

    Raises InputError for a quaternion of length zero.
    """
    length = math.sqrt(sum(value * value for value in rotation))
    if length < 1e-9:
        raise InputError(f"expected a rotation, got {rotation} of length zero; mend the episode file")
    x, y, z, w = (value / length for value in rotation)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
