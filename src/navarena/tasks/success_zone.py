"""What a body that has stopped is near to, and sees: the measurements behind the success zone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int64

from navarena.episodes.view_points import box_distance
from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Embodiment
from navarena.simulation.instance_images import render_instances
from navarena.simulation.world import World


@dataclass(frozen=True)
class Sighting:
    """How near O objects are, and how much of them is seen; see metrics.ObjectGoalTrajectory.

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
    things: Sequence[SceneObject],
    reach: float,
    is_oriented: bool = True,
) -> Sighting:
    """Measure `things` from a body's pose; what is farther than `reach` is not looked at.

    Args:
        world: where the body stands.
        embodiment: the body; its first camera looks.
        pose: position (3,) metres of the foot point, yaw and tilt in radians.
        things: O objects of the world's scene.
        reach: metres, beyond which pixels are counted as 0.
        is_oriented: whether boxes are oriented, or aligned with the axes of the world.
    """
    position, yaw, tilt = pose
    distances = np.array(
        [axis_distance(position, embodiment.height, one if is_oriented else aligned(one)) for one in things]
    )
    seen, framed = np.zeros(len(things), np.int64), np.zeros(len(things), np.int64)
    near = np.flatnonzero(distances <= reach).tolist()
    if near:
        camera = embodiment.cameras[0]
        eye = position + [0.0, camera.mount[1], 0.0]
        towards = np.array([things[k].center for k in near], float) - eye
        yaws = np.append(np.arctan2(-towards[:, 0], -towards[:, 2]), yaw)
        tilts = np.append(np.arctan2(towards[:, 1], np.hypot(towards[:, 0], towards[:, 2])), tilt)
        places = np.repeat(position[None], len(yaws), 0)
        ids = np.array([things[k].object_id for k in near])
        for first, last, images in render_instances(world, camera, places, yaws, tilts):
            for row in range(first, last):
                if row < len(near):
                    framed[near[row]] = np.count_nonzero(images[row - first] == ids[row])
                else:
                    seen[near] = (images[row - first] == ids[:, None, None]).sum((1, 2))
    return Sighting(distances, seen, framed)


def axis_distance(position: Float[np.ndarray, "3"], height: float, thing: SceneObject) -> float:
    """Metres from the nearest point of a body's axis to the box of `thing`; 0 inside.

    position: (3,) metres, the foot point; height: metres of the axis above it.
    """
    return float(axis_distances(np.asarray(position)[None], height, thing)[0])


def axis_distances(
    positions: Float[np.ndarray, "k 3"], height: float, thing: SceneObject
) -> Float[np.ndarray, "k"]:
    """(K,) metres: the same for bodies at K foot points (K, 3), metres."""
    points = np.array(positions, float)
    points[:, 1] = np.clip(thing.center[1], points[:, 1], points[:, 1] + height)
    return np.asarray(box_distance(thing, points))


def aligned(thing: SceneObject) -> SceneObject:
    """`thing` with the box that is aligned with the axes of the world."""
    cosine, sine = abs(np.cos(thing.yaw)), abs(np.sin(thing.yaw))
    x, y, z = thing.half_size
    return replace(thing, yaw=0.0, half_size=(float(cosine * x + sine * z), y, float(sine * x + cosine * z)))
