"""Bases of the tasks with one goal: reward for progress, an end by declaration."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.episodes.episode import Episode, require_point_goal
from navarena.simulation.simulator import Simulator
from navarena.tasks.task import Actions, State, StepResult, Task

GOAL_METRICS = (
    "success",
    "spl",
    "soft_spl",
    "distance_to_goal",
    "path_length",
    "collisions",
    "num_actions",
)
"""Metrics of the PointNav and ObjectNav challenges."""


class GoalTask(Task[State]):
    """Go to one goal and declare it. A protocol says body, actions, sensors, limits and success.

    Attributes:
        success_reward: for a declaration that succeeds.
        slack_reward: each step.
        shaping_weight: reward for each metre of progress.
    """

    success_reward = 2.5
    """habitat-lab, RLTaskEnv configuration: SUCCESS_REWARD."""

    slack_reward = -0.01
    """habitat-lab, RLTaskEnv configuration: SLACK_REWARD."""

    shaping_weight = 1.0

    @abstractmethod
    def succeed(
        self, simulator: Simulator, state: State, stopped: Bool[np.ndarray, "n"]
    ) -> Bool[np.ndarray, "n"]:
        """(N,) bool: which of the bodies that have just `stopped` (N,) did so rightly; noted in `state`."""

    def judge(
        self,
        simulator: Simulator,
        state: State,
        actions: Actions,
        active: Bool[np.ndarray, "n"],
    ) -> StepResult:
        """Reward progress, end at the declaration, truncate at the limits."""
        progress = self.shaping_weight * state.measure_moved(simulator)
        stopped = active & self.is_stop(actions)
        state.stopped |= stopped
        succeeded = self.succeed(simulator, state, stopped)
        reward = np.where(active, progress + self.slack_reward, 0.0) + self.success_reward * succeeded
        truncated = active & ~stopped & self.is_over(state)
        return StepResult(reward, stopped, truncated)

    def is_over(self, state: State) -> Bool[np.ndarray, "n"]:
        """(N,) bool: whose limits are reached."""
        return np.asarray(state.steps >= self.max_steps)


class PointGoalTask(GoalTask[State]):
    """Go to a point; a declaration nearer than `success_distance` succeeds."""

    def begin(
        self,
        simulator: Simulator,
        state: State,
        slots: Int64[np.ndarray, "k"],
        episodes: Sequence[Episode],
    ) -> None:
        """Take the goals from the episodes and measure the paths to them."""
        for slot, episode in zip(slots.tolist(), episodes):
            goal = np.array([require_point_goal(episode).position])
            state.set_goal(slot, simulator.navmesh(slot), goal)
        state.measure(slots, simulator)
        state.start_distance[slots] = state.distance[slots]

    def succeed(
        self, simulator: Simulator, state: State, stopped: Bool[np.ndarray, "n"]
    ) -> Bool[np.ndarray, "n"]:
        """Whether the goal is near, along the floor."""
        return np.asarray(stopped & (state.distance < self.success_distance))
