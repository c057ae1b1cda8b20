"""Result files of agents on navigation graphs, in the layout of R2R's evaluation server.

JSON: a list with one member per instruction, {"instr_id": "4332_0", "trajectory": [[viewpoint,
heading, elevation], ...]}, angles in radians. What is read may lack the angles.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Int

from navarena.core.errors import FileError
from navarena.core.files import read_bytes, write_atomic
from navarena.episodes.graph_episodes import GraphEpisode
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS
from navarena.tasks.vln_graph_batch import Walk

KIND = "results file"
MAX_LISTED = 3


class _Answer(msgspec.Struct):
    instr_id: str
    trajectory: list[Any]


@dataclass(frozen=True)
class Answers:
    """Walks from a results file, checked and complete.

    Attributes:
        walks: instruction id -> (K,) node indices, of exactly the expected instructions.
        ignored: how many further instructions of the split the file answers.
    """

    walks: dict[str, Int[np.ndarray, "_"]]
    ignored: int


def save_results(walks: Iterable[Walk], atlas: GraphAtlas, path: Path) -> None:
    """Write walks for a leaderboard or for `navarena tours score`; raises StorageError."""
    rows = [
        {
            "instr_id": walk.episode_id,
            "trajectory": [
                (atlas.viewpoint(node), float(VIEW_HEADINGS[view]), float(VIEW_ELEVATIONS[view]))
                for node, view in zip(walk.nodes.tolist(), walk.views.tolist())
            ],
        }
        for walk in walks
    ]
    write_atomic(Path(path), msgspec.json.encode(rows))


def load_results(
    path: Path, expected: Iterable[str], episodes: Mapping[str, GraphEpisode], atlas: GraphAtlas
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
    try:
        answers = msgspec.json.decode(read_bytes(path, KIND), type=list[_Answer])
    except msgspec.MsgspecError as error:
        raise FileError(
            f"{KIND} {path}: {error}; expected a list of {{instr_id, trajectory: [[viewpoint, ...], ...]}}"
        ) from error
    by_id: dict[str, _Answer] = {}
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
    walks = {name: _check(path, by_id[name], episodes[name], atlas) for name in wanted}
    return Answers(walks, len(by_id) - len(wanted))


def _check(path: Path, answer: _Answer, episode: GraphEpisode, atlas: GraphAtlas) -> Int[np.ndarray, "k"]:
    """(K,) node indices of one answer."""
    where = f"{KIND} {path}, instruction {answer.instr_id}"
    viewpoints = []
    for row, entry in enumerate(answer.trajectory):
        first, *angles = entry if isinstance(entry, list) and entry else [entry]
        if not isinstance(first, str) or not all(isinstance(angle, int | float) for angle in angles):
            raise FileError(f"{where}, entry {row}: expected [viewpoint, heading, elevation], got {entry!r}")
        viewpoints.append(first)
    if not viewpoints or viewpoints[0] != episode.path[0]:
        begin = viewpoints[0] if viewpoints else "an empty trajectory"
        raise FileError(f"{where}: expected to begin at viewpoint {episode.path[0]}, got {begin}")
    graph = atlas.require_graph(episode.scan)
    for viewpoint in viewpoints:
        if viewpoint not in graph:
            raise FileError(f"{where}: viewpoint {viewpoint} is not in the graph of scan {episode.scan}")
    nodes = atlas.nodes(episode.scan, viewpoints)
    broken = (nodes[1:] != nodes[:-1]) & ~atlas.is_edge(nodes[:-1], nodes[1:])
    if broken.any():
        row = int(np.argmax(broken))
        raise FileError(
            f"{where}: expected moves along edges, got one from {viewpoints[row]} to {viewpoints[row + 1]} "
            f"(entries {row} and {row + 1}), which no edge joins in scan {episode.scan}"
        )
    return nodes
