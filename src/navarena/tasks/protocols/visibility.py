"""Visibility of near objects: RoboTHOR's rule of success."""

import itertools
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Embodiment
from navarena.simulation.instance_images import Nearness, render_instances
from navarena.simulation.world import World


def see_objects(
    world: World,
    embodiment: Embodiment,
    position: Float[np.ndarray, "3"],
    yaws: Float[np.ndarray, "c"],
    tilts: Float[np.ndarray, "c"],
    objects: Sequence[SceneObject],
    nearness: Nearness,
    min_pixels: int = 1,
) -> Bool[np.ndarray, "c"]:
    """(C,) bool: whether the body's first camera shows near surfaces of any of `objects`.

    AI2-THOR asks this of points that its authors put on the objects: one that is in the image, near, and
    first met by the ray to it makes the object visible. Here every surface point that a pixel shows is one.

    Args:
        world: where the body stands.
        embodiment: the body.
        position: (3,) metres, the foot point.
        yaws: (C,) radians, of the poses that are asked for.
        tilts: (C,) radians, upwards.
        objects: objects of the world's scene.
        nearness: of surfaces that count.
        min_pixels: how many of them one object must show.
    """
    ids = np.array([obj.object_id for obj in objects], np.int32)
    seen = np.zeros(len(yaws), bool)
    places = np.repeat(position[None], len(yaws), 0)
    for first, last, images in render_instances(world, embodiment.cameras[0], places, yaws, tilts, nearness):
        pixels = [(images == number).sum((1, 2)) for number in ids]
        seen[first:last] = np.max(pixels, axis=0, initial=0) >= min_pixels if len(ids) else False
    return seen


def find_turns(
    embodiment: Embodiment, yaw: float, tilt: float, actions: Sequence[str]
) -> list[tuple[tuple[str, ...], float, float]]:
    """Every view from one place: (actions, yaw, tilt in radians), fewest actions first."""
    turn = embodiment.turn_angle
    half = round(np.pi / turn)
    turns = [
        (("turn_left" if k > 0 else "turn_right",) * abs(k), yaw + k * turn)
        for k in range(-half + 1, half + 1)
    ]
    tilts: list[tuple[tuple[str, ...], float]] = [((), tilt)]
    for name, step in (("look_up", embodiment.tilt_angle), ("look_down", -embodiment.tilt_angle)):
        if name in actions:
            reached = tilt
            for count in (1, 2):
                reached = float(np.clip(reached + step, *embodiment.tilt_range))
                tilts.append(((name,) * count, reached))
    views = [
        ((*turning, *tilting), towards, height)
        for (turning, towards), (tilting, height) in itertools.product(turns, tilts)
    ]
    return sorted(views, key=lambda view: len(view[0]))
