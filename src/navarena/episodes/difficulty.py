"""How hard an episode is called: by its geodesic distance alone."""

LABELS = ("easy", "medium", "hard")
"""As in the files of RoboTHOR and RobustNav."""


def label_difficulty(distance: float, limits: tuple[float, float]) -> str:
    """One of LABELS for a geodesic `distance` in metres.

    limits: metres; up to the first an episode is easy, up to the second it is medium.
    """
    return LABELS[sum(distance > limit for limit in limits)]
