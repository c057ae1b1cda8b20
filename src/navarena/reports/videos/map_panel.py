"""The map of a video frame: the trajectory up to the current step, seen from above."""

from collections.abc import Sequence

import cv2
import numpy as np
from jaxtyping import Float, UInt8

from navarena.core.geometry import forward_from_yaw
from navarena.metrics.trajectory import Trajectory
from navarena.reports.plan_view import PlanView, on_plan

PAPER, ROOM, ROOM_EDGE = (246, 247, 249), (255, 255, 255), (195, 202, 210)
FLOOR, OTHER_FLOOR, FLOOR_EDGE = (227, 232, 238), (240, 242, 245), (154, 165, 177)
SHORTEST, GOAL, HIT, BODY = (23, 117, 74), (23, 117, 74), (179, 38, 30), (27, 31, 36)

WALK = ((47, 107, 255), (123, 84, 220), (186, 65, 165), (224, 85, 98), (236, 111, 50))
"""Colours of the trajectory from its start to its end."""

NEAR = 1.5
"""Metres around what was walked that a map shows at least."""

_SHIFT = 4
"""OpenCV draws on sixteenths of pixels."""


_QUARTER_TURN = np.array([[0.0, -1.0], [1.0, 0.0]])
"""Turns points of the plan (K, 2), as rows: x becomes -y, z becomes x."""


