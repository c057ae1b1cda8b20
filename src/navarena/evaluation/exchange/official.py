"""Results that the community's own code wrote, as runs that can be reported on and compared.

    robothor2021   the challenge's .json.gz: {split: {"episodes": {id: {"trajectory", "actions_taken",
                   "success"}}, "ep_len", "success", "spl"}} (allenai/robothor-challenge; spec 2.6)
    multion        the metrics .json: {"scene.episode": raw_metrics} (saimwani/multiON; spec 1.5 and 1.8)

Where trajectories or lengths are kept, metrics are computed from them by our formulas, and what the file says
of itself is checked against them. What rests on the file's word alone is said; nothing of it can be replayed.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from navarena.core.errors import FileError, InputError
from navarena.core.files import LIMITS, read_bytes, translate_damage
from navarena.evaluation.identity import Identity
from navarena.evaluation.records.journal import GoalsRecord, Row
from navarena.evaluation.records.record import IMPORTED
from navarena.metrics.multi_goal import SUM_TOLERANCE
from navarena.metrics.navigation import path_factor

AGREEMENT = 1e-4
"""By which numbers of a file may differ from ours: it may have been written with few digits."""

PLACE_AGREEMENT = 0.05
"""Metres by which a trajectory may begin elsewhere than its episode: what the engine's snapping moves."""


@dataclass(frozen=True)
class OfficialResults:
    """Content of a file of results.

    Attributes:
        identity: marked as imported.
        rows: one per episode.
        actions, metrics: names.
        notices: what does not agree within the file, and what could not be verified.
    """

    identity: Identity
    rows: tuple[Row, ...]
    actions: tuple[str, ...]
    metrics: tuple[str, ...]
    notices: tuple[str, ...]


class UnityPose(msgspec.Struct, frozen=True):
    """A pose of a RoboTHOR trajectory; metres and degrees, Unity's axes."""

    x: float
    y: float
    z: float
    rotation: float | None = None
    horizon: float | None = None


class UnityAction(msgspec.Struct, frozen=True):
    """An action, and whether the engine carried it out."""

    action: str
    success: bool


class RobothorEpisode(msgspec.Struct, frozen=True):
    """Record of an episode by the challenge's code."""

    trajectory: list[UnityPose]
    actions_taken: list[UnityAction]
    success: bool


class RobothorSplit(msgspec.Struct, frozen=True):
    """The episodes of a split with their means."""

    episodes: dict[str, RobothorEpisode]
    ep_len: float | None = None
    success: float | None = None
    spl: float | None = None


class RawMetrics(msgspec.Struct, frozen=True):
    """MultiON's raw_metrics; the misspelt name is the reference's. MSPL and PSPL are NaN without a path."""

    success: float
    percentage_success: float
    geodesic_distances: list[float | None]
    agent_path_length: float
    subgoals_found: float
    agent_distances: list[float]
    MSPL: float | None
    PSPL: float | None
    episode_lenth: float
    distance_to_curr_subgoal: float | msgspec.UnsetType | None = msgspec.UNSET
    distance_to_multi_goal: float | msgspec.UnsetType | None = msgspec.UNSET


@dataclass(frozen=True)
class ShortestPath:
    """Shortest path of an episode in a file: metres along the shortest path, its start (x, z) in Unity."""

    scene_id: str
    length: float
    start: tuple[float, float]


ROBOTHOR_ACTIONS = ("MoveAhead", "RotateRight", "RotateLeft", "LookUp", "LookDown", "Stop")
"""The challenge's names, in the order of objectnav-robothor2021-v1."""

ROBOTHOR_METRICS = ("success", "spl", "path_length", "collisions", "num_actions", "stopped")
MULTION_METRICS = ("success", "progress", "spl", "ppl", "ppl_code", "path_length", "num_actions")

MULTION_DISTANCES = {
    "distance_to_goal": "distance_to_curr_subgoal",
    "distance_left": "distance_to_multi_goal",
}
"""Metric -> raw metric, which files may leave out."""


