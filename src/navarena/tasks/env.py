"""One environment of a task, with Gymnasium's interface."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import gymnasium
import numpy as np
from jaxtyping import Float

from navarena.core.errors import ActionError, InputError
from navarena.episodes.episode import Episode
from navarena.episodes.house_tours import DrawnGroups, HouseTours
from navarena.metrics.catalog import compute_metrics
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import require_applicable
from navarena.tasks.sources import NO_SOURCES, Batch, Sources, load_task_episodes, make_batch
from navarena.tasks.spaces import action_space, first_observed, observation_space
from navarena.tasks.task import Phase, StepResult, Task, TaskRules, find_metrics


def find_task(task: str | TaskRules) -> TaskRules:
    """The task of a protocol id, or the task itself."""
    return task if isinstance(task, TaskRules) else get_task(task)


@runtime_checkable
class GroupSource(Protocol):
    """Source from which environments draw what they run next."""

    def draw(self, generator: np.random.Generator) -> Sequence[Episode]:
        """The episodes of a tour in their order, or a single one."""
        ...


def find_groups(
    task: TaskRules,
    split: str,
    dataset: str | None,
    episodes: Sequence[Episode] | None,
    sources: Sources,
    worlds: WorldCache | None,
) -> GroupSource:
    """The given episodes to draw from, else those of the split; raises InputError when there are none."""
    if episodes is not None:
        return DrawnGroups(episodes)
    if dataset is None and isinstance(task, Task) and task.oracle is not None and sources == NO_SOURCES:
        return HouseTours(split, worlds or WorldCache(task.embodiment))
    return DrawnGroups(load_task_episodes(task, split, dataset, sources).episodes)


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
        sensors: names of the observations; None for all that the protocol offers.
        episodes: to draw from, in the place of `split` and `dataset`.
        threads: for rendering; None for all processors this process may use.
        worlds: where scenes come from; None for a store of its own.
        corruptions: of images, motion, estimated pose and goals, in this order, each as "name:severity".
        sources: the user's files beside the data set, such as the connectivity of navigation graphs.
        render_mode: "rgb_array" lets `render` return the first colour camera's image.
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
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"expected render_mode None or 'rgb_array', got {render_mode!r}")
        self.task = find_task(task)
        self.render_mode = render_mode
        require_applicable(self.task, corruptions, sensors or ())
        self._groups = find_groups(self.task, split, dataset, episodes, sources, worlds)
        names = tuple(dict.fromkeys(self.task.sensors if sensors is None else sensors))
        drawn = ("rgb",) if render_mode and "rgb" not in names else ()
        self.batch = make_batch(self.task, 1, threads, (*names, *drawn), worlds, corruptions, sources)
        self._tour: deque[Episode] = deque()
        hidden = set(drawn)
        self._names = tuple(name for name in self.batch.specs if name not in hidden)
        self.observation_space: gymnasium.Space[Any] = observation_space(
            {name: self.batch.specs[name] for name in self._names}
        )
        self.action_space = action_space(self.task)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; (observations, info). Equal seeds give equal sequences of episodes."""
        super().reset(seed=seed)
        given = options or {}
        group = (given["episode"],) if "episode" in given else given.get("tour")
        self._tour = deque(self._groups.draw(self.np_random) if group is None else group)
        self.batch.start([0], [self._tour.popleft()])
        return self._observe(), describe_slot(self.batch, 0)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one action; (observations, reward, terminated, truncated, info).

        Raises ActionError for an action that is not an index into `task.actions` (a number within
        [-1, 1] for each of them, when it is continuous), before the first reset and after the end of an
        episode or tour.
        """
        result = self.batch.step(_batch_of_one(self.task, action))
        terminated, truncated = bool(result.terminated[0]), bool(result.truncated[0])
        ended: dict[str, Any] = {}
        if terminated or truncated:
            ended = describe_end(self.batch, 0)
            if self._tour:
                self.batch.follow([0], [self._tour.popleft()])
                terminated = truncated = False
        info = {**describe_slot(self.batch, 0, result), **ended}
        return self._observe(), float(result.reward[0]), terminated, truncated, info

    def render(self) -> Any:
        """(H, W, 3) uint8 image of what the body sees; None without a render mode."""
        if self.render_mode is None:
            return None
        return self.batch.observations["rgb"][0].copy()

    def intrinsics(self, camera: str = "") -> Float[np.ndarray, "3 3"]:
        """(3, 3) K of a camera, pixels: (column, row, 1) * depth = K @ (right, down, forward)."""
        return self._body_batch().simulator.intrinsics(camera)

    def world_from_camera(self, camera: str = "") -> Float[np.ndarray, "4 4"]:
        """(4, 4) pose of a camera now: world metres from its (right, up, backward, 1)."""
        return self._body_batch().simulator.world_from_camera(camera)[0]

    def _body_batch(self) -> NavigationBatch:
        if not isinstance(self.batch, NavigationBatch):
            raise InputError(f"expected a protocol with cameras, got {self.task.protocol_id} on graphs")
        return self.batch

    def _observe(self) -> dict[str, Any]:
        seen = self.batch.observations
        return {name: first_observed(seen[name]) for name in self._names}


def describe_slot(batch: Batch, slot: int, result: StepResult | None = None) -> dict[str, Any]:
    """The info of one slot, after a start or the step of `result`: what runs there."""
    episode = batch.episode(slot)
    began = result is not None and result.began is not None and bool(result.began[slot])
    info: dict[str, Any] = {"episode_id": episode.episode_id, "scene_id": episode.scene_id, "began": began}
    if episode.tour_id:
        phase = Phase(int(batch.state.phase[slot])).name.lower()
        info |= {"tour_id": episode.tour_id, "phase": phase}
    return info


def describe_end(batch: Batch, slot: int) -> dict[str, Any]:
    """What the info of the step that ends an episode has beside: its metrics, on tours its id as "ended"."""
    episode, track = batch.episode(slot), batch.trajectory(slot)
    metrics = compute_metrics(find_metrics(batch.task, episode), track)
    return {"metrics": metrics, **({"ended": episode.episode_id} if episode.tour_id else {})}


def _batch_of_one(task: TaskRules, action: Any) -> np.ndarray:
    """An action with N = 1 in front; raises ActionError for one of another form."""
    given = np.asarray(action)
    if task.is_continuous:
        return given[None]
    if not np.issubdtype(given.dtype, np.integer) or given.size != 1:
        raise ActionError(f"expected one integer action within 0..{len(task.actions) - 1}, got {action!r}")
    return given.astype(np.int64).reshape(1)
