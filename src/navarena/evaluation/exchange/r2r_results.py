"""Results files of R2R's evaluation server: read, scored and written.

JSON: a list with one member per instruction, {"instr_id": "4332_0", "trajectory": [[viewpoint,
heading, elevation], ...]}, angles in radians. What is read may lack the angles.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Int

from navarena.core.errors import FileError, InputError
from navarena.core.files import read_json
from navarena.episodes.episode import Episode
from navarena.episodes.graph_episodes import require_graph_goal
from navarena.evaluation.memory_groups import MemoryGroup, make_groups
from navarena.evaluation.records.journal import Row
from navarena.evaluation.running.rows import find_tour_place, finite_or_none, record_tour
from navarena.metrics.catalog import compute_metrics
from navarena.metrics.followed_path import GraphTrajectory, UnscoredGraphTrajectory
from navarena.metrics.instruction import SplReference
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS
from navarena.tasks.graphs.scoring import record_nodes
from navarena.tasks.graphs.task import GraphTask

OFFICIAL_INSTRUCTIONS = 3
"""R2R's stock evaluation looks at the first three instructions of each path and ignores a fourth."""

TITLES = {
    "length": "TL, m",
    "path_steps": "steps",
    "navigation_error": "NE, m",
    "oracle_error": "OE, m",
    "success": "SR",
    "oracle_success": "OSR",
    "spl": "SPL",
    "ndtw": "nDTW",
    "sdtw": "sDTW",
    "cls": "CLS",
}
"""Metric of R2R's evaluation -> column of a table."""

KIND = "results file"
MAX_LISTED = 3


class Answer(msgspec.Struct):
    """One member of a results file: the places of `trajectory` are [viewpoint, heading, elevation]."""

    instr_id: str
    trajectory: list[Any]


@dataclass(frozen=True)
class Answers:
    """Paths from a results file, checked and complete.

    Attributes:
        nodes: instruction id -> (K,) node indices, of exactly the expected instructions.
        ignored: how many further instructions of the split the file answers.
    """

    nodes: dict[str, Int[np.ndarray, "_"]]
    ignored: int


def describe_answer(atlas: GraphAtlas, episode_id: str, trajectory: Trajectory) -> dict[str, Any]:
    """One member of a results file; raises InputError for a record that is not of a navigation graph."""
    if not isinstance(trajectory, GraphTrajectory | UnscoredGraphTrajectory):
        raise InputError(f"expected an episode on a navigation graph, got {episode_id!r} without nodes")
    count = len(trajectory.nodes) - int(trajectory.stopped)  # STOP adds no place
    return {
        "instr_id": episode_id,
        "trajectory": [
            (atlas.viewpoint(node), float(VIEW_HEADINGS[view]), float(VIEW_ELEVATIONS[view]))
            for node, view in zip(trajectory.nodes[:count].tolist(), trajectory.views[:count].tolist())
        ],
    }


def load_results(
    path: Path, expected: Iterable[str], episodes: Mapping[str, Episode], atlas: GraphAtlas
) -> Answers:
    """Read and check the answers to the `expected` instructions.

    Args:
        path: the file.
        expected: ids that must be answered, each once.
        episodes: of the whole split, by id.
        atlas: graphs of its scans.

    Raises FileError naming file, id and reason: damaged data, an instruction that is missing,
    repeated or unknown, an empty trajectory, one that begins elsewhere, a viewpoint that is not in the
    graph, a move along no edge.
    """
    layout = "expected a list of {instr_id, trajectory: [[viewpoint, ...], ...]}"
    answers: list[Answer] = read_json(path, KIND, list[Answer], layout)
    by_id: dict[str, Answer] = {}
    for answer in answers:
        if answer.instr_id in by_id:
            raise FileError(f"{KIND} {path}: expected each instruction once, got {answer.instr_id!r} twice")
        if answer.instr_id not in episodes:
            raise FileError(f"{KIND} {path}: instruction {answer.instr_id!r} is not in the R2R file")
        by_id[answer.instr_id] = answer
    wanted = list(expected)
    missing = [name for name in wanted if name not in by_id]
    if missing:
        more = ", ..." if len(missing) > MAX_LISTED else ""
        raise FileError(
            f"{KIND} {path}: expected answers to {len(wanted)} instructions, got none to {len(missing)} of "
            f"them ({', '.join(missing[:MAX_LISTED])}{more}); nothing was scored"
        )
    nodes = {
        name: find_nodes(f"{KIND} {path}, instruction {name}", by_id[name], episodes[name], atlas)
        for name in wanted
    }
    return Answers(nodes, len(by_id) - len(wanted))


