"""One environment whose episodes are tours of instructions in houses, with Gymnasium's interface."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from navarena.core.errors import ActionError, InputError
from navarena.episodes.route_tours import EpisodeTour
from navarena.episodes.tour_sets import DrawnHouseTours, ListedTours, load_file_tours
from navarena.metrics.catalog import compute_metrics
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import get_tour_task
from navarena.tasks.phase import Phase
from navarena.tasks.spaces import first_observed, observation_space
from navarena.tasks.tour_batch import TourBatch, TourRecord
from navarena.tasks.vln_ce_tours import IR2RCE


class TourEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Tours of `ir2r-ce-v1`.

    `reset` draws a tour with the environment's generator, or begins the one given by
    `options={"tour": tour}`. `step` goes on through the oracle phases; what the agent does there is
    ignored.

    The info holds "episode_id", "tour_id", "scene_id" and "phase"; that of the step which ends an agent
    phase also "ended" (its episode id) and "metrics".

    Args:
        tours: to draw from (see `episodes.route_tours`), or the tour file that goes with `dataset`; None
            for those of a split of r2r-houses-v1, each house made when it is first drawn.
        task: protocol id or task.
        sensors: names of the observations; None for all that the protocol offers.
        threads: for rendering; None for all processors this process may use.
        worlds: where scenes come from; None for a store of its own.
        split: of r2r-houses-v1 or of the tour file; None for "train", or the one of the file's name.
        dataset: episode file of VLN-CE, in the place of r2r-houses-v1.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        tours: Sequence[EpisodeTour] | str | Path | None = None,
        task: str | IR2RCE = "ir2r-ce-v1",
        sensors: Sequence[str] | None = None,
        threads: int | None = None,
        worlds: WorldCache | None = None,
        split: str | None = None,
        dataset: str | Path | None = None,
    ) -> None:
        self.task = get_tour_task(task) if isinstance(task, str) else task
        worlds = worlds or WorldCache(self.task.embodiment)
        self._tours = find_tours(tours, worlds, split, dataset)
        self.tour_batch = TourBatch(self.task, 1, threads, sensors, worlds)
        self.observation_space: gymnasium.Space[Any] = observation_space(self.tour_batch.batch.specs)
        self.action_space = spaces.Discrete(len(self.task.actions))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a tour; (observations, info). Equal seeds give equal sequences of tours."""
        super().reset(seed=seed)
        tour = (options or {}).get("tour")
        if tour is None:
            tour = self._tours.draw(self.np_random)
        self.tour_batch.start([0], [tour])
        return self._observe(), describe_tour(self.tour_batch, 0)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one action; (observations, reward, terminated, truncated, info).

        Raises ActionError for an action that is no index into `task.actions`, before the first reset
        and after the end of a tour.
        """
        if not np.issubdtype(np.asarray(action).dtype, np.integer) or np.asarray(action).size != 1:
            raise ActionError(
                f"expected one integer action within 0..{len(self.task.actions) - 1}, got {action!r}"
            )
        step = self.tour_batch.step(np.asarray(action, np.int64).reshape(1))
        record = next(iter(self.tour_batch.take_records()), None)
        info = describe_tour(self.tour_batch, 0, record)
        return self._observe(), float(step.reward[0]), bool(step.terminated[0]), bool(step.truncated[0]), info

    def _observe(self) -> dict[str, Any]:
        seen = self.tour_batch.observations
        return {name: first_observed(seen[name]) for name in self.tour_batch.batch.specs}


def find_tours(
    tours: Sequence[EpisodeTour] | str | Path | None,
    worlds: WorldCache,
    split: str | None,
    dataset: str | Path | None,
) -> ListedTours | DrawnHouseTours:
    """Where tours are drawn from; see `TourEnv`. Raises InputError for one of two files without the other."""
    if tours is None and dataset is None:
        return DrawnHouseTours(split or "train", worlds)
    if isinstance(tours, str | Path) and dataset is not None:
        return ListedTours(load_file_tours(Path(dataset), Path(tours), split)[-1])
    if tours is None or isinstance(tours, str | Path):
        raise InputError(f"expected tours=FILE and dataset=FILE together, got {tours} and {dataset}")
    if dataset is not None:
        raise InputError(f"expected no dataset beside a list of tours, got {dataset}")
    return ListedTours(tours)


def describe_tour(batch: TourBatch, slot: int, record: TourRecord | None = None) -> dict[str, Any]:
    """The info of one slot: who it is, and how the agent phase of `record`, which has just ended, scored."""
    episode = batch.episode(slot)
    info: dict[str, Any] = {
        "episode_id": episode.episode_id,
        "tour_id": batch.tour(slot).tour_id,
        "scene_id": episode.scene_id,
        "phase": Phase(int(batch.phase[slot])).name.lower(),
    }
    if record is not None:
        info["ended"] = record.episode_id
        info["metrics"] = compute_metrics(batch.task.metrics, record.trajectory)
    return info
