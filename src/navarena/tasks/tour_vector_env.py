"""N environments whose episodes are tours of instructions in houses, with Gymnasium's vector interface."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from navarena.episodes.route_tours import EpisodeTour
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_tour_task
from navarena.tasks.spaces import as_observed, observation_space
from navarena.tasks.tour_batch import TourBatch, TourRecord, TourStep
from navarena.tasks.tour_env import describe_tour, find_tours
from navarena.tasks.tours_vector_env import ToursVectorEnv
from navarena.tasks.vln_ce_tours import IR2RCE


class TourVectorEnv(ToursVectorEnv[EpisodeTour, TourStep, TourRecord]):
    """N tours of `ir2r-ce-v1`, stepped and rendered together (see ToursVectorEnv).

    Infos as of `TourEnv`, in Gymnasium's form, of the slots in which an episode begins or ends.

    Args:
        num_envs: N.
        tours, task, sensors, threads, worlds, split, dataset: as of `TourEnv`.
        copy: whether observations are fresh arrays. Without it they are rewritten by the next step.
    """

    def __init__(
        self,
        num_envs: int = 1,
        tours: Sequence[EpisodeTour] | str | Path | None = None,
        task: str | IR2RCE = "ir2r-ce-v1",
        sensors: Sequence[str] | None = None,
        threads: int | None = None,
        worlds: WorldCache | None = None,
        copy: bool = True,
        split: str | None = None,
        dataset: str | Path | None = None,
    ) -> None:
        self.task = get_tour_task(task) if isinstance(task, str) else task
        self.copy = copy
        worlds = worlds or WorldCache(self.task.embodiment)
        source = find_tours(tours, worlds, split, dataset)
        self.tour_batch = TourBatch(self.task, num_envs, threads, sensors, worlds)
        space = observation_space(self.tour_batch.batch.specs)
        super().__init__(num_envs, space, len(self.task.actions), source.draw)

    def _start(self, slots: list[int], tours: list[EpisodeTour]) -> None:
        self.tour_batch.start(slots, tours)

    def _advance(self, actions: Int[np.ndarray, "n"], active: Bool[np.ndarray, "n"]) -> TourStep:
        return self.tour_batch.step(actions, active)

    def _take_records(self) -> list[TourRecord]:
        return self.tour_batch.take_records()

    def _describe(self, slot: int, step: TourStep | None, record: TourRecord | None) -> dict[str, Any]:
        return describe_tour(self.tour_batch, slot, record)

    def _observe(self) -> dict[str, Any]:
        seen = self.tour_batch.observations
        return {
            name: as_observed(seen[name].copy() if self.copy else seen[name])
            for name in self.tour_batch.batch.specs
        }
