"""The episodes of apartments, run in the twins of these apartments: pair by pair the same."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.sequence import EpisodeSequence, SceneRows, scene_rows
from navarena.scenes.packs import content_hash
from navarena.scenes.twin_ids import TWIN_SET, twin_of

HASH_DIGITS = 16


class TwinEpisodes(EpisodeSequence):
    """Episodes with the twin in the place of each apartment; ids, poses, goals and paths stay.

    Args:
        episodes: in apartments.
    """

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self._episodes = episodes

    def __len__(self) -> int:
        return len(self._episodes)

    def episode_at(self, row: int) -> Episode:
        return _moved(self._episodes[row])

    def __iter__(self) -> Iterator[Episode]:
        return map(_moved, self._episodes)

    def scene_rows(self) -> dict[str, SceneRows]:
        """Scene id -> rows of its episodes, as in the apartments."""
        return {twin_of(scene): rows for scene, rows in scene_rows(self._episodes).items()}


def to_twins(dataset: EpisodeDataset) -> EpisodeDataset:
    """The list in the twin scenes; raises InputError for episodes in other scenes when they are read."""
    moved = TwinEpisodes(dataset.episodes)
    recipe_hash = dataset.recipe_hash and content_hash("twins", dataset.recipe_hash)[:HASH_DIGITS]
    episodes = moved if recipe_hash else tuple(moved)
    return replace(dataset, name=TWIN_SET, episodes=episodes, recipe_hash=recipe_hash)


def _moved(episode: Episode) -> Episode:
    return replace(episode, scene_id=twin_of(episode.scene_id))
