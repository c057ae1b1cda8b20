"""N environments of a protocol on navigation graphs in one, with Gymnasium's vector interface."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from navarena.episodes.graph_data import GraphData
from navarena.episodes.graph_episodes import Tour
from navarena.scenes.graphs.features import ViewFeatures
from navarena.tasks.catalog import get_graph_task
from navarena.tasks.tours_vector_env import ToursVectorEnv
from navarena.tasks.vln_graph import GraphTask
from navarena.tasks.vln_graph_batch import GraphBatch, GraphStep, Walk
from navarena.tasks.vln_graph_env import describe_step, draw_tour, find_data, graph_observation_space


class GraphVectorEnv(ToursVectorEnv[Tour, GraphStep, Walk]):
    """N bodies on navigation graphs (see ToursVectorEnv).

    The instruction is a tuple of texts, every other observation an array with N first. Infos as of
    `GraphEnv`, in Gymnasium's form, of the slots in which an episode begins or ends.

    Args:
        num_envs: N.
        task: protocol id or task.
        r2r, connectivity, tours, split, data, sensors, features: as of `GraphEnv`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        task: str | GraphTask = "r2r-v1",
        r2r: str | Path | None = None,
        connectivity: str | Path | None = None,
        tours: str | Path | None = None,
        split: str | None = None,
        data: GraphData | None = None,
        sensors: Sequence[str] | None = None,
        features: ViewFeatures | None = None,
    ) -> None:
        self.task = get_graph_task(task) if isinstance(task, str) else task
        found = find_data(self.task, data, r2r, connectivity, tours, split)
        self.batch = GraphBatch(self.task, found.atlas, num_envs, sensors, features)
        space = graph_observation_space(self.batch.observer.specs, found.tours)
        super().__init__(num_envs, space, len(self.task.actions), partial(draw_tour, found))

    def _start(self, slots: list[int], tours: list[Tour]) -> None:
        self.batch.start(slots, tours)

    def _advance(self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> GraphStep:
        return self.batch.step(actions, active)

    def _take_records(self) -> list[Walk]:
        return self.batch.take_records()

    def _describe(self, slot: int, step: GraphStep | None, record: Walk | None) -> dict[str, Any]:
        return describe_step(self.batch, slot, step, record)

    def _observe(self) -> dict[str, Any]:
        seen: dict[str, Any] = dict(self.batch.observations)
        if "instruction" in seen:
            seen["instruction"] = tuple(seen["instruction"].tolist())
        return seen
