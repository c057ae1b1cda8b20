"""Numbers of contestants that several analyses need."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation.compare import Contestant
from navarena.evaluation.journal import GoalsRecord, Row
from navarena.metrics.catalog import get_metric
from navarena.metrics.statistics import Estimate, estimate_mean, estimate_rate


def estimate_part(one: Contestant, name: str, chosen: Bool[np.ndarray, "n"] | None = None) -> Estimate | None:
    """The mean of a metric over the episodes that are `chosen` (N,), all by default, with its interval.

    Over several training seeds an episode counts as the mean of its runs. None where no episode is chosen,
    where the runs do not have the metric, and where it is infinite in every one.
    """
    if name not in one.metrics:
        return None
    values = one.values(name)
    chosen = np.ones(len(values), bool) if chosen is None else chosen
    if not np.isfinite(values[chosen]).any():
        return None
    if get_metric(name).is_binary and len(one.rows) == 1:
        return estimate_rate(values[chosen])
    scenes = [row.scene_id for row, keep in zip(one.rows[0], chosen) if keep]
    return estimate_mean(values[chosen], scenes, make_generator("analysis", one.identity, name))


def estimate_share(hits: Sequence[bool]) -> Estimate | None:
    """The share of `hits` with Wilson's interval; None of nothing."""
    return estimate_rate(np.array(hits, np.float64)) if len(hits) else None


def require_goals(row: Row) -> GoalsRecord:
    """The goals of an episode that has several in order; raises InputError for one without."""
    if row.goals is None:
        raise InputError(
            f"expected runs of MultiON, got {row.episode_id!r} of {row.identity}, without goals in order"
        )
    return row.goals


def goal_count(one: Contestant) -> int:
    """The m of a run of m-ON.

    Raises InputError for episodes without several goals, and for runs that mix numbers of goals.
    """
    counts = sorted({len(require_goals(row).legs) for row in one.rows[0]})
    if len(counts) != 1:
        raise InputError(f"expected episodes with one number of goals in {one.folders[0]}, got {counts}")
    return counts[0]


def by_label(contestants: Sequence[Contestant]) -> Mapping[str, list[Contestant]]:
    """Label -> its contestants, in the order in which labels first appear."""
    found: dict[str, list[Contestant]] = {}
    for one in contestants:
        found.setdefault(one.label, []).append(one)
    return found
