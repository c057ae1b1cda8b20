"""The plan of a storey: the scene from above without its ceiling, walkable floor, names of rooms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw

from navarena.core.geometry import forward_from_yaw
from navarena.reports.plan_view import trace_outlines
from navarena.reports.preview.drawing import (
    BADGES,
    INK,
    PAPER,
    SMOOTHING,
    draw_badge,
    draw_tag,
    finish_image,
    font,
)
from navarena.reports.preview.surfaces import open_storey, shade_bare, tint_by_height
from navarena.reports.preview.viewpoints import Viewpoint
from navarena.scenes.scene import Room, Scene, SceneObject
from navarena.simulation.body import Camera
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.rendering import Frames, Views, VisibilityRenderer, build_render_mesh

WALKABLE = (0, 140, 120)
WALKABLE_ALPHA = 16
WALL, WINDOW = (72, 76, 84), (150, 200, 235)
WALL_REACH = 0.16
"""Metres: paper this near to a room is wall. Rooms face each other across walls of twice that."""

MARGIN = 0.04
SCALE_BAR_STRIP = 34
SMALL_PLAN = 450
"""Pixels: names are smaller in plans no wider than this."""
FAR = 60.0
"""The camera stands this many image sizes above the floor: verticals all but vanish."""

DOWNWARD = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
"""World from camera of a look down with -z (north) at the top of the image."""


@dataclass(frozen=True)
class PlanFrame:
    """The mapping from the world to pixels of the plan.

    Attributes:
        width, height: pixels.
        center: (x, z) metres, in the middle of the image.
        scale: pixels per metre.
    """

    width: int
    height: int
    center: tuple[float, float]
    scale: float

    def pixels(self, points: Float[np.ndarray, "n 2"]) -> list[tuple[float, float]]:
        """Pixel (column, row) of points (N, 2), x and z in metres."""
        moved = (np.asarray(points, float) - self.center) * self.scale
        return [(float(x) + self.width / 2, float(z) + self.height / 2) for x, z in moved]


def draw_plan(
    scene: Scene,
    navmesh: NavMesh | None,
    level: int | None,
    size: tuple[int, int],
    viewpoints: Sequence[tuple[int, Viewpoint]],
) -> Image.Image:
    """The plan of one storey (None: of the whole scene) as an image of `size` (width, height) pixels.

    Args:
        scene: what is drawn.
        navmesh: whose floor is tinted; None for none.
        level: storey as in `Room.level`.
        size: of the image, pixels.
        viewpoints: (number, pose) of the views to mark.
    """
    opened = open_storey(scene, level)
    frame = _fit(opened, (size[0], size[1] - SCALE_BAR_STRIP))
    image = _draw_surfaces(opened, frame)
    if navmesh is not None:
        _tint_floor(image, scene, navmesh, level, frame)
    draw = ImageDraw.Draw(image)
    _name_rooms(draw, frame, [room for room in scene.rooms if room.level == level])
    for number, view in viewpoints:
        _draw_viewpoint(draw, frame, number, view)
    sheet = Image.new("RGB", size, PAPER)
    sheet.paste(image, (0, 0))
    _draw_scale_bar(ImageDraw.Draw(sheet), size, frame.scale)
    return sheet


def _fit(scene: Scene, size: tuple[int, int]) -> PlanFrame:
    used = scene.vertices[np.unique(scene.triangles)][:, [0, 2]].astype(float)
    low, high = used.min(0), used.max(0)
    extent = np.maximum(high - low, 1.0) * (1 + 2 * MARGIN)
    scale = min(size[0] / extent[0], size[1] / extent[1])
    center = (low + high) / 2
    return PlanFrame(size[0], size[1], (float(center[0]), float(center[1])), float(scale))


def _draw_surfaces(scene: Scene, frame: PlanFrame) -> Image.Image:
    """The triangles from far above, on paper."""
    dressed = shade_bare(tint_by_height(scene))
    width, height = frame.width * SMOOTHING, frame.height * SMOOTHING
    distance = FAR * max(frame.width, frame.height) / frame.scale
    hfov = 2 * math.atan(frame.width / 2 / frame.scale / distance)
    camera = Camera(width_px=width, height_px=height, hfov=hfov)
    eye = np.array([[frame.center[0], float(dressed.vertices[:, 1].max()) + distance, frame.center[1]]])
    frames = Frames.allocate(1, camera, ("rgb", "depth"))
    renderer = VisibilityRenderer([build_render_mesh(dressed)])
    renderer.render(Views(camera, np.zeros(1, np.int32), eye, DOWNWARD[None]), frames)
    if scene.rooms:
        _fill_walls(frames, scene, frame)
    return finish_image(frames, 0, PAPER, (frame.width, frame.height))


def _fill_walls(frames: Frames, scene: Scene, frame: PlanFrame) -> None:
    """Colour the paper between and around rooms as wall, with the windows in it.

    Walls are seen from above edge-on: the renderer shows nothing of them.
    """
    from scipy.ndimage import distance_transform_edt

    assert frames.rgb is not None and frames.depth is not None
    paper = frames.depth[0] == 0
    wall = paper & (distance_transform_edt(paper) <= WALL_REACH * frame.scale * SMOOTHING)
    windows = Image.new("L", (paper.shape[1], paper.shape[0]), 0)
    draw = ImageDraw.Draw(windows)
    for scene_object in scene.objects:
        if scene_object.category == "window":
            outline = [(x * SMOOTHING, y * SMOOTHING) for x, y in frame.pixels(_box_outline(scene_object))]
            draw.polygon(outline, fill=255)
    frames.rgb[0][wall] = WALL
    frames.rgb[0][wall & (np.asarray(windows) > 0)] = WINDOW
    frames.depth[0][wall] = 1.0


def _box_outline(scene_object: SceneObject) -> Float[np.ndarray, "4 2"]:
    """Plan corners (x, z) of an object's oriented box."""
    half_x, half_z = scene_object.half_size[0], scene_object.half_size[2]
    corners = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)]) * (half_x, half_z)
    cosine, sine = np.cos(scene_object.yaw), np.sin(scene_object.yaw)
    turned = np.stack(
        [cosine * corners[:, 0] + sine * corners[:, 1], cosine * corners[:, 1] - sine * corners[:, 0]], 1
    )
    return turned + (scene_object.center[0], scene_object.center[2])


