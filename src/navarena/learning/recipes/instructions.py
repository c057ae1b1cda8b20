"""Recipes of instruction followers: cross-modal attention over images, and over semantic maps.

Sizes: `paper` as IVLN-CE (latent_cma_policy.py, map_cma_policy.py); `small` for processors.
"""

from dataclasses import replace

from navarena.learning.auxiliaries.settings import PROGRESS
from navarena.learning.networks.follower_settings import PAPER, FollowerSettings, Tour
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import (
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    Schedule,
    powers,
)

_DAGGER = ImitationSettings(
    optimiser=OptimiserSettings(rate=Schedule(1e-3, 1e-4), max_gradient=1.0),
    minibatches=4,
    # teacher forcing at first, the learner's own states later, as VLN-CE's two stages
    teacher_share=Schedule(0.9, 0.25),
    mixing="step",
    veto=0.9,
    # VLN-CE's weight of changed actions (dagger_trainer.py)
    inflection_weight=3.2,
    auxiliaries=(PROGRESS,),
)

CMA_SMALL = Recipe(
    description="Instructions by cross-modal attention (CMA), DAgger",
    protocol="r2r-ce-v1",
    sensors=("rgb", "depth", "instruction_tokens"),
    targets=("progress",),
    method=_DAGGER,
    image_size=(64, 64),
    # the likeliest actions walk on against obstacles
    policy=PolicySettings(memory="cma", hidden=256, temperature=0.5),
    slots=32,
    steps=64,
    precision="auto",
    frames=1_400_000,
    core_hours=0.4,
    declaration_bias=-2.0,
)
"""The recipe `cma-small`."""

_AUGMENTED = replace(
    _DAGGER,
    # VLN-CE and IVLN-CE: Adam of a constant 2.5e-4
    optimiser=OptimiserSettings(rate=Schedule(2.5e-4, 2.5e-4), epsilon=1e-8, max_gradient=40.0),
    teacher_share=powers(0.5, 10),
    veto=0.0,
)

CMA_PAPER = replace(
    CMA_SMALL,
    description="CMA at VLN-CE's sizes, progress monitor and DAgger",
    method=_AUGMENTED,
    image_size=(224, 224),
    policy=PolicySettings(memory="cma", hidden=512, follower=PAPER),
    precision="float32",
    frames=27_000_000,
    core_hours=0.0,
    declaration_bias=0.0,
)
"""The recipe `cma-paper`: 487,000 episodes of about 55 steps, as 45 epochs of R2R-CE."""

MAP_CMA_SMALL = replace(
    CMA_SMALL,
    description="CMA over iterative maps of true classes, 32 x 32 cells",
    protocol="ir2r-ce-v1",
    sensors=("depth", "semantic_map_iterative", "instruction_tokens"),
    core_hours=0.8,
)
"""The recipe `map-cma-small`. Other maps by --set sensors: semantic_map (episodic), semantic_map_known,
semantic_map_predicted:SEGMENTER, semantic_map_predicted_iterative:SEGMENTER."""

MAP_CMA_64_SMALL = replace(
    MAP_CMA_SMALL,
    description="the same, maps of 64 x 64 cells",
    policy=PolicySettings(
        memory="cma",
        hidden=256,
        temperature=0.5,
        follower=FollowerSettings(map_side=64, map_channels=(16, 32, 64, 64)),
    ),
    frames=800_000,
    core_hours=0.8,
)
"""The recipe `map-cma-64-small`."""

MAP_CMA_PAPER = replace(
    MAP_CMA_SMALL,
    description="CMA over iterative maps at IVLN-CE's sizes",
    method=_AUGMENTED,
    image_size=(256, 256),
    policy=PolicySettings(memory="cma", hidden=512, follower=PAPER),
    precision="float32",
    frames=27_000_000,
    core_hours=0.0,
    declaration_bias=0.0,
)
"""The recipe `map-cma-paper`."""


def _remember(tour: Tour, words: str) -> Recipe:
    policy = replace(
        CMA_SMALL.policy, remembers="tour", follower=replace(CMA_SMALL.policy.follower, tour=tour)
    )
    return replace(
        CMA_SMALL,
        description=f"CMA along tours, {words}",
        protocol="ir2r-ce-v1",
        policy=policy,
        core_hours=0.5,
    )


TOUR_CMA_SMALL = _remember("both", "whose states outlast episodes")
"""The recipe `tour-cma-small`; --set policy.follower.tour=vision for the paper's text."""

POOL_CMA_SMALL = _remember("pool", "with the greatest values of its states")
"""The recipe `pool-cma-small`."""

POOL_END_CMA_SMALL = _remember("pool_end", "with the greatest values of its states, read twice")
"""The recipe `pool-end-cma-small`."""
