"""N environments of a protocol on navigation graphs in one, with Gymnasium's vector interface."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float, Int

from navarena.episodes.graph_data import GraphData
from navarena.scenes.graphs.features import ViewFeatures
from navarena.tasks.catalog import get_graph_task
from navarena.tasks.slot_generators import SlotGenerators
from navarena.tasks.vln_graph import GraphTask
from navarena.tasks.vln_graph_batch import GraphBatch
from navarena.tasks.vln_graph_env import describe_step, find_data, graph_observation_space


class GraphVectorEnv(VectorEnv[dict[str, Any], Int[np.ndarray, "n"], np.ndarray]):
    """N bodies on navigation graphs; a slot whose tour has ended begins another at the next step.

    Slot i behaves as a GraphEnv that was reset with seed + i (AutoresetMode.NEXT_STEP).

    The instruction is a tuple of texts, every other observation an array with N first. Infos as of
    `GraphEnv`, in Gymnasium's form.

    Args:
        num_envs: N.
        task: protocol id or task.
        r2r, connectivity, tours, split, data, sensors, features: as of `GraphEnv`.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

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
        self.num_envs = num_envs
        self._data = find_data(self.task, data, r2r, connectivity, tours, split)
        self.batch = GraphBatch(self.task, self._data.atlas, num_envs, sensors, features)
        self.single_observation_space: gymnasium.Space[Any] = graph_observation_space(
            self.batch.observer.specs, self._data.tours
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space: gymnasium.Space[Any] = spaces.Discrete(len(self.task.actions))
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = SlotGenerators(self.num_envs)
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a tour in every slot; (observations, infos).

        A seed s stands for s, s + 1, ..., s + N - 1; a sequence holds one for each slot.
        """
        self._generators.seed(seed)
        self._ended[:] = False
        self._begin(np.ones(self.num_envs, bool))
        infos: dict[str, Any] = {}
        for slot in range(self.num_envs):
            infos = self._add_info(infos, describe_step(self.batch, slot), slot)
        return self._observe(), infos

    def step(
        self, actions: Int[np.ndarray, "n"]
    ) -> tuple[
        dict[str, Any],
        Float[np.ndarray, "n"],
        Bool[np.ndarray, "n"],
        Bool[np.ndarray, "n"],
        dict[str, Any],
    ]:
        """One action (N,) in each slot; (observations, rewards, terminated, truncated, infos).

        Slots whose tour ended in the last step ignore theirs and begin a new one. Raises ActionError
        for an action out of range, and before the first reset.
        """
        self._generators.require_seeded("tour")
        begun = self._ended.copy()
        step = self.batch.step(np.asarray(actions), ~begun)
        self._begin(begun)
        self._ended = step.terminated | step.truncated
        walks = {walk.slot: walk for walk in self.batch.take_records()}
        infos: dict[str, Any] = {}
        for slot in np.flatnonzero(begun | step.began | step.stopped | step.cut).tolist():
            own = describe_step(self.batch, slot, None if begun[slot] else step, walks)
            infos = self._add_info(infos, own, slot)
        return self._observe(), step.reward, step.terminated, step.truncated, infos

    def _begin(self, chosen: Bool[np.ndarray, "n"]) -> None:
        slots = np.flatnonzero(chosen).tolist()
        tours = self._data.tours
        self.batch.start(slots, [tours[int(self._generators[slot].integers(len(tours)))] for slot in slots])

    def _observe(self) -> dict[str, Any]:
        seen: dict[str, Any] = dict(self.batch.observations)
        if "instruction" in seen:
            seen["instruction"] = tuple(seen["instruction"].tolist())
        return seen
