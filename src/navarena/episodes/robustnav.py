"""Episodes of RobustNav's evaluation: those of RoboTHOR's protocols, within 300 actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from navarena.episodes.difficulty import LABELS
from navarena.episodes.episode import Episode
from navarena.episodes.object_nav_robothor import (
    APARTMENTS,
    ROBOTHOR_CATEGORIES,
    START_HORIZON,
    RobothorRecipe,
)
from navarena.episodes.point_nav import POINTNAV_ROBOTHOR_V1, PointNavRecipe
from navarena.episodes.recipe import SceneBatch, SplitSize, Stream
from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV
from navarena.simulation.world import World

MAX_STEPS = 300
"""Spec 3.3: evaluation; the code trains with 500."""

SCENES, PER_SCENE = 15, 120
"""Of the episodes that its evaluation and its calibration share out between them (spec 3.4: 1,800)."""

POINT_EPISODES, OBJECT_EPISODES = 1_100, 1_095
"""Evaluated; the others are for calibration (spec 3.4: 700 and 705)."""

EASY_TENTHS, MEDIUM_TENTHS = 2, 4
"""Tenths of the episodes of a scene that ObjectNav calls easy, and medium (spec 3.4)."""


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
    """Rules of RobothorRecipe, with RobustNav's splits, and difficulty within each scene."""

    @property
    def further_splits(self) -> Mapping[str, SplitSize]:
        """Those of the evaluation and its calibration."""
        return share_out(OBJECT_EPISODES)

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """As of RobothorRecipe, labelled among one another; raises the same."""
        batch = super().make(world, count, stream, first)
        return replace(batch, episodes=label_within_scene(batch.episodes))


def label_within_scene(episodes: Sequence[Episode]) -> tuple[Episode, ...]:
    """The episodes of a scene, the nearest 20 % called easy, the farthest 40 % hard (spec 3.4)."""
    distances = np.array([episode.geodesic_distance for episode in episodes], np.float64)
    ranks = np.argsort(np.argsort(distances, kind="stable"), kind="stable")
    limits = (EASY_TENTHS * len(episodes), (EASY_TENTHS + MEDIUM_TENTHS) * len(episodes))
    return tuple(
        replace(episode, difficulty=LABELS[sum(10 * rank >= limit for limit in limits)])
        for episode, rank in zip(episodes, ranks.tolist())
    )


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
