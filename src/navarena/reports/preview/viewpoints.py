"""Camera poses that show much of a scene."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from navarena.core.arrays import Point, Points
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.core.seeding import make_generator
from navarena.scenes.scene import Room, Scene
from navarena.simulation.body import Camera
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.rendering import Frames, Renderer, Views

EYE_HEIGHT = 1.45
"""Metres above the floor."""

PITCH = float(np.deg2rad(-9))
HFOV = float(np.deg2rad(95))
CANDIDATES, TURNS = 240, 8
NO_ROOM = -1
PER_ROOM = 24
SPREAD = 0.3
"""Share of the extent of all points at which two views count as far apart."""

FAR_ENOUGH = 5.0
"""Metres: a view is no better for seeing farther than this."""


@dataclass(frozen=True)
class Viewpoint:
    """A pose of the camera.

    Attributes:
        position: (3,) metres, world frame, the camera's centre.
        yaw: radians.
        title: the room it stands in, or "".
    """

    position: Point
    yaw: float
    title: str = ""

    @property
    def rotation(self) -> Float[np.ndarray, "3 3"]:
        """World from camera."""
        return rotation_from_yaw_pitch(self.yaw, PITCH)


def choose_viewpoints(
    scene: Scene, navmesh: NavMesh, renderer: Renderer, count: int = 4
) -> tuple[Viewpoint, ...]:
    """At most `count` views with large visible distance, many objects and little overlap; deterministic.

    Points are drawn from the largest island, and in scenes with rooms from the largest rooms. Small
    depth and instance images of every candidate decide.
    """
    points, rooms = _candidates(scene, navmesh, count)
    yaws = np.arange(TURNS) * 2 * np.pi / TURNS
    position = np.repeat(points + np.array([0, EYE_HEIGHT, 0]), TURNS, 0)
    yaw, home = np.tile(yaws, len(points)), np.repeat(rooms, TURNS)
    scores = _score(scene, renderer, position, yaw, home)
    far = SPREAD * float(np.ptp(points, axis=0).max())
    chosen: list[int] = []
    groups = list(dict.fromkeys(home.tolist()))
    for number in range(count):
        group = groups[number % len(groups)]
        spread = _difference(position, yaw, position[chosen], yaw[chosen], far)
        ranked = np.where(home == group, scores * spread, -1)
        best = int(np.argmax(ranked))
        if ranked[best] > 0:
            chosen.append(best)
    titles = {room.room_id: room.category for room in scene.rooms}
    return tuple(Viewpoint(position[k], float(yaw[k]), titles.get(int(home[k]), "")) for k in chosen)


def _area(room: Room) -> float:
    x, z = np.array(room.polygon).T
    return float(abs(np.dot(x, np.roll(z, -1)) - np.dot(z, np.roll(x, -1))) / 2)


def _candidates(scene: Scene, navmesh: NavMesh, count: int) -> tuple[Points, Int[np.ndarray, "n"]]:
    """(points on the floor, id of the room each lies in), NO_ROOM where there are no rooms."""
    generator = make_generator("preview")
    drawn = navmesh.random_point(generator, CANDIDATES * 8) if scene.rooms else np.zeros((0, 3))
    found = []
    for room in sorted(scene.rooms, key=lambda room: -_area(room))[:count]:
        same_storey = np.abs(drawn[:, 1] - room.floor_height) < 0.5
        inside = drawn[same_storey & _in_polygon(drawn, np.array(room.polygon))][:PER_ROOM]
        found.append((inside, np.full(len(inside), room.room_id)))
    points = np.concatenate([points for points, _ in found]) if found else drawn
    if len(points):
        return points, np.concatenate([rooms for _, rooms in found])
    points = navmesh.random_point(generator, CANDIDATES, navmesh.largest_island)
    return points, np.full(len(points), NO_ROOM)


def _in_polygon(points: Points, polygon: Float[np.ndarray, "k 2"]) -> np.ndarray:
    """(N,) whether x and z of `points` lie inside, by counting crossings."""
    x, z = points[:, 0, None], points[:, 2, None]
    first, second = polygon, np.roll(polygon, -1, 0)
    spans = (first[:, 1] > z) != (second[:, 1] > z)
    rise = np.where(second[:, 1] == first[:, 1], 1, second[:, 1] - first[:, 1])
    crossing = first[:, 0] + (z - first[:, 1]) / rise * (second[:, 0] - first[:, 0])
    return np.asarray((spans & (x < crossing)).sum(1) % 2 == 1)


def _score(
    scene: Scene,
    renderer: Renderer,
    position: Points,
    yaw: Float[np.ndarray, "n"],
    home: Int[np.ndarray, "n"],
) -> Float[np.ndarray, "n"]:
    """(N,) score of each view: visible distance, number of objects, share of its room, no close obstacles."""
    camera = Camera(width_px=48, height_px=36, hfov=HFOV)
    frames = Frames.allocate(len(position), camera, ("depth", "instance"))
    rotation = np.stack([rotation_from_yaw_pitch(float(angle), PITCH) for angle in yaw])
    renderer.render(Views(camera, np.zeros(len(yaw), np.int32), position, rotation), frames)
    assert frames.depth is not None and frames.instance is not None
    depth = frames.depth.reshape(len(yaw), -1)
    instance = frames.instance.reshape(len(yaw), -1)
    seen = depth > 0
    distance = np.where(seen, np.minimum(depth, FAR_ENOUGH), 0).mean(1)
    too_close = ((depth < 0.6) & seen).mean(1)
    instances = np.array([len(np.unique(row)) for row in instance])
    variety = np.log1p(instances) if scene.objects else np.log1p(10 * depth.std(1))
    score = distance * variety * np.clip(1 - 3 * too_close, 0.02, 1) * seen.mean(1)
    most = max((scene_object.object_id for scene_object in scene.objects), default=0)
    room_of = np.full(max(most, int(instance.max())) + 1, NO_ROOM)  # instances may be pieces of the mesh
    for scene_object in scene.objects:
        room_of[scene_object.object_id] = NO_ROOM if scene_object.room is None else scene_object.room
    return np.asarray(score * (0.05 + (room_of[instance] == home[:, None]).mean(1)))


def _difference(
    position: Points,
    yaw: Float[np.ndarray, "n"],
    chosen_position: Float[np.ndarray, "m 3"],
    chosen_yaw: Float[np.ndarray, "m"],
    far: float,
) -> Float[np.ndarray, "n"]:
    """(N,) 0 to 1: how different each view is from the ones already chosen."""
    if not len(chosen_position):
        return np.ones(len(position))
    metres = np.linalg.norm(position[:, None] - chosen_position[None], axis=2)
    turn = 1 - np.cos(yaw[:, None] - chosen_yaw[None])
    return np.asarray(np.clip(metres / max(far, 1.0) + turn / 8, 0, 1).min(1))
