"""Analyses of GOAT-Bench (Khanna et al. 2024): by modality, by sub-task, and under noise in the goals."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
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
from navarena.evaluation.records.results import pool_parts, weigh_parts
from navarena.evaluation.running.replay import execute_actions
from navarena.evaluation.running.rows import pair_rows
from navarena.metrics.catalog import MODALITY_TITLES
from navarena.metrics.paired import estimate_relative_drop
from navarena.metrics.repetitions import estimate_weighted_seeds
from navarena.metrics.statistics import Estimate
from navarena.metrics.subtasks import LAST_PLACE, MODALITIES, LifelongTrajectory, score_subtasks

ALL = "all"

LIFELONG_PLACES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Last places of the sub-tasks that the lifelong analysis takes together."""


def analyse_modalities(contestants: Sequence[Contestant]) -> Analysis:
    """Success and SPL of the sub-tasks by goal modality: category, description, image (figure 5).

    Raises InputError for runs without sub-tasks.
    """
    rows: list[tuple[Cell, ...]] = []
    for one in contestants:
        _require_subtasks(one)
        for modality in (*MODALITIES, ALL):
            names = [_name_score(modality, score) for score in ("success", "spl")]
            parts = weigh_parts(one.rows[0], names[0])
            if parts.any():
                pooled = [_pool(one, name) for name in names]
                share = estimate_part(one, names[0], parts > 0)
                rows.append((one.label, MODALITY_TITLES.get(modality, ALL), int(parts.sum()), *pooled, share))
    return Analysis(
        "modalities",
        "Sub-tasks by goal modality",
        (
            Column("run"),
            Column("goal modality"),
            Column("sub-tasks", "count"),
            Column("success", "rate"),
            Column("SPL", "rate"),
            Column("success, mean over episodes", "rate"),
        ),
        tuple(rows),
        ("Sub-tasks count equally; the last column is the mean of the episodes that have any.",),
    )


