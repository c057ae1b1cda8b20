"""Recipes of MultiON at small sizes: images of 64 x 64, maps with the paper's cells, a GRU of 256.

Imitation first (`-dagger-`), then reinforcement from its weights, of as many frames for every agent of a
comparison. An agent that is shown where its goals are imitates shortest paths; one that must search
imitates `frontier-rgb`, which knows no more than colours, depth and pose have shown it. What that does
follows from its map, which a policy without one cannot know: `multion-nomap-reactive-small`, which is not
part of the comparison, imitates `reactive-rgb` instead, for one goal. The others have three; --protocol
names those of one or two. Core-hours of DynamicOracleEgoMap are those of OracleEgoMap, whose inputs are
as large.
"""

from dataclasses import replace

from navarena.learning.auxiliaries.settings import GOAL_MASK
from navarena.learning.checkpoints.selection import TrainingEvaluationSettings
from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.recipes.recipe import Recipe
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

PPO = replace(
    MULTION,
    # the paper's rate, which falls to 0 over the few frames here
    optimiser=replace(MULTION.optimiser, rate=Schedule(2.5e-4, 0.0)),
    clip=constant(0.2),
    # scaled advantages, since rewards of a step are of 0.1 and those of goals of 3
    normalise="variance",
    critic_share=0.02,
)
"""PPO of all small agents."""

_SEEN = ("rgb", "depth", "multiobjectgoal")


def reinforce(first: str, imitated: Recipe, core_hours: float) -> Recipe:
    """The recipe that continues `imitated`, called `first`, with PPO, which takes `core_hours`."""
    name = imitated.description.partition(":")[0]
    return replace(
        imitated,
        description=f"{name}: {first}, then PPO",
        method=PPO,
        frames=1_200_000,
        core_hours=core_hours,
        first=first,
        # the metric of the paper's figure 4; which one chose its checkpoints is not said
        evaluation=TrainingEvaluationSettings(by="ppl", updates=150, episodes=48),
    )


NOMAP_DAGGER = Recipe(
    description="MultiON without a map: DAgger from an exploring teacher",
    protocol=_PROTOCOL,
    sensors=_SEEN,
    method=replace(_SHORTEST, teacher="frontier-rgb"),
    image_size=(64, 64),
    policy=PolicySettings(
        hidden=256,
        image_features=256,
        number_features=32,
        action_features=32,
        temperature=0.5,
        encoder=EncoderSettings(images="multion", numbers="embedded", maps="small", weighs_maps=True),
    ),
    precision="auto",
    frames=800_000,
    # PPO goes on from the last weights
    evaluation=TrainingEvaluationSettings(by="ppl", updates=0),
    core_hours=0.3,
)
"""The recipe `multion-nomap-dagger-small`."""

NOMAP = reinforce("multion-nomap-dagger-small", NOMAP_DAGGER, 0.3)
"""The recipe `multion-nomap-small`."""

REACTIVE_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON without a map: DAgger from a reactive teacher",
    # one goal: with three, PPO has not learned to find more than the first.
    # No cost of steps: a search costs more than a goal is worth, and PPO would learn to say FOUND at once
    protocol="multion-1on-v1+max_steps=500+step_cost=0",
    method=replace(_SHORTEST, teacher="reactive-rgb", auxiliaries=(GOAL_MASK,)),
    # compares places of the image with the goal, which it hardly tells from other things otherwise
    policy=replace(NOMAP_DAGGER.policy, encoder=replace(NOMAP_DAGGER.policy.encoder, images="grounding")),
    frames=400_000,
    core_hours=0.1,
)
"""The recipe `multion-nomap-reactive-dagger-small`."""

REACTIVE = replace(
    reinforce("multion-nomap-reactive-dagger-small", REACTIVE_DAGGER, 0.4),
    method=replace(PPO, auxiliaries=(GOAL_MASK,)),
    # half of it finds more after imitation, and not after PPO (docs/multion-agents.md)
    policy=replace(REACTIVE_DAGGER.policy, temperature=1.0),
)
"""The recipe `multion-nomap-reactive-small`."""

ORACLE_MAP_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's OracleMap (Obj): DAgger from shortest paths",
    sensors=("oracle_map_objects", *_SEEN),
    method=_SHORTEST,
    core_hours=0.3,
)
"""The recipe `multion-oracle-map-dagger-small`."""

ORACLE_MAP = reinforce("multion-oracle-map-dagger-small", ORACLE_MAP_DAGGER, 0.6)
"""The recipe `multion-oracle-map-small`."""

BOTH_MAP_DAGGER = replace(
    ORACLE_MAP_DAGGER,
    description="MultiON's OracleMap (Occ+Obj): DAgger from shortest paths",
    sensors=("oracle_map", *_SEEN),
    core_hours=0.3,
)
"""The recipe `multion-oracle-map-both-dagger-small`."""

