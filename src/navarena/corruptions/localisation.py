"""Corruptions of the estimated pose: gps and compass, and odometry.

The severities are our own choice: at 3 the metres are half of the success distance of PointNav
(0.2 m), and each severity about doubles them.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from navarena.corruptions.corruption import PoseCorruption

NOISE_METRES = (0.025, 0.05, 0.1, 0.2, 0.4)
NOISE_DEGREES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Standard deviation of each estimate, for each coordinate, by severity."""

BIAS_METRES = (0.025, 0.05, 0.1, 0.2, 0.4)
BIAS_DEGREES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Length of the constant error, by severity."""

DRIFT_METRES = (0.0005, 0.001, 0.002, 0.004, 0.008)
DRIFT_DEGREES = (0.01, 0.02, 0.04, 0.08, 0.16)
"""Growth of the error with each step, by severity; after 100 steps at severity 3: 0.2 m and 4 degrees."""

CELL_METRES = (0.05, 0.1, 0.25, 0.5, 1.0)
CELL_DEGREES = (4.0, 8.0, 16.0, 24.0, 45.0)
"""What estimates are whole multiples of, by severity; turns of 30 degrees are multiples of none."""

LOST_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Probability that an estimate does not arrive, by severity."""

ODOMETRY_METRES = (0.0025, 0.005, 0.01, 0.02, 0.04)
ODOMETRY_DEGREES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Standard deviation of each coordinate of each step's motion, by severity."""


class LocalisationCorruption(PoseCorruption):
    """Corrupts gps and compass; the words "gps" and "compass" leave the other one alone."""

    words = MappingProxyType({"of": ("both", "gps", "compass")})

    def _scaled(self, metres: Sequence[float], degrees: Sequence[float]) -> Float[np.ndarray, "3"]:
        """(3,) metres, metres and radians at the severity; 0 for components that are not corrupted."""
        of = self.choices["of"]
        along = self.of_severity(metres) if of != "compass" else 0.0
        turn = math.radians(self.of_severity(degrees)) if of != "gps" else 0.0
        return np.array([along, along, turn])


class AddedError(LocalisationCorruption):
    """An error that is drawn before the episode and added to the true pose."""

    @abstractmethod
    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 3"]:
        """(steps, 3): metres ahead, metres to the right and radians to the left, to be added."""

    def corrupt(
        self,
        poses: Float[np.ndarray, "n 3"],
        last: Float[np.ndarray, "n 3"],
        drawn: Float[np.ndarray, "n 3"],
    ) -> Float[np.ndarray, "n 3"]:
        return poses + drawn


class LocalisationNoise(AddedError):
    """Adds N(0, sigma) to each coordinate of each estimate."""

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 3"]:
        return generator.standard_normal((steps, 3)) * self._scaled(NOISE_METRES, NOISE_DEGREES)


class LocalisationBias(AddedError):
    """Adds one error for the whole episode: of fixed length in any direction, and of fixed angle to any side.

    The first estimate has it, too.
    """

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 3"]:
        return np.tile(_any_direction(generator) * self._scaled(BIAS_METRES, BIAS_DEGREES), (steps, 1))


class LocalisationDrift(AddedError):
    """Adds an error that grows by the same amount, in the same direction, with every step.

    It is 0 at the start.
    """

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 3"]:
        rate = _any_direction(generator) * self._scaled(DRIFT_METRES, DRIFT_DEGREES)
        return np.arange(steps)[:, None] * rate


class LocalisationQuantisation(LocalisationCorruption):
    """Rounds each coordinate to the nearest whole multiple of a cell."""

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 0"]:
        """(steps, 0): nothing is random."""
        return np.zeros((steps, 0))

    def corrupt(
        self,
        poses: Float[np.ndarray, "n 3"],
        last: Float[np.ndarray, "n 3"],
        drawn: Float[np.ndarray, "n 0"],
    ) -> Float[np.ndarray, "n 3"]:
        cells = self._scaled(CELL_METRES, CELL_DEGREES)
        rounded = cells > 0
        values = poses.copy()
        values[:, rounded] = np.round(poses[:, rounded] / cells[rounded]) * cells[rounded]
        return values


class LocalisationDropout(LocalisationCorruption):
    """Loses estimates, each with the same probability; the last one that arrived is then repeated.

    Gps and compass are lost together; the first estimate always arrives.
    """

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 1"]:
        """(steps, 1): 1 where the estimate is lost, else 0."""
        lost = generator.random((steps, 1)) < self.of_severity(LOST_SHARES)
        lost[0] = False
        return lost.astype(float)

    def corrupt(
        self,
        poses: Float[np.ndarray, "n 3"],
        last: Float[np.ndarray, "n 3"],
        drawn: Float[np.ndarray, "n 1"],
    ) -> Float[np.ndarray, "n 3"]:
        of = self.choices["of"]
        concerned = np.array([of != "compass", of != "compass", of != "gps"])
        return np.where((drawn > 0) & concerned, last, poses)


class OdometryNoise(PoseCorruption):
    """Adds N(0, sigma) to each coordinate of each step's motion, unless the body rested."""

    sensors = ("odometry",)

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 3"]:
        """(steps, 3): metres ahead, metres to the right and radians to the left, to be added."""
        metres = self.of_severity(ODOMETRY_METRES)
        sigmas = (metres, metres, math.radians(self.of_severity(ODOMETRY_DEGREES)))
        return generator.standard_normal((steps, 3)) * sigmas

    def corrupt(
        self,
        poses: Float[np.ndarray, "n 3"],
        last: Float[np.ndarray, "n 3"],
        drawn: Float[np.ndarray, "n 3"],
    ) -> Float[np.ndarray, "n 3"]:
        moved = (poses != 0).any(axis=1, keepdims=True)
        return poses + moved * drawn


def _any_direction(generator: np.random.Generator) -> Float[np.ndarray, "3"]:
    """(3,): a direction in the plane of length 1, drawn uniformly, and a sign."""
    angle = generator.uniform(-math.pi, math.pi)
    return np.array([math.cos(angle), math.sin(angle), generator.choice((-1.0, 1.0))])
