"""RobustNav's corruptions of motion (Chattopadhyay et al. 2021, section 3.2; allenai/robustnav)."""

import math
from types import MappingProxyType

import numpy as np
from jaxtyping import Float, Int64

from navarena.corruptions.corruption import MotionCorruption
from navarena.corruptions.motion_kernels import fail_turns, lengthen, turn_walks_first

MOVE_MEAN = 0.001
"""Metres by which a move of the engine goes too far on average (AI2-THOR: movementGaussianMu)."""

MOVE_SIGMA = 0.005
"""Metres, of a move of LoCoBot (AI2-THOR: movementGaussianSigma; the paper's N(0.25 m, 0.005 m))."""

TURN_SIGMA = math.radians(0.5)
"""Radians, of a turn of LoCoBot (AI2-THOR: rotateGaussianSigma; the paper's N(30, 0.5) degrees)."""

BIASED_MOVE_SIGMA, BIASED_TURN_SIGMA = 0.1, math.radians(10)
"""Metres and radians of the stochastic motion bias, in the place of the two above."""

BIAS_METRES = (0.05, 0.10, 0.15)
"""Of the constant motion bias: one is drawn."""

BIAS_RADIANS = tuple(math.radians(angle) for angle in (5, 10, 15))
"""Of the constant motion bias: one is drawn."""

DRIFT = math.radians(10)
"""Radians to one side, of each move (RobustNav's scripts; the built-in default there is 1.15 degrees)."""

LEFT, RIGHT = 1.0, -1.0


class NativeNoise(MotionCorruption):
    """Actuation noise of LoCoBot as the engine has it.

    A walk first turns by N(0, half the sigma of turns) and then goes N(1 mm, sigma) farther; the turn
    stays even if the walk is blocked. A turn is N(0, sigma) larger. Looking up and down is exact.
    With the word "paper" a walk neither turns nor has a mean of its own.
    """

    severities = ()
    words = MappingProxyType({"reading": ("code", "paper")})
    move_sigma, turn_sigma = MOVE_SIGMA, TURN_SIGMA

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 3"]:
        """(steps, 3): metres farther, radians before a walk, radians farther."""
        drawn = generator.standard_normal((steps, 3))
        if self.choices["reading"] == "paper":
            return drawn * (self.move_sigma, 0.0, self.turn_sigma)
        drawn *= (self.move_sigma, self.turn_sigma / 2, self.turn_sigma)
        return drawn + (MOVE_MEAN, 0.0, 0.0)

    def change(
        self,
        movements: Float[np.ndarray, "n 4"],
        commanded: Float[np.ndarray, "n 4"],
        drawn: Float[np.ndarray, "n 3"],
        floors: Int64[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        lengthen(movements, commanded, drawn, 0, 2)
        turn_walks_first(movements, commanded, drawn, 1, False)
        return movements


class MotionBiasStochastic(NativeNoise):
    """Native noise with 20 times its sigmas: 0.1 m and 10 degrees; walks may then lead backwards."""

    replaces = ("native_noise",)
    move_sigma, turn_sigma = BIASED_MOVE_SIGMA, BIASED_TURN_SIGMA


class MotionBiasConstant(MotionCorruption):
    """Friction: walks and turns are all too short, or all too long, by a fixed amount.

    High and low friction are as likely; the metres are one of BIAS_METRES, the radians one of
    BIAS_RADIANS. They are drawn for each scene (the code draws them once per worker, of which there is
    one per scene), or with the word "episode" for each episode.
    """

    severities = ()
    words = MappingProxyType({"drawn": ("scene", "episode")})

    def __init__(self, severity: int | None = None, *chosen: str) -> None:
        super().__init__(severity, *chosen)
        self.per = "scene" if self.choices["drawn"] == "scene" else "episode"

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 2"]:
        """(steps, 2): metres farther and radians farther, the same in every row."""
        sign = generator.choice((-1.0, 1.0))
        metres, radians = generator.choice(BIAS_METRES), generator.choice(BIAS_RADIANS)
        return np.tile([sign * metres, sign * radians], (steps, 1))

    def change(
        self,
        movements: Float[np.ndarray, "n 4"],
        commanded: Float[np.ndarray, "n 4"],
        drawn: Float[np.ndarray, "n 2"],
        floors: Int64[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        lengthen(movements, commanded, drawn, 0, 1)
        return movements


class MotionDrift(MotionCorruption):
    """Walks drift to one side by 10 degrees.

    As in the code, every walk begins with a turn that is never undone, so the heading turns, too; the
    side is drawn for each scene. With the word "paper" only the place deviates (0.25 sin 10 degrees =
    0.043 m to the side of a step), and the side is drawn for each episode.
    """

    severities = ()
    words = MappingProxyType({"reading": ("code", "paper")})
    acts_on = ("walk",)

    def __init__(self, severity: int | None = None, *chosen: str) -> None:
        super().__init__(severity, *chosen)
        self.per = "scene" if self.choices["reading"] == "code" else "episode"

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 1"]:
        """(steps, 1): radians to the left, the same in every row."""
        return np.full((steps, 1), DRIFT * generator.choice((LEFT, RIGHT)))

    def change(
        self,
        movements: Float[np.ndarray, "n 4"],
        commanded: Float[np.ndarray, "n 4"],
        drawn: Float[np.ndarray, "n 1"],
        floors: Int64[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        turn_walks_first(movements, commanded, drawn, 0, self.choices["reading"] == "paper")
        return movements


class MotorFailure(MotionCorruption):
    """Turns to one side do nothing.

    The side is drawn for each scene, as in the code, with the word "episode" for each episode; "left" and
    "right" fix it.
    """

    severities = ()
    words = MappingProxyType({"side": ("any", "left", "right"), "drawn": ("scene", "episode")})
    acts_on = ("turn",)

    def __init__(self, severity: int | None = None, *chosen: str) -> None:
        super().__init__(severity, *chosen)
        self.per = "scene" if self.choices["drawn"] == "scene" else "episode"

    def draw(self, generator: np.random.Generator, steps: int) -> Float[np.ndarray, "steps 1"]:
        """(steps, 1): LEFT or RIGHT, the same in every row."""
        sides = {"any": (LEFT, RIGHT), "left": (LEFT,), "right": (RIGHT,)}[self.choices["side"]]
        return np.full((steps, 1), generator.choice(sides))

    def change(
        self,
        movements: Float[np.ndarray, "n 4"],
        commanded: Float[np.ndarray, "n 4"],
        drawn: Float[np.ndarray, "n 1"],
        floors: Int64[np.ndarray, "n"],
    ) -> Float[np.ndarray, "n 4"]:
        fail_turns(movements, commanded, drawn)
        return movements
