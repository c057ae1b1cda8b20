"""Options of GOAT-Bench, by name."""

from dataclasses import dataclass
from typing import Literal

from navarena.core.errors import InputError
from navarena.tasks.options import RunOptions

MAX_STEPS = 5000
"""Of a whole episode (spec ivln_goat 4.2, code; ten sub-tasks of the paper's 500)."""

PROTOCOL_SUBTASKS = 10
"""Most sub-tasks of an episode (spec 4.1)."""

MAX_SUBTASKS = 1000
"""Most that the option `subtasks` draws."""


@dataclass(frozen=True)
class SkillOptions(RunOptions):
    """Options of one goal; the defaults are the protocol.

    Attributes:
        success: a declaration counts within 0.25 m (geodesic, strictly) of a view point (code), or within
            1 m of the box of the object (paper). Both are reported.
        track, sliding, max_steps: as of RunOptions.
    """

    success: Literal["viewpoint", "object"] = "viewpoint"


@dataclass(frozen=True)
class ImageSkillOptions(SkillOptions):
    """SkillOptions for goals given by images.

    Attributes:
        max_steps: actions after which the episode is truncated (spec 4.4: IIN has 1000).
    """

    max_steps: int = 1000


@dataclass(frozen=True)
class GoatOptions(SkillOptions):
    """Options of the paper and of its code; the defaults are the protocol.

    Attributes:
        success: as of SkillOptions.
        subtask_budget: actions after which the next sub-task begins (paper: 500); 0 for no limit but that of
            the episode (code).
        subtasks: number of goals of every episode, which are drawn anew; 0 for the protocol's 5 to 10.
        track, sliding: as of RunOptions.
        max_steps: of a whole episode of up to ten sub-tasks; more of them have a tenth of it each.

    Raises InputError for a negative subtask_budget, and for subtasks outside of 0 to MAX_SUBTASKS.
    """

    subtask_budget: int = 0
    subtasks: int = 0
    max_steps: int = MAX_STEPS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subtask_budget < 0:
            raise InputError(f"expected subtask_budget of at least 0 (0 for none), got {self.subtask_budget}")
        if not 0 <= self.subtasks <= MAX_SUBTASKS:
            raise InputError(f"expected 0 to {MAX_SUBTASKS} subtasks, got {self.subtasks}")

    @property
    def step_limit(self) -> int:
        """Actions after which an episode is truncated."""
        return self.max_steps * max(self.subtasks, PROTOCOL_SUBTASKS) // PROTOCOL_SUBTASKS


THE_PROTOCOL, THE_SKILL, THE_IMAGE_SKILL = GoatOptions(), SkillOptions(), ImageSkillOptions()
"""No departures."""
