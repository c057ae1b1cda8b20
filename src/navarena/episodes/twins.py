"""The episodes of apartments, run in the twins of these apartments: pair by pair the same."""

from dataclasses import replace

from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.sequence import MappedEpisodes
from navarena.scenes.packs import content_hash
from navarena.scenes.twin_ids import TWIN_SET, twin_of

HASH_DIGITS = 16


def to_twins(dataset: EpisodeDataset) -> EpisodeDataset:
    """The list in the twin scenes; raises InputError for episodes in other scenes when they are read."""
    moved = MappedEpisodes(dataset.episodes, _moved, twin_of)
    recipe_hash = dataset.recipe_hash and content_hash("twins", dataset.recipe_hash)[:HASH_DIGITS]
    episodes = moved if recipe_hash else tuple(moved)
    return replace(dataset, name=TWIN_SET, episodes=episodes, recipe_hash=recipe_hash)


def _moved(episode: Episode) -> Episode:
    return replace(episode, scene_id=twin_of(episode.scene_id))
