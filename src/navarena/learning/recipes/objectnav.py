"""Recipes of ObjectNav: the Habitat challenges, from colour and depth; and what searching policies share.

The challenge of 2020 is imitated first, then reinforced. The policy compares places of the image with the
goal, and sees the map of what it has seen; GOAT-Bench's (goat.py) do the same.

The challenge of 2023 is continuous control: images of 48 x 64 (portrait, as the camera is), three
convolutions, a GRU of 256; 596,969 parameters.
"""

from dataclasses import replace

from navarena.learning.auxiliaries.settings import CLASSES, GOAL_MASK, SEGMENTATION
from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import (
    HABITAT_DDPPO,
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    Schedule,
)

SEARCH = ImitationSettings(
    optimiser=OptimiserSettings(rate=Schedule(1e-3, 2e-5), max_gradient=1.0),
    # in its first 100 to 250 steps of the optimiser an LSTM learned no more than how often which action is
    # taken; in 300,000 frames, 4 minibatches of a rollout give 590 steps, 16 give 2,350
    minibatches=16,
    # the teacher takes many steps at first, so that episodes come to where the goal is in view: where
    # learners led half of the episodes of ovon-v1, none of 66 found its goal after 205,000 frames
    mixing="step",
    teacher_share=Schedule(0.9, 0.1),
    veto=0.9,
    # steps per inflection in demonstrations of exploration (naokiyokoyama/ovon, algos/dagger.py)
    inflection_weight=2.11,
    auxiliaries=(GOAL_MASK, SEGMENTATION),
)
"""Imitation of shortest paths by policies that must search."""

SEARCH_POLICY = PolicySettings(
    memory="lstm",
    hidden=256,
    layers=2,
    encoder=EncoderSettings(images="grounding", numbers="embedded", maps="small", goals="unit"),
    temperature=0.5,
)
"""The policies that imitate so."""

SEARCH_PPO = replace(
    HABITAT_DDPPO,
    optimiser=OptimiserSettings(rate=Schedule(1e-4, 0.0), max_gradient=0.2),
    normalise="variance",
    # values learn alone at first: advantages of random ones would undo what was imitated
    critic_share=0.05,
    actor_ramp=0.05,
    auxiliaries=(GOAL_MASK, SEGMENTATION),
)
"""Their reinforcement."""

OBJECTNAV_RGBD_DAGGER_SMALL = Recipe(
    description="ObjectNav of 2020 from colours, depth and a map of what was seen: DAgger",
    # beyond so many actions a learner is lost
    protocol="objectnav-habitat2020-v1+max_steps=300",
    sensors=("occupancy_map", "rgb", "depth", "objectgoal", "gps", "compass"),
    targets=("goal_mask", CLASSES),
    method=SEARCH,
    image_size=(48, 64),
    policy=SEARCH_POLICY,
    precision="auto",
    frames=800_000,
    core_hours=0.5,
)
"""The recipe `objectnav-rgbd-dagger-small`."""

OBJECTNAV_RGBD_SMALL = replace(
    OBJECTNAV_RGBD_DAGGER_SMALL,
    description="ObjectNav of 2020: objectnav-rgbd-dagger-small, then PPO",
    method=SEARCH_PPO,
    steps=64,
    frames=1_000_000,
    core_hours=0.7,
    first="objectnav-rgbd-dagger-small",
)
"""The recipe `objectnav-rgbd-small`."""

OBJECTNAV_MAP_DAGGER_SMALL = replace(
    OBJECTNAV_RGBD_DAGGER_SMALL,
    description="ObjectNav of 2020 from maps and the way to the nearest frontier: DAgger",
    # of true labels, which a checkpoint can do without: ?map=goal_map_predicted:SEGMENTER
    sensors=("occupancy_map", "goal_map", "frontier_direction", "objectgoal", "gps", "compass"),
    targets=(),
    method=replace(SEARCH, auxiliaries=(), teacher="frontier-expert"),
    policy=replace(SEARCH_POLICY, encoder=EncoderSettings(numbers="embedded", maps="small")),
    frames=600_000,
)
"""The recipe `objectnav-map-dagger-small`."""

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
