"""What a batch of bodies on navigation graphs remembers."""

import numpy as np
from jaxtyping import Bool, Int

from navarena.episodes.graph_episodes import Tour
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.panorama import LEVEL, heading_step
from navarena.tasks.phase import Phase
from navarena.tasks.vln_graph_oracle import OraclePlan

NO_GOAL = -1
"""Goal of an episode whose path is not known (test splits)."""


class GraphState:
    """Where N bodies are in their scans, episodes and tours.

    Args:
        slots: N.
        max_steps: actions of an episode.

    Attributes:
        node: (N,) int64 node number.
        view: (N,) int64, 0 to 35, along which the body looks.
        phase: (N,) int64 values of Phase: who moves the body next.
        position: (N,) int64 index of the current episode in its tour.
        steps: (N,) int64 actions in the current agent phase.
        goal: (N,) int64 node number, NO_GOAL where it is not known.
        distance: (N,) float64 metres along the graph to the goal; 0 where it is not known.
        running: (N,) bool, whether a tour has begun and not ended.
        walked: (N, max_steps + 1) int64 nodes of the current agent phase.
        views_walked: the same of view indices.
    """

    def __init__(self, slots: int, max_steps: int) -> None:
        self.node = np.zeros(slots, np.int64)
        self.view = np.zeros(slots, np.int64)
        self.phase = np.full(slots, int(Phase.AGENT), np.int64)
        self.position = np.zeros(slots, np.int64)
        self.steps = np.zeros(slots, np.int64)
        self.goal = np.full(slots, NO_GOAL, np.int64)
        self.distance = np.zeros(slots)
        self.running = np.zeros(slots, bool)
        self.walked = np.zeros((slots, max_steps + 1), np.int64)
        self.views_walked = np.zeros((slots, max_steps + 1), np.int64)
        self.tours: list[Tour | None] = [None] * slots
        self.paths: list[list[Int[np.ndarray, p]]] = [[] for _ in range(slots)]
        self._plan_nodes = np.zeros((slots, 64), np.int64)
        self._plan_views = np.zeros((slots, 64), np.int64)
        self._plan_phases = np.zeros((slots, 64), np.int64)
        self._plan_next = np.zeros(slots, np.int64)
        self._plan_size = np.zeros(slots, np.int64)

    def begin_tour(self, slot: int, tour: Tour, atlas: GraphAtlas) -> None:
        """Put a body at the start of a tour."""
        self.tours[slot] = tour
        self.paths[slot] = [atlas.nodes(tour.scan, episode.path) for episode in tour.episodes]
        self.running[slot] = True
        self.begin_episode(slot, 0, atlas)

    def begin_episode(self, slot: int, position: int, atlas: GraphAtlas) -> None:
        """Put a body at the start of an episode of its tour, in the agent's hands."""
        tour = self.tours[slot]
        if tour is None:
            return
        path = self.paths[slot][position]
        self.position[slot] = position
        self.phase[slot] = Phase.AGENT
        self.steps[slot] = 0
        self.node[slot] = path[0]
        self.view[slot] = LEVEL + int(heading_step(tour.episodes[position].heading))
        self.goal[slot] = path[-1] if len(path) > 1 else NO_GOAL
        self.distance[slot] = float(atlas.distance(path[0], path[-1]))
        self.walked[slot, 0] = self.node[slot]
        self.views_walked[slot, 0] = self.view[slot]

    def lead(self, slot: int, plan: OraclePlan) -> None:
        """Hand a body to the oracle, which goes on with the first step of `plan` at the next step."""
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
        self.node[slots] = self._plan_nodes[slots, step]
        self.view[slots] = self._plan_views[slots, step]
        self._plan_next[slots] = step + 1
        more = ~self.is_led_out(slots)
        following = self._plan_phases[slots, np.where(more, step + 1, step)]
        self.phase[slots] = np.where(more, following, int(Phase.ORACLE_START))
