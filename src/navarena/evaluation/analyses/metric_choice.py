"""Choice of a metric: its variance by chance, the episodes it needs, and agreement of rankings.

Runs of several agents on the same episodes, each repeated with other seeds and other noise (`navarena
evaluate --repeat K --redraw`), make one study. The mathematics is in metrics.repetitions, metrics.study_size
and metrics.ranks.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.evaluation.analyses.analysis import Analysis, Cell, Column, Curve
from navarena.evaluation.analyses.breakdowns import BAND_NAMES, band_name
from navarena.evaluation.analyses.contestants import Contestant, rules_of
from navarena.evaluation.records.results import metric_values
from navarena.metrics.catalog import get_metric
from navarena.metrics.ranks import kendall_tau, share_in_order, tau_of_halves, tau_of_repetitions
from navarena.metrics.repetitions import VarianceSplit, split_variance
from navarena.metrics.statistics import Estimate
from navarena.metrics.study_size import needed_episodes, single_variance

CANDIDATES = ("success", "spl", "soft_spl", "action_spl", "time_spl")
"""Metrics that are studied, as far as the runs have them."""

DIFFERENCES = (0.05, 0.02)
"""Differences of two agents' means that a study shall find."""

SIZES = (50, 200, 1000)
"""Episodes of resampled studies."""

ALL = "all"
"""The part of the episodes that holds all of them."""


@dataclass(frozen=True)
class Study:
    """Repeated runs of A agents on N episodes.

    Attributes:
        labels: of the agents.
        values: metric -> (A, K, N) float64; in repetition k an episode has the same noise for all agents.
        parts: ALL and each distance band that holds two episodes or more -> places of its episodes.
    """

    labels: tuple[str, ...]
    values: Mapping[str, Float[np.ndarray, "a k n"]]
    parts: Mapping[str, Int[np.ndarray, "n"]]


def read_study(contestants: Sequence[Contestant]) -> Study:
    """The study that repeated runs make.

    Raises InputError for a single agent; for an agent without repeats, or with fewer or more than the others;
    for repeats of different agents or with equal seeds; for other rules or episodes; and for metrics that
    some runs have and others have not.
    """
    if len(contestants) < 2:
        raise InputError(
            f"expected runs of at least 2 agents, got {len(contestants)}; name another agent's runs"
        )
    first = contestants[0]
    for one in contestants:
        _require_repeats(one, len(first.rows))
        if rules_of(one.records[0]) != rules_of(first.records[0]):
            raise InputError(
                f"expected the same episodes and rules in all runs, got {first.identity} of {first.label!r} "
                f"and {one.identity} of {one.label!r}; leave one of them out"
            )
    names = [name for name in CANDIDATES if any(name in one.metrics for one in contestants)]
    if not names:
        raise InputError(f"expected metrics among {', '.join(CANDIDATES)}, got {', '.join(first.metrics)}")
    for one, name in itertools.product(contestants, names):
        if name not in one.metrics:
            raise InputError(
                f"expected {name!r} in all runs, got none in {one.folders[0]}; evaluate it again with "
                f"--metrics {name}"
            )
    values = {
        name: np.array([[metric_values(rows, name) for rows in one.rows] for one in contestants])
        for name in names
    }
    bands = np.array([band_name(row) for row in first.rows[0]])
    parts = {ALL: np.arange(len(bands))}
    parts |= {name: found for name in BAND_NAMES if len(found := np.flatnonzero(bands == name)) > 1}
    return Study(tuple(one.label for one in contestants), values, parts)


def is_study(contestants: Sequence[Contestant]) -> bool:
    """Whether read_study takes them."""
    try:
        read_study(contestants)
    except InputError:
        return False
    return True


def _require_repeats(one: Contestant, repeats: int) -> None:
    if len(one.rows) < 2:
        raise InputError(
            f"expected at least 2 repeats of {one.label!r}, got one run, {one.folders[0]}; make them by "
            "navarena evaluate --repeat 5 --redraw, and name the folder that holds them"
        )
    if len(one.rows) != repeats:
        raise InputError(
            f"expected as many repeats of each agent, got {repeats} of the first and {len(one.rows)} of "
            f"{one.label!r}; leave some out"
        )
    if len({record.agent for record in one.records}) > 1:
        raise InputError(f"expected repeats of one agent, got {one.agent}; separate them by blanks")
    if len({(record.settings["seed"], record.corruptions) for record in one.records}) < repeats:
        raise InputError(
            f"expected repeats of {one.label!r} with other seeds, got one seed twice; leave one out"
        )
    if len(one.rows[0]) < 2:
        raise InputError(f"expected at least 2 episodes, got 1 in {one.folders[0]}")


def analyse_metric_variance(contestants: Sequence[Contestant]) -> Analysis:
    """For each agent, metric and distance band the variance between episodes and between repeats.

    Raises InputError as read_study.
    """
    study = read_study(contestants)
    rows: list[tuple[Cell, ...]] = []
    for place, label in enumerate(study.labels):
        for name, (part, chosen) in itertools.product(study.values, study.parts.items()):
            split = split_variance(study.values[name][place][:, chosen])
            spread = (float(np.sqrt(split.episode)), float(np.sqrt(split.agent)))
            cells = (part, split.n, split.repeats, split.mean, *spread, split.agent_share, split.single_error)
            rows.append((label, get_metric(name).title, *cells))
    return Analysis(
        "metric-variance",
        "Variance between episodes and between repeats",
        (
            Column("agent"),
            Column("metric"),
            Column("distance"),
            Column("episodes", "count"),
            Column("repeats", "count"),
            Column("mean", "score"),
            Column("sd of episodes", "score"),
            Column("sd of repeats", "score"),
            Column("share of repeats", "rate"),
            Column("error of one run", "score"),
        ),
        tuple(rows),
        (
            "One-way random effects; the share is that of the variance of an episode that is run once.",
            "Errors are standard errors of the mean over these episodes, each run once.",
        ),
    )


