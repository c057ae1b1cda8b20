"""Trajectories, made from paths on navigation graphs."""

import numpy as np
from jaxtyping import Int

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.graph_episodes import require_graph_goal
from navarena.metrics.followed_path import GraphTrajectory, UnscoredGraphTrajectory
from navarena.metrics.instruction import SplReference, score_path
from navarena.metrics.trajectory import Trajectory
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.panorama import VIEW_HEADINGS
from navarena.tasks.graphs.state import GraphState
from navarena.tasks.graphs.task import GraphTask


def drop_repeats(nodes: Int[np.ndarray, "k"]) -> Int[np.ndarray, "n"]:
    """(N,) node indices with consecutive equal ones merged: a turn on the spot adds no point."""
    keep = np.ones(len(nodes), bool)
    keep[1:] = nodes[1:] != nodes[:-1]
    return nodes[keep]


def path_length(atlas: GraphAtlas, nodes: Int[np.ndarray, "k"]) -> float:
    """Metres: sum of the distances along the graph between consecutive nodes (K,)."""
    return float(atlas.distance(nodes[:-1], nodes[1:]).sum())


def make_trajectory(
    atlas: GraphAtlas, state: GraphState, slot: int, episode: Episode, task: GraphTask
) -> Trajectory:
    """The record of the agent phase in `slot`; without scores where the goal is not known (test splits)."""
    steps = int(state.steps[slot])
    nodes, views = state.nodes[slot, : steps + 1].copy(), state.views[slot, : steps + 1].copy()
    return record_nodes(
        atlas, nodes, views, state.actions[slot, :steps].copy(), bool(state.stopped[slot]), episode, task
    )


def record_nodes(
    atlas: GraphAtlas,
    nodes: Int[np.ndarray, "k1"],
    views: Int[np.ndarray, "k1"],
    actions: Int[np.ndarray, "k"],
    stopped: bool,
    episode: Episode,
    task: GraphTask,
    spl_reference: SplReference | None = None,
) -> Trajectory:
    """The record of K steps along nodes of a graph.

    Args:
        atlas: of the scan.
        nodes: (K + 1,) node indices, the start first.
        views: (K + 1,) int64, 0 to 35, along which the body looked.
        actions: (K,) int64 indices into the actions of the task.
        stopped: whether the agent ended the episode itself.
        episode: what was to be done.
        task: whose rules hold.
        spl_reference: length by which SPL is normalised; None for the task's.

    Raises InputError for a path that does not begin at the start.
    """
    reference = atlas.nodes(episode.scene_id, require_graph_goal(episode).viewpoints)
    if nodes[0] != reference[0]:
        begin, start = atlas.viewpoint(int(nodes[0])), atlas.viewpoint(int(reference[0]))
        raise InputError(f"expected {episode.episode_id!r} to begin at {start}, got {begin}")
    is_known = require_graph_goal(episode).is_known
    distances = atlas.distance(nodes, reference[-1]) if is_known else np.zeros(len(nodes))
    record = {
        "positions": atlas.positions[nodes],
        "yaws": -VIEW_HEADINGS[views],
        "actions": actions,
        "collided": np.zeros(len(actions), bool),
        "distance_to_goal": distances,
        "start_distance": float(distances[0]),
        "stopped": stopped,
        "success_distance": task.success_distance,
    }
    if not is_known:
        return UnscoredGraphTrajectory(**record, nodes=nodes, views=views)
    walked = drop_repeats(nodes)
    costs = atlas.distance(walked[:, None], reference)
    length = path_length(atlas, reference)
    scores = score_path(
        costs,
        costs[:, -1],
        path_length(atlas, walked),
        length,
        float(costs[0, -1]),
        spl_reference=spl_reference or task.spl_reference,
        threshold=task.success_distance,
    )
    return GraphTrajectory(
        **record,
        reference=atlas.positions[reference],
        floor_costs=costs,
        nodes=nodes,
        views=views,
        scores=scores,
        described_length=length,
    )
