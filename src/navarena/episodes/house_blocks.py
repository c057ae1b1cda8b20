"""Blocks of a house's episodes, the unit in which streams draw, from recipes, lists and files."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from navarena.episodes.episode import Episode
from navarena.episodes.recipe import EpisodeRecipe, Stream
from navarena.episodes.sequence import DrawnGroups
from navarena.simulation.body import Embodiment
from navarena.simulation.world import World

Groups = tuple[tuple[Episode, ...], ...]
"""What is drawn as a whole: single episodes, or tours."""

BLOCK = 50
"""Episodes of a block: those of one block of a training split."""


class HouseBlocks(ABC):
    """The episodes of some houses in numbered blocks; equal numbers give equal episodes.

    Attributes:
        houses: scene ids.
        block: episodes, or tours, of a block at most.
        embodiment: the body that must fit; None where this is not known.
        is_made: whether `make` computes the episodes from a few names, as another process could as well; else
            it reads them.
    """

    houses: tuple[str, ...]
    block: int
    embodiment: Embodiment | None = None
    is_made: bool = False

    @abstractmethod
    def count(self, house: str) -> int:
        """Number of blocks of a house, at least one."""

    @abstractmethod
    def make(self, world: World | None, house: str, number: int) -> Groups:
        """Block `number` (from 0) of a house, opened as `world` where the episodes run in scenes.

        Raises SceneError when the house has no place for such episodes.
        """


class RecipeBlocks(HouseBlocks):
    """The blocks that a recipe makes, when they are asked for.

    Args:
        recipe: makes the episodes.
        houses: scene ids.
        stream: names their random draws.
        per_house: episodes of each house.
        block: of them in a block.
    """

    is_made = True

    def __init__(
        self, recipe: EpisodeRecipe, houses: Sequence[str], stream: Stream, per_house: int, block: int = BLOCK
    ) -> None:
        self.houses, self.block, self.embodiment = tuple(houses), block, recipe.embodiment
        self._recipe, self._stream, self._per_house = recipe, stream, per_house

    def count(self, house: str) -> int:
        """See HouseBlocks."""
        return -(-self._per_house // self.block)

    def make(self, world: World | None, house: str, number: int) -> Groups:
        """See HouseBlocks."""
        if world is None:
            raise TypeError("expected a world to make episodes in, got none")
        first = number * self.block
        made = self._recipe.make(world, min(self.block, self._per_house - first), self._stream, first)
        return tuple((episode,) for episode in made.episodes)


class ListedBlocks(HouseBlocks):
    """Consecutive episodes, or tours, of each scene of a list or a file.

    Args:
        episodes: at least one (InputError).
    """

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self._groups = DrawnGroups(episodes)
        self._rows = self._groups.scene_rows()
        self.houses = tuple(self._rows)
        self.block = BLOCK

    def count(self, house: str) -> int:
        """See HouseBlocks."""
        scene = self._rows[house]
        return len(scene.starts) * self._parts(house)

    def make(self, world: World | None, house: str, number: int) -> Groups:
        """See HouseBlocks."""
        scene = self._rows[house]
        turn, part = divmod(number, self._parts(house))
        rows = scene.rows[part * self.block : (part + 1) * self.block]
        return tuple(self._groups[scene.starts[turn] + row] for row in rows)

    def _parts(self, house: str) -> int:
        return -(-len(self._rows[house].rows) // self.block)
