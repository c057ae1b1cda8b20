"""An agent of one's own, evaluated as the command line does it.

    python examples/own_agent.py

The same from a shell, in this folder: navarena evaluate pointnav-v1 --agent own_agent:GoalSeeker
"""

from collections.abc import Mapping

import numpy as np

import navarena

STOP, FORWARD, LEFT, RIGHT = 0, 1, 2, 3


class GoalSeeker(navarena.SingleAgent):
    """Turns towards the goal and walks; when a step did not bring it nearer, walks around to the left."""

    sensors = ("pointgoal_with_gps_compass", "collided")

    def reset(self) -> None:
        """Forget the last episode."""
        self.evading = 0

    def act(self, observations: Mapping[str, np.ndarray]) -> int:
        """One of STOP, FORWARD, LEFT, RIGHT."""
        distance, bearing = observations["pointgoal_with_gps_compass"]
        if distance < 0.2:
            return STOP
        if np.any(observations["collided"]):
            self.evading = 3
            return LEFT
        if self.evading:
            self.evading -= 1
            return FORWARD
        if abs(bearing) > np.deg2rad(16):
            return LEFT if bearing > 0 else RIGHT
        return FORWARD


def main() -> None:
    """Evaluate on the mini split and print means with their intervals."""
    settings = navarena.EvaluationSettings("pointnav-v1", agent="own_agent:GoalSeeker", split="mini")
    evaluation = navarena.evaluate(settings)
    for name, metric in evaluation.summary.metrics.items():
        print(f"{name:18} {metric.mean:8.3f}   [{metric.low:.3f}, {metric.high:.3f}]")
    print(f"every step is in {evaluation.folder}")


if __name__ == "__main__":
    main()
