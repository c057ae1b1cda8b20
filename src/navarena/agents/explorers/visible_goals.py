"""Finds the goals of RoboTHOR's ObjectNav, which count as soon as they are seen from near by."""

import math
from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float

from navarena.agents.agent import Boundary, Start
from navarena.agents.explorers.explorer import Aim
from navarena.agents.explorers.goal_finders import ObjectFinder
from navarena.agents.explorers.sightings import DepthView, locate
from navarena.agents.explorers.tilt_estimation import half_view
from navarena.core.geometry import forward_from_yaw
from navarena.episodes.object_nav_robothor import visible_nearness
from navarena.tasks.protocols.object_nav_robothor import ObjectNavRobothor

REACHES = ((0.85, 0.25), (0.7, 0.6), (0.5, 0.5), (0.35, 0.35))
"""(Metres from what was seen of an object, spare) to come near: less after each look from there in vain."""

MARGIN = 0.04
"""Metres by which a surface must be nearer than the protocol asks: depth has errors."""

SURE_PIXELS = 6
"""Near pixels at which the body stops; at edges, resized depth lies between the object and what is behind."""

GAZE = 0.4
"""Metres beyond those of the protocol within which the camera is tilted to an object."""


class VisibleFinder(ObjectFinder):
    """The goal is a category; the body stops as soon as it sees a near surface of such an object."""

    def __init__(self, task: ObjectNavRobothor) -> None:
        body = task.embodiment
        steepest = half_view(task.camera_body) + body.tilt_range[1]
        super().__init__(task, *REACHES[0], REACHES[1:], math.tan(steepest))
        self._nearness = visible_nearness(task.options.visible_within)
        self._pixels = max(task.options.visible_pixels, SURE_PIXELS)
        self._turn = body.turn_angle
        self._in_view: dict[int, bool] = {}
        self._vain: dict[int, int] = {}

    def begin(self, start: Start) -> None:
        super().begin(start)
        if start.boundary >= Boundary.EPISODE:
            self._in_view[start.slot], self._vain[start.slot] = False, 0

    def observe(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView
    ) -> Bool[np.ndarray, "h w"] | None:
        passable = super().observe(slot, observations, view)
        self.note_near(slot, self.masks(slot, observations, view), view)
        return passable

    def note_near(self, slot: int, masks: Mapping[int, Bool[np.ndarray, "h w"]], view: DepthView) -> None:
        """Note whether one of `masks`, (H, W) bool by label, shows enough of a near goal in `view`."""
        near = (self._count_near(mask, view) for mask in masks.values())
        self._in_view[slot] = any(pixels >= self._pixels for pixels in near)

    def find_aim(
        self, slot: int, observations: Mapping[str, np.ndarray], view: DepthView, is_explored: bool
    ) -> Aim | None:
        self._reach, self._spare = REACHES[self._vain[slot]]
        self._fallbacks = REACHES[1:]
        return super().find_aim(slot, observations, view, is_explored)

    def is_reached(self, slot: int) -> bool:
        return self._in_view[slot]

    def elevation(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> float:
        offset = self._nearest(slot, pose)
        away = math.inf if offset is None else math.hypot(offset[0], offset[2])
        if offset is None or away > self._nearness.reach + GAZE:
            return 0.0
        return math.atan2(offset[1], away)

    def arrive(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> str:
        """Face the object; from where it does not come into view so, go nearer."""
        offset, yaw = self._nearest(slot, pose), math.atan2(pose[0, 2], pose[2, 2])
        if offset is None:
            return "left"
        ahead, left = offset @ forward_from_yaw(yaw), offset @ forward_from_yaw(yaw + math.pi / 2)
        if abs(math.atan2(left, ahead)) <= self._turn / 2 + 1e-6:
            self._vain[slot] = (self._vain[slot] + 1) % len(REACHES)
        return "left" if left > 0 else "right"

    def _nearest(self, slot: int, pose: Float[np.ndarray, "4 4"]) -> Float[np.ndarray, "3"] | None:
        """(3,) metres from the camera to the nearest known point, in plan, of the goal; None without one."""
        memory = self._memories[slot].values()
        points = np.concatenate([np.zeros((0, 3)), *(one.points for one in memory)])
        offsets = points[points[:, 1] <= self._nearness.rise] - pose[:3, 3]
        return offsets[np.argmin(np.hypot(offsets[:, 0], offsets[:, 2]))] if len(offsets) else None

    def _count_near(self, mask: Bool[np.ndarray, "h w"], view: DepthView) -> int:
        """Number of masked pixels that show near surfaces."""
        points = locate(mask, view, max_pixels=mask.size).points
        away = np.hypot(points[:, 0] - view.pose[0, 3], points[:, 2] - view.pose[2, 3])
        is_near = (away <= self._nearness.reach - MARGIN) & (points[:, 1] <= self._nearness.rise - MARGIN)
        return int(is_near.sum())
