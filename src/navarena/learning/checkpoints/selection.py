"""Selection of checkpoints: schedule and episodes of evaluations, and the rule for the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from navarena.core.errors import InputError, require_name

Selection = Literal["train", "paper"]
"""On which episodes checkpoints are chosen: of held-out training houses, or of the split `val`."""

PAPER_SPLIT = "val"
"""What "paper" chooses on."""

SELECTED = f"selection on {PAPER_SPLIT}"
"""What a result says of an agent that was chosen so."""


@dataclass(frozen=True)
class TrainingEvaluationSettings:
    """Settings of the evaluations during a training.

    Attributes:
        updates: of the policy between two evaluations; one more comes at the end. 0 for none, as where there
            are too few houses to hold one out.
        houses: whose episodes are played: the last ones of the training split, at most a quarter of all. No
            episode of the training, and none of a result, takes place there.
        episodes: played in all of them together.
        by: name of the metric in [0, 1], the higher the better, that decides which checkpoint is the best.
        selection: "train", on these houses; "paper" plays episodes of `val` instead, as some papers chose
            their checkpoints, which the checkpoint and its results say.
        keep: how many evaluated checkpoints stay beside the best and the last.

    Raises InputError for counts below 1 (`updates` and `keep`: below 0).
    """

    updates: int = 200
    houses: int = 16
    episodes: int = 96
    by: str = "success"
    selection: Selection = "train"
    keep: int = 3

    def __post_init__(self) -> None:
        for name, least in (("updates", 0), ("houses", 1), ("episodes", 1), ("keep", 0)):
            if getattr(self, name) < least:
                raise InputError(f"expected {name} of at least {least}, got {getattr(self, name)}")


@dataclass(frozen=True)
class Score:
    """A mean over the episodes of an evaluation.

    Attributes:
        mean: over episodes.
        low, high: its 95 % interval; None where it cannot be known.
    """

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CurvePoint:
    """Result of one evaluation during a training.

    Attributes:
        frames: learned from before.
        updates: made before.
        cpu_seconds: of all processes before, all of their threads together.
        episodes: that were played.
        scores: name of a metric in [0, 1] -> its mean.
    """

    frames: int
    updates: int
    cpu_seconds: float
    episodes: int
    scores: dict[str, Score]

    def row(self) -> dict[str, float | str | None]:
        """The line of the log: kind, frames, updates, cpu_seconds, n, and NAME, NAME_low, NAME_high."""
        row: dict[str, float | str | None] = {"kind": "evaluation", "frames": self.frames}
        row |= {"updates": self.updates, "cpu_seconds": round(self.cpu_seconds, 1), "n": self.episodes}
        for name, score in self.scores.items():
            row |= {name: score.mean, f"{name}_low": score.low, f"{name}_high": score.high}
        return row


def choose_best(curve: Sequence[CurvePoint], by: str) -> CurvePoint:
    """The point of `curve` with the best mean of the metric `by`; of equal ones the later.

    Raises InputError for an empty curve, UnknownNameError for a metric that was not evaluated.
    """
    if not curve:
        raise InputError("expected a training that was evaluated, got no evaluation; set evaluation.updates")
    require_name("evaluated metric", by, curve[-1].scores)
    known = [point for point in curve if by in point.scores]
    return max(known, key=lambda point: (point.scores[by].mean, point.frames))
