"""Episodes of RobustNav's evaluation: those of RoboTHOR's protocols, within 300 actions."""

from dataclasses import replace

from navarena.episodes.object_nav_robothor import (
    APARTMENTS,
    ROBOTHOR_CATEGORIES,
    START_HORIZON,
    RobothorRecipe,
)
from navarena.episodes.point_nav import POINTNAV_ROBOTHOR_V1
from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV

MAX_STEPS = 300
"""Spec 3.3: evaluation; the code trains with 500."""

ROBUSTNAV_POINTNAV_V1 = replace(
    POINTNAV_ROBOTHOR_V1,
    protocol_id="robustnav-pointnav-v1",
    max_steps=MAX_STEPS,
    default_dataset=APARTMENTS,
)
ROBUSTNAV_OBJECTNAV_V1 = RobothorRecipe(
    "robustnav-objectnav-v1",
    LOCOBOT_ROBUSTNAV,
    ROBOTHOR_CATEGORIES,
    max_steps=MAX_STEPS,
    start_tilt=-START_HORIZON,
)
