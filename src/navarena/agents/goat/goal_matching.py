"""Which remembered thing is the goal: by category, by text and by image."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float32

from navarena.agents.encoders.encoder import GoalEncoder, GoalQuery
from navarena.agents.encoders.matching import ImageMatcher, Look
from navarena.agents.goat.told_goals import categories_meant, colors_told
from navarena.agents.goat.traits import color_likeness, describe
from navarena.mapping import Instance, InstanceView

COLOR_WEIGHT = 0.1
"""Score that a colour just like the one that is told adds: less than a word in common. Our choice."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Things that may be the goal.

    Attributes:
        things: of the categories that the goal may mean.
        scores: (N,) float32 within [0, 1], how well each fits.
    """

    things: list[Instance]
    scores: Float32[np.ndarray, "n"]


class GoalMatcher:
    """Scores what one body remembers against its current goal; what has not changed is not scored again.

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
        self._look: Look | None = None
        self._scored: dict[int, tuple[object, float]] = {}
        self._looks: WeakKeyDictionary[InstanceView, Look] = WeakKeyDictionary()

    def face(self, goal: GoalQuery) -> None:
        """From now on `goal` is looked for."""
        self._goal = goal
        self._scored = {}
        self._meant = categories_meant(goal.words) if goal.words else frozenset()
        if goal.modality == "description":
            self._vector = self._words.encode(goal)
            self._colors = colors_told(goal.text)
        self._look = None if goal.image is None else self._images.look(goal.image)

    def rank(self, things: Sequence[Instance]) -> Candidates:
        """Those of `things` that may be the goal, with scores; all of them where no category is known."""
        meant = [one for one in things if not self._meant or one.category in self._meant]
        if self._goal is None or self._goal.modality == "object":
            return Candidates(meant, np.ones(len(meant), np.float32))
        score = self._read if self._goal.modality == "description" else self._see
        return Candidates(meant, np.array([score(one, things) for one in meant], np.float32))

    def _read(self, thing: Instance, others: Sequence[Instance]) -> float:
        """Likeness of the goal's words to those for a thing."""
        words = describe(thing, others)
        state = words, thing.version
        known = self._scored.get(thing.number)
        if known is None or known[0] != state:
            fit = float(self._words.encode_words([words])[0] @ self._vector) + self._color_fit(thing)
            known = state, float(np.clip(fit, 0.0, 1.0))
            self._scored[thing.number] = known
        return known[1]

    def _color_fit(self, thing: Instance) -> float:
        """What the colour adds for being like the one that is told, although it may be called otherwise."""
        best = max(thing.views, key=lambda view: view.quality, default=None)
        if best is None or not self._colors:
            return 0.0
        return COLOR_WEIGHT * max(color_likeness(name, best.color) for name in self._colors)

    def _see(self, thing: Instance, others: Sequence[Instance]) -> float:
        """How surely a view of a thing shows what the goal's image shows."""
        known = self._scored.get(thing.number)
        if known is None or known[0] != thing.version:
            looks = [self._look_at(view) for view in thing.views]
            scores = self._images.scores(self._look, looks) if looks and self._look is not None else [0.0]
            known = thing.version, float(max(scores))
            self._scored[thing.number] = known
        return known[1]

    def _look_at(self, view: InstanceView) -> Look:
        look = self._looks.get(view)
        if look is None:
            look = self._looks[view] = self._images.look(view.crop)
        return look
