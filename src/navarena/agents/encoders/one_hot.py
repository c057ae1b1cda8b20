"""One number for each category."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float32

from navarena.agents.encoders.encoder import GoalEncoder, unit_rows
from navarena.core.errors import unknown_name
from navarena.scenes.houses.furniture.catalog import CATEGORIES
from navarena.scenes.houses.vocabulary import GOAT


class OneHotEncoder(GoalEncoder):
    """One place for each category of the catalogue.

    A name of GOAT-Bench ("couch") takes the places of the categories that it stands for ("sofa"), in equal
    parts. Raises UnknownNameError for other words.
    """

    def __init__(self) -> None:
        self._places = {category: place for place, category in enumerate(sorted(CATEGORIES))}
        self.name = "one-hot"
        self.dimension = len(self._places)

    def encode_words(self, texts: Sequence[str]) -> Float32[np.ndarray, "n d"]:
        """(N, D) float32 of N names."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            for category in self._meant(text.strip().lower()):
                vectors[row, self._places[category]] = 1.0
        return unit_rows(vectors)

    def _meant(self, name: str) -> tuple[str, ...]:
        own = name.replace(" ", "_")
        found = GOAT.get(name, (own,) if own in self._places else ())
        if not found:
            raise unknown_name("category", name, {*GOAT, *self._places})
        return found
