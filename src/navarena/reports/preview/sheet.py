"""The preview of a scene: title, plan of every storey, four views from inside."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from navarena.core.files import write_atomic
from navarena.reports.preview.drawing import (
    FAINT,
    INK,
    PAPER,
    SKY,
    SMOOTHING,
    draw_badge,
    draw_tag,
    finish_image,
    font,
)
from navarena.reports.preview.plan import draw_plan
from navarena.reports.preview.surfaces import shaded_mesh
from navarena.reports.preview.viewpoints import HFOV, Viewpoint, choose_viewpoints
from navarena.scenes.catalog import is_file_path
from navarena.scenes.scene import Scene
from navarena.simulation.body import Camera
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.rendering import (
    Frames,
    Renderer,
    Views,
    VisibilityRenderer,
)
from navarena.simulation.world import World

WIDTH, HEIGHT = 1680, 960
HEADER, GAP = 72, 20
PLAN_WIDTH = 800
MAX_STOREYS = 4


@dataclass(frozen=True)
class Sheet:
    """A drawn preview.

    Attributes:
        image: (HEIGHT, WIDTH, 3) uint8 sRGB.
        views: the poses of the views, in the order of their numbers.
    """

    image: UInt8[np.ndarray, "h w 3"]
    views: tuple[Viewpoint, ...]


def draw_preview(world: World) -> Sheet:
    """Draw a world: the plan from above on the left, four views from inside on the right."""
    scene, navmesh = world.scene, world.navmesh
    renderer = VisibilityRenderer([shaded_mesh(world)])
    views = choose_viewpoints(scene, navmesh, renderer)
    sheet = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    _draw_title(ImageDraw.Draw(sheet), scene, navmesh)
    _paste_plans(sheet, scene, navmesh, views)
    _paste_views(sheet, renderer, views)
    return Sheet(np.array(sheet), views)


def encode_png(image: UInt8[np.ndarray, "h w 3"]) -> bytes:
    """`image`, (H, W, 3) uint8 sRGB pixels, as the bytes of a PNG file."""
    data = io.BytesIO()
    Image.fromarray(image).save(data, "PNG", optimize=True)
    return data.getvalue()


def write_png(image: UInt8[np.ndarray, "h w 3"], path: Path) -> None:
    """Write `image`, (H, W, 3) uint8 sRGB pixels, to `path` in one step; raises StorageError."""
    write_atomic(path, encode_png(image))


def _draw_title(draw: ImageDraw.ImageDraw, scene: Scene, navmesh: NavMesh) -> None:
    low, high = scene.bounds
    facts = [f"{high[0] - low[0]:.1f} x {high[2] - low[2]:.1f} m", f"{len(scene.triangles):,} triangles"]
    if scene.rooms:
        facts.append(f"{len(scene.rooms)} rooms")
    if scene.objects:
        facts.append(f"{len(scene.objects)} objects of {len(scene.categories)} categories")
    facts.append(f"{navmesh.navigable_area:.0f} m2 walkable")
    title = Path(scene.scene_id).name if is_file_path(scene.scene_id) else scene.scene_id
    draw.text((GAP, 14), title, font=font(26), fill=INK)
    draw.text((GAP, 46), "  ·  ".join(facts), font=font(15), fill=FAINT)


def _paste_plans(sheet: Image.Image, scene: Scene, navmesh: NavMesh, views: Sequence[Viewpoint]) -> None:
    """The plans of all storeys share the left panel."""
    storeys = sorted({room.level for room in scene.rooms})[:MAX_STOREYS]
    levels: list[int | None] = [*storeys] or [None]
    panel_height = HEIGHT - HEADER - GAP
    columns = 1 if len(levels) < 3 else 2
    rows = -(-len(levels) // columns)
    width = (PLAN_WIDTH - GAP * (columns - 1)) // columns
    height = (panel_height - GAP * (rows - 1)) // rows
    for index, level in enumerate(levels):
        marked = [(number, view) for number, view in enumerate(views) if _is_on(scene, view, level)]
        plan = draw_plan(scene, navmesh, level, (width, height), marked)
        if len(levels) > 1:
            draw_tag(ImageDraw.Draw(plan), (14, 12), f"storey {level}", anchor="lt")
        row, column = divmod(index, columns)
        sheet.paste(plan, (GAP + column * (width + GAP), HEADER + row * (height + GAP)))


def _is_on(scene: Scene, view: Viewpoint, level: int | None) -> bool:
    rooms = [room for room in scene.rooms if room.level == level]
    if not rooms:
        return True
    height = float(view.position[1])
    return min(r.floor_height for r in rooms) < height < min(r.ceiling_height for r in rooms)


def _paste_views(sheet: Image.Image, renderer: Renderer, views: Sequence[Viewpoint]) -> None:
    """Two by two images in the right panel, numbered as in the plan."""
    if not views:
        return
    left = GAP + PLAN_WIDTH + GAP
    width, height = (WIDTH - left - 2 * GAP) // 2, (HEIGHT - HEADER - 2 * GAP) // 2
    camera = Camera(width_px=width * SMOOTHING, height_px=height * SMOOTHING, hfov=HFOV)
    frames = Frames.allocate(len(views), camera, ("rgb", "depth"))
    position = np.array([view.position for view in views]).reshape(-1, 3)
    rotation = np.array([view.rotation for view in views]).reshape(-1, 3, 3)
    renderer.render(Views(camera, np.zeros(len(views), np.int32), position, rotation), frames)
    for number, view in enumerate(views):
        drawn = finish_image(frames, number, SKY, (width, height))
        draw = ImageDraw.Draw(drawn)
        draw_badge(draw, (20, 20), number)
        if view.title:
            draw_tag(draw, (42, 20), view.title, anchor="lm")
        row, column = divmod(number, 2)
        sheet.paste(drawn, (left + column * (width + GAP), HEADER + row * (height + GAP)))
