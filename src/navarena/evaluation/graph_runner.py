"""Tours and episodes on navigation graphs, as the tour runner takes them."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from navarena.agents.agent import Agent
from navarena.agents.graph_agent import GraphAgent
from navarena.episodes.graph_episodes import Tour
from navarena.evaluation.tour_runner import TourSource
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.scenes.graphs.features import ViewFeatures
from navarena.tasks.vln_graph import GraphTask
from navarena.tasks.vln_graph_batch import GraphBatch, Walk

SLOTS = 64
"""Tours side by side. Results do not depend on it."""


class SavedWalk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Walk as JSON holds it; fields as there."""

    slot: int
    episode_id: str
    nodes: list[int]
    views: list[int]
    stopped: bool


@dataclass(frozen=True)
class GraphTours(TourSource[Tour, Walk]):
    """Tours on navigation graphs; single episodes are tours of one.

    Attributes:
        task: the rules.
        atlas: graphs of the tours' scans.
        tours: each is run once, memory kept within it.
        features: of the views, for the sensors that need them.
        slots: see TourSource.
    """

    task: GraphTask
    atlas: GraphAtlas
    tours: Sequence[Tour]
    features: ViewFeatures | None = None
    slots: int = SLOTS

    def open(self, agent: Agent, slots: int) -> GraphBatch:
        """A batch on the graphs."""
        batch = GraphBatch(self.task, self.atlas, slots, agent.sensors, self.features)
        if isinstance(agent, GraphAgent):
            agent.attach_graphs(batch)
        return batch

    def save(self, record: Walk) -> SavedWalk:
        """Node by node."""
        return SavedWalk(
            record.slot, record.episode_id, record.nodes.tolist(), record.views.tolist(), record.stopped
        )

    def restore(self, saved: bytes) -> Walk:
        """An equal walk; raises msgspec.MsgspecError."""
        walk = msgspec.json.decode(saved, type=SavedWalk)
        nodes, views = np.array(walk.nodes, np.int64), np.array(walk.views, np.int64)
        return Walk(walk.slot, walk.episode_id, nodes, views, walk.stopped)
