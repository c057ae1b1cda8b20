"""Light of floors, walls and ceilings in 16 fixed views, where nothing stands near."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from scipy.spatial import cKDTree

from navarena.core.geometry import focal_length, rotation_from_yaw_pitch
from navarena.scenes.apartments.generator import build_apartment, build_twin
from navarena.scenes.houses.generator import compile_seed
from navarena.scenes.houses.house_sets import house_seed, house_settings
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer, build_render_mesh

CAMERA = Camera(width_px=640, height_px=480)
EVERY = 3
NEAR_M = 0.3
"""A point is unoccluded where no object and no other floor, wall or ceiling is nearer: all that is nearer
throws a contact shadow, which is soft but steeper."""

FLUSH_M = 0.02
"""What stands out by less, such as a surface next to it in the same plane, throws no shadow."""

STEP_M, STEP = 0.3, 8
SURFACES = ("floor", "wall", "ceiling")
SPACING_M = 0.06


def _house(index):
    return compile_seed(house_seed("val", index), house_settings("val"), f"house {index}")


SCENES = {
    **{f"house {index}": (lambda index=index: _house(index), 2) for index in (0, 1, 2, 5, 7, 11)},
    **{f"apartment {index}": (lambda index=index: build_apartment("val", index), 1) for index in (0, 2, 4)},
    "twin 1": (lambda: build_twin("val", 1), 1),
}


def _white(scene):
    """The scene without colours and textures: bytes of its images are 255 times the light."""
    white = tuple(replace(material, color=(255, 255, 255), texture=None) for material in scene.materials)
    return replace(scene, materials=white, textures=(), triangle_uv=None)


def _poses(scene, count):
    """In the largest rooms, from their farthest corner to their middle, looking down a little."""
    rooms = sorted(scene.rooms, key=lambda room: -shapely.Polygon(room.polygon).area)[:count]
    for room in rooms:
        outline = shapely.Polygon(room.polygon)
        middle = np.array(outline.centroid.coords[0])
        corners = np.array(outline.buffer(-0.4).exterior.coords)
        corner = corners[np.argmax(((corners - middle) ** 2).sum(1).round(6))]
        yaw = np.arctan2(corner[0] - middle[0], corner[1] - middle[1])
        yield np.array([corner[0], room.floor_height + 1.4, corner[1]]), rotation_from_yaw_pitch(yaw, -0.42)


def _surface_points(corners):
    """Points on (T, 3, 3) triangles, about SPACING_M apart."""
    a, one, other = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    longest = np.sqrt(np.maximum((one**2).sum(1), (other**2).sum(1)))
    pieces = np.clip(np.ceil(longest / SPACING_M), 1, 40).astype(int)
    found = []
    for count in np.unique(pieces):
        u, v = np.meshgrid(np.arange(count + 1) / count, np.arange(count + 1) / count)
        u, v = u[u + v < 1 + 1e-9][None, :, None], v[u + v < 1 + 1e-9][None, :, None]
        rows = pieces == count
        found.append((a[rows, None] + u * one[rows, None] + v * other[rows, None]).reshape(-1, 3))
    return np.concatenate(found)


def _distances(points, others, axis, eye):
    """Of points of a plane across `axis` from points of `others` (T, 3, 3) on the side of `eye`."""
    low, high = points.min(0) - 2 * NEAR_M, points.max(0) + 2 * NEAR_M
    others = others[((others.min(1) < high) & (others.max(1) > low)).all(1)]
    if not len(others):
        return np.full(len(points), np.inf)
    around, level = _surface_points(others), np.median(points[:, axis])
    around = around[(around[:, axis] - level) * np.sign(eye[axis] - level) > FLUSH_M]
    return cKDTree(around).query(points)[0] if len(around) else np.full(len(points), np.inf)


def _largest_step(points, light, corners, objects, others, eye):
    """The largest difference of light within STEP_M among the unoccluded points of one surface."""
    low, high = corners.reshape(-1, 3).min(0), corners.reshape(-1, 3).max(0)
    axis = int(np.argmin(points.std(0)))
    flat = np.abs(points[:, axis] - np.median(points[:, axis])) < 0.004  # skirting boards stand out
    rim = np.delete(np.minimum(points - low, high - points), axis, 1).min(1)
    kept = flat & (rim > NEAR_M)
    kept[kept] = objects.query(points[kept])[0] > NEAR_M
    if kept.any():  # a floor that runs on below a door is larger than its room
        kept[kept] = _distances(points[kept], others, axis, eye) > NEAR_M
    if kept.sum() < 2:
        return 0, int(kept.sum())
    pairs = cKDTree(points[kept]).query_pairs(STEP_M, output_type="ndarray")
    return np.abs(np.subtract(*light[kept][pairs].T)).max(initial=0), int(kept.sum())


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_light_of_unoccluded_planes_has_no_steps(name):
    build, count = SCENES[name]
    scene = build()
    category = {obj.object_id: obj.category for obj in scene.objects}
    is_plane = np.array([category[number] in SURFACES for number in scene.triangle_object])
    corners = scene.vertices[scene.triangles].astype(float)
    objects = cKDTree(_surface_points(corners[~is_plane]))
    position, rotation = (np.stack(values) for values in zip(*_poses(scene, count), strict=True))
    frames = Frames.allocate(count, CAMERA, ("rgb", "depth", "instance"))
    views = Views(CAMERA, np.zeros(count, np.int32), position, rotation)
    VisibilityRenderer([build_render_mesh(_white(scene))]).render(views, frames)
    y, x = np.mgrid[0 : CAMERA.height_px : EVERY, 0 : CAMERA.width_px : EVERY]
    focal = focal_length(CAMERA.width_px, CAMERA.hfov)
    rays = np.stack(
        [(x + 0.5 - CAMERA.width_px / 2) / focal, (CAMERA.height_px / 2 - y - 0.5) / focal, 0 * y - 1.0], -1
    )
    looked_at = 0
    for k in range(count):
        depth, seen = frames.depth[k, ::EVERY, ::EVERY], frames.instance[k, ::EVERY, ::EVERY]
        places = (rays * depth[..., None]) @ rotation[k].T + position[k]
        light = frames.rgb[k, ::EVERY, ::EVERY].astype(float).mean(-1)
        for number in np.unique(seen):
            own = seen == number
            if category.get(int(number)) in SURFACES and own.sum() > 1:
                rows = scene.triangle_object == number
                others = corners[is_plane & ~rows]
                step, points = _largest_step(
                    places[own], light[own], corners[rows], objects, others, position[k]
                )
                looked_at += points
                assert step <= STEP, f"view {k}, {category[int(number)]} {number}"
    assert looked_at > 100
