"""Walking and flying through a scene, and picking its objects."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from navarena.core.arrays import Point
from navarena.core.errors import NavarenaError
from navarena.core.geometry import rotation_from_yaw_pitch
from navarena.core.seeding import make_generator
from navarena.episodes.view_points import ViewPointSettings, find_view_points
from navarena.reports.plan_view import select_floor
from navarena.reports.preview.surfaces import open_storey, shade_bare, shaded_mesh, tint_by_height
from navarena.reports.preview.viewpoints import EYE_HEIGHT, choose_viewpoints
from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer, build_render_mesh
from navarena.simulation.world import World
from navarena.web.viewer.hub import Hub
from navarena.web.viewer.images import encode_view
from navarena.web.viewer.messages import Choose, Message, Move, Pick, Show
from navarena.web.viewer.scene_overlays import build_floor_mesh, cover_floor, draw_points

WALKING = Camera(width_px=640, height_px=480, hfov=float(np.deg2rad(80)))
SKY = (196, 208, 220)
STEEPEST = float(np.deg2rad(85))
NEAREST = 1.0
"""Metres between the camera that orbits and its centre."""

ALL_STOREYS = -1
WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class _Look:
    """View from above of one storey, or of all."""

    renderer: VisibilityRenderer
    floor: VisibilityRenderer | None


class SceneWalk:
    """The camera of a page that shows one scene.

    Args:
        world: the scene, with the navmesh of a body.
        body: whose floor and view points are shown.
    """

    def __init__(self, world: World, body: Embodiment) -> None:
        self._world, self._body, self._scene = world, body, world.scene
        low, high = (np.asarray(corner, float) for corner in world.navmesh.bounds)
        self._levels = sorted({room.level for room in self._scene.rooms})
        self._heights = {
            level: min(room.floor_height for room in self._scene.rooms if room.level == level)
            for level in self._levels
        }
        self._centre, self._distance = (low + high) / 2, 1.1 * max(float((high - low)[[0, 2]].max()), 4.0)
        self._around, self._above = 0.6, -0.9
        self._orbits, self._storey = False, ALL_STOREYS
        self._overlays: set[str] = set()
        self._picked: SceneObject | None = None
        self._problem = ""
        self._inside = _Look(VisibilityRenderer([shaded_mesh(world)]), self._make_floor(None))
        self._foot, self._yaw, self._tilt = *self._find_start(), -0.1
        self._above_looks: dict[int, _Look] = {}
        self._frames = Frames.allocate(1, WALKING, ("rgb", "depth", "instance"))

    def _find_start(self) -> tuple[Point, float]:
        """Feet and yaw of a view that shows much of the scene, on the largest island; else of any."""
        mesh = self._world.navmesh
        for view in choose_viewpoints(self._scene, mesh, self._inside.renderer):
            foot = view.position - np.array([0.0, EYE_HEIGHT, 0.0])
            if mesh.island(foot[None])[0] == mesh.largest_island:
                return foot, view.yaw
        return mesh.random_point(make_generator("scene view"), 1, mesh.largest_island)[0], 0.0

    def run(self, hub: Hub, frames: int | None = None) -> None:
        """Draw on every page request, until interrupted or for `frames` images."""
        drawn = 0
        self.show(hub)
        while frames is None or drawn < frames:
            message = hub.take(WAIT_SECONDS)
            while message is not None:
                self.handle(message)
                following = hub.take(0)
                if following is None:
                    self.show(hub)
                    drawn += 1
                message = following

    def show(self, hub: Hub) -> None:
        """Draw, and let pages show it."""
        image = self.draw()
        hub.show(self.describe(), {"view": encode_view(image)})

    def handle(self, message: Message) -> None:
        """Handle a page's message."""
        if isinstance(message, Move):
            (self._orbit if self._orbits else self._walk)(message)
        elif isinstance(message, Pick):
            self._pick(message)
        elif isinstance(message, Choose):
            self._choose_storey(message.number)
        elif isinstance(message, Show) and message.name == "orbit":
            self._orbits = message.on
        elif isinstance(message, Show) and message.name in ("navmesh", "view points"):
            self._overlays = (
                self._overlays | {message.name} if message.on else self._overlays - {message.name}
            )

    def describe(self) -> dict[str, Any]:
        """State of the page besides the image."""
        return {
            "phase": "scene",
            "scene": self._world.scene_id,
            "storeys": len(self._levels),
            "storey": self._storey,
            "orbits": self._orbits,
            "overlays": sorted(self._overlays),
            "place": [round(float(one), 2) for one in self._foot],
            "room": self._find_room(),
            "picked": None if self._picked is None else describe_object(self._picked, self._rooms()),
            "labelled": bool(self._scene.has_semantics),
            "problem": self._problem,
        }

    def draw(self) -> UInt8[np.ndarray, "h w 3"]:
        """(H, W, 3) uint8 sRGB camera image with overlays."""
        self._problem = ""
        look = self._look_from_above() if self._orbits else self._inside
        views = self._aim()
        look.renderer.render(views, self._frames)
        rgb, depth = np.asarray(self._frames.rgb)[0], np.asarray(self._frames.depth)[0]
        image = np.where((depth > 0)[..., None], rgb, np.array(SKY, np.uint8))
        if "navmesh" in self._overlays and look.floor is not None:
            cover_floor(image, depth, look.floor, views)
        if "view points" in self._overlays:
            points = self._find_points()
            if len(points):
                draw_points(image, depth, points, views)
        return image

    def _aim(self) -> Views:
        if self._orbits:
            rotation = rotation_from_yaw_pitch(self._around, self._above)
            position = self._centre + rotation[:, 2] * self._distance
        else:
            rotation = rotation_from_yaw_pitch(self._yaw, self._tilt)
            position = self._foot + np.array([0.0, EYE_HEIGHT, 0.0])
        return Views(WALKING, np.zeros(1, np.int32), position[None], rotation[None])

    def _walk(self, move: Move) -> None:
        """Go along the floor, sliding along walls; feet never leave the navmesh."""
        self._yaw += move.turn
        self._tilt = float(np.clip(self._tilt + move.tilt, -STEEPEST, STEEPEST))
        sine, cosine = np.sin(self._yaw), np.cos(self._yaw)
        step = move.forward * np.array([-sine, 0.0, -cosine]) + move.side * np.array([cosine, 0.0, -sine])
        if step.any():
            end = self._world.navmesh.try_step(self._foot[None], (self._foot + step)[None], True)
            self._foot = np.asarray(end[0], float)

    def _orbit(self, move: Move) -> None:
        """Turn about the centre, come nearer, and move the centre in the plan or upwards."""
        self._around += move.turn
        self._above = float(np.clip(self._above + move.tilt, -STEEPEST, -0.05))
        self._distance = max(NEAREST, self._distance * math.exp(-0.1 * move.forward))
        right = np.array([np.cos(self._around), 0.0, -np.sin(self._around)])
        self._centre = self._centre + move.side * right + move.up * np.array([0.0, 1.0, 0.0])

    def _choose_storey(self, number: int) -> None:
        """Show one storey from above, or, with the number after the last, all; walk on in it."""
        if number >= len(self._levels):
            self._storey = ALL_STOREYS
            return
        self._storey = number
        height = self._heights[self._levels[number]]
        self._centre = np.array([self._centre[0], height, self._centre[2]])
        points = self._world.navmesh.random_point(make_generator("scene view", "storey", number), 256)
        near = points[np.abs(points[:, 1] - height) < 0.5]
        if len(near) and abs(self._foot[1] - height) > 0.5:
            self._foot = np.asarray(near[0], float)

    def _look_from_above(self) -> _Look:
        """The storey without its ceiling; built when it is first looked at."""
        if self._storey not in self._above_looks:
            level = None if self._storey == ALL_STOREYS else self._levels[self._storey]
            opened = shade_bare(tint_by_height(open_storey(self._scene, level)))
            renderer = VisibilityRenderer([build_render_mesh(opened)])
            self._above_looks[self._storey] = _Look(renderer, self._make_floor(level))
        return self._above_looks[self._storey]

    def _make_floor(self, level: int | None) -> VisibilityRenderer | None:
        mesh = self._world.navmesh
        chosen = np.ones(len(mesh.triangles), bool)
        if level is not None:
            chosen = select_floor(mesh.vertices, mesh.triangles, self._heights[level], self._heights[level])
        return VisibilityRenderer([build_floor_mesh(mesh, chosen)]) if chosen.any() else None

    def _pick(self, message: Pick) -> None:
        """Pick an object in the last image."""
        instance = np.asarray(self._frames.instance)[0]
        height, width = instance.shape
        number = int(
            instance[min(int(message.y * height), height - 1), min(int(message.x * width), width - 1)]
        )
        self._picked = next((one for one in self._scene.objects if one.object_id == number), None)

    def _find_points(self) -> Float[np.ndarray, "k 3"]:
        """(K, 3) metres: view points of the picked object, possibly none."""
        if self._picked is None or not self._scene.has_semantics:
            return np.zeros((0, 3))
        try:
            found = find_view_points(self._world, ViewPointSettings((self._picked.category,), self._body))
        except NavarenaError as error:
            self._problem = str(error)
            return np.zeros((0, 3))
        return np.asarray(found.positions[found.rows_of_objects([self._picked.object_id])], float)

    def _rooms(self) -> dict[int, str]:
        return {room.room_id: room.category for room in self._scene.rooms}

    def _find_room(self) -> str:
        """The room in which the camera walks; "" outside rooms."""
        x, z = self._foot[0], self._foot[2]
        for room in self._scene.rooms:
            if abs(room.floor_height - self._foot[1]) < 1.0 and _is_inside(x, z, np.array(room.polygon)):
                return room.category
        return ""


def describe_object(one: SceneObject, rooms: dict[int, str]) -> dict[str, Any]:
    """Description of an object for the page; `rooms`: id -> category."""
    size = [round(2 * float(half), 2) for half in one.half_size]
    return {
        "name": f"{one.category}_{one.object_id}",
        "category": one.category,
        "attributes": dict(one.attributes),
        "room": "" if one.room is None else rooms.get(one.room, ""),
        "size": size,
        "center": [round(float(value), 2) for value in one.center],
    }


def _is_inside(x: float, z: float, polygon: Float[np.ndarray, "k 2"]) -> bool:
    """Whether a point of the plan, metres, lies in a polygon (K, 2), by counting crossings."""
    following = np.roll(polygon, -1, 0)
    spans = (polygon[:, 1] > z) != (following[:, 1] > z)
    rise = np.where(following[:, 1] == polygon[:, 1], 1.0, following[:, 1] - polygon[:, 1])
    crossing = polygon[:, 0] + (z - polygon[:, 1]) / rise * (following[:, 0] - polygon[:, 0])
    return bool((spans & (x < crossing)).sum() % 2)
