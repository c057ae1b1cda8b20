"""Base of the PointNav protocols: one goal, reward for progress, an end by declaration."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int64

from navarena.episodes.episode import Episode, require_point_goal
from navarena.simulation.simulator import Simulator
from navarena.tasks.task import Actions, State, StepResult, Task


class PointGoalTask(Task[State]):
    """Go to a point. A protocol says body, actions, sensors, limits and rewards.

    Attributes:
        success_reward: for a declaration at the goal.
        slack_reward: each step.
        shaping_weight: reward for each metre of progress.
    """

    success_reward = 2.5
    """habitat-lab, RLTaskEnv configuration: SUCCESS_REWARD."""

    slack_reward = -0.01
    """habitat-lab, RLTaskEnv configuration: SLACK_REWARD."""

    shaping_weight = 1.0

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

    def judge(
        self,
        simulator: Simulator,
        state: State,
        actions: Actions,
        active: Bool[np.ndarray, "n"],
    ) -> StepResult:
        """Reward progress, end at the declaration, truncate at the step limit."""
        progress = state.measure_moved(simulator)
        stopped = active & self.is_stop(actions)
        state.stopped |= stopped
        succeeded = stopped & (state.distance < self.success_distance)
        shaped = self.shaping_weight * progress + self.slack_reward
        reward = np.where(active, shaped, 0.0) + self.success_reward * succeeded
        truncated = active & ~stopped & (state.steps >= self.max_steps)
        return StepResult(reward, stopped, truncated)
