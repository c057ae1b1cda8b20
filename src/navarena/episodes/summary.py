"""What a list of episodes looks like, in numbers."""

from dataclasses import dataclass

import numpy as np

from navarena.core.errors import InputError
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode, require_point_goal


@dataclass(frozen=True)
class Spread:
    """Smallest, mean, median and largest of some numbers; NaN-free, of at least one number."""

    least: float
    mean: float
    median: float
    most: float

    @classmethod
    def of(cls, values: list[float]) -> "Spread":
        """The spread of `values`, in their own unit."""
        array = np.array(values, float)
        return cls(float(array.min()), float(array.mean()), float(np.median(array)), float(array.max()))


@dataclass(frozen=True)
class Summary:
    """A data set at a glance.

    Attributes:
        scenes, episodes: counts.
        geodesic: metres from start to goal along the floor.
        euclidean: metres as the crow flies.
        ratio: geodesic / Euclidean distance.
    """

    scenes: int
    episodes: int
    geodesic: Spread
    euclidean: Spread
    ratio: Spread


def summarise(dataset: EpisodeDataset) -> Summary:
    """Count and measure the episodes of a (non-empty) data set."""
    episodes = list(dataset.episodes)
    straight = [euclidean_distance(episode) for episode in episodes]
    geodesic = [require_distance(episode) for episode in episodes]
    return Summary(
        scenes=len({episode.scene_id for episode in episodes}),
        episodes=len(episodes),
        geodesic=Spread.of(geodesic),
        euclidean=Spread.of(straight),
        ratio=Spread.of([way / max(line, 1e-9) for way, line in zip(geodesic, straight)]),
    )


def euclidean_distance(episode: Episode) -> float:
    """Metres from start to goal as the crow flies."""
    return float(np.linalg.norm(np.subtract(require_point_goal(episode).position, episode.start_position)))


def require_distance(episode: Episode) -> float:
    """Metres from start to goal along the floor; raises InputError where a file hides it."""
    if episode.geodesic_distance is None:
        raise InputError(
            f"expected a geodesic distance of episode {episode.episode_id!r}, got none: its file hides it"
        )
    return episode.geodesic_distance
