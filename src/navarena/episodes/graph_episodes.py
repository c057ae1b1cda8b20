"""Episodes on navigation graphs: an instruction, a start and a path, one by one or in tours."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError, InputError, unknown_name
from navarena.episodes.exchange.r2r import R2RFile, R2RPath
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.graph import NavGraph
from navarena.scenes.graphs.matterport import Connectivity


@dataclass(frozen=True)
class GraphEpisode:
    """One instruction to be followed.

    Attributes:
        episode_id: of the instruction, "{path_id}_{index}".
        scan: id of the scan.
        path: ids of the viewpoints of the described path; of test splits only the start.
        heading: radians at the start, clockwise from -z.
        instruction: the text.
        tokens: its encoding; empty where there is none.
    """

    episode_id: str
    scan: str
    path: tuple[str, ...]
    heading: float
    instruction: str
    tokens: tuple[int, ...] = ()

    @property
    def has_goal(self) -> bool:
        """Whether the path is known beyond its start."""
        return len(self.path) > 1

    @property
    def scene_id(self) -> str:
        """The scan, by the name that scenes have elsewhere."""
        return self.scan


@dataclass(frozen=True)
class Tour:
    """Episodes of one scan in the order in which they are run, memory kept between them.

    Attributes:
        tour_id: unique within its split.
        scan: id of the scan.
        episodes: at least one; a tour of one is an episode of the episodic protocol.
    """

    tour_id: str
    scan: str
    episodes: tuple[GraphEpisode, ...]

    def __post_init__(self) -> None:
        if not self.episodes or any(episode.scan != self.scan for episode in self.episodes):
            raise InputError(
                f"expected a tour {self.tour_id!r} of at least one episode, all in scan {self.scan!r}, "
                f"got {[(e.episode_id, e.scan) for e in self.episodes][:5]}"
            )

    @property
    def scene_id(self) -> str:
        """The scan, by the name that scenes have elsewhere."""
        return self.scan


def make_episode(path: R2RPath, index: int) -> GraphEpisode:
    """The episode of the instruction `index` of a path."""
    return GraphEpisode(
        path.instruction_id(index),
        path.scan,
        path.path,
        path.heading,
        path.instructions[index],
        path.encodings[index] if path.encodings else (),
    )


def list_episodes(file: R2RFile, most: int | None = None) -> dict[str, GraphEpisode]:
    """Id -> episode of every instruction, or of the first `most` of each path, in the file's order."""
    return {
        path.instruction_id(index): make_episode(path, index)
        for path in file.paths
        for index in range(len(path.instructions[:most]))
    }


def single_tours(episodes: Mapping[str, GraphEpisode]) -> tuple[Tour, ...]:
    """Each episode as a tour of its own: the episodic protocol."""
    return tuple(Tour(name, episode.scan, (episode,)) for name, episode in episodes.items())


def open_atlas(file: R2RFile, connectivity: Connectivity) -> GraphAtlas:
    """The graphs that a file's paths need, after checking every path against its graph.

    Raises FileError naming file, path and reason: a scan without a graph, a viewpoint that is not in
    the graph, two consecutive viewpoints that no edge joins.
    """
    for path in file.paths:
        check_path(file, path, connectivity)
    return GraphAtlas(connectivity.graph(scan) for scan in file.scans)


def check_path(file: R2RFile, path: R2RPath, connectivity: Connectivity) -> NavGraph:
    """The graph in which a path lies; raises FileError when it does not."""
    where = f"{file.name}, path {path.path_id}"
    if path.scan not in connectivity:
        raise FileError(
            f"{where}: {unknown_name(f'scan in {connectivity.path}', path.scan, connectivity.scans)}"
        )
    graph = connectivity.graph(path.scan)
    for viewpoint in path.path:
        if viewpoint not in graph:
            raise FileError(f"{where}: viewpoint {viewpoint} is not in the graph of scan {path.scan}")
    rows = graph.indices(path.path)
    for k, (a, b) in enumerate(pairwise(rows)):
        if not graph.is_edge(int(a), int(b)):
            raise FileError(
                f"{where}: expected an edge of scan {path.scan} between viewpoints {path.path[k]} and "
                f"{path.path[k + 1]} (places {k} and {k + 1} of the path), got none"
            )
    return graph


def end_to_start(graph: NavGraph, paths: list[R2RPath]) -> Float[np.ndarray, "p p"]:
    """(P, P) metres along the graph from the end of each path to the start of each."""
    starts = graph.indices([path.path[0] for path in paths])
    ends = graph.indices([path.path[-1] for path in paths])
    return np.ascontiguousarray(graph.distances[np.ix_(ends, starts)])
