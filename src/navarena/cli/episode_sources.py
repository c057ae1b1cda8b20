"""What a user may name as episodes: a file or folder of any format, or a split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from navarena.episodes.catalog import load_episodes
from navarena.episodes.dataset import EpisodeDataset, is_own_file, load_episode_file
from navarena.episodes.episode import Episode
from navarena.episodes.exchange import open_episode_file

DEFAULT_PROTOCOL = "pointnav-v1"


@dataclass(frozen=True)
class EpisodeSource:
    """Episodes with what is known of them.

    Attributes:
        episodes: some are read when they are asked for.
        task: "pointnav", "objectnav", "imagenav" or "multion".
        protocol: of our own lists; empty for files of the community.
        objects: (scene, category) -> ids of the objects that a file lists; None where it lists none.
    """

    episodes: Sequence[Episode]
    task: str
    protocol: str = ""
    objects: Mapping[tuple[str, str], set[str]] | None = None


def open_source(source: str, protocol: str = "") -> EpisodeSource:
    """The episodes of a file, a folder, or a split such as "val" or "houses-v1/val" of `protocol`.

    Raises FileError for a bad file, UnknownNameError for an unknown split.
    """
    path = Path(source)
    if path.is_dir() or (path.is_file() and not is_own_file(path)):
        file = open_episode_file(path)
        objects = file.listed_objects() if file.format.goals_key else None
        return EpisodeSource(file.episodes, file.format.task, "", objects)
    if path.exists() or source.endswith((".json", ".json.gz")):
        return _own(load_episode_file(path))
    dataset, _, split = source.rpartition("/")
    return _own(load_episodes(protocol or DEFAULT_PROTOCOL, split, dataset or None))


def _own(dataset: EpisodeDataset) -> EpisodeSource:
    return EpisodeSource(dataset.episodes, dataset.protocol_id.split("-")[0], dataset.protocol_id)
