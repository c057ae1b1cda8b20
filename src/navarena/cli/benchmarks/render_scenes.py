"""Scenes of the render benchmark: a furnished house, a scan of it, and views inside."""

import numpy as np
import shapely
from jaxtyping import Float, Int
from shapely.geometry.base import BaseGeometry

from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.core.seeding import make_generator
from navarena.scenes.houses import build_house
from navarena.scenes.houses.settings import HouseSettings
from navarena.scenes.scene import Material, Scene
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Views

ROOMS = 8
EYE_HEIGHTS = (0.88, 1.4)
"""Metres above the floor, lowest and highest camera."""
CLEARANCE = 0.18
"""Metres between a camera and the objects around it: the radius of LoCoBot."""
ATLAS_SIZE = 2048
ATLAS_DENSITY = 100.0
"""Texels per metre of the scan's texture, about that of published scans."""
SCAN_TRIANGLES = 1_000_000


def furnished_house() -> Scene:
    """A house of 8 rooms, textured, with baked light."""
    return build_house(0, HouseSettings(rooms=ROOMS), scene_id="benchmark house")


def sample_views(scene: Scene, camera: Camera, count: int) -> Views:
    """Views from random standing points of a generated house, a third of them looking down."""
    generator = make_generator("benchmark", "views", scene.scene_id)
    free = [_free_floor(scene, room.room_id) for room in scene.rooms]
    position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
    for k in range(count):
        room = int(generator.integers(len(free)))
        position[k] = _point_in(free[room], generator)
        position[k, 1] = scene.rooms[room].floor_height + generator.uniform(*EYE_HEIGHTS)
        pitch = float(generator.choice([0.0, 0.0, -np.pi / 6]))
        rotation[k] = rotation_from_yaw_pitch(generator.uniform(0, 2 * np.pi), pitch)
    return Views(camera, np.zeros(count, np.int32), position, rotation)


def _free_floor(scene: Scene, room_id: int) -> BaseGeometry:
    """Free floor of a room for cameras, as a shapely polygon of x and z."""
    room = next(room for room in scene.rooms if room.room_id == room_id)
    obstacles = [
        shapely.Polygon(obstacle.polygon)
        for floor in scene.walkable
        if floor.level == room.level
        for obstacle in floor.obstacles
    ]
    outline = shapely.Polygon(room.polygon)
    near = [one for one in obstacles if one.intersects(outline)]
    free = outline.buffer(-CLEARANCE).difference(shapely.union_all(near).buffer(CLEARANCE))
    return free if not free.is_empty else outline


def _point_in(area: BaseGeometry, generator: np.random.Generator) -> Float[np.ndarray, "3"]:
    low_x, low_z, high_x, high_z = area.bounds
    while True:
        x, z = generator.uniform(low_x, high_x), generator.uniform(low_z, high_z)
        if area.contains(shapely.Point(x, z)):
            return np.array([x, 0.0, z])


def scan_like(scene: Scene, triangles: int = SCAN_TRIANGLES) -> Scene:
    """The surfaces of `scene` as a scanner would give them.

    Cut into about `triangles` small triangles, moved by a few millimetres of smooth noise,
    with one 2048 x 2048 texture over everything and no baked light.
    """
    corners = scene.vertices[scene.triangles].astype(np.float64)
    parts = _parts_per_edge(corners, triangles)
    vertices, faces, owner = _subdivide(corners, parts)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    axes = np.array([[2, 1], [0, 2], [0, 1]])[np.abs(normal).argmax(1)][owner]
    points = vertices[faces]
    uv = np.take_along_axis(points, axes[:, None, :], 2) * (ATLAS_DENSITY / ATLAS_SIZE)
    generator = make_generator("benchmark", "scan")
    moved = vertices + _smooth_noise(vertices, generator)
    return Scene(
        f"scan of {scene.scene_id}",
        moved.astype(np.float32),
        faces.astype(np.int32),
        scene.triangle_object[owner],
        scene.triangle_material[owner],
        tuple(Material(m.name, m.color, 0) for m in scene.materials),
        triangle_uv=uv.astype(np.float32),
        textures=(generator.integers(120, 255, (ATLAS_SIZE, ATLAS_SIZE, 3)).astype(np.uint8),),
        objects=scene.objects,
    )


def _parts_per_edge(corners: Float[np.ndarray, "t 3 3"], wanted: int) -> Int[np.ndarray, "t"]:
    """Into how many parts to cut the edges of each triangle for about `wanted` triangles in all."""
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(1)
    fine, coarse = 1e-3, 10.0
    for _ in range(40):
        middle = np.sqrt(fine * coarse)
        if (np.ceil(longest / middle) ** 2).sum() > wanted:
            fine = middle
        else:
            coarse = middle
    return np.maximum(np.ceil(longest / coarse), 1).astype(int)


def _subdivide(
    corners: Float[np.ndarray, "t 3 3"], parts: Int[np.ndarray, "t"]
) -> tuple[Float[np.ndarray, "v 3"], Int[np.ndarray, "f 3"], Int[np.ndarray, "f"]]:
    """Each triangle in parts^2 equal ones: vertices, faces, and the triangle each face came from."""
    vertices, faces, owner, used = [], [], [], 0
    for n in np.unique(parts):
        mine = np.flatnonzero(parts == n)
        i, j = (part.ravel() for part in np.mgrid[: n + 1, : n + 1])
        inside = i + j <= n
        number = np.cumsum(inside) - 1
        weights = np.stack([n - i - j, i, j], 1)[inside] / n
        at = {(a, b): number[a * (n + 1) + b] for a, b in zip(i[inside], j[inside])}
        cells = [[at[a, b], at[a + 1, b], at[a, b + 1]] for a, b in at if a + b < n]
        cells += [[at[a + 1, b], at[a + 1, b + 1], at[a, b + 1]] for a, b in at if a + b < n - 1]
        vertices.append(np.einsum("wk,tkd->twd", weights, corners[mine]).reshape(-1, 3))
        first = used + len(weights) * np.arange(len(mine))
        faces.append((first[:, None, None] + np.array(cells)).reshape(-1, 3))
        owner.append(np.repeat(mine, len(cells)))
        used += len(weights) * len(mine)
    return np.concatenate(vertices), np.concatenate(faces), np.concatenate(owner)


def _smooth_noise(
    points: Float[np.ndarray, "v 3"], generator: np.random.Generator
) -> Float[np.ndarray, "v 3"]:
    """Displacements of up to 3 mm with wavelengths of 7 to 31 cm."""
    total = np.zeros_like(points)
    for wavelength, amplitude in ((0.31, 0.0015), (0.13, 0.001), (0.07, 0.0005)):
        waves = generator.normal(size=(3, 3)) * 2 * np.pi / wavelength / np.sqrt(3)
        total += amplitude * np.sin(points @ waves + generator.uniform(0, 2 * np.pi, 3))
    return total
