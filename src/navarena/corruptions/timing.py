"""Corruptions of when images arrive: late, or not at all. Both are navarena's own."""

import numpy as np
from jaxtyping import Int64

from navarena.corruptions.corruption import TimingCorruption


class Latency(TimingCorruption):
    """Images arrive as many steps late as the severity says; until then the first one is shown."""

    severities = tuple(range(1, 11))
    default_severity = 2

    def draw(self, generator: np.random.Generator, steps: int) -> Int64[np.ndarray, "steps 1"]:
        """(steps, 1): nothing is random."""
        return np.maximum(np.arange(steps) - (self.severity or 0), 0)[:, None]


class FrameDrop(TimingCorruption):
    """Images are lost, each with a probability of as many percent as the severity says.

    The last one that arrived stays in view, with its noise; the first one always arrives. Images of all
    cameras are lost together.
    """

    severities = tuple(range(10, 100, 10))
    default_severity = 50

    def draw(self, generator: np.random.Generator, steps: int) -> Int64[np.ndarray, "steps 1"]:
        arrived = generator.random(steps) >= (self.severity or 0) / 100
        if steps:
            arrived[0] = True
        return np.maximum.accumulate(np.where(arrived, np.arange(steps), 0))[:, None]
