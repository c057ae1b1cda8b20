"""Recipes of MultiON at small sizes: images of 64 x 64, maps with the paper's cells, a GRU of 256.

Imitation first, then reinforcement (`-ppo-`) that starts from it by `start`, of as many frames for every
agent of a comparison. An agent that is shown where its goals are imitates shortest paths; one that must
search imitates `frontier-rgb`, which knows no more than colours, depth and pose have shown it. The recipes
are for three goals; --protocol names those of one or two.
"""

from dataclasses import replace

from navarena.learning.encoder_settings import EncoderSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.selection import MonitorSettings
from navarena.learning.settings import (
    MULTION,
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    Schedule,
    constant,
)

# beyond 500 actions a learner is lost: longer episodes are mostly such frames
_PROTOCOL = "multion-3on-v1+max_steps=500"

_SHORTEST = ImitationSettings(
    optimiser=OptimiserSettings(rate=Schedule(1e-3, 2e-5), max_gradient=1.0),
    minibatches=4,
    teacher_share=constant(0.5),
    veto=0.9,
)
_EXPLORING = replace(_SHORTEST, teacher="frontier-rgb")

_REINFORCED = replace(
    MULTION,
    # the paper's rate, which falls to 0 over the few frames here
    optimiser=replace(MULTION.optimiser, rate=Schedule(2.5e-4, 0.0)),
    clip=constant(0.2),
    # scaled advantages, since rewards of a step are of 0.1 and those of goals of 3
    normalise="variance",
    critic_share=0.02,
)

_IMAGES = ("rgb", "depth")
_GOAL = "multiobjectgoal"


def _reinforce(recipe: Recipe) -> Recipe:
    """The recipe that goes on from the checkpoint of `recipe` by PPO."""
    name = recipe.description.partition(":")[0]
    description = f"{name}: PPO from its checkpoint (--set start=DIR)"
    return replace(recipe, description=description, method=_REINFORCED, frames=4_000_000)


NOMAP = Recipe(
    description="MultiON without a map: DAgger from an exploring teacher, RGB-D of 64 x 64",
    protocol=_PROTOCOL,
    sensors=(*_IMAGES, _GOAL),
    method=_EXPLORING,
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
    frames=2_000_000,
    # the metric of the paper's figure 4; which one chose its checkpoints is not said
    monitor=MonitorSettings(by="ppl"),
)
"""The recipe `multion-nomap-small`."""

NOMAP_PPO = _reinforce(NOMAP)
"""The recipe `multion-nomap-ppo-small`."""

ORACLE_MAP = replace(
    NOMAP,
    description="MultiON's OracleMap (Obj): DAgger from shortest paths, RGB-D of 64 x 64",
    sensors=("oracle_map_objects", *NOMAP.sensors),
    method=_SHORTEST,
)
"""The recipe `multion-oracle-map-small`."""

ORACLE_MAP_PPO = _reinforce(ORACLE_MAP)
"""The recipe `multion-oracle-map-ppo-small`."""

ORACLE_MAP_BOTH = replace(
    ORACLE_MAP,
    description="MultiON's OracleMap (Occ+Obj): DAgger from shortest paths, RGB-D of 64 x 64",
    sensors=("oracle_map", *NOMAP.sensors),
)
"""The recipe `multion-oracle-map-both-small`."""

ORACLE_MAP_OCC = replace(
    NOMAP,
    description="MultiON's OracleMap (Occ): DAgger from an exploring teacher, RGB-D of 64 x 64",
    sensors=("oracle_map_occupancy", *NOMAP.sensors),
)
"""The recipe `multion-oracle-map-occ-small`."""

ORACLE_MAP_DYNAMIC = replace(
    ORACLE_MAP,
    description="MultiON's DynamicOracleMap (Obj): DAgger from shortest paths, RGB-D of 64 x 64",
    sensors=("oracle_map_objects_dynamic", *NOMAP.sensors),
)
"""The recipe `multion-oracle-map-dynamic-small`."""

ORACLE_MAP_HIDDEN = replace(
    ORACLE_MAP,
    description="MultiON's OracleMap (Obj), goals not drawn: DAgger from shortest paths, RGB-D of 64 x 64",
    protocol=f"{_PROTOCOL}+hidden=true",
)
"""The recipe `multion-oracle-map-hidden-small`."""

ORACLE_MAP_ONLY = replace(
    ORACLE_MAP_BOTH,
    description="MultiON's OnlyOracleMap: DAgger from shortest paths, no images",
    sensors=("oracle_map", _GOAL),
)
"""The recipe `multion-oracle-map-only-small`."""

ORACLE_EGO_MAP = replace(
    NOMAP,
    description="MultiON's OracleEgoMap: DAgger from an exploring teacher, RGB-D of 64 x 64",
    sensors=("oracle_ego_map", *NOMAP.sensors),
)
"""The recipe `multion-oracle-ego-map-small`."""

ORACLE_EGO_MAP_PPO = _reinforce(ORACLE_EGO_MAP)
"""The recipe `multion-oracle-ego-map-ppo-small`."""

ORACLE_EGO_DYNAMIC = replace(
    ORACLE_EGO_MAP,
    description="MultiON's DynamicOracleEgoMap: DAgger from an exploring teacher, RGB-D of 64 x 64",
    sensors=("oracle_ego_map_dynamic", *NOMAP.sensors),
)
"""The recipe `multion-oracle-ego-map-dynamic-small`."""

OCCUPANCY_CNN = replace(
    NOMAP,
    description="occupancy-cnn, the map of what was seen: DAgger from an exploring teacher, RGB-D of 64 x 64",
    sensors=("occupancy_map", *NOMAP.sensors),
)
"""The recipe `multion-occupancy-cnn-small`."""

OCCUPANCY_CNN_PPO = _reinforce(OCCUPANCY_CNN)
"""The recipe `multion-occupancy-cnn-ppo-small`."""

SMT = replace(
    NOMAP,
    description="MultiON's SMT: DAgger from an exploring teacher, RGB-D of 64 x 64",
    sensors=(*NOMAP.sensors, "gps", "compass"),
    policy=replace(NOMAP.policy, memory="smt", hidden=128, has_pose=True),
)
"""The recipe `multion-smt-small`."""

SMT_PPO = _reinforce(SMT)
"""The recipe `multion-smt-ppo-small`."""

FRMQN = replace(
    NOMAP,
    description="MultiON's FRMQN: DAgger from an exploring teacher, RGB-D of 64 x 64",
    policy=replace(NOMAP.policy, memory="frmqn"),
)
"""The recipe `multion-frmqn-small`."""

FRMQN_PPO = _reinforce(FRMQN)
"""The recipe `multion-frmqn-ppo-small`."""
