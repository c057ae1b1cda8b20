"""Episodes: where to start and what to find."""

from navarena.episodes.catalog import load_episodes, make_episodes
from navarena.episodes.dataset import EpisodeDataset, load_episode_file, save_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.goals import (
    Goal,
    GoalImage,
    ImageGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
    ViewPoint,
)

__all__ = [
    "Episode",
    "EpisodeDataset",
    "Goal",
    "GoalImage",
    "ImageGoal",
    "MultiGoal",
    "ObjectGoal",
    "ObjectInstance",
    "PointGoal",
    "ViewPoint",
    "load_episode_file",
    "load_episodes",
    "make_episodes",
    "save_episodes",
]
