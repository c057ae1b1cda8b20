"""Display of a place of a navigation graph: one view of the panorama, and its neighbours."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.episodes.graph_routes import R2R_GRAPH_V1
from navarena.scenes.graphs.panorama import HEADINGS, STEP, VIEW_HEADINGS
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer
from navarena.simulation.world import open_world
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.graphs.rendered_features import VIEW_CAMERA
from navarena.web.viewer.images import encode_view

SENSORS = ("action_mask", "candidate_angles", "candidate_distances")
"""Observations by which neighbours are shown."""


class Panorama:
    """Shows the place of the first slot of a batch.

    Args:
        is_drawn: whether the scenes can be drawn, as generated houses can; else there is no image.
    """

    def __init__(self, is_drawn: bool) -> None:
        self._is_drawn, self._scene_id = is_drawn, ""
        self._renderer: VisibilityRenderer | None = None

    def draw(self, batch: GraphBatch, left: int) -> dict[str, bytes]:
        """{"rgb": JPEG} of the level view that lies `left` views (of 30 degrees) to the left; maybe {}."""
        if not self._is_drawn:
            return {}
        scene_id = batch.episode(0).scene_id
        if self._renderer is None or self._scene_id != scene_id:
            mesh = open_world(scene_id, R2R_GRAPH_V1.embodiment).render_mesh
            self._renderer, self._scene_id = VisibilityRenderer([mesh]), scene_id
        heading = float(VIEW_HEADINGS[int(batch.state.view[0]) % HEADINGS]) - left * STEP
        rotation = rotation_from_yaw_pitch(-heading, 0.0)  # headings grow to the right
        position = np.asarray(batch.atlas.positions[int(batch.state.node[0])], float)
        frames = Frames.allocate(1, VIEW_CAMERA, ("rgb",))
        views = Views(VIEW_CAMERA, np.zeros(1, np.int32), position[None], rotation[None])
        self._renderer.render(views, frames)
        return {"rgb": encode_view(np.asarray(frames.rgb)[0])}


def list_neighbours(observations: Mapping[str, np.ndarray], left: int) -> list[dict[str, Any]]:
    """The neighbours of the first slot, for a page.

    Args:
        observations: with SENSORS, each (N, ...) as the graph protocols have them.
        left: views of 30 degrees by which the person looks to the left of the body.

    Returns:
        For each: its action, metres, degrees to the right of where the person looks, and where its image
        shows it, as shares of width and height; None where it does not.
    """
    found = []
    wide = math.tan(VIEW_CAMERA.hfov / 2)
    high = wide * VIEW_CAMERA.height_px / VIEW_CAMERA.width_px
    for action in np.flatnonzero(observations["action_mask"][0][1:]).tolist():
        sine, cosine, up, level = observations["candidate_angles"][0][action].tolist()
        right = math.atan2(sine, cosine) + left * STEP
        right = float((right + np.pi) % (2 * np.pi) - np.pi)
        x = 0.5 + 0.5 * math.tan(right) / wide
        y = 0.5 - 0.5 * (up / level) / np.cos(right) / high if level > 0 else 0.5
        is_seen = abs(right) < VIEW_CAMERA.hfov / 2
        found.append(
            {
                "action": action + 1,
                "metres": round(float(observations["candidate_distances"][0][action]), 2),
                "right": round(float(np.degrees(right))),
                "at": [round(float(x), 4), round(float(np.clip(y, 0.05, 0.95)), 4)] if is_seen else None,
            }
        )
    return found
