"""Overlays on views of a scene: the floor on which a body can stand, and view points."""

import cv2
import numpy as np
from jaxtyping import Bool, Float, Float32, UInt8

from navarena.core.geometry import focal_length
from navarena.scenes.scene import Material, Scene
from navarena.simulation.body import Camera
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.rendering import Frames, RenderMesh, Views, VisibilityRenderer, build_render_mesh

LIFT = 0.02
"""Metres by which overlays stand above the floor."""

TOLERANCE = 0.05
"""Metres by which something may lie behind the surface that hides it, and still be drawn."""

FLOOR_COLOR, POINT_COLOR = (47, 158, 255), (255, 176, 0)
FLOOR_SHARE = 0.45
"""Of the overlay's colour in what it covers."""

POINT_METRES = 0.06
"""Radius of the disc of a view point."""


def build_floor_mesh(navmesh: NavMesh, chosen: Bool[np.ndarray, "t"]) -> RenderMesh:
    """Render mesh of the `chosen` (T,) bool triangles of `navmesh`, facing up."""
    vertices = np.asarray(navmesh.vertices, np.float32) + np.array([0, LIFT, 0], np.float32)
    triangles = np.asarray(navmesh.triangles, np.int32)[chosen]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    faces_down = np.cross(b - a, c - a)[:, 1] < 0
    triangles[faces_down] = triangles[faces_down][:, ::-1]
    none = np.zeros(len(triangles), np.int32)
    material = Material("floor", FLOOR_COLOR)
    return build_render_mesh(Scene("navmesh", vertices, triangles, none, none, (material,)))


def cover_floor(
    image: UInt8[np.ndarray, "h w 3"],
    depth: Float32[np.ndarray, "h w"],
    renderer: VisibilityRenderer,
    views: Views,
) -> None:
    """Tint the floor in `image`, (H, W, 3) uint8, where it is visible in `depth`, (H, W) metres.

    renderer: of build_floor_mesh; views: the one view of the image.
    """
    frames = Frames.allocate(1, views.camera, ("depth",))
    renderer.render(views, frames)
    floor = np.asarray(frames.depth)[0]
    covered = (floor > 0) & ((depth == 0) | (floor < depth + TOLERANCE))
    tinted = (1 - FLOOR_SHARE) * image[covered] + FLOOR_SHARE * np.array(FLOOR_COLOR)
    image[covered] = tinted.astype(np.uint8)


def project(
    points: Float[np.ndarray, "n 3"],
    camera: Camera,
    position: Float[np.ndarray, "3"],
    rotation: Float[np.ndarray, "3 3"],
) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, "n"]]:
    """Pixels (N, 2), column and row, and depths (N,) in metres of `points` (N, 3), metres, world frame.

    position: (3,) metres of the camera; rotation: (3, 3) world from camera. Depths of points behind it are
    not positive, and their pixels mean nothing.
    """
    seen = (points - position) @ rotation
    depths = -seen[:, 2]
    focal = float(focal_length(camera.width_px, camera.hfov))
    scale = focal / np.where(depths > 0, depths, 1.0)
    centre = np.array([camera.width_px / 2 - 0.5, camera.height_px / 2 - 0.5])
    return seen[:, :2] * (1.0, -1.0) * scale[:, None] + centre, depths


def draw_points(
    image: UInt8[np.ndarray, "h w 3"],
    depth: Float32[np.ndarray, "h w"],
    points: Float[np.ndarray, "n 3"],
    views: Views,
) -> int:
    """Draw a disc at each of `points` (N, 3), metres, that is not hidden; how many were drawn.

    image: (H, W, 3) uint8; depth: (H, W) metres; views: the one view of the image.
    """
    lifted = points + np.array([0.0, LIFT, 0.0])
    pixels, depths = project(lifted, views.camera, views.position[0], views.rotation[0])
    focal = float(focal_length(views.camera.width_px, views.camera.hfov))
    drawn = 0
    for (column, row), far in zip(np.round(pixels).astype(int).tolist(), depths.tolist()):
        if far <= 0.05 or not (0 <= row < depth.shape[0] and 0 <= column < depth.shape[1]):
            continue
        surface = float(depth[row, column])
        if surface == 0 or far < surface + TOLERANCE:
            radius = max(2, round(POINT_METRES * focal / far))
            cv2.circle(image, (column, row), radius, POINT_COLOR, -1, cv2.LINE_AA)
            drawn += 1
    return drawn
