"""The oracle that leads a body between two episodes of a tour on a graph: its rules and its plans."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from navarena.core.errors import SceneError
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.panorama import bearings, nearest_view
from navarena.tasks.task import Phase


@dataclass(frozen=True)
class GraphOracleRules:
    """Rules of the oracle phases of a tour: shown observations; none that reveal the path by default.

    The last three make known flaws of the reference code available, for comparison.

    Attributes:
        shows_instruction: whether the instruction stays visible while the oracle leads (during
            ORACLE_START that of the next episode, as in the continuous reference).
        drops_last_node: whether both paths end one node early, so that the goal's panorama is never
            seen and the node before it is seen twice (discrete reference).
        reveals_next_path: whether, when the oracle already stands where the next episode starts, it
            goes along the whole described path of that episode: a leak of ground truth (discrete
            reference, training and evaluation).
    """

    shows_instruction: bool = False
    drops_last_node: bool = False
    reveals_next_path: bool = False


@dataclass(frozen=True)
class OraclePlan:
    """Steps of the oracle, up to but without the arrival at the next start.

    Attributes:
        nodes: (K,) int64 node numbers, in order.
        views: (K,) int64, 0 to 35, along which the body then looks.
        phases: (K,) int64 values of Phase.
    """

    nodes: Int64[np.ndarray, "k"]
    views: Int64[np.ndarray, "k"]
    phases: Int64[np.ndarray, "k"]


def plan_oracle(
    atlas: GraphAtlas,
    node: int,
    view: int,
    goal: int,
    next_path: Int64[np.ndarray, "p"],
    rules: GraphOracleRules,
) -> OraclePlan:
    """The steps between the end of an agent phase and the start of the next.

    Args:
        atlas: of the scan.
        node: where the agent ended.
        view: along which it looks, 0 to 35.
        goal: of the episode that ended.
        next_path: (P,) node indices of the next episode's described path; its first is the next start.
        rules: what to show.

    Raises SceneError when the goal or the next start cannot be reached.
    """
    to_goal = _path(atlas, node, goal, rules)
    at = int(to_goal[-1]) if len(to_goal) else node
    start = int(next_path[0])
    if rules.reveals_next_path and at == start:
        to_start = next_path[1:-1] if rules.drops_last_node else next_path[1:]
    elif rules.drops_last_node:
        to_start = _shortest(atlas, at, start)[:-1]
    elif at == start:  # the goal is the next start: its arrival is that of the next episode
        to_goal, to_start = to_goal[:-1], to_goal[:0]
    else:
        to_start = _shortest(atlas, at, start)[1:-1]
    nodes = np.concatenate([to_goal, to_start]).astype(np.int64)
    phases = np.repeat([int(Phase.ORACLE_GOAL), int(Phase.ORACLE_START)], [len(to_goal), len(to_start)])
    return OraclePlan(nodes, _views_along(atlas, node, view, nodes), phases.astype(np.int64))


def _path(atlas: GraphAtlas, node: int, goal: int, rules: GraphOracleRules) -> Int64[np.ndarray, "k"]:
    """Nodes after `node` on a shortest path to the goal; none at the goal."""
    if node == goal:
        return np.zeros(0, np.int64)
    return _shortest(atlas, node, goal)[1 : -1 if rules.drops_last_node else None]


def _shortest(atlas: GraphAtlas, start: int, goal: int) -> Int64[np.ndarray, "k"]:
    path = atlas.shortest_path(start, goal)
    if not len(path):
        raise SceneError(
            f"expected a path from viewpoint {atlas.viewpoint(start)} to {atlas.viewpoint(goal)}, got none; "
            "make the tours again with: navarena tours make"
        )
    return path


def _views_along(
    atlas: GraphAtlas, node: int, view: int, nodes: Int64[np.ndarray, "k"]
) -> Int64[np.ndarray, "k"]:
    """(K,) view after each step: the one nearest to its direction, or the last where nothing moved."""
    if not len(nodes):
        return np.zeros(0, np.int64)
    before = np.concatenate([[node], nodes[:-1]])
    candidates = atlas.candidates
    joined = candidates.places[before] == nodes[:, None]
    views = candidates.views[before, joined.argmax(1)].astype(np.int64)
    apart = ~joined.any(1)  # a described path may leap over places, and a body may stay at one
    if apart.any():
        heading, elevation, _ = bearings(atlas.positions[before[apart]], atlas.positions[nodes[apart]])
        views[apart] = nearest_view(heading, elevation)
    for k in np.flatnonzero(before == nodes):
        views[k] = views[k - 1] if k else view
    return views
