"""Recipes of ObjectNav by continuous control: the Habitat challenge of 2023, from colour and depth.

Sizes: images of 48 x 64 (portrait, as the camera is), three convolutions, a GRU of 256; 596,969 parameters.
"""

from dataclasses import replace

from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import HABITAT_DDPPO, PolicySettings, Schedule

OBJECTNAV_STRETCH_SMALL = Recipe(
    description="ObjectNav with velocities (tanh-Gaussian) by PPO",
    protocol="objectnav-stretch2023-v1",
    sensors=("rgb", "depth", "objectgoal", "gps", "compass"),
    # habitat-lab's DD-PPO, with the entropy of its skills with continuous actions (VER, 0.001 for 0.01): the
    # entropy of 4 numbers would win over rewards of 0.001 a step
    method=replace(
        HABITAT_DDPPO,
        optimiser=replace(HABITAT_DDPPO.optimiser, rate=Schedule(2.5e-4, 0.0)),
        entropy_weight=Schedule(0.001, 0.001),
        normalise="variance",
    ),
    policy=PolicySettings(hidden=256),
    image_size=(64, 48),
    steps=64,
    frames=2_000_000,
    core_hours=0.4,
    # the number must be above 0 to stop: a mean of -1.5 does so in 7 % of the steps of a fresh policy
    declaration_bias=-1.5,
)
"""The recipe `objectnav-stretch-small`."""
