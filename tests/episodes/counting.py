"""A recipe whose episodes are numbered, and that remembers what it was asked for."""

from dataclasses import dataclass, field

from navarena.episodes.episode import Episode
from navarena.episodes.goals import PointGoal
from navarena.episodes.recipe import EpisodeRecipe, SceneBatch
from navarena.simulation.body_catalog import LOCOBOT


@dataclass(frozen=True)
class Counting(EpisodeRecipe):
    """Episodes whose goal is their own number; remembers what it was asked for."""

    protocol_id: str = "counting-v1"
    embodiment: object = LOCOBOT
    asked: list = field(default_factory=list, hash=False, compare=False, repr=False)

    def make(self, world, count, stream, first=0):
        self.asked.append((world, first, count))
        rows = range(first, first + count)
        return SceneBatch(
            tuple(
                Episode(f"{world}-{row}", world, (0.0, 0.0, 0.0), 0.0, PointGoal((float(row), 0.0, 0.0)), 1.0)
                for row in rows
            ),
            0,
        )
