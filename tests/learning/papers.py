"""The papers' policies as tests build them: inputs as their protocols show them, without any scene."""

from dataclasses import replace

import numpy as np

from navarena.learning.inputs import choose_inputs
from navarena.learning.policy import RecurrentPolicy
from navarena.learning.recipes.catalog import RECIPES
from navarena.learning.tensors import torch
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.tasks.catalog import get_body_task
from navarena.tasks.sensors.catalog import GOAL_SENSORS

from .made import draw_input

NUMBER = ObservationSpec((2,), np.float32, -1e9, 1e9)
CLASSES = {
    "multiobjectgoal": 8,
    "objectnav-habitat2020-v1": 21,
    "robustnav-objectnav-v1": 12,
    "objectnav-robothor2021-v1": 12,
}


def get_recipe(name):
    return RECIPES.get(name)


def paper_inputs(recipe):
    """The inputs of `recipe`, of its protocol's sensors."""
    classes = CLASSES.get(recipe.protocol, 8)
    category = ObservationSpec((1,), np.int64, 0, classes - 1)
    specs = {
        "rgb": ObservationSpec((*recipe.image_size, 3), np.uint8, 0, 255),
        "depth": ObservationSpec((*recipe.image_size, 1), np.float32, 0, 10),
        "gps": NUMBER,
        "compass": replace(NUMBER, shape=(1,)),
        "pointgoal_with_gps_compass": NUMBER,
        "objectgoal": category,
        "multiobjectgoal": category,
    }
    specs |= {name: GOAL_SENSORS.get(name)().spec() for name in recipe.sensors if "_map" in name}
    return choose_inputs(specs, recipe.sensors, recipe.image_size)


def paper_policy(recipe, seed=0):
    actions = len(get_body_task(recipe.protocol).actions)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return RecurrentPolicy(paper_inputs(recipe), actions, recipe.policy)


def count_trained(policy):
    return sum(one.numel() for one in policy.parameters() if one.requires_grad)


def random_observations(inputs, slots, seed=0):
    """name -> (N, ...) tensors as rollouts store them."""
    generator = np.random.default_rng(seed)
    drawn = {one.name: draw_input(one, slots, generator).astype(one.dtype) for one in inputs}
    return {name: torch.from_numpy(values) for name, values in drawn.items()}