BOTH_MAP = reinforce("multion-oracle-map-both-dagger-small", BOTH_MAP_DAGGER, 0.6)
"""The recipe `multion-oracle-map-both-small`."""

OCC_MAP_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's OracleMap (Occ): DAgger from an exploring teacher",
    sensors=("oracle_map_occupancy", *_SEEN),
    core_hours=0.4,
)
"""The recipe `multion-oracle-map-occ-dagger-small`."""

OCC_MAP = reinforce("multion-oracle-map-occ-dagger-small", OCC_MAP_DAGGER, 0.5)
"""The recipe `multion-oracle-map-occ-small`."""

DYNAMIC_DAGGER = replace(
    ORACLE_MAP_DAGGER,
    description="MultiON's DynamicOracleMap (Obj): DAgger from shortest paths",
    sensors=("oracle_map_objects_dynamic", *_SEEN),
    core_hours=0.3,
)
"""The recipe `multion-dynamic-oracle-map-dagger-small`."""

DYNAMIC = reinforce("multion-dynamic-oracle-map-dagger-small", DYNAMIC_DAGGER, 0.5)
"""The recipe `multion-dynamic-oracle-map-small`."""

HIDDEN_MAP_DAGGER = replace(
    ORACLE_MAP_DAGGER,
    description="MultiON's OracleMap (Obj), goals not drawn: DAgger from shortest paths",
    protocol=f"{_PROTOCOL}+hidden=true",
    core_hours=0.2,
)
"""The recipe `multion-hidden-oracle-map-dagger-small`."""

HIDDEN_MAP = reinforce("multion-hidden-oracle-map-dagger-small", HIDDEN_MAP_DAGGER, 0.5)
"""The recipe `multion-hidden-oracle-map-small`."""

ONLY_MAP_DAGGER = replace(
    ORACLE_MAP_DAGGER,
    description="MultiON's OnlyOracleMap, no images: DAgger from shortest paths",
    sensors=("oracle_map", "multiobjectgoal"),
    core_hours=0.2,
)
"""The recipe `multion-only-oracle-map-dagger-small`."""

ONLY_MAP = reinforce("multion-only-oracle-map-dagger-small", ONLY_MAP_DAGGER, 0.5)
"""The recipe `multion-only-oracle-map-small`."""

EGO_MAP_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's OracleEgoMap: DAgger from an exploring teacher",
    sensors=("oracle_ego_map", *_SEEN),
    core_hours=0.4,
)
"""The recipe `multion-oracle-ego-map-dagger-small`."""

EGO_MAP = reinforce("multion-oracle-ego-map-dagger-small", EGO_MAP_DAGGER, 0.6)
"""The recipe `multion-oracle-ego-map-small`."""

DYNAMIC_EGO_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's DynamicOracleEgoMap: DAgger from an exploring teacher",
    sensors=("oracle_ego_map_dynamic", *_SEEN),
    core_hours=0.4,
)
"""The recipe `multion-dynamic-ego-map-dagger-small`."""

DYNAMIC_EGO = reinforce("multion-dynamic-ego-map-dagger-small", DYNAMIC_EGO_DAGGER, 0.6)
"""The recipe `multion-dynamic-ego-map-small`."""

OCCUPANCY_CNN_DAGGER = replace(
    NOMAP_DAGGER,
    description="occupancy-cnn, MultiON by the map of what was seen: DAgger from an exploring teacher",
    sensors=("occupancy_map", *_SEEN),
    core_hours=0.5,
)
"""The recipe `multion-occupancy-cnn-dagger-small`."""

OCCUPANCY_CNN = reinforce("multion-occupancy-cnn-dagger-small", OCCUPANCY_CNN_DAGGER, 0.7)
"""The recipe `multion-occupancy-cnn-small`."""

SMT_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's SMT: DAgger from an exploring teacher",
    sensors=(*_SEEN, "gps", "compass"),
    policy=replace(NOMAP_DAGGER.policy, memory="smt", hidden=128, has_pose=True),
    core_hours=0.8,
)
"""The recipe `multion-smt-dagger-small`."""

SMT = reinforce("multion-smt-dagger-small", SMT_DAGGER, 1.1)
"""The recipe `multion-smt-small`."""

FRMQN_DAGGER = replace(
    NOMAP_DAGGER,
    description="MultiON's FRMQN: DAgger from an exploring teacher",
    policy=replace(NOMAP_DAGGER.policy, memory="frmqn"),
    core_hours=0.4,
)
"""The recipe `multion-frmqn-dagger-small`."""

FRMQN = reinforce("multion-frmqn-dagger-small", FRMQN_DAGGER, 0.6)
"""The recipe `multion-frmqn-small`."""
