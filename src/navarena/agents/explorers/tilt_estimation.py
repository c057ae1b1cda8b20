"""Estimation and control of a camera's tilt that no sensor gives."""

import math

from navarena.simulation.body import Embodiment

SHARE = 0.75
"""Of half the camera's vertical view: what lies within it needs no tilt."""


class TiltEstimator:
    """Estimates the tilts of the first cameras of bodies.

    An episode may begin at any tilt. The body first looks up until the camera must be as high as it goes;
    from there on every look is counted.

    Args:
        body: whose `tilt_range` has bounds.
    """

    def __init__(self, body: Embodiment) -> None:
        self._step, (self._low, self._high) = body.tilt_angle, body.tilt_range
        self._tolerance = SHARE * half_view(body)
        self._most = math.ceil((self._high - self._low) / self._step - 1e-6)
        self._looks: dict[int, int] = {}
        self._tilts: dict[int, float] = {}
        self._before: dict[int, tuple[int, float]] = {}

    def begin(self, slot: int) -> None:
        """Begin an episode in `slot` with an unknown tilt."""
        self._looks[slot], self._tilts[slot] = self._most, self._high
        self._before[slot] = self._most, self._high

    def knows(self, slot: int) -> bool:
        """Whether the tilt in `slot` is known."""
        return self._looks[slot] == 0

    def tilt(self, slot: int) -> float:
        """Radians, upwards; the highest that there is while it is not known."""
        return self._tilts[slot]

    def tilt_towards(self, slot: int, elevation: float) -> str | None:
        """The camera action ("look_up", "look_down") towards an elevation; None if none brings it nearer.

        Args:
            slot: of the body.
            elevation: radians, upwards, seen from the camera.
        """
        if not self.knows(slot):
            return "look_up"
        missing = min(max(elevation, self._low), self._high) - self._tilts[slot]
        if abs(missing) <= self._tolerance:
            return None
        return "look_up" if missing > 0 else "look_down"

    def note(self, slot: int, action: str) -> None:
        """Record the next action of the body in `slot`."""
        self._before[slot] = self._looks[slot], self._tilts[slot]
        if action not in ("look_up", "look_down"):
            return
        ahead = 1 if action == "look_up" else -1
        if not self.knows(slot):
            self._looks[slot] = min(self._looks[slot] - ahead, self._most)
            return
        self._tilts[slot] = min(max(self._tilts[slot] + ahead * self._step, self._low), self._high)

    def overrule(self, slot: int, action: str) -> None:
        """Record that `action` was executed instead of the one noted last."""
        self._looks[slot], self._tilts[slot] = self._before[slot]
        self.note(slot, action)


def half_view(body: Embodiment) -> float:
    """Radians from the middle of the first camera's image to its upper edge."""
    camera = body.cameras[0]
    return math.atan(camera.height_px / camera.width_px * math.tan(camera.hfov / 2))
