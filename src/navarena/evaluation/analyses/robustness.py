"""Degradation of an agent under corruptions: finished runs beside the clean one, row by row.

Runs belong together when they differ in nothing but their corruptions and the agent's seed. Seeds, and
draws of one corruption (the word draw-N), are pooled; every other run is compared with the clean one on
the same episodes (Chattopadhyay et al. 2021, table 2 and section 5.2).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions import (
    GoalCorruption,
    InstructionCorruption,
    MotionCorruption,
    PoseCorruption,
    find_corruption,
    redraw_corruption,
)
from navarena.corruptions.suites import CLEAN_NAME, DYNAMICS, GRADED, UNGRADED
from navarena.evaluation.analyses.analysis import estimate_shares
from navarena.evaluation.analyses.compare import compare
from navarena.evaluation.analyses.contestants import Contestant, read_contestant
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.record import FILE_NAME, RunRecord, read_record
from navarena.metrics.catalog import TOUR_METRICS, get_metric, leading_metrics
from navarena.metrics.paired import PairedComparison, compare_paired
from navarena.metrics.statistics import Estimate

SIGHT, MOTION, POSE, GOAL = "sight", "motion", "pose", "goal"
KINDS = (SIGHT, MOTION, POSE, GOAL)
"""Kinds of corruptions, by what they act on."""

ORDER = (*GRADED, *UNGRADED, *(text.partition(":")[0] for text in DYNAMICS))
"""Corruptions as the suites list them; others follow by name, and pairs after all."""

BEHAVIOUR = ("collisions", "distance_to_goal", "min_distance", "oracle_success")
"""Metrics of section 5.2, where a run has them; premature and missed stops come beside them."""


@dataclass(frozen=True)
class RobustnessRow:
    """An agent under one combination of corruptions.

    Attributes:
        corruptions: as write_corruption writes them, in their order; empty when clean.
        runs: one for each seed, and for each draw of the corruptions.
        seen: whether the agent was trained with one of them, as it declares.
        unheeded: whether the corruptions change only observations, and the agent chose the same actions as in
            the clean run in every episode: it does not look at what they change.
        estimates: metric -> mean and interval.
        changes: metric -> against the clean runs, on the same episodes; empty when clean.
        premature_stops: share of the declarations that came out of range; None without any, and in
            episodes of several goals, which are declared one by one.
        missed_stops: mean over episodes of the share of steps in range at which the agent did not
            declare; None where it never was in range, and in episodes of several goals.
    """

    corruptions: tuple[str, ...]
    runs: Contestant
    seen: bool
    unheeded: bool
    estimates: Mapping[str, Estimate]
    changes: Mapping[str, PairedComparison]
    premature_stops: Estimate | None
    missed_stops: Estimate | None

    @property
    def title(self) -> str:
        """The corruptions, or CLEAN_NAME."""
        return " + ".join(self.corruptions) or CLEAN_NAME

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the row's corruptions, in the order of KINDS."""
        return tuple(sorted({kind_of(text) for text in self.corruptions}, key=KINDS.index))


@dataclass(frozen=True)
class Robustness:
    """An agent on a protocol, clean and under corruptions.

    Attributes:
        protocol, agent: of all runs.
        identity: of the clean run.
        metrics: those that the tables lead with.
        clean: the row without corruptions.
        rows: the others, in the order of the paper's table.
        headline: metric -> mean over the rows that were not seen in training and whose change the agent looks
            at, against the clean runs; empty without such rows.
    """

    protocol: str
    agent: str
    identity: str
    metrics: tuple[str, ...]
    clean: RobustnessRow
    rows: tuple[RobustnessRow, ...]
    headline: Mapping[str, PairedComparison]

    def curves(self, metric: str) -> dict[str, list[tuple[int, Estimate]]]:
        """Name of a corruption -> (severity, estimate) from 0, the clean runs, on; those with two severities
        or more, alone and without words.
        """
        found: dict[str, list[tuple[int, Estimate]]] = {}
        for row in self.rows:
            if len(row.corruptions) == 1 and row.corruptions[0].count(":") == 1:
                name, _, severity = row.corruptions[0].partition(":")
                if severity.isdecimal() and metric in row.estimates:
                    found.setdefault(name, [(0, self.clean.estimates[metric])]).append(
                        (int(severity), row.estimates[metric])
                    )
        return {
            name: sorted(points, key=lambda one: one[0]) for name, points in found.items() if len(points) > 2
        }


def relative_drop(change: PairedComparison) -> float | None:
    """Share of the clean mean that is lost; negative for a gain, None where there is nothing to lose."""
    if not math.isfinite(change.first) or change.first == 0:
        return None
    return (change.first - change.second) / change.first


def kind_of(text: str) -> str:
    """Kind of a corruption, one of KINDS; raises UnknownNameError and InputError as find_corruption does."""
    corruption = find_corruption(text)
    if isinstance(corruption, MotionCorruption):
        return MOTION
    if isinstance(corruption, GoalCorruption | InstructionCorruption):
        return GOAL
    return POSE if isinstance(corruption, PoseCorruption) else SIGHT


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """The folders of runs in and below `folders`, each once, sorted; InputError where none is."""
    found = sorted({path.parent.resolve() for folder in folders for path in folder.rglob(FILE_NAME)})
    if not found:
        listed = ", ".join(str(folder) for folder in folders)
        raise InputError(f"expected runs in {listed}, found no {FILE_NAME}; name folders of finished runs")
    return found


