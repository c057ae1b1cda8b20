"""Analyses of MultiON that need nothing but journals (Wani et al. 2020, appendix A.4).

Generalization to other numbers of goals (table 5), performance by the length of the path (figure 6),
success against the power law, and how episodes end.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from navarena.core.errors import InputError
from navarena.evaluation.analyses.analysis import (
    Analysis,
    Cell,
    Column,
    Curve,
    by_label,
    goal_count,
    goal_rules,
    require_goals,
    require_same_rules,
)
from navarena.evaluation.analyses.compare import pair_contestants
from navarena.evaluation.analyses.contestants import Contestant, estimate_part
from navarena.evaluation.records.results import estimate_values
from navarena.metrics.statistics import Estimate, subtract_estimates

PATH_EDGES = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, math.inf)
"""Metres of the shortest path along all goals: edges of the groups; figure 6 gives none."""

POWERED = "to the power m of Wilson's interval for one goal"


def analyse_generalization(contestants: Sequence[Contestant]) -> Analysis:
    """PROGRESS of agents trained with k goals on episodes with m goals, and the difference to k = m.

    The diagonal is the agent that was trained with as many goals as it is tested with. Where both ran the
    same episodes the change is that of the pairs.

    Args:
        contestants: labelled with k, such as "3" or "3-ON", or with agent and k, such as "map:3".

    Raises InputError for other labels, for two of the same agent, k and m, for runs that are not MultiON, and
    for those of one agent under other rules.
    """
    grids: dict[str, dict[tuple[int, int], Contestant]] = {}
    for one in contestants:
        agent, trained = _read_label(one.label)
        cells = grids.setdefault(agent, {})
        if (trained, goal_count(one)) in cells:
            raise InputError(
                f"expected one entry for training with {trained} goals on {goal_count(one)}, got two; "
                "write several training seeds as one entry with commas"
            )
        cells[trained, goal_count(one)] = one
    for cells in grids.values():
        require_same_rules("one agent", list(cells.values()), goal_rules, "the number of goals")
    tested = sorted({m for cells in grids.values() for _, m in cells})
    rows = [
        (agent, f"{trained}-ON", *_matrix_row(cells, trained, tested))
        for agent, cells in grids.items()
        for trained in sorted({k for k, _ in cells})
    ]
    columns = [Column("agent"), Column("trained on")]
    columns += [Column(f"PROGRESS on {m}-ON", "rate") for m in tested]
    columns += [Column(f"change on {m}-ON", "points") for m in tested]
    return Analysis(
        "generalization",
        "PROGRESS over numbers of goals in training and testing",
        tuple(columns),
        tuple(rows),
        ("Changes are against the agent that was trained with as many goals as the column tests.",),
    )


def _read_label(label: str) -> tuple[str, int]:
    agent, _, text = label.rpartition(":")
    match = re.fullmatch(r"(\d+)(-?on)?", text.strip().lower())
    if match is None:
        raise InputError(
            "expected the number of goals in training before each run, as 3=FOLDER or map:3=FOLDER, "
            f"got {label!r}"
        )
    return agent, int(match[1])


def _matrix_row(
    cells: Mapping[tuple[int, int], Contestant], trained: int, tested: Sequence[int]
) -> list[Cell]:
    """PROGRESS on each m, then the changes."""
    own = [cells.get((trained, m)) for m in tested]
    values: list[Cell] = [None if one is None else estimate_part(one, "progress") for one in own]
    changes: list[Cell] = []
    for one, m in zip(own, tested):
        diagonal = cells.get((m, m))
        changes.append(None if one is None or diagonal in (None, one) else _change(diagonal, one))
    return values + changes


def _change(diagonal: Contestant | None, one: Contestant) -> Estimate | None:
    paired = None if diagonal is None else pair_contestants(diagonal, one, "progress")
    if diagonal is None or paired is not None:
        return None if paired is None else paired.difference
    first, second = estimate_part(one, "progress"), estimate_part(diagonal, "progress")
    return None if first is None or second is None else subtract_estimates(first, second)


def analyse_distance(contestants: Sequence[Contestant], metric: str = "ppl") -> Analysis:
    """A metric by the geodesic length of the path along all goals.

    Args:
        contestants: of any protocol that has the metric.
        metric: name; where runs do not have "ppl", SPL takes its place (they agree for one goal).

    Raises InputError for runs without the metric.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for one in contestants:
        name = metric if metric in one.metrics or metric != "ppl" else "spl"
        if name not in one.metrics:
            raise InputError(f"expected runs with the metric {name!r}, got {', '.join(one.metrics)}")
        lengths = np.array(
            [math.inf if row.start_distance is None else row.start_distance for row in one.rows[0]]
        )
        points: list[tuple[float, Estimate]] = []
        for low, high in itertools.pairwise(PATH_EDGES):
            inside = np.isfinite(lengths) & (lengths >= low) & (lengths < high)
            estimate = estimate_part(one, name, inside)
            if estimate is not None:
                band = f"{low:g} to {high:g} m" if math.isfinite(high) else f"{low:g} m and more"
                rows.append((one.label, band, estimate.n, float(lengths[inside].mean()), estimate))
                points.append((float(lengths[inside].mean()), estimate))
        curves.append(Curve(one.label, *(tuple(column) for column in zip(*points))) if points else None)
    return Analysis(
        "distance",
        "Performance by the length of the shortest path",
        (
            Column("run"),
            Column("shortest path"),
            Column("episodes", "count"),
            Column("mean shortest path", "metres"),
            Column("PPL" if metric == "ppl" else metric, "score"),
        ),
        tuple(rows),
        ("Episodes without a path are left out. For one goal PPL is SPL.",),
        tuple(curve for curve in curves if curve is not None),
        "geodesic length of the shortest path, metres",
        "PPL" if metric == "ppl" else metric,
        "score",
    )


