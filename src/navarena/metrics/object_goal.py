"""Success in ObjectNav: near an object that can be seen, or by sight alone.

As the consensus of 2020 defines it (Batra et al. 2020, section 2), an episode succeeds when the agent calls
STOP (intentionality) at a place where its body can be (validity: bodies stand nowhere else), near an object
of the category (proximity), from where it is seen (visibility): in the agent's own last image, or, with an
oracle, in the image that frames it best. The challenges measured the same by view points; that is
`navigation.success`. In RoboTHOR's ObjectNav (Deitke et al. 2020) only what is seen at STOP counts.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.errors import InputError
from navarena.metrics.trajectory import Trajectory


@dataclass(frozen=True, repr=False)
class ObjectGoalTrajectory(Trajectory):
    """Record of an episode whose goal is any of O objects, with their visibility at STOP.

    Without a STOP there are none (O = 0).

    Attributes:
        object_distances: (O,) float64 metres, from the body's axis to the surface of each object's box.
        pixels_seen: (O,) int64, pixels that show the object in the image at STOP.
        pixels_framed: (O,) int64, the same when the camera turns to the object's centre.
        zone_distance: metres within which an object is near.
        zone_pixels: pixels from which on it is seen.
    """

    object_distances: Float[np.ndarray, "o"]
    pixels_seen: Int[np.ndarray, "_"]
    pixels_framed: Int[np.ndarray, "_"]
    zone_distance: float = 1.0
    zone_pixels: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = {np.shape(one) for one in (self.object_distances, self.pixels_seen, self.pixels_framed)}
        if len(shapes) != 1:
            raise InputError(f"expected one distance and two counts of pixels for each object, got {shapes}")


def zone_success(trajectory: Trajectory) -> float:
    """1.0 if the agent stopped near an object that an oracle could frame in its camera, else 0.0.

    Records without objects (other tasks) count as `navigation.success` does.
    """
    if not isinstance(trajectory, ObjectGoalTrajectory):
        return float(trajectory.succeeded)
    return _stopped_near(trajectory, np.maximum(trajectory.pixels_framed, trajectory.pixels_seen))


def zone_success_seen(trajectory: Trajectory) -> float:
    """1.0 if the agent stopped near an object that its own last image shows, else 0.0.

    Records without objects (other tasks) count as `navigation.success` does.
    """
    if not isinstance(trajectory, ObjectGoalTrajectory):
        return float(trajectory.succeeded)
    return _stopped_near(trajectory, trajectory.pixels_seen)


def _stopped_near(trajectory: ObjectGoalTrajectory, pixels: Int[np.ndarray, "o"]) -> float:
    near = np.asarray(trajectory.object_distances) <= trajectory.zone_distance
    return float(trajectory.stopped and bool((near & (np.asarray(pixels) >= trajectory.zone_pixels)).any()))


@dataclass(frozen=True, repr=False)
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
