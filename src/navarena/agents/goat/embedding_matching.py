"""Matching of remembered instances with a goal by embeddings of their crops, without true categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from navarena.agents.encoders.matching import ImageFeatures, ImageMatcher
from navarena.agents.goat.goal_matching import Candidates, Matcher
from navarena.agents.goat.goal_query import possible_categories
from navarena.core.errors import InputError
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery
from navarena.mapping import Instance, InstanceView

Naming = Literal["open", "closed"]
"""How instances get names: crops by their cosines to any list of names, or as the segmenter calls them."""

Images = Literal["joint", "keypoints", "count"]
"""How images of goals are compared with views: by cosines, ImageMatcher's scores, or counted keypoints."""


@dataclass(frozen=True)
class MatchingSettings:
    """Settings of goal matching.

    Attributes:
        naming: of instances.
        images: how goals' images are compared.
        names: among which an instance's name is chosen, beside the goal's own; those that may mean the
            same as it are no rivals.
    """

    naming: Naming = "open"
    images: Images = "keypoints"
    names: tuple[str, ...] = ()


class EmbeddingMatcher(Matcher):
    """Scores the instances in one body's memory against its current goal; unchanged ones are cached.

    Args:
        encoder: of texts and images, in one space.
        images: compares images.
        settings: how.
        meanings: class of the segmenter -> categories that it stands for.
        words: of names; the same encoder behind a cache, as a name is a rival of nearly all goals. None
            takes `encoder` itself.
    """

    def __init__(
        self,
        encoder: GoalEncoder,
        images: ImageMatcher,
        settings: MatchingSettings,
        meanings: Mapping[str, frozenset[str]],
        words: GoalEncoder | None = None,
    ) -> None:
        self._encoder, self._images, self._settings, self._meanings = encoder, images, settings, meanings
        self._words = words or encoder
        self._goal: GoalQuery | None = None
        self._vector = np.zeros(0, np.float32)
        self._rivals = np.zeros((0, encoder.dimension), np.float32)
        self._meant: frozenset[str] = frozenset()
        self._features: ImageFeatures | None = None
        self._scored: dict[int, tuple[int, float]] = {}
        self._vectors: WeakKeyDictionary[InstanceView, np.ndarray] = WeakKeyDictionary()
        self._points: WeakKeyDictionary[InstanceView, ImageFeatures] = WeakKeyDictionary()

    def face(self, goal: GoalQuery) -> None:
        """Set the current goal.

        Raises InputError for a name that none of the segmenter's classes can mean, where these are the names.
        """
        self._goal, self._scored, self._features = goal, {}, None
        if goal.modality == "object" and self._settings.naming == "closed":
            self._meant = possible_categories(goal.category)
            if not any(found & self._meant for found in self._meanings.values()):
                raise InputError(
                    f"expected a segmenter with a class for the goal {goal.category!r}, got "
                    f"{', '.join(list(self._meanings)[:12])} and no other that means it; train "
                    "segmenter-goat-small, or take naming=open"
                )
            return
        if goal.modality == "image" and self._settings.images != "joint":
            assert goal.image is not None
            self._features = self._images.extract(goal.image)
            return
        self._vector = self._encoder.encode(goal)
        if goal.modality == "object":
            meant = possible_categories(goal.category)
            others = [name for name in self._settings.names if not possible_categories(name) & meant]
            self._rivals = self._words.encode_words(others) if others else self._rivals[:0]

    def rank(self, instances: Sequence[Instance]) -> Candidates:
        """Those of `instances` that may be the goal, with scores; of names those that it fits best.

        Only goals given by name are looked for in what has no place yet: any image fits the others a little.
        """
        if self._goal is None:
            return Candidates([], np.zeros(0, np.float32))
        if self._goal.modality == "object" and self._settings.naming == "closed":
            none: frozenset[str] = frozenset()
            found = [one for one in instances if self._meanings.get(one.category, none) & self._meant]
            return Candidates(found, np.ones(len(found), np.float32))
        is_named = self._goal.modality == "object"
        seen = [one for one in instances if one.views and (is_named or len(one.points))]
        scores = np.array([self._score(one) for one in seen], np.float32)
        if is_named:
            kept = np.flatnonzero(scores >= 0)
            return Candidates([seen[k] for k in kept.tolist()], scores[kept])
        return Candidates(seen, scores)

    def _score(self, instance: Instance) -> float:
        known = self._scored.get(instance.number)
        if known is None or known[0] != instance.version:
            how = self._see if self._features is not None else self._compare
            known = self._scored[instance.number] = instance.version, how(instance)
        return known[1]

    def _compare(self, instance: Instance) -> float:
        """The largest cosine of its views; of a name -1 where another name fits the views better."""
        views = np.stack([self._vector_of(view) for view in instance.views])
        cosine = float((views @ self._vector).max())
        if self._goal is not None and self._goal.modality == "object" and len(self._rivals):
            means = views.mean(0)
            if float((self._rivals @ means).max()) > float(self._vector @ means):
                return -1.0
        return max(cosine, 0.0)

    def _see(self, instance: Instance) -> float:
        """Confidence that a view shows the object of the goal image, or the number of matched keypoints."""
        goal = self._features
        assert goal is not None
        points = [self._points_of(view) for view in instance.views]
        if self._settings.images == "count":
            return float(max(self._images.inliers(goal, one) for one in points))
        return float(self._images.scores(goal, points).max())

    def _vector_of(self, view: InstanceView) -> np.ndarray:
        found = self._vectors.get(view)
        if found is None:
            found = self._vectors[view] = self._encoder.encode_images([view.crop])[0]
        return found

    def _points_of(self, view: InstanceView) -> ImageFeatures:
        found = self._points.get(view)
        if found is None:
            found = self._points[view] = self._images.extract(view.crop)
        return found
