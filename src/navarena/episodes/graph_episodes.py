"""Episodes on navigation graphs: an instruction, a start and a path of viewpoints, single or in tours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Float

from navarena.core.errors import FileError, InputError, unknown_name
from navarena.episodes.dataset import EpisodeDataset
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.r2r import R2RFile, R2RPath, load_r2r
from navarena.episodes.exchange.vocabulary import load_vocabulary
from navarena.episodes.goals import GraphGoal
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.graph import NavGraph
from navarena.scenes.graphs.matterport import Connectivity


def require_graph_goal(episode: Episode) -> GraphGoal:
    """The goal of an episode on a navigation graph; raises InputError for another kind."""
    if not isinstance(episode.goal, GraphGoal):
        raise InputError(
            f"expected a path of viewpoints as the goal of episode {episode.episode_id!r}, got "
            f"{type(episode.goal).__name__}; choose an R2R file"
        )
    return episode.goal


def make_graph_episode(
    episode_id: str,
    graph: NavGraph,
    viewpoints: Sequence[str],
    instruction: str,
    heading: float = 0.0,
    tokens: tuple[int, ...] = (),
    path_id: str = "",
) -> Episode:
    """An episode that follows a path on a navigation graph.

    Args:
        episode_id: unique in its data set.
        graph: of the scan, whose id is the scene's.
        viewpoints: ids along the path; only the start where the goal is hidden (test splits).
        instruction: the text.
        heading: radians at the start, clockwise from -z.
        tokens: the text as numbers of words; empty where there are none.
        path_id: of the path, which several instructions may describe.

    Raises UnknownNameError for a viewpoint that is not in the graph.
    """
    rows = graph.indices(viewpoints)
    points = tuple((float(x), float(y), float(z)) for x, y, z in graph.positions[rows])
    goal = GraphGoal(instruction, points, path_id, tokens, viewpoints=tuple(viewpoints))
    distance = float(graph.distances[rows[0], rows[-1]]) if goal.is_known else None
    return Episode(episode_id, graph.scan, points[0], -heading, goal, distance)


def make_episode(path: R2RPath, index: int, graph: NavGraph) -> Episode:
    """The episode of the instruction `index` of a path in `graph`."""
    tokens = path.encodings[index] if path.encodings else ()
    name, text = path.instruction_id(index), path.instructions[index]
    return make_graph_episode(name, graph, path.path, text, path.heading, tokens, str(path.path_id))


def list_episodes(file: R2RFile, connectivity: Connectivity, limit: int | None = None) -> dict[str, Episode]:
    """Id -> episode of every instruction, or of the first `limit` of each path, in the file's order.

    Raises FileError naming file, path and reason: a scan without a graph, a viewpoint that is not in
    the graph, two consecutive viewpoints that no edge joins.
    """
    graphs = {path.path_id: check_path(file, path, connectivity) for path in file.paths}
    return {
        path.instruction_id(index): make_episode(path, index, graphs[path.path_id])
        for path in file.paths
        for index in range(len(path.instructions[:limit]))
    }


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


@dataclass(frozen=True)
class GraphSplit:
    """A split of R2R with its graphs, checked against each other.

    Attributes:
        file: paths and instructions.
        atlas: graphs of the scans that the file names.
        episodes: by instruction id, in the file's order.
    """

    file: R2RFile
    atlas: GraphAtlas
    episodes: Mapping[str, Episode]

    def dataset(self, protocol_id: str, tours: tuple[Episode, ...] | None = None) -> EpisodeDataset:
        """The episodes as a data set, or those of `tours` in their order."""
        chosen = tuple(self.episodes.values()) if tours is None else tours
        return EpisodeDataset(protocol_id, "r2r", self.file.split, chosen)


def open_graph_split(
    r2r: Path, connectivity: Path, split: str | None = None, vocabulary: Path | None = None
) -> GraphSplit:
    """Read and check a split.

    Args:
        r2r: R2R file, .json or .json.gz, raw or encoded.
        connectivity: folder or tarball of connectivity files.
        split: None for the one in the R2R file's name.
        vocabulary: file of words by which instructions without encodings are encoded.

    Raises FileError naming file, id and reason.
    """
    file = load_r2r(Path(r2r), split)
    if vocabulary is not None:
        file = replace(file, paths=load_vocabulary(Path(vocabulary)).encode_paths(file.paths))
    graphs = Connectivity(Path(connectivity))
    episodes = list_episodes(file, graphs)
    return GraphSplit(file, GraphAtlas(graphs.graph(scan) for scan in file.scans), episodes)