def analyse_metric_choice(contestants: Sequence[Contestant]) -> Analysis:
    """For each metric and distance band: chance, needed episodes and agreement of ranks over all agents.

    Raises InputError as read_study.
    """
    study = read_study(contestants)
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for name, (part, chosen) in itertools.product(study.values, study.parts.items()):
        values = study.values[name][:, :, chosen]
        orders = [_order_kept(values, part, size) for size in SIZES]
        rows.append((get_metric(name).title, part, len(chosen), *_describe(values, part), *orders))
        if part == ALL and None not in orders:
            shares = tuple(
                Estimate(float(kept), None, None, size)
                for kept, size in zip(orders, SIZES, strict=True)
                if kept is not None
            )
            curves.append(Curve(get_metric(name).title, tuple(float(size) for size in SIZES), shares))
    return Analysis(
        "metric-choice",
        "Which metric tells agents apart",
        (
            Column("metric"),
            Column("distance"),
            Column("episodes", "count"),
            Column("share of repeats", "rate"),
            *(Column(f"n for {d}, paired", "count") for d in DIFFERENCES),
            *(Column(f"n for {d}, unpaired", "count") for d in DIFFERENCES),
            Column("pairs with an order", "count"),
            Column("n for the difference seen, median pair", "number"),
            Column("n for the difference seen, closest pair", "number"),
            Column("tau of repeats", "score"),
            Column("tau of halves", "score"),
            *(Column(f"order kept, {size} episodes", "rate") for size in SIZES),
        ),
        tuple(rows),
        (
            "Share of repeats: of the variance of an episode that is run once, summed over agents.",
            "n: episodes that a two-sided test at 5 % needs to find a difference with a power of 80 %, each "
            "run once, by the mean variance over pairs of agents; unpaired for each agent. Those for the "
            "difference seen are paired and take what each pair has; pairs that are equal are left out.",
            "Tau: Kendall's, of the order of the agents, in two repeats (all pairs of them), and in two "
            "halves of the episodes, each run once (200 random splits).",
            "Order kept: share of 1,000 resampled studies in which a pair stands as over all episodes and "
            "repeats, mean over pairs. Resampled studies know only the scenes and episodes that are here.",
        ),
        tuple(curves),
        "episodes",
        "pairs in the right order",
    )


def analyse_metric_ranks(contestants: Sequence[Contestant]) -> Analysis:
    """The order of the agents by each metric, and how far the orders agree; InputError as read_study."""
    study = read_study(contestants)
    means = {name: values.mean((1, 2)) for name, values in study.values.items()}
    rows: list[tuple[Cell, ...]] = []
    for name, scores in means.items():
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        ranked = ", ".join(f"{study.labels[place]} {scores[place]:.3f}" for place in order)
        taus = (kendall_tau(scores, other) for other in means.values())
        rows.append((get_metric(name).title, *taus, ranked))
    return Analysis(
        "metric-ranks",
        "Order of the agents by each metric",
        (
            Column("metric"),
            *(Column(f"tau with {get_metric(name).title}", "score") for name in means),
            Column("agents, best first"),
        ),
        tuple(rows),
        ("Kendall's tau-b of the means over all episodes and repeats.",),
    )


def _describe(values: Float[np.ndarray, "a k n"], part: str) -> tuple[Cell, ...]:
    """The cells of a row of metric-choice that are the same for studies of any size."""
    splits = [split_variance(one) for one in values]
    pairs = list(itertools.combinations(range(len(values)), 2))
    own = [single_variance(one) for one in values]
    paired = {pair: single_variance(values[pair[0]] - values[pair[1]]) for pair in pairs}
    unpaired = [own[first] + own[second] for first, second in pairs]
    mean_paired, mean_unpaired = float(np.mean(list(paired.values()))), float(np.mean(unpaired))
    means = values.mean((1, 2))
    gaps = {(i, j): abs(float(means[i] - means[j])) for i, j in pairs}
    seen = [needed_episodes(paired[pair], gap) for pair, gap in gaps.items() if gap > 0]
    return (
        _share_of_repeats(splits),
        *(needed_episodes(mean_paired, one) for one in DIFFERENCES),
        *(needed_episodes(mean_unpaired, one) for one in DIFFERENCES),
        len(seen),
        float(np.median(seen)) if seen else None,
        float(max(seen)) if seen else None,
        tau_of_repetitions(values),
        tau_of_halves(values, make_generator("analysis", "metric-choice", "halves", part)),
    )


def _share_of_repeats(splits: Sequence[VarianceSplit]) -> float | None:
    total = sum(one.agent + one.episode for one in splits)
    return sum(one.agent for one in splits) / total if total > 0 else None


def _order_kept(values: Float[np.ndarray, "a k n"], part: str, size: int) -> float | None:
    """Mean share over the pairs that have an order; every metric sees the same resampled studies."""
    kept = share_in_order(values, size, make_generator("analysis", "metric-choice", "order", part, size))
    known = kept[~np.isnan(kept)]
    return float(known.mean()) if known.size else None
