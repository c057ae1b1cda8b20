"""Episode samplers: which episode an environment begins next."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.sequence import DrawnGroups
from navarena.simulation.world import WorldCache

SamplerState = dict[str, list[int]]
"""State of a sampler: named lists of plain integers, which JSON can hold."""


class EpisodeSampler(ABC):
    """Chooses the episodes, or whole tours, that environments begin.

    One sampler may serve several environments, each with a random generator of its own. A sampler does not
    hold these generators: whoever resumes a run restores their states, too.
    """

    @abstractmethod
    def draw(self, generator: np.random.Generator) -> tuple[Episode, ...]:
        """The episodes of the next tour in their order, or a single one.

        What is random about it comes from `generator`, of the environment that asks.
        """

    def restart(self, generator: np.random.Generator) -> None:  # noqa: B027 - a hook: uniform draws need none
        """Restart the sequence; equal generators give equal sequences of episodes."""

    def finish(self, episode: Episode, steps: int) -> None:  # noqa: B027 - likewise
        """Record that an episode has ended or was aborted after so many steps."""

    def open_in(self, worlds: WorldCache) -> None:  # noqa: B027 - for samplers that prepare scenes
        """Let scenes that are prepared in advance be opened in `worlds`, where the episodes will run."""

    def close(self) -> None:  # noqa: B027 - likewise
        """Release background processes; they are started again when drawing continues."""

    def state(self) -> SamplerState:
        """The sampler's state for `restore`."""
        return {}

    def restore(self, state: Mapping[str, Sequence[int]]) -> None:
        """Continue from a state of a sampler with the same episodes and settings.

        Raises InputError for a state of another sampler.
        """
        if state:
            raise InputError(
                f"expected the empty state of {type(self).__name__}, got {', '.join(sorted(state))}; "
                "choose the sampler of the run that is resumed"
            )


class UniformSampler(EpisodeSampler):
    """Draws each tour, or each episode outside tours, with equal probability, whatever came before.

    Args:
        episodes: to draw from; at least one.
    """

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self._groups = DrawnGroups(episodes)

    def draw(self, generator: np.random.Generator) -> tuple[Episode, ...]:
        return self._groups[int(generator.integers(len(self._groups)))]


MakeSampler = Callable[[Sequence[Episode]], EpisodeSampler]
"""Episodes -> sampler: a class of samplers, or one whose settings are bound by functools.partial."""