def analyse_subtasks(contestants: Sequence[Contestant]) -> Analysis:
    """Success and SPL of the first, second, ... sub-task; from the fifth on together (figure 6).

    Raises InputError for runs without sub-tasks.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for one in contestants:
        _require_subtasks(one)
        points: dict[str, dict[float, Estimate]] = {"success": {}, "spl": {}}
        for place in range(1, LAST_PLACE + 1):
            names = {score: f"subtask_{place}_{score}" for score in points}
            has = weigh_parts(one.rows[0], names["success"]) > 0
            values = {score: estimate_part(one, name, has) for score, name in names.items()}
            called = f"{place} and later" if place == LAST_PLACE else str(place)
            if has.any():
                rows.append((one.label, called, int(has.sum()), *values.values()))
            for score, value in values.items():
                if value is not None:
                    points[score][float(place)] = value
        for score, line in points.items():
            curves.append(Curve(f"{one.label}: {score}", tuple(line), tuple(line.values())))
    return Analysis(
        "subtasks",
        "Sub-tasks by their place in the episode",
        (
            Column("run"),
            Column("sub-task"),
            Column("episodes", "count"),
            Column("success", "rate"),
            Column("SPL", "rate"),
        ),
        tuple(rows),
        (f"From the {LAST_PLACE}th on: the mean of all later sub-tasks of each episode.",),
        tuple(curves),
        f"place of the sub-task ({LAST_PLACE}: and all later ones)",
        "share",
    )


def analyse_lifelong(
    contestants: Sequence[Contestant],
    open_benchmark: Callable[[Contestant], Benchmark] = Contestant.open_benchmark,
    on_episode: Callable[[], object] = lambda: None,
) -> Analysis:
    """Success and SPL of sub-tasks by the number of goals that came before, in long episodes, by replay.

    Args:
        contestants: runs of GOAT-Bench.
        open_benchmark: gives the benchmark that a run was made on.
        on_episode: called after each episode that was replayed.

    Raises InputError for runs without sub-tasks, and what execute_actions raises.
    """
    rows: list[tuple[Cell, ...]] = []
    curves = []
    for one in contestants:
        _require_subtasks(one)
        benchmark = open_benchmark(one)
        episodes = _score_episodes(one, benchmark, on_episode)
        points: dict[str, dict[float, Estimate]] = {"success": {}, "spl": {}}
        first = 1
        for last in LIFELONG_PLACES:
            chosen = [scores[..., first - 1 : last] for scores in episodes]
            weights = np.array([part.shape[2] for part in chosen], float)
            if not weights.any():
                break
            means = np.stack([part.mean(2) if part.size else np.zeros(part.shape[:2]) for part in chosen], 2)
            scenes = [row.scene_id for row in one.rows[0]]
            for index, (score, line) in enumerate(points.items()):
                generator = make_generator("analysis", one.identity, "lifelong", score, last)
                line[float(last)] = estimate_weighted_seeds(means[:, index], weights, scenes, generator)
            called = str(last) if first == last else f"{first} to {last}"
            found = [line[float(last)] for line in points.values()]
            rows.append((one.label, called, int((weights > 0).sum()), int(weights.sum()), *found))
            first = last + 1
        for score, line in points.items():
            curves.append(Curve(f"{one.label}: {score}", tuple(line), tuple(line.values())))
    return Analysis(
        "lifelong",
        "Sub-tasks by the number of goals so far",
        (
            Column("run"),
            Column("sub-tasks"),
            Column("episodes", "count"),
            Column("number", "count"),
            Column("success", "rate"),
            Column("SPL", "rate"),
        ),
        tuple(rows),
        ("Sub-tasks count equally; those that never ended count as failures.",),
        tuple(curves),
        "place of the last sub-task taken together",
        "share",
    )


def _score_episodes(
    one: Contestant, benchmark: Benchmark, on_episode: Callable[[], object]
) -> list[Float[np.ndarray, "k 2 n"]]:
    """For each episode (K, 2, n) success and SPL of its sub-tasks by seed; 0 if the agent broke it."""
    found: dict[str, list[Float[np.ndarray, "2 n"]]] = {}
    for rows in one.rows:
        for row, _, outcome in execute_actions(benchmark, pair_rows(benchmark, rows)):
            track = outcome.trajectory
            if not isinstance(track, LifelongTrajectory):
                raise InputError(f"expected episodes of GOAT-Bench, got one of {type(track).__name__}")
            scores = score_subtasks(track)
            both = np.stack([scores.success, scores.spl])
            found.setdefault(row.episode_id, []).append(np.zeros_like(both) if row.failed else both)
            on_episode()
    return [np.stack(found[row.episode_id]) for row in one.rows[0]]


def analyse_goal_noise(contestants: Sequence[Contestant]) -> Analysis:
    """Degradation under noise in the goals: the relative drop of success for each modality, and their mean.

    Args:
        contestants: of each label one run without corruptions, and others on the same episodes.

    Raises InputError for labels without a clean run or without another one, for runs under other rules or on
    other episodes, and for runs without sub-tasks.
    """
    rows: list[tuple[Cell, ...]] = []
    for label, group in by_label(contestants).items():
        clean = [one for one in group if not one.records[0].corruptions]
        noisy = [one for one in group if one.records[0].corruptions]
        if len(clean) != 1 or not noisy:
            raise InputError(
                f"expected one run of {label!r} without corruptions and at least one with them, got "
                f"{len(clean)} and {len(noisy)}; write several training seeds with commas"
            )
        require_same_rules(repr(label), group, _rules_without_noise, "the noise")
        for one in noisy:
            rows += _describe_noise(label, clean[0], one)
    return Analysis(
        "goal-noise",
        "What noise in the goals costs",
        (
            Column("run"),
            Column("noise"),
            Column("goal modality"),
            Column("sub-tasks", "count"),
            Column("success, clean", "rate"),
            Column("success, noisy", "rate"),
            Column("relative drop", "rate"),
        ),
        tuple(rows),
        ("A relative drop is (clean - noisy) / clean; the mean of the modalities stands below them.",),
    )


def _rules_without_noise(one: Contestant) -> str:
    """The rules of a run but for its corruptions."""
    return describe_rules(one.identity, ("corrupt",))


def _describe_noise(label: str, clean: Contestant, noisy: Contestant) -> list[tuple[Cell, ...]]:
    for one in (clean, noisy):
        _require_subtasks(one)
    if clean.episode_keys != noisy.episode_keys:
        raise InputError(f"expected the episodes of {clean.folders[0]} in {noisy.folders[0]}, got others")
    noise = ", ".join(noisy.records[0].corruptions)
    rows: list[tuple[Cell, ...]] = []
    modalities = [one for one in MODALITIES if weigh_parts(clean.rows[0], f"{one}_success").any()]
    for modality in modalities:
        name = f"{modality}_success"
        parts = int(weigh_parts(clean.rows[0], name).sum())
        drop = _drop(clean, noisy, [modality])
        rows.append(
            (label, noise, MODALITY_TITLES[modality], parts, _pool(clean, name), _pool(noisy, name), drop)
        )
    total = int(sum(weigh_parts(clean.rows[0], f"{one}_success").sum() for one in modalities))
    name = _name_score(ALL, "success")
    rows.append(
        (
            label,
            noise,
            "mean drop",
            total,
            _pool(clean, name),
            _pool(noisy, name),
            _drop(clean, noisy, modalities),
        )
    )
    return rows


def _drop(clean: Contestant, noisy: Contestant, modalities: Sequence[str]) -> Estimate | None:
    names = [f"{modality}_success" for modality in modalities]
    return estimate_relative_drop(
        np.array([clean.values(name) for name in names]),
        np.array([noisy.values(name) for name in names]),
        np.array([weigh_parts(clean.rows[0], name) for name in names]),
        [row.scene_id for row in clean.rows[0]],
        make_generator("analysis", clean.identity, "goal-noise", *modalities),
    )


def _name_score(modality: str, score: str) -> str:
    return f"subtask_{score}" if modality == ALL else f"{modality}_{score}"


def _require_subtasks(one: Contestant) -> None:
    if "subtasks" not in one.metrics:
        raise InputError(f"expected runs of GOAT-Bench, got {one.identity}, without sub-tasks")


def _pool(one: Contestant, name: str) -> Estimate | None:
    """Mean of a score over sub-tasks; None without sub-tasks."""
    return pool_parts(one.rows, name)
