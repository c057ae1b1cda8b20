"""N environments of a task in one, with Gymnasium's vector interface."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.sampler import MakeSampler
from navarena.simulation.world import WorldCache
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.slot_episodes import SlotEpisodes, SlotGenerators, describe_slot, find_sampler, find_task
from navarena.tasks.sources import NO_SOURCES, Sources, make_batch
from navarena.tasks.spaces import action_space, as_observed, observation_space
from navarena.tasks.task import Actions, TaskRules


class NavigationVectorEnv(VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """N bodies, stepped and rendered together.

    Environment i behaves bit for bit as a NavigationEnv that was reset with seed + i, unless they share a
    sampler that keeps to a few scenes. An
    environment whose episode (on tours: whose tour) has ended ignores the next action and begins a new one
    instead, with reward 0 (AutoresetMode.NEXT_STEP). Infos are as of NavigationEnv, in Gymnasium's form, of
    the environments in which something begins or ends.

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
        sources: the user's files beside the data set, such as the connectivity of navigation graphs.
        sampler: chooses among the episodes for all environments, such as SceneSampler; None draws each with
            equal probability.
        copy: whether observations are fresh arrays. Without it they are rewritten by the next step.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        num_envs: int = 1,
        task: str | TaskRules = "pointnav-v1",
        split: str = "train",
        dataset: str | None = None,
        sensors: Sequence[str] | None = None,
        episodes: Sequence[Episode] | None = None,
        threads: int | None = None,
        worlds: WorldCache | None = None,
        corruptions: Sequence[str] = (),
        copy: bool = True,
        render_mode: str | None = None,
        sources: Sources = NO_SOURCES,
        sampler: MakeSampler | None = None,
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
        found = find_sampler(self.task, split, dataset, episodes, sources, worlds, sampler)
        self.batch = make_batch(self.task, num_envs, threads, sensors, worlds, corruptions, sources)
        self._episodes = SlotEpisodes(self.batch, found)
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
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in every environment; (observations, infos).

        A seed s stands for s, s + 1, ..., s + N - 1; a sequence holds one for each environment.
        """
        self._generators.seed(seed)
        self._episodes.restart(self._generators[0], seed is not None)
        self._ended[:] = False
        self._begin(np.ones(self.num_envs, bool))
        infos: dict[str, Any] = {}
        for slot in range(self.num_envs):
            infos = self._add_info(infos, describe_slot(self.batch, slot), slot)
        return self._observe(), infos

    def step(
        self, actions: Actions
    ) -> tuple[
        dict[str, Any],
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
        fresh = self._ended.copy()
        result = self.batch.step(np.asarray(actions), ~fresh)
        self._begin(fresh)
        ends, terminated, truncated = self._episodes.follow(result)
        self._ended = terminated | truncated
        announced = fresh | result.terminated | result.truncated
        for began in (result.began, result.arrived):
            if began is not None:
                announced |= began
        infos: dict[str, Any] = {}
        for slot in np.flatnonzero(announced).tolist():
            own = describe_slot(self.batch, slot, None if fresh[slot] else result)
            infos = self._add_info(infos, {**own, **ends.get(slot, {})}, slot)
        return self._observe(), result.reward, terminated, truncated, infos

    def save_state(self) -> bytes:
        """What changes in these environments, generators and sampler included, for `restore_state`."""
        return self._episodes.save_state((self._generators.save_state(), self._ended))

    def restore_state(self, saved: bytes) -> None:
        """Go on where environments of equal arguments stood when they made `saved`: with the same bytes.

        The bytes are a pickle: restore only what you saved. Raises what opening a scene raises.
        """
        generators, self._ended = self._episodes.restore_state(saved)
        self._generators.restore_state(generators)

    def _begin(self, chosen: Bool[np.ndarray, "n"]) -> None:
        """Draw and start an episode or a tour in each of the chosen environments."""
        slots = np.flatnonzero(chosen).tolist()
        self._episodes.start(slots, [self._episodes.draw(self._generators[slot]) for slot in slots])

    def _observe(self) -> dict[str, Any]:
        seen = self.batch.observations
        return {
            name: as_observed(seen[name].copy() if self.copy else seen[name]) for name in self.batch.specs
        }
