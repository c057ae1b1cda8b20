"""Teachers on navigation graphs: actions for imitation, step by step or for whole trajectories."""

import numpy as np
from jaxtyping import Bool, Float, Int, Int64

from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.state import NO_GOAL
from navarena.tasks.graphs.task import STOP
from navarena.tasks.task import Phase


def _action_towards(
    atlas: GraphAtlas, nodes: Int[np.ndarray, "k"], targets: Int[np.ndarray, "k"]
) -> Int[np.ndarray, "k"]:
    """(K,) action that goes to each neighbour `targets`; STOP where it is the node itself or -1."""
    places = atlas.candidates.places[nodes]
    column = (places == targets[:, None]).argmax(1)
    return np.where((targets == nodes) | (targets < 0), STOP, column + 1)


def teacher_actions(
    atlas: GraphAtlas, nodes: Int[np.ndarray, "k"], goals: Int[np.ndarray, "k"]
) -> Int[np.ndarray, "k"]:
    """(K,) action along a shortest path from each node to its goal; STOP at the goal or without a path.

    States need not lie on a described path: this labels whatever a policy has visited (DAgger).

    Args:
        atlas: of the scans.
        nodes: (K,) node indices; those of a batch (step-wise), or of whole walks (dense).
        goals: (K,) node indices in the same scans.
    """
    return _action_towards(atlas, nodes, atlas.next_node(nodes, goals))


def path_actions(
    atlas: GraphAtlas,
    nodes: Int[np.ndarray, "k"],
    steps: Int[np.ndarray, "k"],
    path: Int[np.ndarray, "p"],
) -> Int[np.ndarray, "k"]:
    """(K,) action along a described path, which need not be a shortest one.

    A body that stands on the path's place number `step` after that many steps goes on to the next;
    any other goes along a shortest path to the path's end.

    Args:
        atlas: of the scan.
        nodes: (K,) node indices.
        steps: (K,) steps made before.
        path: (P,) node indices.
    """
    last = len(path) - 1
    at = np.minimum(steps, last)
    on_path = path[at] == nodes
    following = path[np.minimum(at + 1, last)]
    goals = np.full(len(nodes), path[-1])
    return _action_towards(atlas, nodes, np.where(on_path, following, atlas.next_node(nodes, goals)))


def remaining_distances(
    atlas: GraphAtlas, nodes: Int[np.ndarray, "k"], goals: Int[np.ndarray, "k"]
) -> Float[np.ndarray, "k a"]:
    """(K, A) metres left to the goal after each action; infinite for neighbours that are not there.

    Args:
        atlas: of the scans.
        nodes: (K,) node indices.
        goals: (K,) node indices in the same scans.
    """
    places = atlas.candidates.places[nodes].astype(np.int64)
    there = places >= 0
    after = atlas.distance(np.where(there, places, nodes[:, None]), goals[:, None])
    stay = atlas.distance(nodes, goals)[:, None]
    return np.concatenate([stay, np.where(there, after, np.inf)], 1)


class GraphTeacher:
    """Labels the nodes of a batch with the next action to the current goal.

    Args:
        batch: whose bodies are asked for.
        follows_path: whether it leads along the described path instead of a shortest one.

    Attributes:
        stuck: (N,) bool, never set: on graphs no label takes a search.
    """

    stuck: Bool[np.ndarray, "n"]

    def __init__(self, batch: GraphBatch, follows_path: bool = False) -> None:
        self.stuck = np.zeros(batch.slots, bool)
        self._batch, self._follows_path = batch, follows_path

    def label(self, active: Bool[np.ndarray, "n"] | None = None) -> Int64[np.ndarray, "n"]:
        """(N,) indices into the protocol's actions; STOP in idle slots and where the goal is not known.

        active: (N,) bool, slots that are asked for; None for all whose episode is running.
        """
        state, atlas = self._batch.state, self._batch.atlas
        asked = self._batch.running if active is None else np.asarray(active, bool)
        actions = np.full(self._batch.slots, STOP, np.int64)
        slots = np.flatnonzero(asked & (state.phase == Phase.AGENT) & (state.goal != NO_GOAL))
        if not self._follows_path:
            if len(slots):
                actions[slots] = teacher_actions(atlas, state.node[slots], state.goal[slots])
            return actions
        for slot in slots.tolist():
            one = slice(slot, slot + 1)
            actions[one] = path_actions(atlas, state.node[one], state.steps[one], state.paths[slot])
        return actions
