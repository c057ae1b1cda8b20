"""Matching of remembered instances with a goal by category, text and image."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float32

from navarena.agents.encoders.matching import ImageFeatures, ImageMatcher
from navarena.agents.goat.goal_query import described_colors, possible_categories
from navarena.agents.goat.instance_description import color_likeness, describe
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery
from navarena.mapping import Instance, InstanceView

COLOR_WEIGHT = 0.1
"""Score that a colour just like the one that is described adds: less than a word in common. Our choice."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Instances that may be the goal.

    Attributes:
        instances: of the categories that the goal may mean.
        scores: (N,) float32 within [0, 1], how well each fits.
    """

    instances: list[Instance]
    scores: Float32[np.ndarray, "n"]


class Matcher(ABC):
    """Interface that matches the instances in one body's memory with its current goal."""

    @abstractmethod
    def face(self, goal: GoalQuery) -> None:
        """Set the current goal."""

    @abstractmethod
    def rank(self, instances: Sequence[Instance]) -> Candidates:
        """The candidates among `instances`, with scores."""


class GoalMatcher(Matcher):
    """Scores the instances in one body's memory against its current goal; unchanged ones are cached.

    Args:
        words: encoder of categories and descriptions.
        images: compares images.
    """

    def __init__(self, words: GoalEncoder, images: ImageMatcher) -> None:
        self._words, self._images = words, images
        self._goal: GoalQuery | None = None
        self._meant: frozenset[str] = frozenset()
        self._vector = np.zeros(0, np.float32)
        self._colors: tuple[str, ...] = ()
        self._goal_features: ImageFeatures | None = None
        self._scored: dict[int, tuple[object, float]] = {}
        self._features: WeakKeyDictionary[InstanceView, ImageFeatures] = WeakKeyDictionary()

    def face(self, goal: GoalQuery) -> None:
        """Set the current goal."""
        self._goal = goal
        self._scored = {}
        self._meant = possible_categories(goal.words) if goal.words else frozenset()
        if goal.modality == "description":
            self._vector = self._words.encode(goal)
            self._colors = described_colors(goal.text)
        self._goal_features = None if goal.image is None else self._images.extract(goal.image)

    def rank(self, instances: Sequence[Instance]) -> Candidates:
        """Those of `instances` that may be the goal, with scores; all of them where no category is known."""
        meant = [one for one in instances if not self._meant or one.category in self._meant]
        if self._goal is None or self._goal.modality == "object":
            return Candidates(meant, np.ones(len(meant), np.float32))
        score = self._read if self._goal.modality == "description" else self._see
        return Candidates(meant, np.array([score(one, instances) for one in meant], np.float32))

    def _read(self, instance: Instance, others: Sequence[Instance]) -> float:
        """Likeness of the goal's words to those for an instance."""
        words = describe(instance, others)
        state = words, instance.version
        known = self._scored.get(instance.number)
        if known is None or known[0] != state:
            fit = float(self._words.encode_words([words])[0] @ self._vector) + self._color_fit(instance)
            known = state, float(np.clip(fit, 0.0, 1.0))
            self._scored[instance.number] = known
        return known[1]

    def _color_fit(self, instance: Instance) -> float:
        """Score bonus for a colour similar to the described one, whatever its name."""
        best = max(instance.views, key=lambda view: view.quality, default=None)
        if best is None or not self._colors:
            return 0.0
        return COLOR_WEIGHT * max(color_likeness(name, best.color) for name in self._colors)

    def _see(self, instance: Instance, others: Sequence[Instance]) -> float:
        """Confidence that a view of an instance shows the object of the goal image."""
        known = self._scored.get(instance.number)
        if known is None or known[0] != instance.version:
            features = [self._features_at(view) for view in instance.views]
            goal = self._goal_features
            scores = self._images.scores(goal, features) if features and goal is not None else [0.0]
            known = instance.version, float(max(scores))
            self._scored[instance.number] = known
        return known[1]

    def _features_at(self, view: InstanceView) -> ImageFeatures:
        features = self._features.get(view)
        if features is None:
            features = self._features[view] = self._images.extract(view.crop)
        return features
