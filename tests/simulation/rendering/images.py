"""Small scenes and the plain float64 image that the rasteriser is held against."""

from dataclasses import dataclass

import numpy as np

from navarena.core.geometry import focal_length, rotation_from_yaw_pitch
from navarena.scenes.scene import Material, Scene, SceneObject
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer, build_render_mesh

NEAR = 0.01
OUTPUTS = ("rgb", "depth", "instance", "semantic")


def box(low, high):
    """Corners (36, 3) of a box's 12 triangles, facing outwards."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    unit = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            square = np.zeros((4, 3))
            square[:, axis] = side
            square[[1, 2], u] = 1
            square[[2, 3], v] = 1
            square = square if side else square[::-1]
            unit.append(square[[0, 1, 2, 0, 2, 3]])
    return low + np.concatenate(unit) * (high - low)


def make_scene(corners, ids=None, **fields):
    """A scene of separate triangles: corners (T, 3, 3), object ids (T,) or all 1."""
    corners = np.asarray(corners, np.float32).reshape(-1, 3, 3)
    count = len(corners)
    ids = np.ones(count) if ids is None else np.asarray(ids)
    objects = tuple(
        SceneObject(int(i), f"object {int(i) % 3}", (0, 0, 0), (1, 1, 1)) for i in np.unique(ids) if i > 0
    )
    values = {
        "triangle_material": np.zeros(count, np.int32),
        "materials": (Material("white"),),
        "objects": objects,
    } | fields
    return Scene(
        "test",
        corners.reshape(-1, 3),
        np.arange(3 * count, dtype=np.int32).reshape(-1, 3),
        ids.astype(np.int32),
        **values,
    )


def room_scene():
    """A room of 4 x 2.5 x 5 m seen from inside, with three boxes of different sizes."""
    parts = [box((-2, 0, -5), (2, 2.5, 0))[::-1]]
    parts += [
        box((-1.5, 0, -4), (-0.5, 0.7, -3)),
        box((0.3, 0, -2.5), (0.5, 1.4, -2.3)),
        box((-1, 1, -4.5), (1, 1.1, -4.2)),
    ]
    objects = np.repeat(np.arange(1, 5), 12)
    colors = (
        Material("wall", (200, 190, 180)),
        Material("box", (180, 60, 40)),
        Material("pole", (30, 90, 200)),
    )
    return make_scene(
        np.concatenate(parts),
        objects,
        triangle_material=np.repeat([0, 1, 2, 1], 12).astype(np.int32),
        materials=colors,
    )


def look(camera, position, yaw=0.0, pitch=0.0):
    """One view of scene 0."""
    return Views(
        camera,
        np.zeros(1, np.int32),
        np.asarray(position, float).reshape(1, 3),
        rotation_from_yaw_pitch(yaw, pitch)[None],
    )


def random_views(camera, count, seed, low=(-1.8, 0.3, -4.8), high=(1.8, 2.2, -0.2), scenes=1):
    """Views from random points between `low` and `high`, in random directions."""
    generator = np.random.default_rng(seed)
    angles = generator.uniform((0, -0.7), (6.28, 0.7), (count, 2))
    rotation = np.zeros((count, 3, 3))
    for k, (yaw, pitch) in enumerate(angles):
        rotation[k] = rotation_from_yaw_pitch(yaw, pitch)
    position = generator.uniform(low, high, (count, 3))
    return Views(camera, generator.integers(0, scenes, count).astype(np.int32), position, rotation)


def draw(scene, views, shading="textured", threads=1, extras=None, outputs=OUTPUTS):
    """Frames of `views`, by the rasteriser."""
    scenes = scene if isinstance(scene, list) else [scene]
    renderer = VisibilityRenderer([build_render_mesh(one) for one in scenes], threads=threads)
    frames = Frames.allocate(len(views), views.camera, outputs)
    renderer.render(views, frames, extras=extras, shading=shading)
    return frames


@dataclass
class Image:
    """depth (H, W), triangle (H, W; -1 = nothing), clear (H, W): no edge, tie or near plane at hand."""

    depth: np.ndarray
    triangle: np.ndarray
    clear: np.ndarray


def plain_image(corners, camera: Camera, position, rotation, slack_px=0.05):
    """Every pixel against every front-facing triangle, in float64."""
    focal = focal_length(camera.width_px, camera.hfov)
    local = (np.asarray(corners, float) - position) @ rotation
    local = local * [1, -1, -1]  # right, down, forward
    x = (np.arange(camera.width_px) + 0.5 - camera.width_px / 2) / focal
    y = (np.arange(camera.height_px) + 0.5 - camera.height_px / 2) / focal
    rays = np.stack(np.broadcast_arrays(x[None, :], y[:, None], 1.0), -1)
    inverse = np.zeros(rays.shape[:2])
    triangle = np.full(rays.shape[:2], -1)
    clear = np.ones(rays.shape[:2], bool)
    candidates = []
    for t, (p, q, r) in enumerate(local):
        normal = np.cross(q - p, r - p)
        distance = normal @ p
        if distance >= 0 or not np.isfinite(distance):
            continue  # seen from behind, or from its own plane
        away = -np.stack([np.cross(q, r), np.cross(r, p), np.cross(p, q)])
        edges = rays @ away.T
        reach = np.maximum(np.linalg.norm(away[:, :2], axis=1) / focal, 1e-300)
        inside = (edges >= 0).all(2)
        at_edge = (edges / reach >= -slack_px).all(2) & ((np.abs(edges) / reach) < slack_px).any(2)
        z = rays @ normal / distance
        clear &= ~at_edge
        clear &= ~(inside & (np.abs(z * NEAR - 1) < 0.05))
        candidates.append((t, np.where(inside & (z > 0) & (z <= 1 / NEAR), z, 0)))
    for t, z in candidates:
        tie = (z > 0) & (np.abs(z - inverse) < 1e-3 * np.maximum(z, inverse))
        clear &= ~tie
        nearer = z > inverse
        inverse[nearer], triangle[nearer] = z[nearer], t
    depth = np.where(inverse > 0, 1 / np.where(inverse > 0, inverse, 1), 0)
    return Image(depth, triangle, clear)