def analyse_goal_counts(contestants: Sequence[Contestant]) -> Analysis:
    """SUCCESS(m) beside SUCCESS(1)^m, and their decrease with m.

    SUCCESS(1)^m is what m independent searches would give; where the memory of earlier goals helps, an
    agent stays above it. Its interval is that of SUCCESS(1), both ends to the power m.

    Args:
        contestants: labelled with their agent; each label has a run for every m that it was tested with.

    Raises InputError for runs that are not MultiON, and for two runs of one label with the same m, or under
    other rules.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for label, group in by_label(contestants).items():
        by_count = {goal_count(one): one for one in group}
        if len(by_count) < len(group):
            raise InputError(
                f"expected one run of {label!r} for each number of goals, got {len(group)} with "
                f"{sorted(goal_count(one) for one in group)}; write several training seeds with commas"
            )
        require_same_rules(repr(label), group, goal_rules, "the number of goals")
        success = {m: _require(by_count[m], "success") for m in sorted(by_count)}
        single = success.get(1)
        powers = {m: raise_to(single, m) for m in success} if single is not None else {}
        for m, value in success.items():
            beside = m > 1 and single is not None
            rows.append(
                (
                    label,
                    m,
                    value,
                    powers.get(m),
                    subtract_estimates(value, powers[m]) if beside else None,
                    subtract_estimates(value, single) if beside and single is not None else None,
                    value.mean / single.mean - 1 if beside and single is not None and single.mean else None,
                    estimate_part(by_count[m], "progress"),
                )
            )
        curves.append(Curve(f"{label}: SUCCESS(m)", tuple(map(float, success)), tuple(success.values())))
        if powers:
            curves.append(Curve(f"{label}: SUCCESS(1)^m", tuple(map(float, powers)), tuple(powers.values())))
    return Analysis(
        "goal-counts",
        "Success as the number of goals grows",
        (
            Column("run"),
            Column("m", "count"),
            Column("SUCCESS(m)", "rate"),
            Column("SUCCESS(1)^m", "rate"),
            Column("SUCCESS(m) - SUCCESS(1)^m", "points"),
            Column("change from m = 1", "points"),
            Column("relative change", "rate"),
            Column("PROGRESS(m)", "rate"),
        ),
        tuple(rows),
        (
            "SUCCESS(1)^m is what m independent searches would give. Intervals of differences take the runs "
            "as independent.",
        ),
        tuple(curves),
        "number of goals m",
        "success",
    )


def raise_to(single: Estimate, power: int) -> Estimate:
    """A rate to a power: the mean, and both ends of its interval, which a rising function keeps in order."""
    low = None if single.low is None else single.low**power
    high = None if single.high is None else single.high**power
    return Estimate(single.mean**power, low, high, single.n, 0, POWERED if power > 1 else single.method)


def _require(one: Contestant, name: str) -> Estimate:
    estimate = estimate_part(one, name)
    if estimate is None:
        raise InputError(f"expected the metric {name!r} in {one.folders[0]}, got {', '.join(one.metrics)}")
    return estimate


def analyse_lengths(contestants: Sequence[Contestant]) -> Analysis:
    """Lengths of episodes, and how they end: success, wrong FOUND, step limit, error of the agent.

    Over several training seeds an episode counts as the mean of its runs; the median is over all of them.

    Raises InputError for runs that are not MultiON.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in contestants:
        first = one.rows[0]
        goals = sorted({len(require_goals(row).legs) for row in first})
        lengths = np.array([[row.steps for row in run] for run in one.rows], np.float64)
        succeeded = one.seed_values("success") == 1.0
        declared = "stopped" in one.metrics
        broken = np.array([[row.failed for row in run] for run in one.rows])
        wrong = (one.seed_values("stopped") == 1.0) & ~succeeded if declared else np.zeros_like(succeeded)
        cut = ~(succeeded | wrong | broken)
        success, missed, ended, failed = (
            estimate_values(ends.astype(np.float64), first, "success")
            for ends in (succeeded, wrong, cut, broken)
        )
        rows.append(
            (
                one.label,
                ", ".join(f"{m}-ON" for m in goals),
                len(first),
                estimate_values(lengths, first, "num_actions"),
                float(np.median(lengths)),
                success,
                missed if declared else None,
                ended if declared else None,
                failed,
            )
        )
    note = "Every episode is in exactly one of the last four columns."
    if not all("stopped" in one.metrics for one in contestants):
        note = "Dashes: the run does not say whether FOUND or the step limit ended its other episodes."
    return Analysis(
        "lengths",
        "How long episodes are, and how they end",
        (
            Column("run"),
            Column("task"),
            Column("episodes", "count"),
            Column("mean actions", "number"),
            Column("median actions", "number"),
            Column("success", "rate"),
            Column("wrong FOUND", "rate"),
            Column("out of steps", "rate"),
            Column("broken by the agent", "rate"),
        ),
        tuple(rows),
        (note,),
    )
