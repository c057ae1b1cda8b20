"""One environment of a task, with Gymnasium's interface."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from jaxtyping import Float

from navarena.core.errors import ActionError, InputError
from navarena.episodes.catalog import load_episodes
from navarena.episodes.episode import Episode
from navarena.metrics.catalog import compute_metrics
from navarena.simulation.world import WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.catalog import get_task
from navarena.tasks.corruption_checks import require_sense
from navarena.tasks.spaces import action_space, first_observed, observation_space
from navarena.tasks.task import Task


def find_task(task: str | Task) -> Task:
    """The task of a protocol id, or the task itself."""
    return task if isinstance(task, Task) else get_task(task)


def find_episodes(
    task: Task, split: str, dataset: str | None, episodes: Sequence[Episode] | None
) -> Sequence[Episode]:
    """The given episodes, else those of the split; raises InputError when there are none."""
    found = load_episodes(task, split, dataset).episodes if episodes is None else episodes
    if not len(found):
        raise InputError("expected at least one episode, got an empty list")
    return found


def draw_episode(episodes: Sequence[Episode], generator: np.random.Generator) -> Episode:
    """One of `episodes`, each with equal probability."""
    return episodes[int(generator.integers(len(episodes)))]


class NavigationEnv(gymnasium.Env[dict[str, np.ndarray], Any]):
    """One body, one episode at a time.

    `reset` draws an episode with the environment's generator, or begins the one given by
    `options={"episode": episode}`. An episode that has ended must be reset before the next step.

    The info of `reset` and `step` holds "episode_id" and "scene_id"; that of the last step of an
    episode also "metrics": name -> number. Cameras: see `intrinsics` and `world_from_camera`.

    Args:
        task: protocol id or task.
        split: whose episodes are drawn.
        dataset: name or file of the episodes; None for the protocol's own.
        sensors: names of the observations; None for all that the protocol offers.
        episodes: to draw from, in the place of `split` and `dataset`.
        threads: for rendering; None for all processors this process may use.
        worlds: where scenes come from; None for a store of its own.
        corruptions: what spoils sight, motion and knowledge of the pose, in this order, as "name:severity".
        render_mode: "rgb_array" lets `render` return the first colour camera's image.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}

    def __init__(
        self,
        task: str | Task = "pointnav-v1",
        split: str = "train",
        dataset: str | None = None,
        sensors: Sequence[str] | None = None,
        episodes: Sequence[Episode] | None = None,
        threads: int | None = None,
        worlds: WorldCache | None = None,
        corruptions: Sequence[str] = (),
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"expected render_mode None or 'rgb_array', got {render_mode!r}")
        self.task = find_task(task)
        self.render_mode = render_mode
        require_sense(self.task, corruptions, sensors or ())
        self._episodes = find_episodes(self.task, split, dataset, episodes)
        names = tuple(dict.fromkeys(self.task.sensors if sensors is None else sensors))
        drawn = ("rgb",) if render_mode and "rgb" not in names else ()
        self.batch = NavigationBatch(self.task, 1, threads, (*names, *drawn), worlds, corruptions)
        hidden = set(drawn)
        self._names = tuple(name for name in self.batch.specs if name not in hidden)
        self.observation_space: gymnasium.Space[Any] = observation_space(
            {name: self.batch.specs[name] for name in self._names}
        )
        self.action_space = action_space(self.task)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Begin an episode; (observations, info). Equal seeds give equal sequences of episodes."""
        super().reset(seed=seed)
        chosen = (options or {}).get("episode")
        episode = draw_episode(self._episodes, self.np_random) if chosen is None else chosen
        self.batch.start([0], [episode])
        return self._observe(), self._describe()

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Carry out one action; (observations, reward, terminated, truncated, info).

        Raises ActionError for an action that is not an index into `task.actions` (a number within
        [-1, 1] for each of them, when it is continuous), before the first reset and after the end of an
        episode.
        """
        result = self.batch.step(_batch_of_one(self.task, action))
        terminated, truncated = bool(result.terminated[0]), bool(result.truncated[0])
        info = self._describe()
        if terminated or truncated:
            info["metrics"] = compute_metrics(self.task.metrics, self.batch.trajectory(0))
        return self._observe(), float(result.reward[0]), terminated, truncated, info

    def render(self) -> Any:
        """(H, W, 3) uint8 image of what the body sees; None without a render mode."""
        if self.render_mode is None:
            return None
        return self.batch.observations["rgb"][0].copy()

    def intrinsics(self, camera: str = "") -> Float[np.ndarray, "3 3"]:
        """(3, 3) K of a camera, pixels: (column, row, 1) * depth = K @ (right, down, forward)."""
        return self.batch.simulator.intrinsics(camera)

    def world_from_camera(self, camera: str = "") -> Float[np.ndarray, "4 4"]:
        """(4, 4) pose of a camera now: world metres from its (right, up, backward, 1)."""
        return self.batch.simulator.world_from_camera(camera)[0]

    def _observe(self) -> dict[str, np.ndarray]:
        seen = self.batch.observations
        return {name: first_observed(seen[name]) for name in self._names}

    def _describe(self) -> dict[str, Any]:
        episode = self.batch.episode(0)
        return {"episode_id": episode.episode_id, "scene_id": episode.scene_id}


def _batch_of_one(task: Task, action: Any) -> np.ndarray:
    """An action with N = 1 in front; raises ActionError for one of another form."""
    given = np.asarray(action)
    if task.is_continuous:
        return given[None]
    if not np.issubdtype(given.dtype, np.integer) or given.size != 1:
        raise ActionError(f"expected one integer action within 0..{len(task.actions) - 1}, got {action!r}")
    return given.astype(np.int64).reshape(1)