def read_robothor(
    path: Path, split: str, actions: tuple[str, ...], paths: Mapping[str, ShortestPath], dataset: str
) -> OfficialResults:
    """The results of one split in the challenge's file of 2021.

    Path length, SPL, collisions and numbers of actions are computed from trajectories and the paths of the
    episode file; whether the object was visible at Stop is the file's word.

    Args:
        path: .json.gz, or .json.
        split: whose results; InputError with those that there are for another one.
        actions: our names of ROBOTHOR_ACTIONS, in that order.
        paths: episode id -> what the episode file knows of it.
        dataset: its name.

    Raises FileError for damage, and for a trajectory that does not fit its actions; InputError for episodes
    that the episode file does not have.
    """
    document = decode(path, dict[str, RobothorSplit])
    if split not in document:
        raise InputError(f"expected results of {split!r} in {path}, got those of {', '.join(document)}")
    results = document[split]
    unknown = sorted(results.episodes.keys() - paths.keys())
    if unknown:
        raise InputError(
            f"expected results of episodes in {dataset}, got {len(unknown)} others, {unknown[0]!r} first; "
            "name the episode file of their split"
        )
    identity = _identify("objectnav-robothor2021-v1", "robothor2021", dataset, split, list(paths))
    rows, displaced = [], 0
    for name, record in results.episodes.items():
        row, begins_there = _robothor_row(path, str(identity), name, record, paths[name])
        rows.append(row)
        displaced += not begins_there
    notices = ["whether the object was visible at Stop is the file's word; it keeps no images"]
    if displaced:
        notices.append(f"{displaced} of {len(rows)} trajectories begin elsewhere than their episodes")
    means = {
        "ep_len": (results.ep_len, [float(len(one.trajectory)) for one in results.episodes.values()]),
        "success": (results.success, [row.metric("success") for row in rows]),
        "spl": (results.spl, [row.metric("spl") for row in rows]),
    }
    for name, (said, values) in means.items():
        notices += _compare(f"the mean {name}", said, math.fsum(values) / max(1, len(values)))
    return OfficialResults(identity, tuple(rows), actions, ROBOTHOR_METRICS, tuple(notices))


def _robothor_row(
    path: Path,
    identity: str,
    name: str,
    record: RobothorEpisode,
    shortest: ShortestPath,
) -> tuple[Row, bool]:
    """The row of an episode, and whether it begins where the episode file says."""
    taken = [one.action for one in record.actions_taken]
    stopped = bool(taken) and taken[-1] == "Stop"
    foreign = sorted(set(taken) - set(ROBOTHOR_ACTIONS))
    # the pose after Stop may be left out: nothing moves
    fits = len(record.trajectory) in (len(taken) + 1, len(taken) + (not stopped))
    if foreign or not fits:
        problem = f"action {foreign[0]!r}" if foreign else f"{len(record.trajectory)} poses"
        raise FileError(f"expected poses and actions that fit in {path}, got {problem} in episode {name!r}")
    if record.success and not stopped:
        raise FileError(f"expected a success to end with Stop in {path}, got none in episode {name!r}")
    places = np.array([(pose.x, pose.y, pose.z) for pose in record.trajectory], np.float64)
    if not (np.abs(places) <= LIMITS.number).all():
        raise FileError(
            f"expected poses within {LIMITS.number:g} m in {path}, got others in episode {name!r}"
        )
    walked = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    success = float(record.success)
    metrics: dict[str, float | None] = {
        "success": success,
        "spl": success * path_factor(shortest.length, walked),
        "path_length": walked,
        "collisions": float(sum(not one.success for one in record.actions_taken if one.action != "Stop")),
        "num_actions": float(len(taken)),
        "stopped": float(stopped),
    }
    begins_there = math.dist((places[0, 0], places[0, 2]), shortest.start) <= PLACE_AGREEMENT
    row = Row(
        identity=identity,
        episode_id=name,
        scene_id=shortest.scene_id,
        status="ok",
        steps=len(taken),
        start_distance=shortest.length,
        actions=[ROBOTHOR_ACTIONS.index(one) for one in taken],
        metrics=metrics,
    )
    return row, begins_there


