"""Pictures of object ids from poses of one's own choice, for rules that ask what can be seen."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int32

from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.world import World

VIEWS_TOGETHER = 256
"""Views that are rendered in one call."""


def render_instances(
    world: World,
    camera: Camera,
    positions: Float[np.ndarray, "c 3"],
    yaws: Float[np.ndarray, "c"],
    tilts: Float[np.ndarray, "c"],
) -> Iterator[tuple[int, int, Int32[np.ndarray, "n h w"]]]:
    """First and last row and instance pictures (N, H, W) int32 ids, some rows at a time.

    The arrays are reused by the next.

    Args:
        world: what is looked at.
        camera: on the body, mount included.
        positions: (C, 3) metres, foot points.
        yaws: (C,) radians.
        tilts: (C,) radians, upwards.
    """
    renderer = VisibilityRenderer([world.render_mesh])
    camera = replace(camera, channels=("instance",))
    count = len(positions)
    store = np.zeros((min(VIEWS_TOGETHER, count), camera.height_px, camera.width_px), np.int32)
    for first in range(0, count, VIEWS_TOGETHER):
        last = min(first + VIEWS_TOGETHER, count)
        bodies = Bodies(last - first)
        bodies.positions[:], bodies.yaws[:] = positions[first:last], yaws[first:last]
        bodies.tilts[:] = tilts[first:last]
        poses = world_from_camera(bodies, camera)
        views = Views(
            camera,
            np.zeros(last - first, np.int32),
            np.ascontiguousarray(poses[:, :3, 3]),
            np.ascontiguousarray(poses[:, :3, :3]),
        )
        pictures = store[: last - first]
        renderer.render(views, Frames(instance=pictures))
        yield first, last, pictures
