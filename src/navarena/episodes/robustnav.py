"""Episodes of RobustNav's evaluation: those of RoboTHOR's protocols, within 300 actions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.episodes.object_nav_robothor import (
    APARTMENTS,
    ROBOTHOR_CATEGORIES,
    START_HORIZON,
    RobothorRecipe,
)
from navarena.episodes.point_nav import POINTNAV_ROBOTHOR_V1, PointNavRecipe
from navarena.episodes.recipe import SplitSize
from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV

MAX_STEPS = 300
"""Spec 3.3: evaluation; the code trains with 500."""

SCENES, PER_SCENE = 15, 120
"""Of the episodes that its evaluation and its calibration share out between them (spec 3.4: 1,800)."""

POINT_EPISODES, OBJECT_EPISODES = 1_100, 1_095
"""Evaluated; the others are for calibration (spec 3.4: 700 and 705)."""

EASY_SHARE, MEDIUM_SHARE = 0.2, 0.4
"""Of the episodes of a scene, by distance, in ObjectNav; the others are hard. So are the published files
(spec 3.4): 13 of 15 calibration scenes have 9, 19 and 19 episodes, and labels never overlap in a scene."""


def share_out(evaluated: int) -> dict[str, SplitSize]:
    """The splits "eval" and "calibration": `evaluated` of all episodes, stratified, and the others."""
    return {
        "eval": SplitSize(PER_SCENE, part_of="val", scenes=SCENES, sample=evaluated),
        "calibration": SplitSize(PER_SCENE, part_of="val", scenes=SCENES, rest=evaluated),
    }


@dataclass(frozen=True)
class RobustPointRecipe(PointNavRecipe):
    """Rules of PointNavRecipe, with RobustNav's splits."""

    @property
    def further_splits(self) -> Mapping[str, SplitSize]:
        """Those of the evaluation and its calibration."""
        return share_out(POINT_EPISODES)


@dataclass(frozen=True)
class RobustObjectRecipe(RobothorRecipe):
    """Rules of RobothorRecipe, with RobustNav's splits, and difficulty by quantiles of each scene."""

    @property
    def further_splits(self) -> Mapping[str, SplitSize]:
        """Those of the evaluation and its calibration."""
        return share_out(OBJECT_EPISODES)

    def difficulty_limits(
        self, first_distances: Callable[[int], Float[np.ndarray, "count"]]
    ) -> tuple[float, float]:
        """Quantiles of the scene's own PER_SCENE episodes, however many of them are made."""
        return scene_limits(first_distances(PER_SCENE))


def scene_limits(distances: Float[np.ndarray, "n"]) -> tuple[float, float]:
    """Metres up to which EASY_SHARE of `distances` (N,) metres lie, and MEDIUM_SHARE more; N at least 1.

    Equal distances have equal labels, so there a share may be larger.
    """
    ranked = np.sort(distances)
    last_easy = max(round(EASY_SHARE * len(ranked)) - 1, 0)
    last_medium = max(round((EASY_SHARE + MEDIUM_SHARE) * len(ranked)) - 1, 0)
    return float(ranked[last_easy]), float(ranked[last_medium])


ROBUSTNAV_POINTNAV_V1 = RobustPointRecipe(
    "robustnav-pointnav-v1",
    LOCOBOT_ROBUSTNAV,
    success_distance=POINTNAV_ROBOTHOR_V1.success_distance,
    max_steps=MAX_STEPS,
    difficulty=POINTNAV_ROBOTHOR_V1.difficulty,
    default_dataset=APARTMENTS,
)
ROBUSTNAV_OBJECTNAV_V1 = RobustObjectRecipe(
    "robustnav-objectnav-v1",
    LOCOBOT_ROBUSTNAV,
    ROBOTHOR_CATEGORIES,
    max_steps=MAX_STEPS,
    start_tilt=-START_HORIZON,
)
