"""Recipes of PointNav from depth, GPS and compass: DAgger, behaviour cloning and PPO with one network.

Sizes: depth of 64 x 48, three convolutions, a GRU of 256; 589,413 parameters.
"""

from dataclasses import replace

from navarena.learning.checkpoints.selection import TrainingEvaluationSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import (
    HABITAT_DDPPO,
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    Schedule,
    constant,
)

_DAGGER = ImitationSettings(
    # in trials of one pass over 123,000 frames 1e-3 learned more than 4e-4
    optimiser=OptimiserSettings(rate=Schedule(1e-3, 2e-5), max_gradient=1.0),
    minibatches=4,
    # where the learner had all control from early on, trials stopped improving
    teacher_share=constant(0.5),
    veto=0.9,
)

# clip 0.2, 2 epochs, entropy 0.01, gradients of at most 0.2, gamma 0.99 and lambda 0.95: habitat-lab's DD-PPO
# of PointNav (config/pointnav/ddppo_pointnav.yaml), with 64 slots x 32 steps in the place of its 4 x 128 for
# each of 64 processes
_PPO = replace(
    HABITAT_DDPPO,
    # habitat-lab's rate, which falls to 0 over the few frames here
    optimiser=replace(HABITAT_DDPPO.optimiser, rate=Schedule(2.5e-4, 0.0)),
    minibatches=4,
    # scaled advantages, since rewards of a few steps are of 0.1 and those of successes of 2.5
    normalise="variance",
)

POINTNAV_DAGGER_SMALL = Recipe(
    description="PointNav by DAgger, from 64 x 48 pixels of depth",
    # after 300 actions without success a learner is lost: longer episodes are mostly such frames
    protocol="pointnav-v1+max_steps=300",
    sensors=("depth", "pointgoal_with_gps_compass"),
    method=_DAGGER,
    policy=PolicySettings(hidden=256, temperature=0.5),
    precision="auto",
    frames=8_000_000,
    core_hours=0.7,
)
"""The recipe `pointnav-dagger-small`."""

POINTNAV_BC_SMALL = replace(
    POINTNAV_DAGGER_SMALL,
    description="PointNav by behaviour cloning: the teacher acts",
    # no learner, no veto; labels of changed actions count 1.65 times: steps per inflection of the train
    # split (`measure_inflections` of navarena.learning.trainings.inflections)
    method=replace(_DAGGER, teacher_share=constant(1.0), veto=0.0, inflection_weight=1.65),
    frames=3_000_000,
    core_hours=0.3,
)
"""The recipe `pointnav-bc-small`: the line that DAgger is compared with."""

POINTNAV_PPO_SMALL = replace(
    POINTNAV_DAGGER_SMALL,
    description="PointNav by PPO from random weights",
    method=_PPO,
    frames=3_000_000,
    core_hours=0.4,
    # probability 0.02 of STOP at first: a uniform policy ended 12,000 episodes in the first 33,000 frames
    declaration_bias=-3.0,
)
"""The recipe `pointnav-ppo-small`."""

POINTNAV_SMALL = replace(
    POINTNAV_PPO_SMALL,
    description="PointNav by DAgger (pointnav-dagger-small), then PPO",
    first="pointnav-dagger-small",
    method=replace(_PPO, critic_share=0.02),
    frames=4_000_000,
    core_hours=0.5,
    declaration_bias=0.0,
    evaluation=TrainingEvaluationSettings(updates=500),
)
"""The recipe `pointnav-small`."""

POINTNAV_SMOKE = replace(
    POINTNAV_DAGGER_SMALL,
    description="the same, tiny: shows within a minute that the loss falls",
    protocol="pointnav-v1",
    method=replace(_DAGGER, minibatches=2),
    precision="float32",
    policy=PolicySettings(hidden=64, image_features=64, number_features=32, action_features=8),
    image_size=(36, 48),
    slots=16,
    steps=16,
    frames=20_480,
    core_hours=0.0,
    episodes=20,
    scenes=2,
    save_updates=20,
    log_updates=5,
    evaluation=TrainingEvaluationSettings(updates=40, houses=4, episodes=16),
)
"""The recipe `pointnav-smoke`."""
