"""Episodes: a start and a goal each."""

from navarena.episodes.catalog import RECIPES, load_episodes, make_episodes
from navarena.episodes.dataset import EpisodeDataset, load_episode_file, save_episodes
from navarena.episodes.episode import Episode
from navarena.episodes.floor_graph import FloorGraphSettings, build_floor_graph
from navarena.episodes.goals import (
    Goal,
    GoalImage,
    GraphGoal,
    ImageGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
    ViewPoint,
)
from navarena.episodes.graph_episodes import (
    GraphSplit,
    list_episodes,
    make_graph_episode,
    open_graph_split,
)
from navarena.episodes.recipe import EpisodeRecipe, SceneBatch, SplitSize, Stream
from navarena.episodes.sampler import EpisodeSampler, UniformSampler
from navarena.episodes.stream import Curriculum, EpisodeStream, Stay
from navarena.episodes.tours import build_tours, count_tours, load_tours, make_tours, save_tours

__all__ = [
    "RECIPES",
    "Curriculum",
    "Episode",
    "EpisodeDataset",
    "EpisodeRecipe",
    "EpisodeSampler",
    "EpisodeStream",
    "FloorGraphSettings",
    "Goal",
    "GoalImage",
    "GraphGoal",
    "GraphSplit",
    "ImageGoal",
    "MultiGoal",
    "ObjectGoal",
    "ObjectInstance",
    "PointGoal",
    "SceneBatch",
    "SplitSize",
    "Stay",
    "Stream",
    "UniformSampler",
    "ViewPoint",
    "build_floor_graph",
    "build_tours",
    "count_tours",
    "list_episodes",
    "load_episode_file",
    "load_episodes",
    "load_tours",
    "make_episodes",
    "make_graph_episode",
    "make_tours",
    "open_graph_split",
    "save_episodes",
    "save_tours",
]
