"""Episodes that are read or made one at a time, behind the face of a tuple."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import overload

from navarena.episodes.episode import Episode


class EpisodeSequence(Sequence[Episode]):
    """Indices from either end and slices over `episode_at`; a slice is a tuple."""

    @abstractmethod
    def episode_at(self, row: int) -> Episode:
        """Episode `row`, from 0 to below the length."""

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
