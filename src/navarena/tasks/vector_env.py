"""N environments of a task in one, with Gymnasium's vector interface."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float

from navarena.core.display import describe_fields
from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.sampler import MakeSampler
from navarena.simulation.device_images import RenderDevice
from navarena.simulation.sensors.images import DepthType
from navarena.simulation.world import WorldCache
from navarena.tasks.catalog import change_images
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.image_options import ImageOptions
from navarena.tasks.slot_episodes import (
    SlotEpisodes,
    SlotGenerators,
    describe_slot,
    find_sampler,
    find_scans,
    find_worlds,
)
from navarena.tasks.sources import make_batch
from navarena.tasks.spaces import (
    action_space,
    as_observed,
    first_observed,
    observation_space,
    observed_names,
)
from navarena.tasks.task import Actions, StepResult, TaskRules
from navarena.tasks.user_files import NO_SOURCES, Sources


class NavigationVectorEnv(VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """N bodies, stepped and rendered together.

    Environment i behaves bit for bit as a NavigationEnv that was reset with seed + i, unless they share a
    sampler that keeps to a few scenes, as that of train splits. An environment whose episode (on tours: whose
    tour) has ended ignores the next action and begins a new one instead, with reward 0
    (AutoresetMode.NEXT_STEP). With SAME_STEP it begins the new one at once: the step that ends an episode
    returns its reward and ends together with the first observation of the next, and the infos hold the last
    observation as "final_obs" (N, None where nothing ended) and the info of the last step as "final_info".

    Infos are as of NavigationEnv, in Gymnasium's form, of the environments in which something begins or ends.
    "episode_start" (N,) bool says of all in each of them whether the observation is the first after a reset,
    where memories of agents begin anew.

    Args:
        num_envs: N.
        task: protocol id or task.
        split: whose episodes are drawn.
        dataset: name or file of the episodes; None for the protocol's own.
        sensors: names of the observations; None for all that the protocol offers, but for texts.
        text: whether texts are among them without `sensors`, too.
        episodes: to draw from, in the place of `split` and `dataset`.
        threads: for rendering; None for all processors this process may use.
        worlds: where scenes come from; None for a store of its own.
        corruptions: of images, motion, estimated pose and goals, in this order, each as "name:severity".
        sources: the user's files beside the data set, such as the connectivity of navigation graphs.
        sampler: chooses among the episodes for all environments; None streams train splits (see
            EpisodeStream), and draws others with equal probability.
        image_size: (width, height) in pixels of all images, which the cameras then take; None for the
            protocol's (see ImageOptions for a size of each sensor).
        depth_dtype: "float32", "float16" or "uint8" (0 to 255 for the range of depth); None for
            the protocol's.
        metrics: names of what infos hold of episodes that end, such as ("success", "spl"); None for all of
            the protocol's, and by default none, which costs nothing.
        autoreset_mode: NEXT_STEP, or SAME_STEP (see above).
        copy: whether observations are fresh arrays. Without it they are rewritten by the next step.
        device: "cuda" (or "cuda:1") draws on a GPU, where rgb, depth, semantic and instance images stay:
            they are device arrays, which torch.from_dlpack takes without a copy. Bodies are stepped on the
            CPU, and all other observations are NumPy's. "warp-cpu" is the same on the CPU, for tests.
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
        image_size: tuple[int, int] | None = None,
        depth_dtype: DepthType | None = None,
        text: bool = False,
        metrics: Sequence[str] | None = (),
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        device: str = "cpu",
    ) -> None:
        if autoreset_mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
            raise InputError(f"expected AutoresetMode.NEXT_STEP or SAME_STEP, got {autoreset_mode!r}")
        self.metadata = {**type(self).metadata, "autoreset_mode": autoreset_mode}
        self._resets_at_once = autoreset_mode is AutoresetMode.SAME_STEP
        if render_mode is not None:
            raise InputError(
                f"expected render_mode None of a vector environment, got {render_mode!r}; "
                "read the rgb observation"
            )
        if num_envs < 1:
            raise InputError(f"expected at least one environment, got {num_envs}")
        self.num_envs = num_envs
        self.render_mode = None
        self.task = change_images(task, ImageOptions(image_size, image_size, depth_dtype))
        self.copy = copy
        require_applicable(self.task, corruptions, sensors or ())
        found = find_sampler(self.task, split, dataset, episodes, sources, sampler)
        worlds = find_worlds(self.task, worlds)
        self.batch = make_batch(
            self.task,
            num_envs,
            threads,
            sensors,
            worlds,
            corruptions,
            sources,
            find_scans(self.task, split, episodes, sources),
            device=RenderDevice(device, keeps_images=True),
        )
        self._episodes = SlotEpisodes(self.batch, found, worlds, metrics)
        self._names = observed_names(self.batch.specs, sensors, text)
        self.single_observation_space = observation_space(
            {name: self.batch.specs[name] for name in self._names}
        )
        self.single_action_space = action_space(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = SlotGenerators(num_envs)
        self._ended = np.zeros(num_envs, bool)

    def __repr__(self) -> str:
        return describe_fields(
            type(self).__name__,
            num_envs=self.num_envs,
            task=self.task.protocol_id,
            actions=tuple(self.task.actions),
            observations=self._names,
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in every environment; (observations, infos).

        A seed s stands for s, s + 1, ..., s + N - 1; a sequence holds one for each environment. There are no
        options: InputError.
        """
        self._episodes.require_open()
        if options:
            given = ", ".join(map(repr, options))
            raise InputError(
                f"expected no options in the reset of a vector environment, got {given}; choose its episodes "
                "by `episodes` or `sampler`, or reset a NavigationEnv"
            )
        self._generators.seed(seed)
        self._episodes.restart(self._generators[0], seed is not None)
        self._ended[:] = False
        self._begin(np.ones(self.num_envs, bool))
        infos = self._mark_starts(np.ones(self.num_envs, bool))
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
        """Execute one action in each environment; (observations, rewards, terminated, truncated, infos).

        actions: (N,) indices, or (N, K) numbers within [-1, 1] of a continuous task.
        Environments whose episode ended in the last step ignore theirs and begin a new one (NEXT_STEP).
        Raises ActionError for an action out of range, before the first reset and after `close`.
        """
        self._episodes.require_open()
        self._generators.require_seeded("episode")
        fresh = self._ended.copy()
        result = self.batch.step(np.asarray(actions), ~fresh)
        self._begin(fresh)
        ends, terminated, truncated = self._episodes.follow(result)
        self._ended = terminated | truncated
        infos: dict[str, Any] = {}
        if self._resets_at_once:
            infos = self._begin_at_once(result, ends)
            fresh, self._ended = self._ended, np.zeros(self.num_envs, bool)
        announced = fresh | result.terminated | result.truncated
        for began in (result.began, result.arrived):
            if began is not None:
                announced |= began
        infos |= self._mark_starts(fresh)
        for slot in np.flatnonzero(announced).tolist():
            own = describe_slot(self.batch, slot, None if fresh[slot] else result)
            infos = self._add_info(infos, own if fresh[slot] else {**own, **ends.get(slot, {})}, slot)
        return self._observe(), result.reward, terminated, truncated, infos

    def _begin_at_once(self, result: StepResult, ends: dict[int, dict[str, Any]]) -> dict[str, Any]:
        """Infos of the last steps of ended episodes, in whose slots new ones begin."""
        infos: dict[str, Any] = {}
        slots = np.flatnonzero(self._ended).tolist()
        if not slots:
            return infos
        seen = self.batch.observations
        for slot in slots:
            final_info = {**describe_slot(self.batch, slot, result), **ends[slot]}
            last = {name: first_observed(seen[name][slot : slot + 1]) for name in self._names}
            infos = self._add_info(infos, {"final_obs": last, "final_info": final_info}, slot)
        self._begin(self._ended)
        return infos

    def _mark_starts(self, begun: Bool[np.ndarray, "n"]) -> dict[str, Any]:
        """Infos that say in which environments (N,) the observation is the first after a reset."""
        return {"episode_start": begun.copy(), "_episode_start": np.ones(self.num_envs, bool)}

    def close_extras(self, **kwargs: Any) -> None:
        """End these environments for good; `close` calls it."""
        self._episodes.close()

    def save_state(self) -> bytes:
        """State of these environments, generators and sampler included, for `restore_state`."""
        return self._episodes.save_state((self._generators.save_state(), self._ended))

    def restore_state(self, saved: bytes) -> None:
        """Restore the state `saved` of environments of equal arguments, bit for bit.

        The bytes are a pickle: restore only what you saved. Raises FileError for a scene
        that cannot be read any more.
        """
        generators, self._ended = self._episodes.restore_state(saved)
        self._generators.restore_state(generators)

    def _begin(self, chosen: Bool[np.ndarray, "n"]) -> None:
        """Draw and start an episode or a tour in each of the chosen environments."""
        slots = np.flatnonzero(chosen).tolist()
        self._episodes.start(slots, [self._episodes.draw(self._generators[slot]) for slot in slots])

    def _observe(self) -> dict[str, Any]:
        seen = self.batch.observations
        return {name: as_observed(seen[name], self.copy) for name in self._names}
