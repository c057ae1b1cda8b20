"""The named metrics: what each one is called, measures, and means for better or worse.

A package adds its own by an entry point in the group "navarena.metrics" that names a Metric:

    [project.entry-points."navarena.metrics"]
    smoothness = "my_package.metrics:SMOOTHNESS"
"""

import math
import reprlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError, describe_error
from navarena.core.registry import Registry
from navarena.metrics import effort, failures, followed_path, multi_goal, navigation, object_goal
from navarena.metrics import subtasks as lifelong
from navarena.metrics.statistics import Estimate, estimate_mean, estimate_rate
from navarena.metrics.trajectory import Trajectory


@dataclass(frozen=True)
class Metric:
    """A metric: one number per episode, with title, unit and direction.

    Attributes:
        name: such as "spl"; the column in every table.
        title: such as "SPL"; what people read.
        compute: maps a Trajectory to a float; infinity is allowed, NaN is not.
        unit: such as "m"; empty for a score or a count.
        better: whether a higher or a lower number is better; None when neither is.
        is_binary: whether only 0 and 1 occur in an episode.
        when_failed: the value of an episode that ended by a crash, a time-out or an illegal
            action of the agent; None keeps the value of the part that was walked.
        note: what a reader must know wherever its mean stands, in a sentence.
    """

    name: str
    title: str
    compute: Callable[[Trajectory], float]
    unit: str = ""
    better: Literal["higher", "lower"] | None = None
    is_binary: bool = False
    when_failed: float | None = None
    note: str = ""

    def __call__(self, trajectory: Trajectory) -> float:
        """The metric of one episode.

        Raises InputError for NaN, and for a trajectory that lacks what the metric reads.
        """
        try:
            own = trajectory.own_metrics.get(self.name)
            found = self.compute(trajectory) if own is None else own
        except (AttributeError, TypeError) as error:
            raise InputError(
                f"cannot compute the metric {self.name!r} of a {type(trajectory).__name__}; it raised "
                f"{describe_error(error)}; ask for it on a protocol that records what it reads"
            ) from error
        try:
            value = float(found)
        except (TypeError, ValueError):
            value = math.nan
        if math.isnan(value):
            got = "NaN" if isinstance(found, float) else reprlib.repr(found)
            raise InputError(f"expected a number from the metric {self.name!r}, got {got}; mend its function")
        return value

    @property
    def is_score(self) -> bool:
        """Whether it lives in [0, 1], the higher the better."""
        return self.better == "higher" and not self.unit

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value of an episode."""
        return (0.0, 1.0 if self.is_score or self.is_binary else math.inf)

    def estimate(
        self,
        values: Float[np.ndarray, "n"],
        scenes: Sequence[str] | Int[np.ndarray, "n"],
        generator: np.random.Generator,
        two_levels: bool = False,
    ) -> Estimate:
        """Mean and interval of (N,) values, each of one episode or a mean over training seeds.

        See estimate_mean for the arguments and errors.
        """
        if self.is_binary and np.isin(values, (0.0, 1.0)).all():
            return estimate_rate(values)
        return estimate_mean(values, scenes, generator, two_levels, self.bounds)


SUCCESS = Metric("success", "Success", navigation.success, "", "higher", True, 0.0)
SPL = Metric("spl", "SPL", navigation.spl, "", "higher", False, 0.0)
SOFT_SPL = Metric("soft_spl", "SoftSPL", navigation.soft_spl, "", "higher", False, 0.0)
DISTANCE_TO_GOAL = Metric("distance_to_goal", "Distance to goal", navigation.distance_to_goal, "m", "lower")
PATH_LENGTH = Metric("path_length", "Path length", navigation.path_length, "m")
COLLISIONS = Metric("collisions", "Collisions", navigation.collisions, "", "lower")
LENGTH = Metric("length", "TL", navigation.path_length, "m")
PATH_STEPS = Metric("path_steps", "Path steps", navigation.moves)
NAVIGATION_ERROR = Metric("navigation_error", "NE", navigation.distance_to_goal, "m", "lower")
ORACLE_ERROR = Metric("oracle_error", "OE", failures.min_distance, "m", "lower")
NUM_ACTIONS = Metric("num_actions", "Actions", navigation.num_actions)
SPL_ROBUSTNAV = Metric("spl_robustnav", "SPL (RobustNav)", navigation.spl_robustnav, "", "higher", False, 0.0)
SUCCESS_ROBUSTNAV = Metric(
    "success_robustnav", "Success (RobustNav)", navigation.success_robustnav, "", "higher", False, 0.0
)
PROGRESS = Metric("progress", "Progress", multi_goal.progress, "", "higher", False, 0.0)
PPL = Metric("ppl", "PPL", multi_goal.ppl, "", "higher", False, 0.0)
PPL_CODE = Metric("ppl_code", "PPL (code)", multi_goal.ppl_code, "", "higher", False, 0.0)
DISTANCE_LEFT = Metric("distance_left", "Distance left", multi_goal.distance_left, "m", "lower")
ZONE_SUCCESS = Metric(
    "zone_success",
    "Zone success",
    object_goal.zone_success,
    "",
    "higher",
    True,
    0.0,
    "Zone success asks for STOP within 1 m of the object's box, success for STOP near a view point, which is "
    "up to 1 m from that box. The expert stops as soon as success counts and may then be up to 1.1 m away: "
    "its zone success is no upper bound.",
)
ZONE_SUCCESS_SEEN = Metric(
    "zone_success_seen", "Zone success, seen", object_goal.zone_success_seen, "", "higher", True, 0.0
)
NDTW = Metric("ndtw", "nDTW", followed_path.episode_ndtw, "", "higher", False, 0.0)
SDTW = Metric("sdtw", "sDTW", followed_path.episode_sdtw, "", "higher", False, 0.0)
CLS = Metric("cls", "CLS", followed_path.episode_cls, "", "higher", False, 0.0)
ROTATION = Metric("rotation", "Rotation", effort.rotation, "rad")
SECONDS = Metric("seconds", "Time", effort.seconds, "s")
ACTION_SPL = Metric("action_spl", "SPL by actions", effort.action_spl, "", "higher", False, 0.0)
TIME_SPL = Metric("time_spl", "SPL by time", effort.time_spl, "", "higher", False, 0.0)
STOPPED = Metric("stopped", "Declared the end", failures.stopped, "", None, True, 0.0)
MIN_DISTANCE = Metric("min_distance", "Least distance", failures.min_distance, "m", "lower")
NEAR_STEPS = Metric("near_steps", "Steps near the goal", failures.near_steps)
ORACLE_SUCCESS = Metric(
    "oracle_success", "Success, oracle stop", failures.oracle_success, "", "higher", True, 0.0
)

MODALITY_TITLES = {"object": "by name", "description": "in words", "image": "by image"}
"""Modality -> what people read."""

SUBTASKS = Metric("subtasks", "Sub-tasks", lifelong.subtasks)
SUBTASK_SUCCESS = Metric(
    "subtask_success", "Success of sub-tasks", lifelong.subtask_success, "", "higher", False, 0.0
)
SUBTASK_SPL = Metric("subtask_spl", "SPL of sub-tasks", lifelong.subtask_spl, "", "higher", False, 0.0)
SUBTASK_SOFT_SPL = Metric(
    "subtask_soft_spl", "SoftSPL of sub-tasks", lifelong.subtask_soft_spl, "", "higher", False, 0.0
)
VIEW_POINT_SUCCESS = Metric(
    "view_point_success", "Success, near view points", lifelong.view_point_success, "", "higher", False, 0.0
)
NEAR_OBJECT_SUCCESS = Metric(
    "near_object_success", "Success, near objects", lifelong.near_object_success, "", "higher", False, 0.0
)
OBJECT_SUBTASKS, DESCRIPTION_SUBTASKS, IMAGE_SUBTASKS = (
    Metric(f"{kind}_subtasks", f"Sub-tasks {MODALITY_TITLES[kind]}", lifelong.count_modality(kind))
    for kind in lifelong.MODALITIES
)
MACRO = ", macro"
"""Ends the titles of means over episodes that count 0 where an episode has no such sub-task."""

MACRO_NOTE = (
    "Success and SPL by modality or place are means over all such sub-tasks. Those called macro are the "
    "reference code's: means over all episodes, in which an episode without such a sub-task counts 0."
)

PLACE_TITLES = {
    place: f"sub-task {place}{' and later' if place == lifelong.LAST_PLACE else ''}"
    for place in range(1, lifelong.LAST_PLACE + 1)
}
"""Place of a sub-task -> what people read."""

OBJECT_SUCCESS, DESCRIPTION_SUCCESS, IMAGE_SUCCESS = (
    Metric(
        f"{kind}_success",
        f"Success {MODALITY_TITLES[kind]}{MACRO}",
        lifelong.mean_of_modality("success", kind),
        "",
        "higher",
        False,
        0.0,
        MACRO_NOTE,
    )
    for kind in lifelong.MODALITIES
)
OBJECT_SPL, DESCRIPTION_SPL, IMAGE_SPL = (
    Metric(
        f"{kind}_spl",
        f"SPL {MODALITY_TITLES[kind]}{MACRO}",
        lifelong.mean_of_modality("spl", kind),
        "",
        "higher",
        False,
        0.0,
        MACRO_NOTE,
    )
    for kind in lifelong.MODALITIES
)
SUBTASK_1_SUCCESS, SUBTASK_2_SUCCESS, SUBTASK_3_SUCCESS, SUBTASK_4_SUCCESS, SUBTASK_5_SUCCESS = (
    Metric(
        f"subtask_{place}_success",
        f"Success, {title}{MACRO}",
        lifelong.mean_of_place("success", place),
        "",
        "higher",
        False,
        0.0,
        MACRO_NOTE,
    )
    for place, title in PLACE_TITLES.items()
)
SUBTASK_1_SPL, SUBTASK_2_SPL, SUBTASK_3_SPL, SUBTASK_4_SPL, SUBTASK_5_SPL = (
    Metric(
        f"subtask_{place}_spl",
        f"SPL, {title}{MACRO}",
        lifelong.mean_of_place("spl", place),
        "",
        "higher",
        False,
        0.0,
        MACRO_NOTE,
    )
    for place, title in PLACE_TITLES.items()
)

COMMON_METRICS = (
    "rotation",
    "seconds",
    "action_spl",
    "time_spl",
    "stopped",
    "min_distance",
    "near_steps",
    "oracle_success",
)
"""Metrics of every evaluation, beside those of its protocol; they need nothing of the task."""

METRICS = Registry(
    "metric",
    {
        "success": "navarena.metrics.catalog:SUCCESS",
        "spl": "navarena.metrics.catalog:SPL",
        "soft_spl": "navarena.metrics.catalog:SOFT_SPL",
        "distance_to_goal": "navarena.metrics.catalog:DISTANCE_TO_GOAL",
        "path_length": "navarena.metrics.catalog:PATH_LENGTH",
        "collisions": "navarena.metrics.catalog:COLLISIONS",
        "num_actions": "navarena.metrics.catalog:NUM_ACTIONS",
        "spl_robustnav": "navarena.metrics.catalog:SPL_ROBUSTNAV",
        "success_robustnav": "navarena.metrics.catalog:SUCCESS_ROBUSTNAV",
        "progress": "navarena.metrics.catalog:PROGRESS",
        "ppl": "navarena.metrics.catalog:PPL",
        "ppl_code": "navarena.metrics.catalog:PPL_CODE",
        "distance_left": "navarena.metrics.catalog:DISTANCE_LEFT",
        "zone_success": "navarena.metrics.catalog:ZONE_SUCCESS",
        "zone_success_seen": "navarena.metrics.catalog:ZONE_SUCCESS_SEEN",
        "ndtw": "navarena.metrics.catalog:NDTW",
        "sdtw": "navarena.metrics.catalog:SDTW",
        "cls": "navarena.metrics.catalog:CLS",
        "length": "navarena.metrics.catalog:LENGTH",
        "path_steps": "navarena.metrics.catalog:PATH_STEPS",
        "navigation_error": "navarena.metrics.catalog:NAVIGATION_ERROR",
        "oracle_error": "navarena.metrics.catalog:ORACLE_ERROR",
        "rotation": "navarena.metrics.catalog:ROTATION",
        "seconds": "navarena.metrics.catalog:SECONDS",
        "action_spl": "navarena.metrics.catalog:ACTION_SPL",
        "time_spl": "navarena.metrics.catalog:TIME_SPL",
        "stopped": "navarena.metrics.catalog:STOPPED",
        "min_distance": "navarena.metrics.catalog:MIN_DISTANCE",
        "near_steps": "navarena.metrics.catalog:NEAR_STEPS",
        "oracle_success": "navarena.metrics.catalog:ORACLE_SUCCESS",
        "subtasks": "navarena.metrics.catalog:SUBTASKS",
        "subtask_success": "navarena.metrics.catalog:SUBTASK_SUCCESS",
        "subtask_spl": "navarena.metrics.catalog:SUBTASK_SPL",
        "subtask_soft_spl": "navarena.metrics.catalog:SUBTASK_SOFT_SPL",
        "view_point_success": "navarena.metrics.catalog:VIEW_POINT_SUCCESS",
        "near_object_success": "navarena.metrics.catalog:NEAR_OBJECT_SUCCESS",
        "object_subtasks": "navarena.metrics.catalog:OBJECT_SUBTASKS",
        "description_subtasks": "navarena.metrics.catalog:DESCRIPTION_SUBTASKS",
        "image_subtasks": "navarena.metrics.catalog:IMAGE_SUBTASKS",
        "object_success": "navarena.metrics.catalog:OBJECT_SUCCESS",
        "description_success": "navarena.metrics.catalog:DESCRIPTION_SUCCESS",
        "image_success": "navarena.metrics.catalog:IMAGE_SUCCESS",
        "object_spl": "navarena.metrics.catalog:OBJECT_SPL",
        "description_spl": "navarena.metrics.catalog:DESCRIPTION_SPL",
        "image_spl": "navarena.metrics.catalog:IMAGE_SPL",
        "subtask_1_success": "navarena.metrics.catalog:SUBTASK_1_SUCCESS",
        "subtask_2_success": "navarena.metrics.catalog:SUBTASK_2_SUCCESS",
        "subtask_3_success": "navarena.metrics.catalog:SUBTASK_3_SUCCESS",
        "subtask_4_success": "navarena.metrics.catalog:SUBTASK_4_SUCCESS",
        "subtask_5_success": "navarena.metrics.catalog:SUBTASK_5_SUCCESS",
        "subtask_1_spl": "navarena.metrics.catalog:SUBTASK_1_SPL",
        "subtask_2_spl": "navarena.metrics.catalog:SUBTASK_2_SPL",
        "subtask_3_spl": "navarena.metrics.catalog:SUBTASK_3_SPL",
        "subtask_4_spl": "navarena.metrics.catalog:SUBTASK_4_SPL",
        "subtask_5_spl": "navarena.metrics.catalog:SUBTASK_5_SPL",
    },
    "navarena.metrics",
)


def _of_tours(trajectory: Trajectory) -> float:
    raise InputError("expected a metric of single episodes, got one of tours; leave it out of --metrics")


TOUR_METRICS = {
    name: Metric(name, title, _of_tours, "", "higher")
    for name, title in (("t_ndtw", "t-nDTW"), ("t_sr", "t-SR"), ("t_spl", "t-SPL"))
}
"""Name -> number over the tours of a run; protocols with tours always have it (evaluation.tour_scores)."""


def get_metric(name: str) -> Metric:
    """The metric called `name`; raises UnknownNameError with the nearest choice."""
    metric = TOUR_METRICS.get(name) or METRICS.get(name)
    if not isinstance(metric, Metric):
        raise InputError(
            f"expected the metric {name!r} to be a navarena.metrics.Metric, got {type(metric).__name__}"
        )
    if metric.name != name:
        raise InputError(f"expected a metric called {name!r}, got {metric.name!r}; give both the same name")
    return metric


def choose_metrics(own: Iterable[str], further: Iterable[str] = ()) -> tuple[str, ...]:
    """Metric names of an evaluation: a protocol's `own` and `further` ones, once each.

    Those of packages are found by their entry points. Raises UnknownNameError with the nearest choice, and
    InputError for a number over tours.
    """
    names = tuple(dict.fromkeys((*own, *further)))
    for name in names:
        if name in TOUR_METRICS:
            raise InputError(
                f"expected metrics of single episodes, got {name!r}, which protocols with tours have anyway; "
                "leave it out of --metrics"
            )
        get_metric(name)
    return names


def reads_path(names: Iterable[str]) -> bool:
    """Whether a metric among `names` may read `Trajectory.shortest`: two of ours, and any of a package."""
    computed = [get_metric(name).compute for name in names]
    own = [one for one in computed if one.__module__.partition(".")[0] == __name__.partition(".")[0]]
    return len(own) < len(computed) or effort.action_spl in own or effort.time_spl in own


def leading_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """The first two scores of the protocol among `names`: of success, and by which episodes are ranked.

    Those that every evaluation has come after the protocol's own; without a score the first two names.
    Numbers over tours, which no episode has, are left out.
    """
    given = tuple(dict.fromkeys(name for name in names if name not in TOUR_METRICS))
    scores = sorted(
        (name for name in given if get_metric(name).is_score), key=lambda name: name in COMMON_METRICS
    )
    return tuple(scores or given)[:2]


def compute_metrics(names: Iterable[str], trajectory: Trajectory, failed: bool = False) -> dict[str, float]:
    """Name -> value of the metrics `names` of one episode, in the given order.

    Args:
        names: known to METRICS; UnknownNameError otherwise.
        trajectory: the episode, or the part of it that happened.
        failed: whether the agent crashed, timed out or acted illegally; then
            Metric.when_failed takes the place of the scores.
    """
    values: dict[str, float] = {}
    for name in names:
        metric = get_metric(name)
        if failed and metric.when_failed is not None:
            values[name] = metric.when_failed
        else:
            values[name] = metric(trajectory)
    return values
