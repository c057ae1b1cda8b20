"""Breakdowns of a run, or of runs of training seeds, by scene, distance and traits of the episodes.

Of several runs, which have the same episodes in the same order, an episode counts as the mean of its runs.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from navarena.core.errors import require_name
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import estimate_runs, estimate_values, pool_parts
from navarena.evaluation.records.traits import CATEGORY, DIFFICULTY, FLOORS, GOALS, MODALITY
from navarena.metrics.catalog import MODALITY_TITLES, PLACE_TITLES
from navarena.metrics.statistics import Estimate
from navarena.metrics.subtasks import MODALITIES

BAND_EDGES = (0.0, 2.0, 5.0, 10.0, 20.0, math.inf)
"""Metres of geodesic start distance; 2 to 20 m are the limits of MultiON's episodes."""

RADII = (0.1, 0.2, 0.36, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Metres; the first five are the success distances of the field's protocols, 1.5 m that of MultiON."""

SCENE, BAND, RADIUS, SUBTASK, UNKNOWN = "scene", "band", "radius", "subtask", "unknown"
TRAITS = (CATEGORY, DIFFICULTY, FLOORS, MODALITY, GOALS)
BREAKDOWNS = (BAND, *TRAITS, SUBTASK, RADIUS, SCENE)
"""The names by which a run can be broken down."""


@dataclass(frozen=True)
class Group:
    """The rows of one scene, distance band or other part, with two metrics over them.

    Attributes:
        name: what they have in common.
        n: how many.
        estimates: metric name -> mean with interval.
    """

    name: str
    n: int
    estimates: dict[str, Estimate]


Runs = Sequence[Sequence[Row]]
"""Rows of each run of a method, at least of one."""


def group_rows(
    runs: Runs, key: Callable[[Row], str], metrics: Iterable[str], names: Sequence[str] = ()
) -> list[Group]:
    """The rows of `runs` grouped by `key`, each group with the means of `metrics`.

    Args:
        runs: of a method.
        key: the name of a row's group.
        metrics: names.
        names: order of the groups; by name when empty. Empty groups are left out.
    """
    members: dict[str, list[int]] = {}
    for place, row in enumerate(runs[0]):
        members.setdefault(key(row), []).append(place)
    metrics, groups = tuple(metrics), []
    for name in (one for one in names or sorted(members) if one in members):
        own = [[rows[place] for place in members[name]] for rows in runs]
        estimates = {metric: estimate_runs(own, metric, name) for metric in metrics}
        groups.append(Group(name, len(members[name]), estimates))
    return groups


def scene_groups(runs: Runs, metrics: Iterable[str]) -> list[Group]:
    """One group per scene."""
    return group_rows(runs, lambda row: row.scene_id, metrics)


def band_groups(runs: Runs, metrics: Iterable[str]) -> list[Group]:
    """One group per band of geodesic start distance, from near to far."""
    return group_rows(runs, band_name, metrics, BAND_NAMES)


_UNREACHABLE = "unreachable"
BAND_NAMES = (
    *(
        f"{low:g} to {high:g} m" if math.isfinite(high) else f"{low:g} m and more"
        for low, high in itertools.pairwise(BAND_EDGES)
    ),
    _UNREACHABLE,
)
"""Of the bands of geodesic start distance, from near to far."""


def band_name(row: Row) -> str:
    """The band of a row's geodesic start distance, one of BAND_NAMES."""
    if row.start_distance is None:
        return _UNREACHABLE
    index = sum(row.start_distance >= edge for edge in BAND_EDGES[1:])
    return BAND_NAMES[index]


def trait_groups(runs: Runs, trait: str, metrics: Iterable[str]) -> list[Group]:
    """One group per value of a trait (see evaluation.traits), "unknown" for rows without it."""
    return group_rows(runs, lambda row: row.traits.get(trait, UNKNOWN), metrics)


def _has_subtasks(rows: Sequence[Row]) -> bool:
    return all("subtasks" in row.metrics for row in rows)


def modality_groups(runs: Runs) -> list[Group]:
    """For episodes with sub-tasks, success and SPL by modality; n is the number of sub-tasks."""
    return _part_groups(runs, {MODALITY_TITLES[one]: one for one in MODALITIES})


def place_groups(runs: Runs) -> list[Group]:
    """For episodes with sub-tasks, success and SPL of the first, second, ...; n is their number."""
    return _part_groups(runs, {title: f"subtask_{place}" for place, title in PLACE_TITLES.items()})


def _part_groups(runs: Runs, names: Mapping[str, str]) -> list[Group]:
    groups = []
    for title, name in names.items():
        parts = {score: pool_parts(runs, f"{name}_{score}") for score in ("success", "spl")}
        known = {score: estimate for score, estimate in parts.items() if estimate is not None}
        if known:
            groups.append(Group(title, known["success"].n, known))
    return groups


def subtask_groups(runs: Runs) -> list[Group]:
    """For episodes of several goals, the rate at which the first, second, ... goal was found.

    n counts all episodes that ask for so many goals: what was never reached was not found, and nothing in an
    episode that the agent broke. Episodes with sub-tasks that follow one another whether reached or not are
    grouped by place_groups.
    """
    rows = runs[0]
    if rows and _has_subtasks(rows):
        return place_groups(runs)
    asked = np.array([0 if row.goals is None else len(row.goals.legs) for row in rows])
    found = np.array([[_count_found(row) for row in own] for own in runs])
    groups = []
    for place in range(int(asked.max(initial=0))):
        has = asked > place
        kept = [row for row, keep in zip(rows, has, strict=True) if keep]
        rate = estimate_values((found[:, has] > place).astype(np.float64), kept, "success")
        groups.append(Group(f"goal {place + 1}", int(has.sum()), {"success": rate}))
    return groups


def _count_found(row: Row) -> int:
    """How many of its goals in order were found."""
    return 0 if row.goals is None or row.failed else len(row.goals.found_after)


def radius_groups(runs: Runs, radii: Sequence[float] = RADII) -> list[Group]:
    """Success as a function of the radius: how many declarations were nearer to the goal than each.

    Empty where this means nothing: with several goals, or without the metrics stopped and
    distance_to_goal. Episodes that the agent broke count as failures.
    """
    rows = runs[0]
    known = all({"stopped", "distance_to_goal"} <= row.metrics.keys() for own in runs for row in own)
    if not known or any(row.goals is not None and len(row.goals.legs) > 1 for row in rows):
        return []
    ends = np.array(
        [
            [row.metric("distance_to_goal") if row.metric("stopped") else math.inf for row in own]
            for own in runs
        ]
    )
    return [
        Group(
            f"nearer than {radius:g} m",
            len(rows),
            {"success": estimate_values((ends < radius).astype(np.float64), rows, "success")},
        )
        for radius in radii
    ]


def break_down(
    rows: Sequence[Row], by: str, metrics: Iterable[str], seeds: Sequence[Sequence[Row]] = ()
) -> list[Group]:
    """The groups of one of BREAKDOWNS; empty if the rows lack its trait.

    Args:
        rows: of a run.
        by: what to group by; UnknownNameError for another name.
        metrics: names.
        seeds: rows of the runs of further training seeds, in the same order.
    """
    require_name("breakdown", by, BREAKDOWNS)
    runs = (rows, *seeds)
    if by == SCENE:
        return scene_groups(runs, metrics)
    if by == BAND:
        return band_groups(runs, metrics)
    if by == SUBTASK:
        return subtask_groups(runs)
    if by == RADIUS:
        return radius_groups(runs)
    if by == MODALITY and _has_subtasks(rows):
        return modality_groups(runs)
    return trait_groups(runs, by, metrics) if any(by in row.traits for row in rows) else []
