"""How the episodes of a protocol are made."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from navarena.episodes.episode import Episode
from navarena.simulation.body import Embodiment
from navarena.simulation.world import World


@dataclass(frozen=True)
class SceneBatch:
    """The episodes of one scene.

    Attributes:
        episodes: in order.
        dropped: candidates that fulfilled every rule, but that the planner could not solve.
    """

    episodes: tuple[Episode, ...]
    dropped: int


@dataclass(frozen=True)
class Stream:
    """Names the random draws of a data set; equal names give equal episodes.

    Attributes:
        dataset, split: such as "houses-v0" and "val".
        seed: of the whole data set.
    """

    dataset: str
    split: str
    seed: int = 0


class EpisodeRecipe(ABC):
    """Rules by which start and goal are drawn.

    Attributes:
        protocol_id: whose rules they are.
        embodiment: the body that must fit and arrive.
    """

    protocol_id: str
    embodiment: Embodiment

    @abstractmethod
    def make(self, world: World, count: int, stream: Stream) -> SceneBatch:
        """`count` episodes in `world`, each from a random stream of its own.

        Raises SceneError when the scene has no place for such episodes.
        """
