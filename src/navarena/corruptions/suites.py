"""Lists of corruptions that are evaluated one after the other, beside the clean run.

The rows of `severity-5` are those of RobustNav's main table (Chattopadhyay et al. 2021, table 2), those of
`severity-3` its second one. The paper shows six rows of a corruption of sight together with one of motion
without saying which; ours are {defocus blur, speckle noise, spatter} x {stochastic motion bias, motion
drift}.
"""

from dataclasses import dataclass
from itertools import product

from navarena.corruptions.corruption import SEVERITIES

CLEAN: tuple[str, ...] = ()
"""The row without corruptions, which the others are compared with."""

CLEAN_NAME = "clean"
"""Its name in folders and tables."""

GRADED = ("lighting", "motion_blur", "defocus_blur", "speckle_noise", "spatter")
"""Visual corruptions that have severities."""

UNGRADED = ("lower_fov", "camera_crack")

DYNAMICS = (
    "motion_bias_constant",
    "motion_bias_stochastic",
    "motion_drift",
    "pyrobot:teleport",
    "motor_failure",
)
"""As RobustNav carries them out. Native noise stays on, but for the stochastic bias and PyRobot."""

PAIRED_SIGHT = ("defocus_blur:5", "speckle_noise:5", "spatter:5")
PAIRED_MOTION = ("motion_bias_stochastic", "motion_drift")


@dataclass(frozen=True)
class Suite:
    """Rows of a table, each a run of its own.

    Attributes:
        title: what it is, for people.
        rows: the corruptions of each row in the order in which they are applied; the first row is CLEAN.
    """

    title: str
    rows: tuple[tuple[str, ...], ...]


def _graded(severity: int) -> tuple[tuple[str, ...], ...]:
    return tuple((f"{name}:{severity}",) for name in GRADED)


_SINGLE = tuple((name,) for name in (*UNGRADED, *DYNAMICS))
_PAIRS = tuple(product(PAIRED_SIGHT, PAIRED_MOTION))

GOAL_NOISE = ("goal_image_noise", "goal_image_noise:5", "goal_synonyms", "goal_paraphrase")
"""GOAT-Bench's noise experiments (section 5.3), and images whose noise can be seen."""

INSTRUCTION_NOISE = ("instruction_paraphrase", "instruction_word_drop", "instruction_landmark_swap")
"""Corruptions of instructions."""

SUITES = {
    "all": Suite("RobustNav's corruptions", (CLEAN, *_graded(5), *_graded(3), *_SINGLE, *_PAIRS)),
    "goal-noise": Suite("noise on goals", (CLEAN, *((name,) for name in GOAL_NOISE), tuple(GOAL_NOISE[1:]))),
    "instruction-noise": Suite(
        "changed instructions",
        (CLEAN, *((f"{name}:{severity}",) for name in INSTRUCTION_NOISE for severity in (1, 3, 5))),
    ),
    "severities": Suite(
        "corruptions of sight by severity",
        (CLEAN, *(row for severity in SEVERITIES for row in _graded(severity))),
    ),
    "severity-3": Suite("RobustNav's second table", (CLEAN, *_graded(3))),
    "severity-5": Suite("RobustNav's main table", (CLEAN, *_graded(5), *_SINGLE, *_PAIRS)),
}
"""Name -> Suite."""
