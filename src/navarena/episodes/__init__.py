"""Episodes: where to start and what to find."""

from navarena.episodes.catalog import load_episodes, make_episodes
from navarena.episodes.dataset import EpisodeDataset, load_episode_file, save_episodes
from navarena.episodes.episode import Episode, PointGoal

__all__ = [
    "Episode",
    "EpisodeDataset",
    "PointGoal",
    "load_episode_file",
    "load_episodes",
    "make_episodes",
    "save_episodes",
]
