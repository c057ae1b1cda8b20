"""Options of MultiON, by name."""

import math
from dataclasses import dataclass
from typing import Literal

from navarena.core.errors import InputError
from navarena.episodes.multi_on import CYLINDERS
from navarena.episodes.multi_on import MAX_STEPS as DRAWN_ACTIONS
from navarena.simulation.body_catalog import MULTION
from navarena.tasks.options import RunOptions, require_positive

MAX_STEPS = 2500
"""Paper, section 4.1; multiON, MAX_EPISODE_STEPS."""

FOUND_DISTANCE = 1.5
"""Metres, geodesic (multiON, SUCCESS_DISTANCE); the paper only says "threshold distance"."""

MAX_OBJECTS = len(CYLINDERS)
"""All classes, each once."""


@dataclass(frozen=True)
class MultiOnOptions(RunOptions):
    """Options of the paper and of its code; the defaults are the protocol.

    Attributes:
        found_budget: wrong FOUND calls that do not end the episode (paper, table 9: 0 to 50).
        oracle_found: a goal counts as found as soon as a step ends near it, and the agent's own FOUND
            calls mean nothing (paper, table 9, last row).
        found_distance: metres, geodesic, within which FOUND succeeds.
        found_limit: whether FOUND at that very distance succeeds (the code's sub_success), or not (its
            percentage_success).
        body_height: metres; 1.5 is that of the shipped navmeshes, 0.88 what the code's agents without
            oracle maps have.
        goal: the goal as class id (code) or one-hot vector (paper).
        late_goal: whether the observation of a correct FOUND still shows the old goal (code).
        depth: "near" is clipped to 0.5 to 5 m, "far" to 0 to 10 m.
        hidden: whether goal objects are left out of the images (paper, appendix A.4).
        distractors: whether the other classes are inserted, too: those of the episode, or else each at
            a random place of the same floor.
        cylinder: radius of the authors' files (0.10 m) or of the paper (0.05 m).
        track, sliding, max_steps: as of RunOptions.
        step_limit: "proportional" takes a third of `max_steps` for every goal (paper, appendix A.4).
        step_cost: taken from the reward in each step (paper, section 4.1).
        wrong_found_penalty: taken from the reward at a wrong FOUND (code: 2.5, but off).
        objects: m, from 1 to 8, in the place of the number in the protocol's name; 0 for that one.
        path_actions: most actions in which the planner solves an episode when it is drawn (see
            MultiOnRecipe); 750 in the consensus of 2020.
    """

    found_budget: int = 0
    oracle_found: bool = False
    found_distance: float = FOUND_DISTANCE
    found_limit: Literal["inclusive", "strict"] = "inclusive"
    body_height: float = MULTION.height
    goal: Literal["id", "one_hot"] = "id"
    late_goal: bool = False
    depth: Literal["near", "far"] = "near"
    hidden: bool = False
    distractors: bool = False
    cylinder: Literal["files", "paper"] = "files"
    max_steps: int = MAX_STEPS
    step_limit: Literal["full", "proportional"] = "full"
    step_cost: float = 0.01
    wrong_found_penalty: float = 0.0
    objects: int = 0
    path_actions: int = DRAWN_ACTIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "found_distance", "body_height", "path_actions")
        if not (math.isfinite(self.step_cost) and self.step_cost >= 0):
            raise InputError(f"expected step_cost of at least 0, got {self.step_cost}")
        if self.found_budget < 0:
            raise InputError(f"expected found_budget of at least 0, got {self.found_budget}")
        if not 0 <= self.objects <= MAX_OBJECTS:
            raise InputError(f"expected 1 to {MAX_OBJECTS} objects, got {self.objects}")


THE_PROTOCOL = MultiOnOptions()
"""No departures."""
