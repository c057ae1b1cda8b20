"""State of a batch of bodies on navigation graphs."""

import numpy as np
from jaxtyping import Bool, Int

from navarena.episodes.episode import Episode
from navarena.episodes.graph_episodes import require_graph_goal
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.panorama import LEVEL, heading_step
from navarena.tasks.graphs.oracle import OraclePlan
from navarena.tasks.task import Phase

NO_GOAL = -1
"""Goal of an episode whose path is not known (test splits)."""


class GraphState:
    """State of N bodies: their places in scans, episodes and tours.

    Args:
        slots: N.
        max_steps: actions of an episode.

    Attributes:
        node: (N,) int64 node number.
        view: (N,) int64, 0 to 35, along which the body looks.
        phase: (N,) int64 values of Phase: who moves the body next.
        tour_position: (N,) int64 index of the current episode in its tour; in oracle phases still that of
            the one that ended.
        steps: (N,) int64 actions in the current agent phase.
        stopped: (N,) bool, whether the agent ended the episode itself.
        goal: (N,) int64 node number, NO_GOAL where it is not known.
        distance: (N,) float64 metres along the graph to the goal; 0 where it is not known.
        running: (N,) bool, whether an episode has begun and not ended.
        oracle_steps: (N, 2) int64 steps of the oracle to the last goal and to the start.
        nodes, views: (N, max_steps + 1) int64 record of `node` and `view` in the current agent phase.
        actions: (N, max_steps) int64 record of the agent's actions.
        paths: for each slot (P,) int64 nodes of the described path.
        episodes: that began last; None before.
        following: the next of its tour, while the oracle leads there.
    """

    def __init__(self, slots: int, max_steps: int) -> None:
        self.node = np.zeros(slots, np.int64)
        self.view = np.zeros(slots, np.int64)
        self.phase = np.full(slots, int(Phase.AGENT), np.int64)
        self.tour_position = np.zeros(slots, np.int64)
        self.steps = np.zeros(slots, np.int64)
        self.stopped = np.zeros(slots, bool)
        self.goal = np.full(slots, NO_GOAL, np.int64)
        self.distance = np.zeros(slots)
        self.running = np.zeros(slots, bool)
        self.oracle_steps = np.zeros((slots, 2), np.int64)
        self.nodes = np.zeros((slots, max_steps + 1), np.int64)
        self.views = np.zeros((slots, max_steps + 1), np.int64)
        self.actions = np.zeros((slots, max_steps), np.int64)
        self.paths: list[Int[np.ndarray, p]] = [np.zeros(0, np.int64)] * slots
        self.episodes: list[Episode | None] = [None] * slots
        self.following: list[Episode | None] = [None] * slots
        self._plan_nodes = np.zeros((slots, 64), np.int64)
        self._plan_views = np.zeros((slots, 64), np.int64)
        self._plan_phases = np.zeros((slots, 64), np.int64)
        self._plan_next = np.zeros(slots, np.int64)
        self._plan_size = np.zeros(slots, np.int64)

    def begin(self, slot: int, episode: Episode, atlas: GraphAtlas) -> None:
        """Put a body at the start of an episode, in the agent's hands."""
        path = atlas.nodes(episode.scene_id, require_graph_goal(episode).viewpoints)
        self.episodes[slot], self.following[slot], self.paths[slot] = episode, None, path
        self.running[slot], self.stopped[slot] = True, False
        self.phase[slot] = Phase.AGENT
        self.steps[slot] = 0
        self.node[slot] = path[0]
        self.view[slot] = LEVEL + int(heading_step(-episode.start_yaw))
        self.goal[slot] = path[-1] if len(path) > 1 else NO_GOAL
        self.distance[slot] = float(atlas.distance(path[0], path[-1]))
        self._record_place(np.array([slot]))

    def record(self, slots: Int[np.ndarray, "k"], actions: Int[np.ndarray, "k"]) -> None:
        """Note the `actions` (K,) that bodies in `slots` (K,) have just made."""
        self.actions[slots, self.steps[slots]] = actions
        self.steps[slots] += 1
        self._record_place(slots)

    def _record_place(self, slots: Int[np.ndarray, "k"]) -> None:
        steps = self.steps[slots]
        self.nodes[slots, steps] = self.node[slots]
        self.views[slots, steps] = self.view[slots]

    def lead(self, slot: int, plan: OraclePlan, following: Episode) -> None:
        """Hand a body to the oracle, which leads it by `plan` to the start of the episode `following`."""
        self.following[slot] = following
        size = len(plan.nodes)
        if size > self._plan_nodes.shape[1]:
            grow = ((0, 0), (0, size))
            self._plan_nodes = np.pad(self._plan_nodes, grow)
            self._plan_views = np.pad(self._plan_views, grow)
            self._plan_phases = np.pad(self._plan_phases, grow)
        self._plan_nodes[slot, :size] = plan.nodes
        self._plan_views[slot, :size] = plan.views
        self._plan_phases[slot, :size] = plan.phases
        self._plan_next[slot], self._plan_size[slot] = 0, size
        self.phase[slot] = plan.phases[0] if size else Phase.ORACLE_START

    def is_led_out(self, slots: Int[np.ndarray, "k"]) -> Bool[np.ndarray, "k"]:
        """(K,) bool: whether the oracle has no step left but the arrival at the next start."""
        return np.asarray(self._plan_next[slots] >= self._plan_size[slots])

    def follow(self, slots: Int[np.ndarray, "k"]) -> None:
        """Make the next step of the oracle in `slots` (K,), indices; each must have one left."""
        step = self._plan_next[slots]
        self.oracle_steps[slots, self._plan_phases[slots, step] - Phase.ORACLE_GOAL] += 1
        self.node[slots] = self._plan_nodes[slots, step]
        self.view[slots] = self._plan_views[slots, step]
        self._plan_next[slots] = step + 1
        more = ~self.is_led_out(slots)
        following = self._plan_phases[slots, np.where(more, step + 1, step)]
        self.phase[slots] = np.where(more, following, int(Phase.ORACLE_START))