class MapPanel:
    """Draws the trajectory of one episode up to a pose, north up, or north to the left where that is larger.

    Args:
        view: of the trajectory on the plan of its scene.
        trajectory: what was done.
        width_px, height_px: of the images.
    """

    def __init__(self, view: PlanView, trajectory: Trajectory, width_px: int, height_px: int) -> None:
        positions = np.asarray(trajectory.positions, float)
        size = np.array([width_px, height_px], float)
        walked = on_plan(np.concatenate([positions, view.shortest, view.goals]))
        window = np.array([view.low, view.high])
        turns = (np.eye(2), _QUARTER_TURN)
        parts = [choose_part(walked @ turn, window @ turn, size) for turn in turns]
        best = int(parts[1][0] > parts[0][0])
        self._turn, (self._scale, self._corner) = turns[best], parts[best]
        self._walk, self._yaws = self._pixels(on_plan(positions)), np.asarray(trajectory.yaws, float)
        self._collided = np.asarray(trajectory.collided, bool)
        self._drawn = 0
        self._trail = np.full((height_px, width_px, 3), PAPER, np.uint8)
        self._draw_floor([np.asarray(room.polygon, float) for room in view.rooms], ROOM, ROOM_EDGE)
        self._draw_floor(view.others, OTHER_FLOOR, OTHER_FLOOR)
        self._draw_floor(view.outlines, FLOOR, FLOOR_EDGE)
        self._draw_dashes(self._pixels(on_plan(view.shortest)))
        radius = max(trajectory.success_distance * self._scale, 5.0)
        for number, goal in enumerate(self._pixels(on_plan(view.goals)), 1):
            self._draw_disc(goal, radius, GOAL, 1)
            self._draw_disc(goal, 3.5, GOAL, -1)
            if len(view.goals) > 1:
                at = (round(float(goal[0])) + 6, round(float(goal[1])) - 5)
                cv2.putText(
                    self._trail, str(number), at, cv2.FONT_HERSHEY_SIMPLEX, 0.42, GOAL, 1, cv2.LINE_AA
                )

    def draw(self, pose: int) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8: the trajectory up to `pose`, and the body there; `pose` must not decrease."""
        for step in range(self._drawn, pose):
            color = WALK[min(step * len(WALK) // max(len(self._collided), 1), len(WALK) - 1)]
            self._draw_line(self._walk[step : step + 2], color, 2)
            if self._collided[step]:
                self._draw_disc(self._walk[step + 1], 2.5, HIT, -1)
        self._drawn = max(pose, self._drawn)
        image = self._trail.copy()
        forward = forward_from_yaw(np.array(self._yaws[pose]))[[0, 2]] @ self._turn
        side, centre = np.array([-forward[1], forward[0]]), self._walk[pose]
        corners = [centre + 11 * forward, centre - 7 * forward + 7 * side, centre - 7 * forward - 7 * side]
        body = [_fixed(np.array(corners))]
        cv2.fillPoly(image, body, BODY, cv2.LINE_AA, _SHIFT)
        cv2.polylines(image, body, True, PAPER, 1, cv2.LINE_AA, _SHIFT)
        return image

    def _pixels(self, points: Float[np.ndarray, "k 2"]) -> Float[np.ndarray, "k 2"]:
        return (points @ self._turn - self._corner) * self._scale

    def _draw_floor(
        self,
        outlines: Sequence[Float[np.ndarray, "_ 2"]],
        fill: tuple[int, int, int],
        edge: tuple[int, int, int],
    ) -> None:
        """Outlines with their holes."""
        corners = [_fixed(self._pixels(outline)) for outline in outlines]
        if corners:
            cv2.fillPoly(self._trail, corners, fill, cv2.LINE_AA, _SHIFT)
            cv2.polylines(self._trail, corners, True, edge, 1, cv2.LINE_AA, _SHIFT)

    def _draw_dashes(self, corners: Float[np.ndarray, "k 2"], dash: float = 7.0) -> None:
        """A line along `corners` (K, 2) pixels, of dashes and gaps of `dash` pixels."""
        if len(corners) < 2:
            return
        lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        along = np.concatenate([[0.0], np.cumsum(lengths)])
        for start in np.arange(0.0, along[-1], 2 * dash):
            ends = np.array([start, min(start + dash, along[-1])])
            inside = along[(along > ends[0]) & (along < ends[1])]
            at = np.concatenate([ends[:1], inside, ends[1:]])
            points = np.stack([np.interp(at, along, corners[:, axis]) for axis in range(2)], 1)
            self._draw_line(points, SHORTEST, 2)

    def _draw_line(self, points: Float[np.ndarray, "k 2"], color: tuple[int, int, int], width: int) -> None:
        cv2.polylines(self._trail, [_fixed(points)], False, color, width, cv2.LINE_AA, _SHIFT)

    def _draw_disc(
        self, centre: Float[np.ndarray, "2"], radius: float, color: tuple[int, int, int], width: int
    ) -> None:
        x, y = (int(value) for value in _fixed(centre))
        cv2.circle(self._trail, (x, y), round(radius * 2**_SHIFT), color, width, cv2.LINE_AA, _SHIFT)


def choose_part(
    walked: Float[np.ndarray, "k 2"], window: Float[np.ndarray, "2 2"], size: Float[np.ndarray, "2"]
) -> tuple[float, Float[np.ndarray, "2"]]:
    """Pixels for a metre, and the metres (2,) of the first pixel, of a map that fills its panel.

    It shows what was walked with NEAR metres around, and as much more of the window as fits.

    Args:
        walked: (K, 2) metres, what must be seen.
        window: (2, 2) metres, corners of what is worth seeing, in any order; no more is shown than fills one
            side of the panel.
        size: (2,) pixels of the panel.
    """
    low, high = window.min(0), window.max(0)
    must_low, must_high = np.maximum(walked.min(0) - NEAR, low), np.minimum(walked.max(0) + NEAR, high)
    fits = size / (high - low)
    scale = float(np.clip(min(size / (must_high - must_low)), fits.min(), fits.max()))
    shown = size / scale
    corner = np.clip((must_low + must_high - shown) / 2, low, np.maximum(high - shown, low))
    return scale, np.where(shown < high - low, corner, (low + high - shown) / 2)


def _fixed(points: Float[np.ndarray, "..."]) -> np.ndarray:
    """Pixels as OpenCV's whole numbers."""
    return np.round(points * 2**_SHIFT).astype(np.int32)
