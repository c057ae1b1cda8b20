"""Measurements of the success zone: objects near a body that has stopped, and what it sees of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.elementary import arctan2
from navarena.episodes.view_points import box_distance
from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Embodiment
from navarena.simulation.instance_images import render_instances
from navarena.simulation.world import World


@dataclass(frozen=True)
class Sighting:
    """Distances of O objects, and how much of them is seen; see metrics.ObjectGoalTrajectory.

    Attributes:
        distances: (O,) float64 metres.
        seen, framed: (O,) int64 pixels.
    """

    distances: Float[np.ndarray, "o"]
    seen: Int64[np.ndarray, "o"]
    framed: Int64[np.ndarray, "o"]


NOTHING = Sighting(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))


def sight_objects(
    world: World,
    embodiment: Embodiment,
    pose: tuple[Float[np.ndarray, "3"], float, float],
    objects: Sequence[SceneObject],
    reach: float,
    is_oriented: bool = True,
) -> Sighting:
    """Measure `objects` within `reach` from a body's pose.

    Args:
        world: where the body stands.
        embodiment: the body; its first camera looks.
        pose: position (3,) metres of the foot point, yaw and tilt in radians.
        objects: O objects of the world's scene.
        reach: metres, beyond which pixels are counted as 0.
        is_oriented: whether boxes are oriented, or aligned with the axes of the world.
    """
    position, yaw, tilt = pose
    distances = np.array(
        [axis_distance(position, embodiment.height, one if is_oriented else aligned(one)) for one in objects]
    )
    seen, framed = np.zeros(len(objects), np.int64), np.zeros(len(objects), np.int64)
    near = np.flatnonzero(distances <= reach).tolist()
    if near:
        camera = embodiment.cameras[0]
        eye = position + [0.0, camera.mount[1], 0.0]
        towards = np.array([objects[k].center for k in near], float) - eye
        yaws = np.append(arctan2(-towards[:, 0], -towards[:, 2]), yaw)
        tilts = np.append(arctan2(towards[:, 1], np.hypot(towards[:, 0], towards[:, 2])), tilt)
        places = np.repeat(position[None], len(yaws), 0)
        ids = np.array([objects[k].object_id for k in near])
        for first, last, images in render_instances(world, camera, places, yaws, tilts):
            for row in range(first, last):
                if row < len(near):
                    framed[near[row]] = np.count_nonzero(images[row - first] == ids[row])
                else:
                    seen[near] = (images[row - first] == ids[:, None, None]).sum((1, 2))
    return Sighting(distances, seen, framed)


def axis_distance(position: Float[np.ndarray, "3"], height: float, obj: SceneObject) -> float:
    """Metres from the nearest point of a body's axis to the box of `obj`; 0 inside.

    position: (3,) metres, the foot point; height: metres of the axis above it.
    """
    return float(axis_distances(np.asarray(position)[None], height, obj)[0])


def axis_distances(
    positions: Float[np.ndarray, "k 3"], height: float, obj: SceneObject
) -> Float[np.ndarray, "k"]:
    """(K,) metres: the same for bodies at K foot points (K, 3), metres."""
    points = np.array(positions, float)
    points[:, 1] = np.clip(obj.center[1], points[:, 1], points[:, 1] + height)
    return np.asarray(box_distance(obj, points))


def aligned(obj: SceneObject) -> SceneObject:
    """`obj` with the box that is aligned with the axes of the world."""
    cosine, sine = abs(np.cos(obj.yaw)), abs(np.sin(obj.yaw))
    x, y, z = obj.half_size
    return replace(obj, yaw=0.0, half_size=(float(cosine * x + sine * z), y, float(sine * x + cosine * z)))