def read_robustness(runs: Sequence[Path], metrics: Sequence[str] = ()) -> tuple[Robustness, ...]:
    """The agents and protocols whose finished runs lie in the folders `runs`.

    Args:
        runs: folders, each of one run.
        metrics: names; when empty the leading ones of each protocol, after t-nDTW where it has tours.

    Raises FileError for missing or damaged files, CheckFailedError for an unfinished run, and InputError
    for a group of runs without a clean one or on different episodes.
    """
    groups: dict[tuple[object, ...], dict[tuple[str, ...], list[Path]]] = {}
    for folder in runs:
        record = read_record(folder)
        corruptions = tuple(redraw_corruption(one, 0) for one in record.corruptions)
        groups.setdefault(group_of(record), {}).setdefault(corruptions, []).append(folder)
    return tuple(_read_group(folders, tuple(metrics)) for folders in groups.values())


def group_of(record: RunRecord) -> tuple[object, ...]:
    """Key of runs that differ only in their corruptions and in the agent's seed."""
    free = ("corrupt", "seed")
    settings = sorted((name, value) for name, value in record.settings.items() if value is not None)
    return tuple((name, value) for name, value in settings if name not in free)


def _read_group(folders: Mapping[tuple[str, ...], list[Path]], metrics: tuple[str, ...]) -> Robustness:
    order = sorted(folders, key=_place)
    if order[0]:
        raise InputError(
            f"expected a clean run beside {folders[order[0]][0]}, found none; evaluate it without --corrupt"
        )
    contestants = [read_contestant(" + ".join(one) or CLEAN_NAME, folders[one]) for one in order]
    clean = contestants[0]
    for one in contestants[1:]:
        if one.episode_keys != clean.episode_keys:
            raise InputError(f"expected the episodes of {clean.folders[0]} in {one.folders[0]}, got others")
    record = clean.records[0]
    names = metrics or (*clean.tour_metrics[:1], *leading_metrics(record.metrics))
    wanted = [*names, *(name for name in BEHAVIOUR if name in clean.metrics and name not in names)]
    compared = compare(contestants, wanted)
    rows = [
        _make_row(
            corruptions,
            one,
            clean,
            estimates,
            {change.metric: change.result for change in compared.differences if change.label == one.label},
        )
        for corruptions, one, estimates in zip(order, contestants, compared.estimates, strict=True)
    ]
    return Robustness(
        protocol=str(record.settings["protocol"]),
        agent=clean.agent,
        identity=clean.identity,
        metrics=tuple(names),
        clean=rows[0],
        rows=tuple(rows[1:]),
        headline=_average([row for row in rows[1:] if not (row.seen or row.unheeded)], clean, names),
    )


def _place(corruptions: tuple[str, ...]) -> tuple[object, ...]:
    """Sort key of a row: number of corruptions, the paper's order, names, severities."""
    names = [text.partition(":")[0] for text in corruptions]
    places = [ORDER.index(name) if name in ORDER else len(ORDER) for name in names]
    return (len(corruptions), places, corruptions)


def _make_row(
    corruptions: tuple[str, ...],
    one: Contestant,
    clean: Contestant,
    estimates: Mapping[str, Estimate],
    changes: Mapping[str, PairedComparison],
) -> RobustnessRow:
    trained = {text.partition(":")[0] for record in one.records for text in record.trained_with}
    seen = any(text.partition(":")[0] in trained for text in corruptions)
    rows = [row for run in one.rows for row in run]
    return RobustnessRow(
        corruptions,
        one,
        seen,
        bool(corruptions) and MOTION not in map(kind_of, corruptions) and _acts_alike(one, clean),
        estimates,
        changes,
        estimate_premature_stops(rows),
        estimate_missed_stops(rows),
    )


def _acts_alike(one: Contestant, clean: Contestant) -> bool:
    """Whether each run of a contestant has the actions of one of the clean runs, episode by episode."""
    known = [[row.actions for row in run] for run in clean.rows]
    return all([row.actions for row in run] in known and any(row.actions for row in run) for run in one.rows)


def estimate_premature_stops(rows: Sequence[Row]) -> Estimate | None:
    """Share of the declarations that ended an episode without success; None without any.

    Episodes of several goals, whose declarations do not end them, have none.
    """
    declared = [row for row in rows if row.metrics.get("stopped") and _has_one_goal(row)]
    shares = [1.0 - row.metric("success") for row in declared]
    return estimate_shares(declared, shares, make_generator("robustness", "premature stops"))


def estimate_missed_stops(rows: Sequence[Row]) -> Estimate | None:
    """Mean over episodes of the share of steps in range that passed without a declaration.

    The declaration of a success is the one step that was not missed. None where no episode ever was in
    range, and for episodes of several goals, whose steps in range are those of all goals together.
    """
    near = [row for row in rows if row.metrics.get("near_steps") and _has_one_goal(row)]
    shares = [max(0.0, 1.0 - row.metric("success") / row.metric("near_steps")) for row in near]
    return estimate_shares(near, shares, make_generator("robustness", "missed stops"))


def _has_one_goal(row: Row) -> bool:
    several = "subtasks" in row.metrics or (row.goals is not None and len(row.goals.legs) > 1)
    return "success" in row.metrics and not several


def _average(
    rows: Sequence[RobustnessRow], clean: Contestant, metrics: Sequence[str]
) -> dict[str, PairedComparison]:
    """The mean of each episode over `rows` against the clean runs; nothing without rows."""
    if not rows:
        return {}
    scenes = [row.scene_id for row in clean.rows[0]]
    return {
        name: compare_paired(
            clean.values(name),
            np.mean([row.runs.values(name) for row in rows], axis=0),
            scenes,
            get_metric(name).better,
            make_generator("robustness", "headline", name),
            bounds=get_metric(name).bounds,
        )
        for name in metrics
        if name not in TOUR_METRICS
    }
