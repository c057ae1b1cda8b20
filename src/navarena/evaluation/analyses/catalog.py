"""The analyses by name, and which of them apply to given runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from navarena.core.errors import InputError, require_name
from navarena.evaluation.analyses.analysis import (
    Analysis,
    Column,
    by_label,
    describe_runs,
    goal_count,
    goal_rules,
)
from navarena.evaluation.analyses.backtracking import analyse_backtracking
from navarena.evaluation.analyses.contestants import Contestant, read_contestant
from navarena.evaluation.analyses.degradation import analyse_degradation, analyse_severities
from navarena.evaluation.analyses.found_budgets import analyse_found_budgets
from navarena.evaluation.analyses.goat import (
    analyse_goal_noise,
    analyse_lifelong,
    analyse_modalities,
    analyse_subtasks,
)
from navarena.evaluation.analyses.metric_choice import (
    analyse_metric_choice,
    analyse_metric_ranks,
    analyse_metric_variance,
    is_study,
)
from navarena.evaluation.analyses.multi_on import (
    analyse_distance,
    analyse_generalization,
    analyse_goal_counts,
    analyse_lengths,
)
from navarena.evaluation.analyses.robustness import group_of
from navarena.evaluation.analyses.seeds import analyse_seeds
from navarena.evaluation.analyses.tours import (
    analyse_coverage,
    analyse_maps,
    analyse_tour_positions,
    analyse_tours,
)
from navarena.evaluation.records.record import FILE_NAME, describe_hardware, describe_versions
from navarena.evaluation.running.replay import Replay

LABEL_MARK = "="
"""Stands between a label and the folders of a run."""

Contestants = Sequence[Contestant]
OnEpisode = Callable[[], object]


@dataclass(frozen=True)
class AnalysisKind:
    """A registered analysis and its requirements.

    Attributes:
        make: of contestants; calls back after each episode that it replays.
        fits: whether the runs are such that it says something without being asked for.
        help: one line.
        replays: whether it executes the runs' actions again, which takes time.
        groups: whether runs with one label belong together.
    """

    make: Callable[[Contestants, OnEpisode], Analysis]
    fits: Callable[[Contestants], bool]
    help: str
    replays: bool = False
    groups: bool = False


def _has_goals(contestants: Contestants) -> bool:
    return all(row.goals is not None for one in contestants for row in one.rows[0])


def _has_tours(contestants: Contestants) -> bool:
    return all(row.tour is not None for one in contestants for row in one.rows[0])


def _has_ppl(contestants: Contestants) -> bool:
    return _has_goals(contestants) and all("ppl" in one.metrics for one in contestants)


def _has_subtasks(contestants: Contestants) -> bool:
    return all("subtasks" in one.metrics for one in contestants)


def _has_goal_counts(contestants: Contestants) -> bool:
    """Whether runs differ in their number of goals; those of a label in nothing else, each in another one."""
    if not _has_goals(contestants) or len(contestants) < 2:
        return False
    mixed = any(len({len(row.goals.legs) for row in one.rows[0] if row.goals}) > 1 for one in contestants)
    if mixed:
        return False
    if any(len({goal_rules(one) for one in group}) > 1 for group in by_label(contestants).values()):
        return False
    counts = [(one.label, goal_count(one)) for one in contestants]
    return len(set(counts)) == len(counts) and len({m for _, m in counts}) > 1


def _is_corrupt(one: Contestant) -> bool:
    return bool(one.records[0].corruptions)


def _has_clean(contestants: Contestants) -> bool:
    """Whether all runs belong to one agent, one of them clean, others not."""
    if len({group_of(record) for one in contestants for record in one.records}) != 1:
        return False
    return len({_is_corrupt(one) for one in contestants}) == 2


def _has_severities(contestants: Contestants) -> bool:
    """Whether one corruption, alone, was run at two severities at least."""
    if not _has_clean(contestants):
        return False
    found = {one.records[0].corruptions for one in contestants}
    parts = [texts[0].partition(":") for texts in found if len(texts) == 1]
    graded = [name for name, _, severity in parts if severity.isdecimal()]
    return len(set(graded)) < len(graded)


def _has_noise(contestants: Contestants) -> bool:
    clean = [one for one in contestants if not _is_corrupt(one)]
    one_label = len({one.label for one in contestants}) == 1
    return _has_subtasks(contestants) and one_label and _has_clean(contestants) and len(clean) == 1


def _only_asked(contestants: Contestants) -> bool:
    return False


ANALYSES: Mapping[str, AnalysisKind] = {
    "backtracking": AnalysisKind(
        lambda runs, on_episode: analyse_backtracking(runs, on_episode=on_episode),
        _only_asked,
        "MultiON: are goals found more often that had been seen before their turn?",
        replays=True,
    ),
    "found-budgets": AnalysisKind(
        lambda runs, on_episode: analyse_found_budgets(runs, on_episode=on_episode),
        _only_asked,
        "MultiON: what if FOUND may be wrong 1, 2, 3, ... times?",
        replays=True,
        groups=True,
    ),
    "generalization": AnalysisKind(
        lambda runs, _: analyse_generalization(runs),
        _only_asked,
        "MultiON: PROGRESS over numbers of goals in training and testing",
    ),
    "distance": AnalysisKind(
        lambda runs, _: analyse_distance(runs), _has_ppl, "MultiON: PPL by the length of the path"
    ),
    "goal-counts": AnalysisKind(
        lambda runs, _: analyse_goal_counts(runs),
        _has_goal_counts,
        "MultiON: success as the number of goals grows, beside SUCCESS(1)^m",
        groups=True,
    ),
    "lengths": AnalysisKind(
        lambda runs, _: analyse_lengths(runs), _has_goals, "MultiON: how long episodes are and how they end"
    ),
    "modalities": AnalysisKind(
        lambda runs, _: analyse_modalities(runs), _has_subtasks, "GOAT-Bench: by goal modality"
    ),
    "subtasks": AnalysisKind(
        lambda runs, _: analyse_subtasks(runs), _has_subtasks, "GOAT-Bench: by place of the sub-task"
    ),
    "lifelong": AnalysisKind(
        lambda runs, on_episode: analyse_lifelong(runs, on_episode=on_episode),
        _only_asked,
        "GOAT-Bench: by the number of goals so far, in long episodes (+subtasks=200)",
        replays=True,
    ),
    "goal-noise": AnalysisKind(
        lambda runs, _: analyse_goal_noise(runs),
        _has_noise,
        "GOAT-Bench: what noise in the goals costs",
        groups=True,
    ),
    "degradation": AnalysisKind(
        lambda runs, _: analyse_degradation(runs), _has_clean, "RobustNav: what corruptions cost"
    ),
    "severities": AnalysisKind(
        lambda runs, _: analyse_severities(runs), _has_severities, "RobustNav: corruptions by severity"
    ),
    "tours": AnalysisKind(
        lambda runs, _: analyse_tours(runs), _has_tours, "IVLN: t-nDTW, t-SR and t-SPL over training seeds"
    ),
    "tour-positions": AnalysisKind(
        lambda runs, _: analyse_tour_positions(runs),
        _has_tours,
        "IVLN: by position in the tour",
    ),
    "maps": AnalysisKind(
        lambda runs, _: analyse_maps(runs),
        _only_asked,
        "IVLN: by the map of the training and the map at evaluation",
    ),
    "tour-coverage": AnalysisKind(
        lambda runs, on_episode: analyse_coverage(runs, on_episode),
        _only_asked,
        "IVLN: how much of the next path and of the tour has been seen",
        replays=True,
    ),
    "seeds": AnalysisKind(
        lambda runs, _: analyse_seeds(runs),
        lambda runs: all(len(one.rows) > 1 for one in runs),
        "training seeds: mean and standard error, interquartile mean, profiles",
    ),
    "metric-choice": AnalysisKind(
        lambda runs, _: analyse_metric_choice(runs),
        is_study,
        "repeats of several agents: which metric needs how many episodes, and keeps the order",
    ),
    "metric-variance": AnalysisKind(
        lambda runs, _: analyse_metric_variance(runs),
        is_study,
        "repeats of several agents: variance of each metric between episodes and between repeats",
    ),
    "metric-ranks": AnalysisKind(
        lambda runs, _: analyse_metric_ranks(runs),
        is_study,
        "repeats of several agents: their order by each metric",
    ),
}
"""Name -> analysis, as `navarena analyse` knows them."""


def run_analysis(name: str, contestants: Contestants, on_episode: OnEpisode = lambda: None) -> Analysis:
    """The analysis `name` of the runs; raises UnknownNameError, FileError and InputError."""
    require_name("analysis", name, ANALYSES)
    if not contestants:
        raise InputError("expected at least one run to analyse, got none")
    return replace(ANALYSES[name].make(contestants, on_episode), runs=describe_runs(contestants))


def fitting_names(contestants: Contestants) -> tuple[str, ...]:
    """Names of the analyses that apply to these runs and need no replay."""
    return tuple(name for name, kind in ANALYSES.items() if kind.fits(contestants))


def fitting_analyses(contestants: Contestants) -> tuple[Analysis, ...]:
    """The analyses of `fitting_names`: the sections of a report."""
    return tuple(run_analysis(name, contestants) for name in fitting_names(contestants))


def read_labelled(entries: Sequence[str], groups: bool = False) -> list[Contestant]:
    """The finished runs that a command line names, each as [LABEL=]FOLDER[,FOLDER...].

    A folder that holds the runs of `navarena evaluate --repeat` (seed-0, seed-1, ...) stands for all of them.
    Runs without a label are called by their agents; where `groups` does not ask for equal labels, the
    protocol is added to labels that would be equal.

    Raises FileError for missing or damaged files, CheckFailedError for an unfinished run.
    """
    found = []
    for entry in entries:
        label, mark, folders = entry.rpartition(LABEL_MARK)
        if mark and not Path(entry.split(",")[0]).exists():
            found.append((label, folders))
        else:
            found.append(("", entry))
    contestants = [
        read_contestant(label, [one for folder in folders.split(",") for one in _repeats_in(Path(folder))])
        for label, folders in found
    ]
    named = [one if one.label else replace(one, label=one.agent) for one in contestants]
    if groups:
        return named
    labels = [one.label for one in named]
    return [
        replace(one, label=f"{one.label}, {one.records[0].settings['protocol']}")
        if labels.count(one.label) > 1 and not label
        else one
        for one, (label, _) in zip(named, found)
    ]


def _repeats_in(folder: Path) -> list[Path]:
    """The repeated runs in `folder`, by seed; `folder` itself where it is a run, or holds none."""
    if (folder / FILE_NAME).exists():
        return [folder]
    seeds = {int(name): path for path in folder.glob("seed-*") if (name := path.name[5:]).isdecimal()}
    return [seeds[seed] for seed in sorted(seeds)] or [folder]


def describe_replay(replay: Replay) -> Analysis:
    """Machines of the run and of its replay, and the comparison that was made."""
    hardware, versions = describe_hardware(), describe_versions()
    here = (str(hardware["system"]), str(hardware["machine"]))
    ours = (*here, *(f"{name} {version}" for name, version in sorted(versions.items())))
    return Analysis(
        "replay",
        "Verified by replay",
        (
            Column("recorded on"),
            Column("replayed on"),
            Column("episodes", "count"),
            Column("differences", "count"),
            Column("held"),
        ),
        (
            (
                ", ".join(replay.record.platform),
                ", ".join(ours),
                replay.episodes,
                len(replay.differences),
                replay.held,
            ),
        ),
        (
            "All actions were executed again, and every metric was computed anew; tables and summary follow "
            "from the journals. Agent, privileges and machine are as declared.",
        ),
    )