def find_nodes(where: str, answer: Answer, episode: Episode, atlas: GraphAtlas) -> Int[np.ndarray, "k"]:
    """(K,) node indices of one answer.

    Args:
        where: begins every message.
        answer: to the instruction of `episode`.
        episode: what was to be done.
        atlas: graphs of its scan.

    Raises FileError for a path that begins elsewhere, leaves the graph, or goes along no edge.
    """
    viewpoints = []
    for row, entry in enumerate(answer.trajectory):
        first, *angles = entry if isinstance(entry, list) and entry else [entry]
        if not isinstance(first, str) or not all(isinstance(angle, int | float) for angle in angles):
            raise FileError(f"{where}, entry {row}: expected [viewpoint, heading, elevation], got {entry!r}")
        viewpoints.append(first)
    start = require_graph_goal(episode).viewpoints[0]
    if not viewpoints or viewpoints[0] != start:
        begin = viewpoints[0] if viewpoints else "an empty trajectory"
        raise FileError(f"{where}: expected to begin at viewpoint {start}, got {begin}")
    graph = atlas.require_graph(episode.scene_id)
    for viewpoint in viewpoints:
        if viewpoint not in graph:
            raise FileError(f"{where}: viewpoint {viewpoint} is not in the graph of scan {episode.scene_id}")
    nodes = atlas.nodes(episode.scene_id, viewpoints)
    broken = (nodes[1:] != nodes[:-1]) & ~atlas.is_edge(nodes[:-1], nodes[1:])
    if broken.any():
        row = int(np.argmax(broken))
        raise FileError(
            f"{where}: expected moves along edges, got one from {viewpoints[row]} to {viewpoints[row + 1]} "
            f"(entries {row} and {row + 1}), which no edge joins in scan {episode.scene_id}"
        )
    return nodes


def score_answers(
    answers: Mapping[str, Int[np.ndarray, "_"]],
    episodes: Sequence[Episode],
    atlas: GraphAtlas,
    task: GraphTask,
    identity: str,
    spl_reference: SplReference | None = None,
) -> list[tuple[Row, Trajectory]]:
    """Rows and records of a run that score the answers, in the order of `episodes`.

    Args:
        answers: instruction id -> (K,) node indices.
        episodes: those that are scored, tours one after the other.
        atlas: graphs of their scans.
        task: whose rules hold.
        identity: of the rows.
        spl_reference: length by which SPL is normalised; None for the task's.
    """
    scored = []
    for group in make_groups(episodes, set(), "tour"):
        for place, episode in enumerate(group.episodes):
            nodes = answers[episode.episode_id]
            scored.append(score_answer(nodes, group, place, atlas, task, identity, spl_reference))
    return scored


def score_answer(
    nodes: Int[np.ndarray, "_"],
    group: MemoryGroup,
    place: int,
    atlas: GraphAtlas,
    task: GraphTask,
    identity: str,
    spl_reference: SplReference | None = None,
) -> tuple[Row, Trajectory]:
    """The row and record of a run that score one answer.

    Args:
        nodes: (K,) node indices, the start first.
        group: that holds the episode.
        place: of the episode in it.
        atlas: graphs of its scan.
        task: whose rules hold.
        identity: of the row.
        spl_reference: length by which SPL is normalised; None for the task's.
    """
    episode, path = group.episodes[place], np.asarray(nodes, np.int64)
    steps, views = np.zeros(len(path) - 1, np.int64), np.zeros(len(path), np.int64)
    track = record_nodes(atlas, path, views, steps, False, episode, task, spl_reference)
    return _make_row(group, place, track, task, identity), track


def _make_row(group: MemoryGroup, place: int, track: Trajectory, task: GraphTask, identity: str) -> Row:
    episode = group.episodes[place]
    tour_place = find_tour_place(group, place, (0, 0))
    return Row(
        identity=identity,
        episode_id=episode.episode_id,
        scene_id=episode.scene_id,
        status="ok",
        steps=len(track.actions),
        start_distance=finite_or_none(track.start_distance),
        actions=[],
        metrics={name: finite_or_none(value) for name, value in compute_metrics(task.metrics, track).items()},
        tour=None if tour_place is None else record_tour(tour_place, track),
    )
