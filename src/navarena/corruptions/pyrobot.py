"""PyRobot's noise models of motion, measured on LoCoBot (Murali et al. 2019), as Habitat-Sim applies them.

Source of the table and of the rules: habitat-sim, agent/controls/pyrobot_noisy_controls.py.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Float, Int64

from navarena.corruptions.corruption import MotionCorruption
from navarena.corruptions.motion_kernels import add_controller_noise

MAX_SIGMAS = 3.0
"""No draw is farther than this from its mean."""

MIN_SHARE = -0.95
"""Noise takes back no more than this share of the commanded metres of a walk, or radians of a turn."""

TINY = 1e-8
"""Added to a commanded amount before its sign is taken, so that the sign of none is +1."""


@dataclass(frozen=True)
class ControllerNoise:
    """Noise of one robot under one controller; rows: of a walk, of a turn.

    Attributes:
        means: (2, 3) metres along, metres across (right), radians.
        variances: (2, 3) of the same; the published second numbers are these, not their roots.
    """

    means: tuple[tuple[float, float, float], tuple[float, float, float]]
    variances: tuple[tuple[float, float, float], tuple[float, float, float]]


CONTROLLERS = MappingProxyType(
    {
        "ilqr": ControllerNoise(
            ((0.014, 0.009, 0.008), (0.003, 0.003, 0.023)),
            ((0.006, 0.005, 0.004), (0.002, 0.003, 0.012)),
        ),
        "proportional": ControllerNoise(
            ((0.017, 0.042, 0.031), (0.001, 0.005, 0.043)),
            ((0.007, 0.023, 0.026), (0.001, 0.004, 0.017)),
        ),
        "movebase": ControllerNoise(
            ((0.074, 0.036, 0.189), (0.002, 0.003, 0.219)),
            ((0.019, 0.033, 0.038), (0.0, 0.002, 0.019)),
        ),
        "lite_ilqr": ControllerNoise(
            ((0.142, 0.023, 0.031), (0.002, 0.002, 0.122)),
            ((0.008, 0.008, 0.028), (0.001, 0.002, 0.03)),
        ),
        "lite_proportional": ControllerNoise(
            ((0.135, 0.043, 0.049), (0.002, 0.002, 0.054)),
            ((0.007, 0.009, 0.009), (0.002, 0.001, 0.061)),
        ),
        "lite_movebase": ControllerNoise(
            ((0.192, 0.117, 0.128), (0.002, 0.001, 0.173)),
            ((0.055, 0.144, 0.143), (0.001, 0.001, 0.025)),
        ),
    }
)
"""LoCoBot and LoCoBot-Lite under three controllers (the table of the noise models)."""


class PyRobotNoise(MotionCorruption):
    """Every walk and every turn strays along, across and in heading; looking up and down is exact.

    The words choose the controller; "half" halves the noise (the multiplier 0.5 of the Habitat
    PointNav challenge 2020). A blocked movement is cut as usual, or with the word "teleport" not made at all,
    neither walk nor turn (as in RobustNav, whose engine undoes both). "added_to_degrees" is RobustNav's
    mistake: its radians count as degrees, so that headings stray 57 times too little.
    """

    severities = ()
    replaces = ("native_noise",)
    words = MappingProxyType(
        {
            "controller": tuple(CONTROLLERS),
            "strength": ("full", "half"),
            "blocked": ("cut", "teleport"),
            "heading": ("radians", "added_to_degrees"),
        }
    )

    def __init__(self, severity: int | None = None, *chosen: str) -> None:
        super().__init__(severity, *chosen)
        noise = CONTROLLERS[self.choices["controller"]]
        self._means = np.array(noise.means)
        self._sigmas = np.sqrt(noise.variances)
        multiplier = 0.5 if self.choices["strength"] == "half" else 1.0
        to_radians = np.deg2rad(1.0) if self.choices["heading"] == "added_to_degrees" else 1.0
        self._scale = multiplier * np.array([1.0, 1.0, to_radians])

    @property
    def stays_when_blocked(self) -> bool:
        """Whether movements are teleports."""
        return self.choices["blocked"] == "teleport"

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 3"]:
        """(steps, 3) uniform numbers within [0, 1): quantiles of the three noises of a step."""
        return generator.random((steps, 3))

    def change(
        self,
        movements: Float[np.ndarray, "n 4"],
        commanded: Float[np.ndarray, "n 4"],
        drawn: Float[np.ndarray, "n 3"],
        floors: Int64[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        add_controller_noise(
            movements,
            commanded,
            drawn,
            self._means,
            self._sigmas,
            self._scale,
            MAX_SIGMAS,
            MIN_SHARE,
            TINY,
        )
        return movements