def read_multi_on(path: Path, split: str, dataset: str) -> OfficialResults:
    """The raw metrics of one run of MultiON's code.

    SUCCESS, PROGRESS, SPL and PPL of paper and code are computed from goals found and lengths; these
    themselves are the file's word, as it keeps neither trajectories nor actions. So are final distances,
    which are among the metrics where every episode has them.

    Args:
        path: .json.
        split: its name; the file does not say it.
        dataset: name of the episodes.

    Raises FileError for damage, and for lengths that do not fit the goals.
    """
    document = decode(path, dict[str, RawMetrics])
    counts = sorted({len(record.geodesic_distances) for record in document.values()})
    if len(counts) != 1 or counts[0] < 1:
        raise FileError(f"expected episodes with one number of goals in {path}, got {counts}")
    identity = _identify(f"multion-{counts[0]}on-v1", "multion", dataset, split, list(document))
    distances = {
        ours: theirs
        for ours, theirs in MULTION_DISTANCES.items()
        if not any(getattr(record, theirs) is msgspec.UNSET for record in document.values())
    }
    rows = [_multi_on_row(path, str(identity), name, record, distances) for name, record in document.items()]
    notices = ["goals found, distances and path lengths are the file's word; it keeps no trajectories"]
    said: dict[str, Callable[[RawMetrics], float | None]] = {
        "success": lambda record: record.success,
        "progress": lambda record: record.percentage_success,
        "spl": lambda record: record.MSPL,
        "ppl_code": lambda record: record.PSPL,
    }
    for metric, read in said.items():
        pairs = [(read(record), row.metric(metric)) for record, row in zip(document.values(), rows)]
        wrong = sum(told is not None and abs(told - ours) > AGREEMENT for told, ours in pairs)
        if wrong:
            notices.append(
                f"{metric} does not follow from lengths in {wrong} of {len(rows)} episodes; ours does"
            )
    actions = ("found", "move_forward", "turn_left", "turn_right")
    return OfficialResults(identity, tuple(rows), actions, (*MULTION_METRICS, *distances), tuple(notices))


def _multi_on_row(path: Path, identity: str, name: str, record: RawMetrics, final: Mapping[str, str]) -> Row:
    """The row of an episode; `final` are those of MULTION_DISTANCES that the file has."""
    scene, mark, episode = name.rpartition(".")
    found, goals = round(record.subgoals_found), len(record.geodesic_distances)
    counts = record.subgoals_found, record.episode_lenth
    distances = [math.inf if one is None else one for one in record.geodesic_distances]
    legs = [
        distances[0],
        *(b - a if math.isfinite(b) else math.inf for a, b in itertools.pairwise(distances)),
    ]
    walked = record.agent_distances
    rising = all(b >= a - SUM_TOLERANCE for a, b in zip([0.0, *walked], [*walked, record.agent_path_length]))
    if (
        not mark
        or not 0 <= found <= goals
        or any(count < 0 or not count.is_integer() for count in counts)
        or len(walked) != found
        or not rising
        or min(legs) < -SUM_TOLERANCE
    ):
        raise FileError(
            f"expected raw metrics of 'scene.episode' whose goals and lengths fit in {path}, got "
            f"{record.subgoals_found:g} found of {goals} with {len(walked)} lengths after "
            f"{record.episode_lenth:g} steps in {name!r}"
        )
    shortest = distances[found - 1] if found else 0.0
    progress, success = found / goals, float(found == goals)
    total = record.agent_path_length

    def weigh(score: float, length: float) -> float:
        return score * path_factor(shortest, length) if found and math.isfinite(shortest) else 0.0

    return Row(
        identity=identity,
        episode_id=episode,
        scene_id=scene,
        status="ok",
        steps=round(record.episode_lenth),
        start_distance=distances[-1] if math.isfinite(distances[-1]) else None,
        actions=[],
        metrics={
            "success": success,
            "progress": progress,
            "spl": weigh(success, total),
            "ppl": weigh(progress, total),
            "ppl_code": weigh(progress, walked[-1] if found else total),
            "path_length": total,
            "num_actions": record.episode_lenth,
            **{ours: getattr(record, theirs) for ours, theirs in final.items()},
        },
        goals=GoalsRecord(
            legs=[max(0.0, leg) if math.isfinite(leg) else None for leg in legs],
            found_after=[None] * found,
            walked=list(walked),
        ),
    )


def _identify(protocol: str, layout: str, dataset: str, split: str, episode_ids: Sequence[str]) -> Identity:
    digest = hashlib.sha256("\n".join(sorted(episode_ids)).encode()).hexdigest()[:16]
    return Identity(protocol, dataset, split, digest).departing(IMPORTED, layout)


def _compare(what: str, said: float | None, ours: float) -> list[str]:
    if said is None or abs(said - ours) <= AGREEMENT:
        return []
    return [f"{what} is {said:g} in the file, {ours:g} by its own episodes; ours is kept"]


def decode(path: Path, kind: Any) -> Any:
    """The content of a .json or .json.gz file; raises FileError when it is missing, damaged or other."""
    data = read_bytes(path, "results file")
    with translate_damage(f"results file {path}"):
        # the reference code writes Infinity and NaN, which JSON does not know
        document = json.loads(data, parse_constant=lambda text: None)
        return msgspec.convert(document, kind, strict=False)
