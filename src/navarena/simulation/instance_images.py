"""Instance images from given poses, for rules about visibility."""

# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int32

from navarena.core.geometry import focal_length
from navarena.core.kernels import kernel
from navarena.scenes.scene import Scene
from navarena.simulation.bodies import Bodies
from navarena.simulation.body import Camera
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.world import World

ROUNDING = 0.01
"""Metres, far more than float32 rounds off in the depths of a building."""

PIXELS_TOGETHER = 256 * 160 * 120
"""Pixels that are rendered in one call; it bounds the memory."""


@dataclass(frozen=True)
class Nearness:
    """Rule for surfaces that count as near to a body.

    Attributes:
        reach: metres, horizontally from the body's axis.
        rise: metres above its foot point.
    """

    reach: float
    rise: float = math.inf


@kernel
def blank_far(ids, depths, rotations, eyes, focal, reach, rise):
    """Write 0 into the pixels of `ids` (N, H, W) int32 whose surface is not near.

    depths: (N, H, W) float32 metres along the axis; rotations: (N, 3, 3) world from camera (right, up,
    backward); eyes: (N, 3) metres of the cameras from the foot points; focal: pixels; reach, rise: metres.
    """
    count, height, width = ids.shape
    for i in range(count):
        turn = rotations[i]
        for row in range(height):
            down = (row + 0.5 - height / 2) / focal
            for column in range(width):
                if ids[i, row, column] == 0:
                    continue
                right, ahead = (column + 0.5 - width / 2) / focal, depths[i, row, column]
                east = eyes[i, 0] + ahead * (right * turn[0, 0] - down * turn[0, 1] - turn[0, 2])
                above = eyes[i, 1] + ahead * (right * turn[1, 0] - down * turn[1, 1] - turn[1, 2])
                south = eyes[i, 2] + ahead * (right * turn[2, 0] - down * turn[2, 1] - turn[2, 2])
                if east * east + south * south > reach * reach or above > rise:
                    ids[i, row, column] = 0


@kernel
def count_pixels(images, wanted, counts):
    """Write how many pixels of each image (N, H, W) int32 ids show the id wanted (N,), into counts (N,)."""
    for i in range(images.shape[0]):
        flat, ident, count = images[i].reshape(-1), wanted[i], 0
        for k in range(flat.size):
            count += flat[k] == ident
        counts[i] = count


def object_boxes(scene: Scene, ids: Int32[np.ndarray, "c"]) -> Float[np.ndarray, "c 2 3"]:
    """(C, 2, 3) metres, world frame: lowest and highest corner of the triangles of the objects `ids`.

    Zeros for an object without a triangle.
    """
    numbers, rows = np.unique(ids, return_inverse=True)
    known = np.flatnonzero(np.isin(scene.triangle_object, numbers))
    places = np.searchsorted(numbers, scene.triangle_object[known])
    boxes = np.zeros((len(numbers), 2, 3))
    boxes[places, 0], boxes[places, 1] = np.inf, -np.inf
    for corner in range(3):
        points = scene.vertices[scene.triangles[known, corner]].astype(float)
        np.minimum.at(boxes[:, 0], places, points)
        np.maximum.at(boxes[:, 1], places, points)
    return boxes[rows]


def farthest_depths(
    boxes: Float[np.ndarray, "n 2 3"], eyes: Float[np.ndarray, "n 3"], ahead: Float[np.ndarray, "n 3"]
) -> Float[np.ndarray, "n"]:
    """(N,) metres along each optical axis, `ahead` (N, 3), to the farthest corner of a box, and some more.

    boxes: (N, 2, 3) metres, lowest and highest corners; eyes: (N, 3) metres.
    """
    middle, half = boxes.mean(1) - eyes, (boxes[:, 1] - boxes[:, 0]) / 2
    return (middle * ahead + half * np.abs(ahead)).sum(1) + ROUNDING


def render_instances(
    world: World,
    camera: Camera,
    positions: Float[np.ndarray, "c 3"],
    yaws: Float[np.ndarray, "c"],
    tilts: Float[np.ndarray, "c"],
    nearness: Nearness | None = None,
    wanted: Float[np.ndarray, "c 2 3"] | None = None,
) -> Iterator[tuple[int, int, Int32[np.ndarray, "n h w"]]]:
    """First and last row and instance images (N, H, W) int32 ids, some rows at a time.

    The arrays are reused by the next.

    Args:
        world: what is looked at.
        camera: on the body, mount included.
        positions: (C, 3) metres, foot points.
        yaws: (C,) radians.
        tilts: (C,) radians, upwards.
        nearness: pixels whose surface is not near show 0; None for any distance.
        wanted: (C, 2, 3) metres, lowest and highest corners of what alone is looked for in each image: what
            lies wholly behind may be missing, which is faster. None where everything is.
    """
    renderer = VisibilityRenderer([world.render_mesh])
    camera = replace(camera, channels=("instance",) if nearness is None else ("instance", "depth"))
    count = len(positions)
    together = max(1, min(count, PIXELS_TOGETHER // (camera.width_px * camera.height_px)))
    store = Frames.allocate(together, camera, camera.channels)
    focal = focal_length(camera.width_px, camera.hfov)
    for first in range(0, count, together):
        last = min(first + together, count)
        bodies = Bodies(last - first)
        bodies.positions[:], bodies.yaws[:] = positions[first:last], yaws[first:last]
        bodies.tilts[:] = tilts[first:last]
        poses = world_from_camera(bodies, camera)
        eyes = np.ascontiguousarray(poses[:, :3, 3])
        rotations = np.ascontiguousarray(poses[:, :3, :3])
        images = np.asarray(store.instance)[: last - first]
        depths = None if store.depth is None else store.depth[: last - first]
        far = None if wanted is None else farthest_depths(wanted[first:last], eyes, -rotations[:, :, 2])
        views = Views(camera, np.zeros(last - first, np.int32), eyes, rotations, far)
        renderer.render(views, Frames(instance=images, depth=depths))
        if nearness is not None:
            blank_far(
                images, depths, rotations, eyes - bodies.positions, focal, nearness.reach, nearness.rise
            )
        yield first, last, images
