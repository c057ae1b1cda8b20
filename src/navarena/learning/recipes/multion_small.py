"""Recipes of MultiON at small sizes: images of 64 x 64, maps with the paper's cells, a GRU of 256.

Imitation first, then reinforcement that starts from it, of as many frames for every agent of a comparison.
The recipes are for three goals; --protocol names those of one or two.
"""

from dataclasses import replace

from navarena.learning.encoder_settings import EncoderSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import (
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    Schedule,
    constant,
)

_DAGGER = ImitationSettings(
    optimiser=OptimiserSettings(rate=Schedule(1e-3, 2e-5), max_gradient=1.0),
    minibatches=4,
    teacher_share=constant(0.5),
    veto=0.9,
)

MULTION_NOMAP_SMALL = Recipe(
    description="MultiON without a map by DAgger, from 64 x 64 pixels of RGB-D",
    protocol="multion-3on-v1+max_steps=500",
    sensors=("rgb", "depth", "multiobjectgoal"),
    method=_DAGGER,
    image_size=(64, 64),
    policy=PolicySettings(
        hidden=256,
        image_features=256,
        number_features=32,
        action_features=32,
        temperature=0.5,
        encoder=EncoderSettings(images="multion", numbers="embedded", maps="small"),
    ),
    precision="auto",
    frames=3_000_000,
)
"""The recipe `multion-nomap-small`."""

MULTION_ORACLE_MAP_SMALL = replace(
    MULTION_NOMAP_SMALL,
    description="MultiON's OracleMap (Obj) by DAgger, from 64 x 64 pixels of RGB-D",
    sensors=("oracle_map_objects", *MULTION_NOMAP_SMALL.sensors),
)
"""The recipe `multion-oracle-map-small`."""
