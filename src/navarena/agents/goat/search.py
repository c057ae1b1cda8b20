"""The search for one goal: when to go to a remembered instance, and when to explore further."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from navarena.agents.goat.goal_matching import Candidates, Matcher
from navarena.core.files import hash_file, read_json
from navarena.episodes.encoding.encoder import GoalQuery
from navarena.episodes.goals import Modality
from navarena.mapping import Instance


@dataclass(frozen=True)
class SearchSettings:
    """Thresholds by which an instance is accepted as the goal. Our choices.

    Attributes:
        accept: modality -> score from which on an instance is taken at once.
        patience: modality -> actions of looking on with a doubtful candidate, before the best one is taken;
            of images the wrong instance seldom scores as much as the right one, so that looking on pays.
        settled: modality -> actions that the memory has lasted for, from which on the best one is taken at
            once: what was seen before this goal was asked for need not be looked for again.
        nearness: metres within which a doubtful candidate counts as looked at.
        budget: actions of a sub-task before what is best is taken, however bad (paper: 500).
        last: actions after that, after which the body calls STOP wherever it is.
    """

    accept: Mapping[Modality, float] = field(
        default_factory=lambda: MappingProxyType({"object": 0.0, "description": 0.75, "image": 0.4})
    )
    patience: Mapping[Modality, int] = field(
        default_factory=lambda: MappingProxyType({"object": 0, "description": 25, "image": 150})
    )
    settled: Mapping[Modality, float] = field(
        default_factory=lambda: MappingProxyType({"object": 0, "description": 150, "image": math.inf})
    )
    nearness: float = 1.2
    budget: int = 500
    last: int = 150


USUAL_SEARCH = SearchSettings()
"""Our choices."""


def read_thresholds(file: str) -> dict[Modality, float]:
    """Modality -> score from which on a match is accepted, of a file of `navarena encoder calibrate`.

    Raises FileError if it cannot be read.
    """
    remedy = "write it by: navarena encoder calibrate"
    return read_json(Path(file), "thresholds", dict[Modality, float], remedy)


def hash_thresholds(file: str) -> str:
    """SHA-256 of such a file, as hexadecimal; empty for no file. Raises FileError if it cannot be read."""
    return hash_file(Path(file), "thresholds") if file else ""


@dataclass(frozen=True, eq=False)
class Choice:
    """Decision of a search: go to one of `instances`, or explore where there is none.

    Attributes:
        instances: the nearest of which is to be gone to.
        is_sure: whether it is the goal; else it is only worth a look from near.
    """

    instances: list[Instance]
    is_sure: bool = True


EXPLORE = Choice([], False)


class Search:
    """The search for the current goal of one body.

    Args:
        matcher: that scores instances.
        settings: when one is taken.
        age: actions that the memory has lasted for when the search begins.
    """

    def __init__(self, matcher: Matcher, settings: SearchSettings = USUAL_SEARCH, age: int = 0) -> None:
        self._matcher, self._settings, self._age = matcher, settings, age
        self._goal: GoalQuery | None = None
        self._steps = 0
        self._doubted = 0
        self._looked_at: set[int] = set()

    @property
    def goal(self) -> GoalQuery | None:
        """The current goal; None before `begin`."""
        return self._goal

    @property
    def age(self) -> int:
        """Actions that the memory has lasted for."""
        return self._age + self._steps

    @property
    def is_hopeless(self) -> bool:
        """Whether the action budget of the current goal is used up."""
        return self._steps > self._settings.budget + self._settings.last

    def begin(self, goal: GoalQuery) -> None:
        """Look for `goal`."""
        self._goal = goal
        self._matcher.face(goal)

    def choose(self, known: list[Instance], position: Float[np.ndarray, "3"], is_explored: bool) -> Choice:
        """The next decision; called once per action.

        Args:
            known: all remembered instances.
            position: (3,) metres, of the body or its camera, in the frame of the instances.
            is_explored: whether no unknown place is left to look at.
        """
        self._steps += 1
        found = self._matcher.rank(known)
        if self._goal is None or not found.instances:
            return EXPLORE
        modality = self._goal.modality
        if modality == "object":
            least = self._settings.accept[modality]
            sure = [one for one, score in zip(found.instances, found.scores) if score >= least]
            if sure:
                return Choice(sure)
        self._doubted += 1
        seen = [k for k, one in enumerate(found.instances) if len(one.points)]
        best = max(seen, key=lambda k: (found.scores[k], -k), default=None)
        is_late = is_explored or self._is_late(modality)
        if best is not None and (is_late or found.scores[best] >= self._settings.accept[modality]):
            return Choice([found.instances[best]])
        return self._look_on(found, position)

    def _is_late(self, modality: Modality) -> bool:
        """Whether the best candidate is taken, however doubtful."""
        one = self._settings
        is_old = self.age > one.settled[modality]
        return is_old or self._doubted > one.patience[modality] or self._steps > one.budget

    def _look_on(self, found: Candidates, position: Float[np.ndarray, "3"]) -> Choice:
        """Go and see the candidates that were not seen from near; explore when all of them were."""
        for instance in found.instances:
            offset = instance.middle - position
            if len(instance.points) and math.hypot(offset[0], offset[2]) < self._settings.nearness:
                self._looked_at.add(instance.number)
        return Choice([one for one in found.instances if one.number not in self._looked_at], False)
