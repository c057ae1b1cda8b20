"""Errors of a segmenter's image segments against the true objects of houses."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from navarena.agents.goat.detection import PerceptionErrors, count_errors, detect
from navarena.agents.goat.goal_query import possible_categories
from navarena.core.errors import InputError
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.encoding.encoder import GoalEncoder
from navarena.learning.joint.pairs import scale_crop
from navarena.learning.perception.houses import first_scene_ids
from navarena.mapping.labellers import Labeller
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_body_task

PROTOCOL = "goat-v1"
"""Whose camera looks."""

MARGIN = 0.3
"""Of crops around segments, as in instance memory."""

SIDE = 96
"""Pixels of crops."""


def count_scene_errors(
    labeller: Labeller,
    scene_id: str,
    images: int,
    encoder: GoalEncoder | None = None,
    names: Sequence[str] = (),
    seed: int = 0,
) -> PerceptionErrors:
    """The errors in `images` images from random poses in a scene, level, through the camera of PROTOCOL.

    Args:
        labeller: tells the class of every pixel.
        scene_id: with labels.
        images: how many.
        encoder: names each segment by its crop as one of `names`; None leaves it what the labeller calls it.
        names: the list.
        seed: of the poses.

    Raises InputError for fewer than one image, and for an encoder without names.
    """
    if images < 1 or (encoder is not None and not names):
        raise InputError(f"expected at least one image, and names for an encoder, got {images} and {names}")
    body = get_body_task(PROTOCOL).embodiment
    camera = replace(body.cameras[0], channels=("rgb", "depth", "instance"))
    body = replace(body, cameras=(camera,))
    world = open_world(scene_id, body)
    generator = make_generator("perception-errors", seed, scene_name(scene_id))
    positions = world.navmesh.random_point(generator, images)
    yaws = generator.uniform(-math.pi, math.pi, images)
    simulator = Simulator(body, 1, (), threads=1, channels=camera.channels)
    vectors = None if encoder is None else encoder.encode_words(list(names))
    total = PerceptionErrors()
    for position, yaw in zip(positions, yaws):
        simulator.place([0], [world], position[None], np.array([yaw]), np.zeros(1))
        simulator.observer.observe(simulator.slot_worlds)
        rgb, depth, instance = (np.array(simulator.observer.image(one)[1][0]) for one in camera.channels)
        segments, classes = detect(labeller, rgb, np.asarray(depth, np.float32))
        called = dict(classes)
        if encoder is not None and vectors is not None:
            for number in classes:
                crop = scale_crop(rgb, segments == number, MARGIN, SIDE)
                called[number] = names[int(np.argmax(vectors @ encoder.encode_images([crop])[0]))]
        meant = {number: tuple(possible_categories(name)) for number, name in called.items()}
        total += count_errors(segments, meant, instance, _objects(world, labeller))
    return total


def _objects(world: World, labeller: Labeller) -> dict[int, str]:
    """Id -> category of the objects of a scene that a class of the labeller stands for."""
    known = frozenset().union(*(possible_categories(name) for name in labeller.classes[1:]))
    return {one.object_id: one.category for one in world.scene.objects if one.category in known}


def score_objects(
    labeller: Labeller,
    split: str,
    houses: int,
    images: int,
    encoder: GoalEncoder | None,
    names: Sequence[str],
) -> PerceptionErrors:
    """The errors in the first `houses` houses of `split` together; raises InputError for more of them."""
    total = PerceptionErrors()
    for scene_id in first_scene_ids("houses-v1", split, houses):
        total += count_scene_errors(labeller, scene_id, images, encoder, names)
    return total
