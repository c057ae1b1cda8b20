"""Vectors of goals for the sensor `goal_vector`."""

import functools

import numpy as np
from jaxtyping import Float32, UInt8

from navarena.agents.encoders.catalog import make_encoder
from navarena.agents.encoders.encoder import GoalEncoder, GoalQuery
from navarena.episodes.goals import Modality


class GoalVectors:
    """What an encoder makes of goals, each as long as the encoder's network makes it.

    Args:
        encoder: of them.

    Attributes:
        dimension: D.
    """

    def __init__(self, encoder: GoalEncoder) -> None:
        self._encoder, self.dimension = encoder, encoder.dimension

    def encode(
        self, modality: Modality, category: str, text: str, image: UInt8[np.ndarray, "h w 3"] | None
    ) -> Float32[np.ndarray, "d"]:
        """(D,) float32 of a goal; raises InputError for one that the encoder can neither see nor read."""
        return self._encoder.encode_raw(GoalQuery(modality, category, text, image))


@functools.cache
def find_goal_vectors(text: str) -> GoalVectors:
    """The vectors of the encoder `text`, loaded once; raises as `make_encoder`."""
    return GoalVectors(make_encoder(text))
