"""Matching of remembered instances with a goal by category, text and image.

For texts an instance is described by its colour, its neighbours and its size.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import cv2
import numpy as np
from jaxtyping import Float, Float32

from navarena.agents.encoders.matching import ImageFeatures, ImageMatcher
from navarena.agents.goat.goal_query import described_colors, possible_categories
from navarena.episodes.encoding.encoder import GoalEncoder, GoalQuery
from navarena.mapping import Instance, InstanceView
from navarena.scenes.houses.appearance.finishes import COLORS

NEAR = 1.5
"""Metres between two instances of which one is named to describe the place of the other; their boxes are not
known
exactly."""

MAX_NEIGHBOURS = 8
"""Named of an instance, the nearest first."""

UNLIKE = 20.0
"""Distance in CIELAB at which a colour is 1 / e like another."""

SHADE = np.array([0.5, 1.0, 1.0])
"""Weights of lightness and the two axes of colour."""

_NAMES = tuple(COLORS)


def color_name(color: Float[np.ndarray, "3"]) -> str:
    """The word for a colour (3,) sRGB, 0 to 255, as people see it: by its place in CIELAB."""
    return _NAMES[int(np.argmin(np.linalg.norm(_lab(np.array([color])) - _palette(), axis=1)))]


def color_likeness(name: str, color: Float[np.ndarray, "3"]) -> float:
    """Similarity, within (0, 1], of an observed colour (3,) sRGB, 0 to 255, to a colour word.

    Lightness counts half: what stands in the shade is seen darker than it is.
    """
    apart = (_lab(np.array([color])) - _lab(np.array([COLORS[name]], float)))[0] * SHADE
    return math.exp(-float(np.linalg.norm(apart)) / UNLIKE)


def describe(instance: Instance, others: Sequence[Instance]) -> str:
    """Words for an instance such as "brown sofa near the rug, the tv stand" that an encoder of words can
    read.

    Args:
        instance: with at least one view; else its colour is left out.
        others: all that is known; those near it are named.
    """
    best = max(instance.views, key=lambda view: view.quality, default=None)
    color = "" if best is None else f"{color_name(best.color)} "
    name = instance.category.replace("_", " ")
    around = ", ".join(f"the {one}" for one in neighbours(instance, others))
    return f"{color}{name} near {around}" if around else f"{color}{name}"


def neighbours(instance: Instance, others: Sequence[Instance]) -> list[str]:
    """Categories of the objects near an instance, nearest first, without repetition."""
    known = [one for one in others if one is not instance and len(one.points) and len(instance.points)]
    if not known:
        return []
    apart = gaps(instance, known)
    names = [
        known[k].category.replace("_", " ") for k in np.argsort(apart, kind="stable") if apart[k] <= NEAR
    ]
    return list(dict.fromkeys(name for name in names if name))[:MAX_NEIGHBOURS]


def gaps(instance: Instance, others: Sequence[Instance]) -> Float[np.ndarray, "n"]:
    """(N,) metres between the boxes around the points of an instance and of N others."""
    low, high = instance.box
    boxes = np.stack([other.box for other in others])
    between = np.maximum(0.0, np.maximum(low - boxes[:, 1], boxes[:, 0] - high))
    return np.asarray(np.linalg.norm(between, axis=1))


def _palette() -> Float[np.ndarray, "c 3"]:
    return _lab(np.array(list(COLORS.values()), float))


def _lab(colors: Float[np.ndarray, "c 3"]) -> Float[np.ndarray, "c 3"]:
    """(C, 3) CIELAB of sRGB colours, 0 to 255."""
    pixels = (colors[None] / 255).astype(np.float32)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB)[0], float)


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
