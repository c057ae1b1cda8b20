"""Episode samplers: which episode an environment begins next."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from navarena.core.errors import InputError
from navarena.core.memo import Memo
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode
from navarena.episodes.sequence import DrawnGroups

SamplerState = dict[str, list[int]]
"""State of a sampler: named lists of plain integers, which JSON can hold."""

MAX_SCENE_EPISODES = 50
"""Episodes before a scene changes: one block of the train split, which is made as a whole."""

MAX_SCENE_STEPS = 10_000
"""Steps before a scene changes: `max_scene_repeat_steps` of Habitat's episode iterator (habitat-lab v0.3,
config/default_structured_configs.py)."""


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
        """Begin anew; equal generators give equal sequences of episodes."""

    def finish(self, episode: Episode, steps: int) -> None:  # noqa: B027 - likewise
        """Take note that an episode has ended, or was given up, after so many steps."""

    def upcoming(self) -> str | None:
        """Id of the scene that comes next, to be opened in advance; None where nobody can know."""
        return None

    def state(self) -> SamplerState:
        """What `restore` needs in order to continue from here."""
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


@dataclass
class _Visit:
    """One visit to a scene.

    Attributes:
        number: counts all visits of the run from 0; it determines scene and first episode.
        drawn: episodes begun so far; a tour counts as one.
        steps: of those that have ended.
    """

    number: int
    drawn: int = 0
    steps: int = 0


class SceneSampler(EpisodeSampler):
    """Draws the episodes from a few resident scenes and replaces a scene after some episodes or steps.

    The scenes follow a random order in which each comes once before any comes again. A visit to a scene
    takes consecutive episodes from a random one on (of a training split within one block, so that one
    block is made for each visit). An episode that runs when its scene is replaced goes on to its end:
    besides the resident scenes, only the scenes of such episodes are needed.

    Args:
        episodes: to choose from; at least one.
        resident: scenes to draw from at any time, at most.
        max_episodes: begun in a scene before it is replaced; a tour counts as one.
        max_steps: taken in a scene, in episodes that have ended, before it is replaced.
        seed: of the scenes and their first episodes, until `restart`.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        resident: int = 4,
        max_episodes: int = MAX_SCENE_EPISODES,
        max_steps: int = MAX_SCENE_STEPS,
        seed: int = 0,
    ) -> None:
        if min(resident, max_episodes, max_steps) < 1:
            raise InputError(
                "expected at least one resident scene, one episode and one step before a scene is replaced, "
                f"got resident={resident}, max_episodes={max_episodes}, max_steps={max_steps}"
            )
        self._groups = DrawnGroups(episodes)
        self._rows = self._groups.scene_rows()
        self._scenes = tuple(self._rows)
        self._resident = min(resident, len(self._scenes))
        self._max_episodes, self._max_steps = max_episodes, max_steps
        self._begin(seed)

    @property
    def scenes(self) -> tuple[str, ...]:
        """Ids of the resident scenes."""
        return tuple(self._scene(visit.number) for visit in self._visits)

    def draw(self, generator: np.random.Generator) -> tuple[Episode, ...]:
        chosen = int(generator.integers(self._resident))
        if self._is_over(self._visits[chosen]):
            self._visits[chosen] = self._begin_visit()
        visit = self._visits[chosen]
        row = self._row(visit)
        visit.drawn += 1
        return self._groups[row]

    def restart(self, generator: np.random.Generator) -> None:
        self._begin(int(generator.integers(2**63)))

    def _begin(self, seed: int) -> None:
        self._seed, self._begun = seed, 0
        self._order = Memo(self._draw_order, 2)
        self._visits = [self._begin_visit() for _ in range(self._resident)]

    def finish(self, episode: Episode, steps: int) -> None:
        for visit in self._visits:
            if self._scene(visit.number) == episode.scene_id:
                visit.steps += steps
                return

    def upcoming(self) -> str:
        """Id of the scene that comes when the next resident scene is replaced."""
        return self._scene(self._begun)

    def state(self) -> SamplerState:
        return {
            "seed": [self._seed],
            "begun": [self._begun],
            "visits": [visit.number for visit in self._visits],
            "drawn": [visit.drawn for visit in self._visits],
            "steps": [visit.steps for visit in self._visits],
        }

    def restore(self, state: Mapping[str, Sequence[int]]) -> None:
        expected = {name: len(numbers) for name, numbers in self.state().items()}
        got = {name: len(numbers) for name, numbers in state.items()}
        if got != expected:
            raise InputError(
                f"expected a state with as many integers as {expected}, of {self._resident} resident "
                f"scenes, got {got}; choose the sampler of the run that is resumed"
            )
        self._begin(int(state["seed"][0]))
        self._begun = int(state["begun"][0])
        visits = zip(state["visits"], state["drawn"], state["steps"])
        self._visits = [_Visit(int(number), int(drawn), int(steps)) for number, drawn, steps in visits]

    def _is_over(self, visit: _Visit) -> bool:
        return visit.drawn >= self._max_episodes or visit.steps >= self._max_steps

    def _begin_visit(self) -> _Visit:
        self._begun += 1
        return _Visit(self._begun - 1)

    def _scene(self, number: int) -> str:
        """Scene of visit `number`."""
        turn, place = divmod(number, len(self._scenes))
        return self._scenes[int(self._order(turn)[place])]

    def _draw_order(self, turn: int) -> np.ndarray:
        """Order of all scenes in turn `turn`."""
        return make_generator("scene-sampler", self._seed, "order", turn).permutation(len(self._scenes))

    def _row(self, visit: _Visit) -> int:
        """Row of the next tour or episode: a block from a random row on and round, then the next block."""
        scene = self._rows[self._scene(visit.number)]
        generator = make_generator("scene-sampler", self._seed, "visit", visit.number)
        first_block, first_row = generator.integers((len(scene.starts), len(scene.rows))).tolist()
        blocks, row = divmod(visit.drawn, len(scene.rows))
        start = scene.starts[(first_block + blocks) % len(scene.starts)]
        return start + scene.rows[(first_row + row) % len(scene.rows)]


MakeSampler = Callable[[Sequence[Episode]], EpisodeSampler]
"""Episodes -> sampler: a class of samplers, or one whose settings are bound by functools.partial."""
