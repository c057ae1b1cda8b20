"""RobustNav's tables (Chattopadhyay et al. 2021, tables 2 and 3, section 5.2): degradation under corruptions,
and behaviour. The numbers are those of evaluation.robustness.
"""

from collections.abc import Sequence

from navarena.core.errors import InputError
from navarena.evaluation.analyses.analysis import Analysis, Cell, Column, Curve
from navarena.evaluation.analyses.contestants import Contestant
from navarena.evaluation.analyses.robustness import (
    BEHAVIOUR,
    Robustness,
    RobustnessRow,
    read_robustness,
    relative_drop,
)
from navarena.metrics.statistics import Estimate

TITLES = {
    "collisions": Column("collisions", "number"),
    "distance_to_goal": Column("final distance", "metres"),
    "min_distance": Column("least distance", "metres"),
    "oracle_success": Column("success, oracle stop", "rate"),
}


def analyse_degradation(contestants: Sequence[Contestant]) -> Analysis:
    """Success and SPL under each corruption against the clean run, and how the agent behaves there.

    Args:
        contestants: runs that differ in nothing but their corruptions and seeds belong together, whatever
            their labels; one of each group is clean.

    Raises FileError, CheckFailedError and InputError as read_robustness.
    """
    folders = [folder for one in contestants for folder in one.folders]
    columns = read_robustness(folders, ("success", "spl"))
    return tabulate_degradation(columns)


def analyse_severities(contestants: Sequence[Contestant]) -> Analysis:
    """Success by corruption and severity, one row for each corruption that was run at several of them.

    Raises FileError and CheckFailedError as read_robustness, and InputError where no corruption has two
    severities.
    """
    folders = [folder for one in contestants for folder in one.folders]
    columns = read_robustness(folders, ("success",))
    curves = [
        (one.agent, name, dict(points)) for one in columns for name, points in one.curves("success").items()
    ]
    if not curves:
        raise InputError("expected a corruption at two severities at least, got none; see degradation")
    severities = sorted({severity for _, _, points in curves for severity in points if severity})
    return Analysis(
        "severities",
        "Success by corruption and severity",
        (
            Column("agent"),
            Column("corruption"),
            Column("clean", "rate"),
            *(Column(f"severity {severity}", "rate") for severity in severities),
        ),
        tuple(
            (agent, name, points[0], *(points.get(severity) for severity in severities))
            for agent, name, points in curves
        ),
        ("Corruptions that were run at one severity only are in the table of degradation.",),
    )


def tabulate_degradation(columns: Sequence[Robustness]) -> Analysis:
    """The table of agents and protocols."""
    rows = [_describe(one, row) for one in columns for row in (one.clean, *one.rows)]
    curves = [
        Curve(f"{one.agent}: {name}", tuple(float(x) for x, _ in points), tuple(y for _, y in points))
        for one in columns
        for name, points in one.curves("success").items()
    ]
    return Analysis(
        "degradation",
        "Degradation under corruptions",
        (
            Column("agent"),
            Column("protocol"),
            Column("corruptions"),
            Column("episodes", "count"),
            Column("success", "rate"),
            Column("relative drop of success", "rate"),
            Column("SPL", "rate"),
            Column("relative drop of SPL", "rate"),
            *(TITLES[name] for name in BEHAVIOUR),
            Column("stop failures, positive", "rate"),
            Column("stop failures, negative", "rate"),
        ),
        tuple(rows),
        (
            "Positive stop failures: STOP out of range, as a share of all STOP actions. Negative: steps in "
            "range without STOP, as a share of all steps in range, mean over episodes.",
            "Success with an oracle that stops counts episodes that were in range at any step.",
        ),
        tuple(curves),
        "severity",
        "success",
    )


def _describe(one: Robustness, row: RobustnessRow) -> tuple[Cell, ...]:
    cells: list[Cell] = [one.agent, one.protocol, row.title, len(row.runs.rows[0])]
    for name in ("success", "spl"):
        change = row.changes.get(name)
        cells += [row.estimates.get(name), None if change is None else relative_drop(change)]
    cells += [_finite(row.estimates.get(name)) for name in BEHAVIOUR]
    return (*cells, row.premature_stops, row.missed_stops)


def _finite(estimate: Estimate | None) -> Estimate | None:
    """A mean, or None if all of its values are infinite."""
    return None if estimate is None or estimate.infinite == estimate.n else estimate
