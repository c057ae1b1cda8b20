"""Episodes that are read or made one at a time, behind the interface of a tuple."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode


@dataclass(frozen=True)
class SceneRows:
    """Rows of one scene's episodes, in blocks of equal size that are cheap to read as a whole.

    Attributes:
        starts: what each block adds to `rows`.
        rows: of the first block, less its start.
    """

    starts: Sequence[int]
    rows: Sequence[int]


class EpisodeSequence(Sequence[Episode]):
    """Indices from either end and slices over `episode_at`; a slice is a tuple."""

    @abstractmethod
    def episode_at(self, row: int) -> Episode:
        """Episode `row`, from 0 to below the length."""

    def scene_rows(self) -> Mapping[str, SceneRows]:
        """Scene id -> rows of its episodes, in order of appearance; by default all episodes are read once."""
        return list_scene_rows(episode.scene_id for episode in self)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Episode, ...]: ...
    def __getitem__(self, index: int | slice) -> Episode | tuple[Episode, ...]:
        if isinstance(index, slice):
            return tuple(self.episode_at(row) for row in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"expected an index below {len(self)}, got {index}")
        return self.episode_at(int(index) % len(self))


class MappedEpisodes(EpisodeSequence):
    """Episodes that a function changes, or refuses, one by one when they are read.

    Args:
        episodes: as they are.
        change: makes one of one.
        find_scene: scene id -> that of the changed episodes, one to one; None where only these can tell.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        change: Callable[[Episode], Episode],
        find_scene: Callable[[str], str] | None = None,
    ) -> None:
        self._episodes, self._change, self._find_scene = episodes, change, find_scene

    def __len__(self) -> int:
        return len(self._episodes)

    def __iter__(self) -> Iterator[Episode]:
        return map(self._change, self._episodes)

    def episode_at(self, row: int) -> Episode:
        return self._change(self._episodes[row])

    def scene_rows(self) -> Mapping[str, SceneRows]:
        if self._find_scene is None:
            return super().scene_rows()
        return {self._find_scene(scene): rows for scene, rows in scene_rows(self._episodes).items()}


def group_tours(episodes: Iterable[Episode]) -> list[tuple[Episode, ...]]:
    """The episodes of each tour, in the order of the list; episodes outside tours one by one."""
    groups: dict[tuple[str, str, str], list[Episode]] = {}
    for one in episodes:
        key = (one.scene_id, one.tour_id, "" if one.tour_id else one.episode_id)
        groups.setdefault(key, []).append(one)
    return [tuple(own) for own in groups.values()]


class DrawnGroups:
    """Units of drawing: tours, or single episodes outside tours.

    Args:
        episodes: at least one (InputError); a stream without tours is never gone through.
    """

    def __init__(self, episodes: Sequence[Episode]) -> None:
        if not len(episodes):
            raise InputError("expected at least one episode, got an empty list")
        self._episodes = episodes
        self._tours = group_tours(episodes) if episodes[0].tour_id else None

    def __len__(self) -> int:
        return len(self._episodes if self._tours is None else self._tours)

    def __getitem__(self, row: int) -> tuple[Episode, ...]:
        return (self._episodes[row],) if self._tours is None else self._tours[row]

    def scene_rows(self) -> Mapping[str, SceneRows]:
        """Scene id -> rows of its tours or episodes, in order of appearance."""
        if self._tours is not None:
            return list_scene_rows(tour[0].scene_id for tour in self._tours)
        return scene_rows(self._episodes)


def list_scene_rows(scene_ids: Iterable[str]) -> dict[str, SceneRows]:
    """Scene id -> its rows, as one block, of episodes with these scenes."""
    rows: dict[str, list[int]] = {}
    for row, scene_id in enumerate(scene_ids):
        rows.setdefault(scene_id, []).append(row)
    return {scene_id: SceneRows((0,), found) for scene_id, found in rows.items()}


def scene_rows(episodes: Sequence[Episode]) -> Mapping[str, SceneRows]:
    """Scene id -> rows of its episodes, in order of appearance, of any sequence."""
    if isinstance(episodes, EpisodeSequence):
        return episodes.scene_rows()
    return list_scene_rows(episode.scene_id for episode in episodes)
