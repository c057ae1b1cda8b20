"""Recipes of PointNav: imitation of the shortest path's follower, from depth, GPS and compass."""

from dataclasses import replace

from navarena.learning.recipes.recipe import Recipe
from navarena.learning.selection import MonitorSettings
from navarena.learning.settings import (
    ImitationSettings,
    OptimiserSettings,
    PolicySettings,
    Schedule,
    constant,
)

_DAGGER = ImitationSettings(
    # the rate of a trial on one core, which went on improving over 3.2 million frames
    optimiser=OptimiserSettings(rate=constant(4e-4), max_gradient=1.0),
    # in the trial no share of the teacher left meant no more progress
    teacher_share=Schedule(1.0, 0.3),
    veto=0.9,
)

POINTNAV_SMALL = Recipe(
    description="PointNav by DAgger, from depth of 64 x 48 and the goal's polar position; 8 million frames",
    protocol="pointnav-v1",
    sensors=("depth", "pointgoal_with_gps_compass"),
    method=_DAGGER,
    policy=PolicySettings(hidden=256),
    frames=8_000_000,
)
"""The recipe `pointnav-small`."""

POINTNAV_SMOKE = replace(
    POINTNAV_SMALL,
    description="the same, tiny: shows within a minute that the loss falls",
    method=replace(_DAGGER, teacher_share=constant(0.5)),
    policy=PolicySettings(hidden=64, image_features=64, number_features=32, action_features=8),
    image_size=(36, 48),
    slots=16,
    steps=16,
    frames=20_480,
    episodes=20,
    scenes=2,
    save_updates=20,
    log_updates=5,
    monitor=MonitorSettings(updates=40, houses=4, episodes=16),
)
"""The recipe `pointnav-smoke`."""
