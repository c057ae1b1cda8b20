"""Breakdowns of a run by scene, distance and traits of the episodes."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from navarena.core.errors import require_name
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.results import estimate_metric, pool_parts
from navarena.evaluation.records.traits import CATEGORY, DIFFICULTY, FLOORS, GOALS, MODALITY
from navarena.metrics.catalog import MODALITY_TITLES
from navarena.metrics.statistics import Estimate, estimate_rate
from navarena.metrics.subtasks import LAST_PLACE, MODALITIES

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


def group_rows(
    rows: Sequence[Row], key: Callable[[Row], str], metrics: Iterable[str], names: Sequence[str] = ()
) -> list[Group]:
    """`rows` grouped by `key`, each group with the means of `metrics`.

    Args:
        rows: of a run.
        key: the name of a row's group.
        metrics: names.
        names: order of the groups; by name when empty. Empty groups are left out.
    """
    members: dict[str, list[Row]] = {}
    for row in rows:
        members.setdefault(key(row), []).append(row)
    metrics = tuple(metrics)
    return [
        Group(
            name,
            len(members[name]),
            {metric: estimate_metric(members[name], metric, name) for metric in metrics},
        )
        for name in (names or sorted(members))
        if name in members
    ]


def scene_groups(rows: Sequence[Row], metrics: Iterable[str]) -> list[Group]:
    """One group per scene."""
    return group_rows(rows, lambda row: row.scene_id, metrics)


def band_groups(rows: Sequence[Row], metrics: Iterable[str]) -> list[Group]:
    """One group per band of geodesic start distance, from near to far."""
    return group_rows(rows, band_name, metrics, BAND_NAMES)


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


def trait_groups(rows: Sequence[Row], trait: str, metrics: Iterable[str]) -> list[Group]:
    """One group per value of a trait (see evaluation.traits), "unknown" for rows without it."""
    return group_rows(rows, lambda row: row.traits.get(trait, UNKNOWN), metrics)


def _has_subtasks(rows: Sequence[Row]) -> bool:
    return all("subtasks" in row.metrics for row in rows)


def modality_groups(rows: Sequence[Row]) -> list[Group]:
    """For episodes with sub-tasks, success and SPL by modality; n is the number of sub-tasks."""
    return _part_groups(rows, {MODALITY_TITLES[one]: one for one in MODALITIES})


def place_groups(rows: Sequence[Row]) -> list[Group]:
    """For episodes with sub-tasks, success and SPL of the first, second, ...; n is their number."""
    names = {f"sub-task {place}": f"subtask_{place}" for place in range(1, LAST_PLACE)}
    return _part_groups(rows, names | {f"sub-task {LAST_PLACE} and later": f"subtask_{LAST_PLACE}"})


def _part_groups(rows: Sequence[Row], names: Mapping[str, str]) -> list[Group]:
    groups = []
    for title, name in names.items():
        parts = {score: pool_parts(rows, f"{name}_{score}") for score in ("success", "spl")}
        known = {score: estimate for score, estimate in parts.items() if estimate is not None}
        if known:
            groups.append(Group(title, known["success"].n, known))
    return groups


def subtask_groups(rows: Sequence[Row]) -> list[Group]:
    """For episodes of several goals, the rate at which the first, second, ... goal was found.

    n counts all episodes that ask for so many goals: what was never reached was not found. Episodes with
    sub-tasks that follow one another whether reached or not are grouped by place_groups.
    """
    if rows and _has_subtasks(rows):
        return place_groups(rows)
    several = [row.goals for row in rows if row.goals is not None]
    most = max((len(goals.legs) for goals in several), default=0)
    groups = []
    for place in range(most):
        asked = [goals for goals in several if len(goals.legs) > place]
        found = np.array([float(len(goals.found_after) > place) for goals in asked])
        groups.append(Group(f"goal {place + 1}", len(asked), {"success": estimate_rate(found)}))
    return groups


def radius_groups(rows: Sequence[Row], radii: Sequence[float] = RADII) -> list[Group]:
    """Success as a function of the radius: how many declarations were nearer to the goal than each.

    Empty where this means nothing: with several goals, or without the metrics stopped and
    distance_to_goal. Episodes that the agent broke count as failures.
    """
    known = all({"stopped", "distance_to_goal"} <= row.metrics.keys() for row in rows)
    if not known or any(row.goals is not None and len(row.goals.legs) > 1 for row in rows):
        return []
    ends = [row.metric("distance_to_goal") if row.metric("stopped") else math.inf for row in rows]
    nearer = {radius: np.less(ends, radius).astype(np.float64) for radius in radii}
    return [
        Group(f"nearer than {radius:g} m", len(rows), {"success": estimate_rate(hits)})
        for radius, hits in nearer.items()
    ]


def break_down(rows: Sequence[Row], by: str, metrics: Iterable[str]) -> list[Group]:
    """The groups of one of BREAKDOWNS; empty if the rows lack its trait.

    Raises UnknownNameError for another name.
    """
    require_name("breakdown", by, BREAKDOWNS)
    if by == SCENE:
        return scene_groups(rows, metrics)
    if by == BAND:
        return band_groups(rows, metrics)
    if by == SUBTASK:
        return subtask_groups(rows)
    if by == RADIUS:
        return radius_groups(rows)
    if by == MODALITY and _has_subtasks(rows):
        return modality_groups(rows)
    return trait_groups(rows, by, metrics) if any(by in row.traits for row in rows) else []
