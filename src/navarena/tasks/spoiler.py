"""Applies corruptions to N slots of a task, the same in every batch."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64, UInt8

from navarena.corruptions.catalog import join_corruptions
from navarena.corruptions.corruption import (
    CameraCorruption,
    DepthCorruption,
    ImageCorruption,
    MotionCorruption,
    PoseCorruption,
)
from navarena.episodes.episode import Episode
from navarena.simulation.simulator import Simulator
from navarena.tasks.episode_draws import EpisodeDraws
from navarena.tasks.sensors.lifelong_goal import LifelongGoalState
from navarena.tasks.spoilt_goals import GoalSpoiler
from navarena.tasks.spoilt_images import ImageSpoiler, change_cameras
from navarena.tasks.spoilt_motion import MotionSpoiler
from navarena.tasks.spoilt_poses import PoseSpoiler
from navarena.tasks.task import Task, TaskState


class Spoiler:
    """The corruptions of a task itself, and then those that somebody chose (see join_corruptions).

    Args:
        task: whose own corruptions come first.
        corruptions: each as find_corruption reads it.
        slots: N.
        steps: (N,) counts of steps of the episodes, which the caller keeps.

    Attributes:
        body: the task's, with the cameras that corruptions make of its own.
        stays_when_blocked: whether a walk that meets an obstacle is not made at all.

    Raises what find_corruptions raises.
    """

    def __init__(
        self, task: Task, corruptions: Sequence[str], slots: int, steps: Int64[np.ndarray, "n"]
    ) -> None:
        found = join_corruptions(task.corruptions, corruptions)
        self._task, self._steps = task, steps
        self._episodes: list[Episode | None] = [None] * slots
        self._draws = [
            EpisodeDraws(text, place, one, slots, task.max_steps + isinstance(one, PoseCorruption))
            for place, (text, one) in enumerate(found.items())
            if isinstance(one, MotionCorruption | PoseCorruption)
        ]
        self._images = ImageSpoiler(
            {
                place: (text, one)
                for place, (text, one) in enumerate(found.items())
                if isinstance(one, ImageCorruption | DepthCorruption)
            },
            steps,
        )
        self._goals = GoalSpoiler.among(found)
        self._motion = MotionSpoiler(self._draws, steps)
        self.stays_when_blocked = self._motion.stays_when_blocked
        cameras = [one for one in found.values() if isinstance(one, CameraCorruption)]
        self.body = change_cameras(task.embodiment, cameras)

    def attach(self, simulator: Simulator, state: TaskState) -> None:
        """Let these be the bodies and goals that are spoilt; call it once, before `begin`."""
        self._simulator = simulator
        if isinstance(state, LifelongGoalState):
            state.retouch = self._retouch_goal
        self._poses = PoseSpoiler(self._draws, self._steps, simulator.bodies)

    def begin(self, slots: Int64[np.ndarray, "k"], episodes: Sequence[Episode]) -> None:
        """Draw for `episodes` (K) that begin in `slots` (K,), in which the bodies already stand.

        Raises SceneError for a scene that does not know what a corruption must know of it.
        """
        for slot, episode in zip(slots.tolist(), episodes):
            self._episodes[slot] = episode
            self._motion.begin(slot, episode, self._simulator.stage.world(slot))
            self._poses.begin(slot, episode)
        self._poses.feel(slots, starting=True)

    def tell(self, slots: Int64[np.ndarray, "k"], episodes: Sequence[Episode]) -> list[Episode]:
        """The `episodes` (K) that begin in `slots` (K,) indices as the agents are told of their goals.

        Raises what GoalSpoiler.tell raises.
        """
        worlds = [self._simulator.stage.world(slot) for slot in slots.tolist()]
        return [self._goals.tell(episode, world) for episode, world in zip(episodes, worlds)]

    def feel(self, slots: Int64[np.ndarray, "k"]) -> None:
        """Let the bodies `slots` (K,), which have made a step, read their poses."""
        self._poses.feel(slots, starting=False)

    def retouch(self, name: str, images: np.ndarray, rows: Bool[np.ndarray, "n"]) -> None:
        """Spoil what the cameras have taken (see simulation.observer.Retouch)."""
        self._images.retouch(name, images, rows, self._episodes)

    def _retouch_goal(
        self, slot: int, number: int, image: UInt8[np.ndarray, "h w 3"]
    ) -> UInt8[np.ndarray, "h w 3"]:
        episode = self._episodes[slot]
        return image if episode is None else self._goals.retouch(episode, number, image)

    def actuate(
        self, actions: Int64[np.ndarray, "n"], movements: Float[np.ndarray, "n 4"]
    ) -> Float[np.ndarray, "n 4"]:
        """(N, 4) what bodies make of the `movements` (N, 4) that `actions` (N,) command."""
        if self._task.actuation is not None:
            movements = self._task.actuation(actions, movements)
        return self._motion.actuate(movements, self._simulator.positions, self._simulator.stage)
