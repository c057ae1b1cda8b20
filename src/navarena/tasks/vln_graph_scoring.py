"""From a walk on a navigation graph to numbers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.episodes.graph_episodes import GraphEpisode
from navarena.metrics.instruction import SUCCESS_DISTANCE, PathScores, SplReference, score_path
from navarena.scenes.graphs.atlas import GraphAtlas


@dataclass(frozen=True)
class ScoredWalk:
    """The numbers of one episode, and what tours need of it.

    Attributes:
        scores: of the episode.
        costs: (N, M) metres along the graph from walked to described nodes.
        reference_length: metres, along the described path.
    """

    scores: PathScores
    costs: Float[np.ndarray, "n m"]
    reference_length: float

    @property
    def success(self) -> float:
        """0 or 1."""
        return self.scores.success

    @property
    def spl(self) -> float:
        """In [0, 1]."""
        return self.scores.spl

    @property
    def length(self) -> float:
        """Metres walked along the graph."""
        return self.scores.length


def drop_repeats(nodes: Int[np.ndarray, "k"]) -> Int[np.ndarray, "n"]:
    """(N,) node indices with consecutive equal ones merged: a turn on the spot adds no point."""
    keep = np.ones(len(nodes), bool)
    keep[1:] = nodes[1:] != nodes[:-1]
    return nodes[keep]


def path_length(atlas: GraphAtlas, nodes: Int[np.ndarray, "k"]) -> float:
    """Metres: sum of the distances along the graph between consecutive nodes (K,)."""
    return float(atlas.distance(nodes[:-1], nodes[1:]).sum())


def score_walk(
    atlas: GraphAtlas,
    nodes: Int[np.ndarray, "k"],
    episode: GraphEpisode,
    spl_reference: SplReference = "shortest",
    threshold: float = SUCCESS_DISTANCE,
) -> ScoredWalk:
    """The numbers of one episode; where a walk ended counts, STOP or not (official R2R).

    Args:
        atlas: of the scan.
        nodes: (K,) node indices, the start first.
        episode: what was to be done.
        spl_reference: reading of SPL.
        threshold: metres.

    Raises InputError for a walk that does not begin at the start, and without a known goal.
    """
    if not episode.has_goal:
        raise InputError(
            f"expected the path of {episode.episode_id!r} up to its goal, got its start only (a test split)"
        )
    reference = atlas.nodes(episode.scan, episode.path)
    if not len(nodes) or nodes[0] != reference[0]:
        begin = atlas.viewpoint(int(nodes[0])) if len(nodes) else "nothing"
        raise InputError(f"expected {episode.episode_id!r} to begin at {episode.path[0]}, got {begin}")
    walked = drop_repeats(np.asarray(nodes, np.int64))
    costs = atlas.distance(walked[:, None], reference)
    length = path_length(atlas, reference)
    scores = score_path(
        costs,
        costs[:, -1],
        path_length(atlas, walked),
        length,
        float(costs[0, -1]),
        spl_reference=spl_reference,
        threshold=threshold,
    )
    return ScoredWalk(scores, costs, length)
