"""One environment of a task, with Gymnasium's interface."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from jaxtyping import Float

from navarena.core.display import describe_fields
from navarena.core.errors import ActionError, InputError
from navarena.episodes.episode import Episode
from navarena.episodes.sampler import MakeSampler
from navarena.simulation.sensors.images import DepthType
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import change_images
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.graphs.task import GraphTask
from navarena.tasks.image_options import ImageOptions
from navarena.tasks.slot_episodes import SlotEpisodes, describe_slot, find_sampler, find_scans, find_worlds
from navarena.tasks.sources import make_batch
from navarena.tasks.spaces import action_space, first_observed, observation_space, observed_names
from navarena.tasks.task import TaskRules
from navarena.tasks.user_files import NO_SOURCES, Sources


class NavigationEnv(gymnasium.Env[dict[str, np.ndarray], Any]):
    """One body, one episode or one tour at a time.

    `reset` draws an episode with the environment's generator, or begins the one given by
    `options={"episode": episode}`; of protocols with tours it draws a whole tour, or takes
    `options={"tour": episodes}`. What has ended must be reset before the next step.

    The info of `reset` and `step` holds "episode_id", "scene_id" and "began" (a sub-task ended in this step,
    and the next one runs). That of the last step of an episode also has "metrics": name -> number. On tours
    there are "tour_id" and "phase", too: `step` goes on through the oracle phases, in which the agent's
    actions are ignored; the step that ends an episode of a tour has its id as "ended" beside the metrics.
    Cameras: see `intrinsics` and `world_from_camera`.

    Args:
        task: protocol id or task, in scenes or on navigation graphs.
        split: whose episodes are drawn.
        dataset: name or file of the episodes; None for the protocol's own.
        sensors: names of the observations; None for all that the protocol offers, but for texts.
        text: whether texts, such as instructions and names of goals, are among them without `sensors`, too;
            learning libraries take none.
        episodes: to draw from, in the place of `split` and `dataset`.
        threads: for rendering; None for all processors this process may use.
        worlds: where scenes come from; None for a store of its own.
        corruptions: of images, motion, estimated pose and goals, in this order, each as "name:severity".
        sources: the user's files beside the data set, such as the connectivity of navigation graphs.
        sampler: chooses among the episodes; None streams train splits (see EpisodeStream), and draws others
            with equal probability.
        image_size: (width, height) in pixels of all images, which the cameras then take; None for the
            protocol's (see ImageOptions for a size of each sensor).
        depth_dtype: "float32", "float16" or "uint8" (0 to 255 for the range of depth); None for
            the protocol's.
        metrics: names of what the info of the last step holds; None for the protocol's.
        render_mode: "rgb_array" lets `render` return the first colour camera's image.
        copy: whether observations are fresh arrays. Without it they are rewritten by the next step.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(
        self,
        task: str | TaskRules = "pointnav-v1",
        split: str = "train",
        dataset: str | None = None,
        sensors: Sequence[str] | None = None,
        episodes: Sequence[Episode] | None = None,
        threads: int | None = None,
        worlds: WorldCache | None = None,
        corruptions: Sequence[str] = (),
        render_mode: str | None = None,
        sources: Sources = NO_SOURCES,
        sampler: MakeSampler | None = None,
        image_size: tuple[int, int] | None = None,
        depth_dtype: DepthType | None = None,
        text: bool = False,
        metrics: Sequence[str] | None = None,
        copy: bool = True,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"expected render_mode None or 'rgb_array', got {render_mode!r}")
        self.task = change_images(task, ImageOptions(image_size, image_size, depth_dtype))
        if render_mode is not None and isinstance(self.task, GraphTask):
            raise InputError(
                f"expected render_mode None of {self.task.protocol_id} on graphs, got {render_mode!r}"
            )
        self.render_mode, self.copy = render_mode, copy
        require_applicable(self.task, corruptions, sensors or ())
        found = find_sampler(self.task, split, dataset, episodes, sources, sampler)
        worlds = find_worlds(self.task, worlds)
        names = tuple(dict.fromkeys(self.task.sensors if sensors is None else sensors))
        drawn = ("rgb",) if render_mode and "rgb" not in names else ()
        scans = find_scans(self.task, split, episodes, sources)
        self.batch = make_batch(self.task, 1, threads, (*names, *drawn), worlds, corruptions, sources, scans)
        self._episodes = SlotEpisodes(self.batch, found, worlds, metrics)
        specs = {name: spec for name, spec in self.batch.specs.items() if name not in drawn}
        self._names = observed_names(specs, sensors, text)
        self.observation_space: gymnasium.Space[Any] = observation_space(
            {name: self.batch.specs[name] for name in self._names}
        )
        self.action_space = action_space(self.task)

    def __repr__(self) -> str:
        return describe_fields(
            type(self).__name__,
            task=self.task.protocol_id,
            actions=tuple(self.task.actions),
            observations=self._names,
        )

    __str__ = __repr__

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; (observations, info). Equal seeds give equal sequences of episodes.

        Raises InputError for other options, and for options whose episode is none, or whose tour has none.
        """
        self._episodes.require_open()
        group = _find_group(options or {})
        super().reset(seed=seed)
        self._episodes.restart(self.np_random, seed is not None)
        self._episodes.start([0], [self._episodes.draw(self.np_random) if group is None else group])
        return self._observe(), describe_slot(self.batch, 0)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one action; (observations, reward, terminated, truncated, info).

        Raises ActionError for an action that is not an index into `task.actions` (a number within
        [-1, 1] for each of them, when it is continuous), before the first reset, after the end of an
        episode or tour, and after `close`.
        """
        self._episodes.require_open()
        result = self.batch.step(_batch_of_one(self.task, action))
        ends, terminated, truncated = self._episodes.follow(result)
        info = {**describe_slot(self.batch, 0, result), **ends.get(0, {})}
        return self._observe(), float(result.reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def close(self) -> None:
        """Close this environment for good."""
        self._episodes.close()

    def render(self) -> Any:
        """(H, W, 3) uint8 camera image of the body; None without a render mode."""
        if self.render_mode is None:
            return None
        return self.batch.observations["rgb"][0].copy()

    def intrinsics(self, camera: str = "") -> Float[np.ndarray, "3 3"]:
        """(3, 3) K of a camera, pixels: (column, row, 1) * depth = K @ (right, down, forward)."""
        return self._body_batch().simulator.intrinsics(camera)

    def world_from_camera(self, camera: str = "") -> Float[np.ndarray, "4 4"]:
        """(4, 4) pose of a camera now: world metres from its (right, up, backward, 1)."""
        return self._body_batch().simulator.world_from_camera(camera)[0]

    def save_state(self) -> bytes:
        """State of this environment, its generator and sampler included, for `restore_state`."""
        return self._episodes.save_state((self._np_random, self._np_random_seed))

    def restore_state(self, saved: bytes) -> None:
        """Restore the state `saved` of an environment of equal arguments, bit for bit.

        The bytes are a pickle: restore only what you saved. Raises FileError for a scene
        that cannot be read any more.
        """
        self._np_random, self._np_random_seed = self._episodes.restore_state(saved)

    def _body_batch(self) -> NavigationBatch:
        if not isinstance(self.batch, NavigationBatch):
            raise InputError(f"expected a protocol with cameras, got {self.task.protocol_id} on graphs")
        return self.batch

    def _observe(self) -> dict[str, Any]:
        seen = self.batch.observations
        return {name: first_observed(seen[name], self.copy) for name in self._names}


def _find_group(options: dict[str, Any]) -> Sequence[Episode] | None:
    """The tour that the options of a reset name, or an episode as one; None for one that is drawn."""
    if not options:
        return None
    if list(options) not in (["episode"], ["tour"]):
        raise InputError(
            f"expected 'episode' or 'tour' in the options of reset, got {', '.join(map(repr, options))}"
        )
    group: Any = (options["episode"],) if "episode" in options else options["tour"]
    if not (isinstance(group, Sequence) and group and all(isinstance(one, Episode) for one in group)):
        raise InputError(
            "expected an episode, or a tour of at least one, in the options of reset, got "
            f"{options!r:.80}; take them from load_episodes, or leave the option out"
        )
    return group


def _batch_of_one(task: TaskRules, action: Any) -> np.ndarray:
    """An action with N = 1 in front; raises ActionError for one of another form."""
    given = np.asarray(action)
    if task.is_continuous:
        return given[None]
    if not np.issubdtype(given.dtype, np.integer) or given.size != 1:
        raise ActionError(f"expected one integer action within 0..{len(task.actions) - 1}, got {action!r}")
    return given.astype(np.int64).reshape(1)
