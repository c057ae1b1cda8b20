"""FOUND budgets of MultiON (paper, table 9): results if a number of wrong FOUND calls is allowed.

The results of smaller budgets follow from one run with the largest budget, which is replayed once and whose
episodes are cut off (see metrics.multi_goal). A run with `oracle_found` is used as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from navarena.core.errors import InputError
from navarena.core.protocol_ids import split_protocol
from navarena.evaluation.analyses.analysis import (
    Analysis,
    Cell,
    Column,
    Curve,
    by_label,
    require_same_rules,
)
from navarena.evaluation.analyses.contestants import Contestant, describe_rules, estimate_part
from navarena.evaluation.benchmark import Benchmark
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.traits import record_goals
from navarena.evaluation.running.replay import execute_actions
from navarena.evaluation.running.rows import pair_rows
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.multi_goal import BUDGETS, MultiGoalTrajectory, cut_at_budget, wrong_calls

NAMES = ("progress", "success", "ppl", "spl")
"""In the order of table 9."""

ORACLE = "oracle"


def analyse_found_budgets(
    contestants: Sequence[Contestant],
    open_benchmark: Callable[[Contestant], Benchmark] = Contestant.open_benchmark,
    on_episode: Callable[[], object] = lambda: None,
) -> Analysis:
    """Table 9 of each label: budgets up to the largest that was run, and the oracle's FOUND.

    Args:
        contestants: runs of MultiON, each with its own budget or with `oracle_found`; of one label the
            run with the largest budget serves all smaller ones that were not run themselves.
        open_benchmark: gives the benchmark that a run was made on.
        on_episode: called after each episode that was replayed.

    Raises InputError for runs that are not MultiON, for several training seeds, and for runs of one label
    under other rules or on other episodes, and what execute_actions raises.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for label, runs in by_label(contestants).items():
        group = _by_budget(label, runs)
        counted = sorted(budget for budget in group if budget is not None)
        found: dict[int | None, tuple[Contestant, str]] = {}
        if counted:
            largest = group[counted[-1]]
            benchmark = open_benchmark(largest)
            smaller = [one for one in BUDGETS if one < counted[-1] and one not in counted]
            cut = cut_run(largest, benchmark, smaller, on_episode)
            source = f"replay of the run with {counted[-1]}"
            found = {budget: (one, source) for budget, one in cut.items()}
            found |= {budget: (group[budget], "run") for budget in counted}
        ordered = sorted(budget for budget in found if budget is not None)
        for budget in ordered:
            rows.append(_describe(label, str(budget), *found[budget]))
        if None in group:
            rows.append(_describe(label, ORACLE, group[None], "run"))
        curves += _draw(label, {budget: found[budget][0] for budget in ordered if budget is not None})
    return Analysis(
        "found-budgets",
        "FOUND budgets",
        (
            Column("run"),
            Column("FOUND budget"),
            Column("episodes", "count"),
            Column("PROGRESS", "rate"),
            Column("SUCCESS", "rate"),
            Column("PPL", "rate"),
            Column("SPL", "rate"),
            Column("made by"),
        ),
        tuple(rows),
        (
            "A budget is the number of wrong FOUND calls that do not end an episode. Smaller budgets are cut "
            "from the run with the largest by replay: a wrong call changes nothing that an agent perceives.",
            "The oracle calls FOUND in the agent's place, in a run of its own with +oracle_found=true.",
        ),
        tuple(curves),
        "wrong FOUND calls allowed",
        "share",
    )


def _by_budget(label: str, runs: Sequence[Contestant]) -> dict[int | None, Contestant]:
    """FOUND budget -> its run, None for the oracle's; raises InputError as analyse_found_budgets."""
    budgets = [_budget_of(one) for one in runs]
    require_same_rules(repr(label), runs, _rules_of, "the FOUND budget")
    if len(set(budgets)) < len(budgets):
        written = ", ".join(ORACLE if budget is None else str(budget) for budget in budgets)
        raise InputError(
            f"expected one run of {label!r} for each FOUND budget, got the budgets {written}; give each of "
            "several training seeds a label of its own"
        )
    for one in runs[1:]:
        if set(one.episode_keys) != set(runs[0].episode_keys):
            raise InputError(
                f"expected runs of {label!r} on the same episodes, got others in {one.folders[0]} than in "
                f"{runs[0].folders[0]}; give it another label"
            )
    return dict(zip(budgets, runs, strict=True))


def _rules_of(one: Contestant) -> str:
    """The rules of a run but for its FOUND budget."""
    return describe_rules(one.identity, ("found_budget", "oracle_found"))


def _budget_of(one: Contestant) -> int | None:
    """The found_budget of a run; None with the oracle's FOUND. Raises InputError for other runs."""
    base, options = split_protocol(str(one.records[0].settings["protocol"]))
    if not base.startswith("multion-") or len(one.rows) != 1:
        what = base if len(one.rows) == 1 else f"{len(one.rows)} training seeds"
        raise InputError(f"expected single runs of MultiON for FOUND budgets, got {what} in {one.folders[0]}")
    if options.get("oracle_found") == "true":
        return None
    return int(options.get("found_budget", "0"))


def cut_run(
    one: Contestant,
    benchmark: Benchmark,
    budgets: Sequence[int],
    on_episode: Callable[[], object] = lambda: None,
) -> dict[int, Contestant]:
    """Budget -> the run as it would have been with it, by one replay of a run with a larger one.

    An episode that the agent broke after the call that would have ended it counts as it stood then.
    Raises InputError for episodes without several goals in order, CheckFailedError for illegal actions.
    """
    pairs = pair_rows(benchmark, one.rows[0]) if budgets else []
    found = benchmark.actions.index("found")
    cut: dict[int, dict[str, Row]] = {budget: {} for budget in budgets}
    for row, _, outcome in execute_actions(benchmark, pairs):
        track = outcome.trajectory
        if not isinstance(track, MultiGoalTrajectory):
            raise InputError(f"expected episodes of MultiON, got one of {type(track).__name__}")
        for budget in budgets:
            cut[budget][row.episode_id] = _cut_row(benchmark, row, track, found, budget)
        on_episode()
    return {
        budget: replace(one, rows=(tuple(rows[row.episode_id] for row in one.rows[0]),))
        for budget, rows in cut.items()
    }


def _cut_row(benchmark: Benchmark, row: Row, track: MultiGoalTrajectory, found: int, budget: int) -> Row:
    """The row of an episode under a smaller budget; the row itself where that makes no difference."""
    if len(wrong_calls(track, found)) <= budget:
        return row
    shorter = cut_at_budget(track, found, budget)
    metrics = compute_metrics(benchmark.metrics, shorter)
    return Row(
        identity=row.identity,
        episode_id=row.episode_id,
        scene_id=row.scene_id,
        status="ok",
        steps=len(shorter.actions),
        start_distance=row.start_distance,
        actions=row.actions[: len(shorter.actions)],
        metrics={name: value if np.isfinite(value) else None for name, value in metrics.items()},
        traits=row.traits,
        goals=record_goals(shorter),
    )


def _describe(label: str, budget: str, one: Contestant, source: str) -> tuple[Cell, ...]:
    return (label, budget, len(one.rows[0]), *(estimate_part(one, name) for name in NAMES), source)


def _draw(label: str, runs: Mapping[int, Contestant]) -> list[Curve]:
    curves = []
    for name in NAMES:
        points = {budget: estimate_part(one, name) for budget, one in runs.items()}
        known = {float(budget): value for budget, value in points.items() if value is not None}
        if known:
            curves.append(Curve(f"{label}: {name}", tuple(known), tuple(known.values())))
    return curves
