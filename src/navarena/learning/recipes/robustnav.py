"""Recipes of RobustNav at the paper's sizes: a frozen ResNet-18, the goal at every place of it, a GRU.

Source: allenai/robustnav, projects/robustnav_baselines and projects/{point,object}nav_baselines/models. The
slots are those of all the paper's processes. ImageNet's weights come from a file (policy.encoder.trunk).
"""

from dataclasses import replace

from navarena.learning.encoder_settings import EncoderSettings
from navarena.learning.recipes.recipe import Recipe
from navarena.learning.settings import ALLENACT, PolicySettings

ROBUSTNAV_POINTNAV = Recipe(
    description="RobustNav's PointNav agent of colours at the paper's sizes; 75 million frames",
    protocol="robustnav-pointnav-v1",
    sensors=("rgb", "pointgoal_with_gps_compass"),
    method=ALLENACT,
    image_size=(224, 224),
    policy=PolicySettings(
        hidden=512,
        number_features=32,
        action_features=0,
        encoder=EncoderSettings(images="frozen_resnet18", numbers="embedded"),
    ),
    slots=60,
    steps=128,
    frames=75_000_000,
    training_view=False,
)
"""The recipe `robustnav-pointnav-paper`."""

ROBUSTNAV_OBJECTNAV = replace(
    ROBUSTNAV_POINTNAV,
    description="RobustNav's ObjectNav agent of colours at the paper's sizes; 300 million frames",
    protocol="robustnav-objectnav-v1",
    sensors=("rgb", "objectgoal"),
    frames=300_000_000,
)
"""The recipe `robustnav-objectnav-paper`."""
