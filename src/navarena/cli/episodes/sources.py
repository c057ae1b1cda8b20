"""Episode sources of commands: a file or folder of any format, or a split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from navarena.core.errors import InputError
from navarena.episodes.catalog import load_episodes
from navarena.episodes.dataset import EpisodeDataset, is_own_file, load_episode_file
from navarena.episodes.episode import Episode
from navarena.episodes.exchange import open_episode_file

DEFAULT_PROTOCOL = "pointnav-v1"


@dataclass(frozen=True)
class EpisodeSource:
    """Episodes of one source, with their task and protocol.

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
    if is_community_file(source):
        file = open_episode_file(Path(source))
        objects = file.listed_objects() if file.format.goals_key else None
        return EpisodeSource(file.episodes, file.format.task, "", objects)
    return _own(load_own(source, protocol))


def load_own(source: str, protocol: str = "") -> EpisodeDataset:
    """A file of ours, or a split such as "val" or "houses-v1/val" of `protocol`; raises as open_source."""
    path = Path(source)
    if path.exists() or source.endswith((".json", ".json.gz")):
        return load_episode_file(path)
    dataset, _, split = source.rpartition("/")
    found = load_episodes(protocol or DEFAULT_PROTOCOL, split, dataset or None)
    if found.is_stream:
        raise InputError(
            f"expected a list of episodes, got {source!r}, a stream of {len(found):,}; make some of them "
            f"with: navarena episodes make {found.protocol_id} --split {split} --per-scene 10 --out FILE"
        )
    return found


def is_community_file(source: str) -> bool:
    """Whether this is a file or folder in a format of the community."""
    path = Path(source)
    return path.is_dir() or (path.is_file() and not is_own_file(path))


def _own(dataset: EpisodeDataset) -> EpisodeSource:
    return EpisodeSource(dataset.episodes, dataset.protocol_id.split("-")[0], dataset.protocol_id)
