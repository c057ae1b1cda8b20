"""Episodes that succeed by what is seen when the agent stops (RoboTHOR, Deitke et al. 2020)."""

from dataclasses import dataclass

from navarena.metrics.trajectory import Trajectory


@dataclass(frozen=True)
class SeenGoalTrajectory(Trajectory):
    """The record of an episode whose goal must be visible at STOP, however far its place is.

    Attributes:
        goal_seen: whether it was visible, near enough, when the agent stopped; False without a STOP.
    """

    goal_seen: bool

    @property
    def succeeded(self) -> bool:
        """Whether the agent called STOP while the goal was visible."""
        return self.stopped and self.goal_seen