def _tint_floor(
    image: Image.Image, scene: Scene, navmesh: NavMesh, level: int | None, frame: PlanFrame
) -> None:
    """Tint the walkable floor without its holes, and draw its border."""
    heights = navmesh.vertices[navmesh.triangles, 1].mean(1)
    rooms = [room for room in scene.rooms if room.level == level]
    selected = np.ones(len(heights), bool)
    if rooms:
        low = min(room.floor_height for room in rooms) - 0.5
        selected = (heights > low) & (heights < min(room.ceiling_height for room in rooms) - 0.3)
    mask = Image.new("L", (frame.width * SMOOTHING, frame.height * SMOOTHING), 0)
    draw = ImageDraw.Draw(mask)
    for corners in navmesh.vertices[navmesh.triangles[selected]]:
        draw.polygon([(x * SMOOTHING, y * SMOOTHING) for x, y in frame.pixels(corners[:, [0, 2]])], fill=255)
    mask = mask.resize(image.size, Image.Resampling.BOX)
    tint = Image.new("RGB", image.size, WALKABLE)
    image.paste(tint, mask=mask.point([value * WALKABLE_ALPHA // 255 for value in range(256)]))
    lines = ImageDraw.Draw(image)
    for outline in trace_outlines(navmesh.vertices, navmesh.triangles, navmesh.neighbors, selected):
        corner = frame.pixels(outline)
        lines.line([*corner, corner[0]], fill=WALKABLE, width=1, joint="curve")


def _name_rooms(draw: ImageDraw.ImageDraw, frame: PlanFrame, rooms: Sequence[Room]) -> None:
    """The category of each room in its middle, moved up or down where names would overlap."""
    size = 14 if frame.width > SMALL_PLAN else 11
    taken: list[tuple[float, float, float, float]] = []
    for room in rooms:
        x, y = frame.pixels(np.array([_label_point(np.array(room.polygon))]))[0]
        boxes = []
        for shift in (0, -1, 1, -2, 2):
            at = (x, y + shift * (size + 6))
            left, top, right, bottom = draw.textbbox(at, room.category, font=font(size), anchor="mm")
            boxes.append((at, (left - 6, top - 4, right + 6, bottom + 4)))
        at, box = next((b for b in boxes if not any(_overlap(b[1], other) for other in taken)), boxes[0])
        taken.append(box)
        draw_tag(draw, at, room.category, size=size)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _label_point(polygon: Float[np.ndarray, "k 2"]) -> Float[np.ndarray, "2"]:
    """A point (x, z) well inside a polygon."""
    from shapely import Polygon, maximum_inscribed_circle

    inside = maximum_inscribed_circle(Polygon(polygon).buffer(0), tolerance=0.05).coords[0]
    return np.array(inside)


def _draw_viewpoint(draw: ImageDraw.ImageDraw, frame: PlanFrame, number: int, view: Viewpoint) -> None:
    """A numbered badge with a wedge towards what the view shows."""
    here = np.array([view.position[0], view.position[2]])
    left, right = (forward_from_yaw(np.array(view.yaw + turn))[[0, 2]] for turn in (0.5, -0.5))
    reach = 30 / frame.scale
    color = BADGES[number % len(BADGES)]
    wedge = frame.pixels(np.stack([here, here + reach * left, here + reach * right]))
    draw.polygon(wedge, fill=color, outline=(255, 255, 255))
    draw_badge(draw, wedge[0], number)


def _draw_scale_bar(draw: ImageDraw.ImageDraw, size: tuple[int, int], scale: float) -> None:
    """A bar of a round number of metres in the strip below the plan."""
    wanted = size[0] / 6 / scale
    metres = max((m for m in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if m <= wanted), default=0.1)
    x, y, length = 16.0, size[1] - 10.0, metres * scale
    draw.line((x, y, x + length, y), fill=INK, width=2)
    for end in (x, x + length):
        draw.line((end, y - 4, end, y + 4), fill=INK, width=2)
    draw.text((x + length / 2, y - 5), f"{metres:g} m", font=font(13), fill=INK, anchor="ms")
