"""An episode: where to start and what to find."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PointGoal:
    """A goal position (x, y, z) in metres, world frame, on the floor."""

    position: tuple[float, float, float]


@dataclass(frozen=True)
class Episode:
    """One PointNav episode.

    Attributes:
        episode_id: unique within its dataset and split.
        scene_id: such as "houses-v0/val/00017".
        start_position: (x, y, z) metres, world frame, on the floor.
        start_yaw: radians.
        goal: what to find.
        geodesic_distance: metres from start to goal for the declared body.
    """

    episode_id: str
    scene_id: str
    start_position: tuple[float, float, float]
    start_yaw: float
    goal: PointGoal
    geodesic_distance: float
