"""Interface of episode recipes, which make the episodes of a protocol, and sizes of splits."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.simulation.body import Embodiment
from navarena.simulation.world import World

DEFAULT_DATASET = "houses-v1"


@dataclass(frozen=True)
class SceneBatch:
    """Episodes of one scene.

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
        dataset, split: such as "houses-v1" and "val".
        seed: of the whole data set.
    """

    dataset: str
    split: str
    seed: int = 0


@dataclass(frozen=True)
class SplitSize:
    """Size of a split, and the scenes of its episodes.

    Attributes:
        per_scene: episodes of each scene of the split of the same name.
        part_of: split that these episodes are some of; they are named and drawn as its own.
        scenes: so many of the first scenes of `part_of`, for sets that do not divide them.
        sample: so many, chosen from all scenes of `part_of` (see strata.choose_stratified).
        rest: those that a sample of this size leaves.
        block: episodes of one scene in a row, made when they are read; None for lists.
        scenes_of: split of the scenes, where neither this nor `part_of` is one.
    """

    per_scene: int
    part_of: str = ""
    scenes: int | None = None
    sample: int | None = None
    rest: int | None = None
    block: int | None = None
    scenes_of: str = ""


class EpisodeRecipe(ABC):
    """Rules by which start and goal are drawn.

    Attributes:
        protocol_id: whose rules they are.
        embodiment: the body that must fit and arrive.
        shares: protocol whose episodes these are, goals translated by `translate`; empty for episodes of
            one's own. Both must have the same body and rules.
        default_dataset: whose scenes the protocol's own lists are in.
    """

    protocol_id: str
    embodiment: Embodiment
    shares: str = ""
    default_dataset: str = DEFAULT_DATASET

    @abstractmethod
    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Episodes `first` to `first + count - 1` of a world, each from a random stream of its own.

        Raises SceneError when the scene has no place for such episodes.
        """

    def with_max_actions(self, actions: int) -> "EpisodeRecipe":
        """The recipe whose episodes the planner solves in at most so many `actions`, the last one included.

        Raises InputError for fewer than 1, and where the protocol leaves no such choice.
        """
        raise InputError(
            f"expected a protocol of objects for a limit of {actions} planned actions, got "
            f"{self.protocol_id!r}; leave the option out"
        )

    def with_goal_count(self, goals: int) -> "EpisodeRecipe":
        """The recipe with another number of goals in a row; raises InputError if it has no such option."""
        raise InputError(
            f"expected a protocol of several goals for episodes with {goals}, got "
            f"{self.protocol_id!r}; choose one of MultiON or goat-v1, or leave the option out"
        )

    @property
    def splits(self) -> Mapping[str, SplitSize]:
        """Split -> size, where they are others than those of the data set; empty otherwise."""
        return {}

    @property
    def further_splits(self) -> Mapping[str, SplitSize]:
        """Split -> size, of those that the protocol has beside the data set's."""
        return {}

    @property
    def words(self) -> tuple[str, ...]:
        """Goal categories by the numbers that agents observe; empty for points."""
        return ()

    @property
    def stream_protocol(self) -> str:
        """The protocol that names the random draws."""
        return self.shares or self.protocol_id

    def translate(self, episodes: Sequence[Episode]) -> tuple[Episode, ...]:
        """Episodes of the protocol that this one `shares`, as its own."""
        return tuple(episodes)


def require_actions(actions: int) -> int:
    """`actions`, a limit of plans; raises InputError below 1."""
    if actions < 1:
        raise InputError(f"expected a path of at least 1 planned action, got {actions}")
    return actions
