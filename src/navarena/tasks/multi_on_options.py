"""The knobs of MultiON, by name."""

from dataclasses import dataclass
from typing import Literal

from navarena.core.errors import InputError

MAX_STEPS = 2500
"""Paper, section 4.1; multiON, MAX_EPISODE_STEPS."""

FOUND_DISTANCE = 1.5
"""Metres, geodesic (multiON, SUCCESS_DISTANCE); the paper only says "threshold distance"."""


@dataclass(frozen=True)
class MultiOnOptions:
    """The knobs of the paper and of its code; the defaults are the protocol.

    Attributes:
        found_budget: wrong FOUND calls that do not end the episode (paper, table 9: 0 to 50).
        oracle_found: a goal counts as found as soon as a step ends near it, and the agent's own FOUND
            calls mean nothing (paper, table 9, last row).
        found_distance: metres, geodesic, within which FOUND succeeds.
        goal: the goal as class id (code) or one-hot vector (paper).
        late_goal: whether the observation of a correct FOUND still shows the old goal (code).
        depth: "near" is clipped to 0.5 to 5 m, "far" to 0 to 10 m.
        hidden: whether goal objects are left out of the pictures (paper, appendix A.4).
        distractors: whether the other classes are inserted, too: those of the episode, or else each at
            a random place of the same floor.
        cylinder: radius of the authors' files (0.10 m) or of the paper (0.05 m).
        sliding: whether blocked steps slide along obstacles.
        max_steps: actions after which the episode is truncated.
        step_limit: "proportional" takes a third of `max_steps` for every goal (paper, appendix A.4).
        wrong_found_penalty: taken from the reward at a wrong FOUND (code: 2.5, but off).
    """

    found_budget: int = 0
    oracle_found: bool = False
    found_distance: float = FOUND_DISTANCE
    goal: Literal["id", "one_hot"] = "id"
    late_goal: bool = False
    depth: Literal["near", "far"] = "near"
    hidden: bool = False
    distractors: bool = False
    cylinder: Literal["files", "paper"] = "files"
    sliding: bool = False
    max_steps: int = MAX_STEPS
    step_limit: Literal["full", "proportional"] = "full"
    wrong_found_penalty: float = 0.0

    def __post_init__(self) -> None:
        if self.found_budget < 0 or self.max_steps < 1 or not self.found_distance > 0:
            raise InputError(
                "expected found_budget of at least 0, max_steps of at least 1 and a positive found_distance, "
                f"got {self.found_budget}, {self.max_steps} and {self.found_distance:g}"
            )


THE_PROTOCOL = MultiOnOptions()
"""No departures."""
