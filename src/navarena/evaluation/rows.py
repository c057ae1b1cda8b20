"""From what happened to rows of the journal, and what an agent may return."""

import math
import traceback

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import ActionError
from navarena.episodes.episode import Episode
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.journal import Row, Status, is_broken
from navarena.evaluation.traits import find_traits, record_goals
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.trajectory import Trajectory
from navarena.tasks.task import Actions


def make_row(
    benchmark: Benchmark,
    episode: Episode,
    trajectory: Trajectory,
    status: Status,
    problem: str | None = None,
) -> Row:
    """The journal's row of a finished episode; `problem` says what the agent did wrong."""
    metrics = compute_metrics(benchmark.metrics, trajectory, failed=is_broken(status))
    start = float(trajectory.start_distance)
    return Row(
        identity=str(benchmark.identity),
        episode_id=episode.episode_id,
        scene_id=episode.scene_id,
        status=status,
        steps=len(trajectory.actions),
        start_distance=start if math.isfinite(start) else None,
        actions=trajectory.actions.tolist(),
        metrics={name: value if math.isfinite(value) else None for name, value in metrics.items()},
        traceback=problem,
        traits=find_traits(episode, trajectory),
        goals=record_goals(trajectory),
    )


def require_actions(chosen: object, slots: int, benchmark: Benchmark) -> Actions:
    """What an agent returned, a copy: (N,) int64, or (N, K) float64 of a continuous benchmark.

    Raises ActionError for another shape or for numbers that are not integers: that is a
    mistake of the program, not the failure of an episode.
    """
    array = np.asarray(chosen)
    shape = (slots, len(benchmark.actions)) if benchmark.is_continuous else (slots,)
    if array.shape != shape or array.dtype.kind not in ("iuf" if benchmark.is_continuous else "iu"):
        kind = "rows of numbers" if benchmark.is_continuous else "integer actions"
        unknown = " with NaN" if array.dtype.kind == "f" and np.isnan(array).any() else ""
        raise ActionError(
            f"expected the agent to return {slots} {kind}, shape {shape}, got shape "
            f"{array.shape} of {array.dtype}{unknown}; mend its act()"
        )
    return array.astype(np.float64 if benchmark.is_continuous else np.int64)


def find_legal(actions: Actions, benchmark: Benchmark) -> Bool[np.ndarray, "n"]:
    """(N,) bool: which of `actions` (N,) or (N, K) the rules know."""
    if benchmark.is_continuous:
        return np.asarray((np.abs(actions) <= 1).all(1))
    return np.asarray((actions >= 0) & (actions < len(benchmark.actions)))


def describe_legal(benchmark: Benchmark) -> str:
    """What `find_legal` asks for, in words."""
    last = len(benchmark.actions) - 1
    return "numbers within [-1, 1]" if benchmark.is_continuous else f"an action from 0 to {last}"


def format_traceback(error: Exception) -> str:
    """The traceback of what an agent raised, without the runner's own frame."""
    inner = error.__traceback__.tb_next if error.__traceback__ else None
    return "".join(traceback.format_exception(type(error), error, inner))
