"""Recipes of habitat-lab's DD-PPO at its own sizes: PointNav and ObjectNav by a ResNet-50 and an LSTM.

Sources: facebookresearch/habitat-lab, habitat_baselines/config/pointnav/ddppo_pointnav.yaml and the policy in
rl/ddppo/policy/; facebookresearch/habitat-challenge (2020), configs/ddppo_objectnav.yaml. `slots` and `steps`
are those of one process of many.
"""

from dataclasses import replace

from navarena.learning.networks.encoder_settings import EncoderSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import HABITAT_DDPPO, PolicySettings

_POLICY = PolicySettings(
    memory="lstm",
    hidden=512,
    layers=2,
    image_features=512,
    number_features=32,
    action_features=32,
    # habitat-lab scales images where it sees colours; a policy of depth alone is given depth as it is
    encoder=EncoderSettings(images="resnet50", numbers="embedded", resize=256),
)

POINTNAV_DDPPO = Recipe(
    description="PointNav by DD-PPO at habitat-lab's sizes, from depth of 640 x 480",
    protocol="pointnav-v1",
    sensors=("depth", "pointgoal_with_gps_compass"),
    method=HABITAT_DDPPO,
    image_size=(480, 640),
    policy=_POLICY,
    slots=4,
    steps=128,
    frames=2_500_000_000,
    save_updates=1000,
)
"""The recipe `pointnav-ddppo-paper`."""

OBJECTNAV_DDPPO = Recipe(
    description="ObjectNav 2020 by DD-PPO at the challenge's sizes, from RGB-D",
    protocol="objectnav-habitat2020-v1",
    # the order in which the policy joins them
    sensors=("rgb", "depth", "objectgoal", "compass", "gps"),
    method=replace(HABITAT_DDPPO, epochs=4),
    image_size=(480, 640),
    policy=replace(_POLICY, encoder=replace(_POLICY.encoder, normalise=True)),
    slots=4,
    steps=64,
    frames=209_000_000,
    save_updates=1000,
)
"""The recipe `objectnav-ddppo-paper`."""
