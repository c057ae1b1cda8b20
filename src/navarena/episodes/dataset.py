"""Datasets of episodes: their hash, their files, and stratified samples of them."""

import gzip
import hashlib
import zlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from navarena.core.errors import FileError, InputError
from navarena.core.files import GZIP_MAGIC, read_json, translate_damage, write_atomic
from navarena.episodes.episode import LATER_FIELDS, Episode
from navarena.episodes.goals import Goal, ImageGoal, LifelongGoal, MultiGoal, ObjectGoal, decode_goal

FORMAT = "navarena-episodes-v1"

MAX_LISTED = 10_000_000
"""Episodes of a list; what is longer is a stream to train on. The largest published files hold 5 million."""


@dataclass(frozen=True)
class EpisodeDataset:
    """Episodes of one protocol, with a name and a hash.

    Attributes:
        protocol_id: whose rules the episodes were made for, such as "pointnav-v1".
        name: of the dataset, such as "houses-v1".
        split: such as "val".
        episodes: in evaluation order. The training split makes its episodes when they are read.
        seed: of the generator.
        dropped: candidates that were navigable and in range, but that the planner could not solve.
        recipe_hash: for episodes that are made or read when they are asked for, the hash of what
            determines them; empty for lists.
    """

    protocol_id: str
    name: str
    split: str
    episodes: Sequence[Episode]
    seed: int = 0
    dropped: int = 0
    recipe_hash: str = field(default="", repr=False)

    @cached_property
    def hash(self) -> str:
        """16 hex digits: SHA-256 over the episodes (or over the recipe of a lazy split)."""
        if self.recipe_hash:
            return self.recipe_hash
        return hash_episodes(self.episodes)

    @property
    def is_stream(self) -> bool:
        """Whether episodes are drawn from a stream because there are too many to list (training splits)."""
        return len(self.episodes) > MAX_LISTED

    def __len__(self) -> int:
        return len(self.episodes)


class _StoredDataset(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    protocol_id: str
    name: str
    split: str
    seed: int
    dropped: int
    hash: str
    episodes: tuple[Episode, ...]


def hash_episodes(episodes: Sequence[Episode]) -> str:
    """16 hex digits of SHA-256 over the canonical JSON of each episode, in order.

    Floats are written with the fewest digits that read back to the same number, so that the
    hash of a file equals the hash of the episodes it was saved from.
    """
    digest = hashlib.sha256()
    encoder = msgspec.json.Encoder()
    for episode in episodes:
        digest.update(encoder.encode(_first_version(episode)) + b"\n")
    return digest.hexdigest()[:16]


def _first_version(episode: Episode) -> dict[str, Any]:
    """The fields of `episode`, without later ones that say nothing: so old lists keep their hash."""
    content: dict[str, Any] = msgspec.to_builtins(episode)
    for name, default in LATER_FIELDS.items():
        if content[name] == default:
            del content[name]
    return content


def save_episodes(dataset: EpisodeDataset, path: Path) -> None:
    """Write `dataset` as JSON (gzip when `path` ends in .gz); equal datasets give equal bytes."""
    episodes = tuple(dataset.episodes)
    stored = _StoredDataset(
        FORMAT,
        dataset.protocol_id,
        dataset.name,
        dataset.split,
        dataset.seed,
        dataset.dropped,
        hash_episodes(episodes),
        episodes,
    )
    data = msgspec.json.format(msgspec.json.encode(stored), indent=1)
    write_atomic(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def is_own_file(path: Path) -> bool:
    """Whether `path` holds what `save_episodes` writes: its text begins with the format's name."""
    try:
        with path.open("rb") as file:
            start = file.read(2)
        with gzip.open(path) if start == GZIP_MAGIC else path.open("rb") as text:
            return b'"format"' in text.read(64)
    except (OSError, EOFError, zlib.error):
        return True  # reading it will say what is wrong


def load_episode_file(path: Path) -> EpisodeDataset:
    """Read what `save_episodes` wrote; raises FileError naming the file and the field."""
    remedy = "make it again with: navarena episodes make"
    header = read_json(path, "episode file", remedy=remedy)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        got = header.get("format") if isinstance(header, dict) else type(header).__name__
        raise FileError(
            f"expected an episode file of format {FORMAT!r}, got {got!r} in {path}; "
            "make one with: navarena episodes make"
        )
    with translate_damage(f"episode file {path}", remedy):
        stored = msgspec.convert(header, _StoredDataset, dec_hook=decode_goal)
        dataset = EpisodeDataset(
            stored.protocol_id, stored.name, stored.split, stored.episodes, stored.seed, stored.dropped
        )
        found = dataset.hash
    if found != stored.hash:
        raise FileError(
            f"episode file {path}: expected hash {stored.hash} (in its header), got {found} from its "
            "episodes; the file was edited, make it again with: navarena episodes make"
        )
    require_unique_ids(dataset)
    return dataset


def require_unique_ids(dataset: EpisodeDataset) -> None:
    """Raise InputError when two episodes share an id."""
    seen: set[str] = set()
    for episode in dataset.episodes:
        if episode.episode_id in seen:
            raise InputError(
                f"expected unique episode ids in {dataset.name}/{dataset.split}, got "
                f"{episode.episode_id!r} twice"
            )
        seen.add(episode.episode_id)


def choose_stratified(episodes: Sequence[Episode], count: int) -> list[int]:
    """Rows (`count`, rising) of a sample of `episodes` with the strata of the whole.

    Every scene has its share of the sample, as even as whole numbers allow. Within that, each choice takes
    the episode whose difficulty and category are the farthest behind their shares (that is the smallest
    sum of taken / present over the two), the first of equals. Nothing is random.

    Raises InputError unless 1 <= count <= len(episodes).
    """
    if not 1 <= count <= len(episodes):
        raise InputError(f"expected a sample of 1 to {len(episodes)} episodes, got {count}")
    strata = [(("difficulty", one.difficulty), ("category", _category(one.goal))) for one in episodes]
    present = Counter(name for names in strata for name in names)
    by_scene: defaultdict[str, list[int]] = defaultdict(list)
    for row, episode in enumerate(episodes):
        by_scene[episode.scene_id].append(row)
    taken: Counter[Hashable] = Counter()
    chosen: list[int] = []
    seen = 0
    for rows in by_scene.values():
        seen += len(rows)
        left = list(rows)
        while len(chosen) < seen * count // len(episodes):
            row = min(left, key=lambda row: sum((taken[name] + 1) / present[name] for name in strata[row]))
            left.remove(row)
            chosen.append(row)
            taken.update(strata[row])
    return sorted(chosen)


def _category(goal: Goal) -> str:
    """Category of the first goal; empty for points."""
    if isinstance(goal, ObjectGoal):
        return goal.category
    if isinstance(goal, MultiGoal):
        return goal.objects[0].category
    if isinstance(goal, LifelongGoal):
        return goal.subtasks[0].category
    return goal.instance.category if isinstance(goal, ImageGoal) else ""
