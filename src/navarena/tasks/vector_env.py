"""N environments of a task in one, with Gymnasium's vector interface."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.metrics.catalog import compute_metrics
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.env import draw_episode, find_episodes, find_task
from navarena.tasks.slot_generators import SlotGenerators
from navarena.tasks.spaces import action_space, as_observed, observation_space
from navarena.tasks.task import Actions, Task


class NavigationVectorEnv(VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """N bodies, stepped and rendered together.

    Environment i behaves bit for bit as a NavigationEnv that was reset with seed + i. An
    environment whose episode has ended ignores the next action and begins a new episode instead,
    with reward 0 (AutoresetMode.NEXT_STEP).

    Args:
        num_envs: N.
        task: protocol id or task.
        split: whose episodes are drawn.
        dataset: name or file of the episodes; None for the protocol's own.
        sensors: names of the observations; None for all that the protocol offers.
        episodes: to draw from, in the place of `split` and `dataset`.
        threads: for rendering; None for all processors this process may use.
        worlds: where scenes come from; None for a store of its own.
        corruptions: of images, motion, estimated pose and goals, in this order, each as "name:severity".
        copy: whether observations are fresh arrays. Without it they are rewritten by the next step.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        num_envs: int = 1,
        task: str | Task = "pointnav-v1",
        split: str = "train",
        dataset: str | None = None,
        sensors: Sequence[str] | None = None,
        episodes: Sequence[Episode] | None = None,
        threads: int | None = None,
        worlds: WorldCache | None = None,
        corruptions: Sequence[str] = (),
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            raise InputError(
                f"expected render_mode None of a vector environment, got {render_mode!r}; "
                "read the rgb observation"
            )
        self.num_envs = num_envs
        self.render_mode = None
        self.task = find_task(task)
        self.copy = copy
        require_applicable(self.task, corruptions, sensors or ())
        self._episodes = find_episodes(self.task, split, dataset, episodes)
        self.batch = NavigationBatch(self.task, num_envs, threads, sensors, worlds, corruptions)
        self.single_observation_space = observation_space(self.batch.specs)
        self.single_action_space = action_space(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = SlotGenerators(num_envs)
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin an episode in every environment; (observations, infos).

        A seed s stands for s, s + 1, ..., s + N - 1; a sequence holds one for each environment.
        """
        self._generators.seed(seed)
        self._ended[:] = False
        everyone = np.ones(self.num_envs, bool)
        self._begin(everyone)
        return self._observe(), self._describe(everyone)

    def step(
        self, actions: Actions
    ) -> tuple[
        dict[str, np.ndarray],
        Float[np.ndarray, "n"],
        Bool[np.ndarray, "n"],
        Bool[np.ndarray, "n"],
        dict[str, Any],
    ]:
        """One action in each environment; (observations, rewards, terminated, truncated, infos).

        actions: (N,) indices, or (N, K) numbers within [-1, 1] of a continuous task.
        Environments whose episode ended in the last step ignore theirs and begin a new one.
        Raises ActionError for an action out of range, and before the first reset.
        """
        self._generators.require_seeded("episode")
        begun = self._ended.copy()
        result = self.batch.step(np.asarray(actions), ~begun)
        self._begin(begun)
        self._ended = result.terminated | result.truncated
        infos = self._describe(begun)
        for slot in np.flatnonzero(self._ended):
            metrics = compute_metrics(self.task.metrics, self.batch.trajectory(int(slot)))
            infos = self._add_info(infos, {"metrics": metrics}, int(slot))
        return self._observe(), result.reward, result.terminated, result.truncated, infos

    def _begin(self, chosen: Bool[np.ndarray, "n"]) -> None:
        """Draw and start an episode in each of the chosen environments."""
        slots = np.flatnonzero(chosen).tolist()
        drawn = [draw_episode(self._episodes, self._generators[slot]) for slot in slots]
        self.batch.start(slots, drawn)

    def _observe(self) -> dict[str, np.ndarray]:
        seen = self.batch.observations
        return {
            name: as_observed(seen[name].copy() if self.copy else seen[name]) for name in self.batch.specs
        }

    def _describe(self, begun: Bool[np.ndarray, "n"]) -> dict[str, Any]:
        """Ids of the episodes that have just begun, in Gymnasium's form: value arrays with masks."""
        if not begun.any():
            return {}
        infos: dict[str, Any] = {}
        for slot in np.flatnonzero(begun):
            episode = self.batch.episode(int(slot))
            own = {"episode_id": episode.episode_id, "scene_id": episode.scene_id}
            infos = self._add_info(infos, own, int(slot))
        return infos
