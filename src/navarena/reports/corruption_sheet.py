"""A sheet of example images: one view of a scene under every corruption of sight, at every severity."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image, ImageDraw

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator
from navarena.corruptions import (
    CORRUPTIONS,
    CameraCorruption,
    Corruption,
    DepthCorruption,
    ImageCorruption,
    find_corruption,
)
from navarena.reports.preview.drawing import INK, PAPER, font
from navarena.reports.preview.surfaces import shaded_mesh
from navarena.reports.preview.viewpoints import Viewpoint, choose_viewpoints
from navarena.simulation.body import Camera
from navarena.simulation.rendering import Frames, Renderer, Views, VisibilityRenderer
from navarena.simulation.world import World

CAMERA = Camera(width_px=400, height_px=300)
"""RobustNav's: 400 x 300 pixels, 79 degrees."""

COLUMNS = 6
"""The clean image, and five severities."""

GAP, LABEL_HEIGHT = 8, 22

SIGHT = (ImageCorruption, CameraCorruption, DepthCorruption)
"""Kinds of corruptions that images show, in the order of the rows."""

NEAR_COLOR, FAR_COLOR, LOST_COLOR = (255, 236, 170), (24, 30, 92), (170, 30, 40)
"""Depth is drawn from the first of these to the second, and in the third where it is 0."""

FAR = 7.0
"""Metres from which on depth has the second colour."""


@dataclass(frozen=True)
class Cell:
    """An image of the sheet.

    Attributes:
        caption: what was done to it.
        image: (H, W, 3) uint8 sRGB.
    """

    caption: str
    image: UInt8[np.ndarray, "h w 3"]


@dataclass(frozen=True)
class CorruptionSheet:
    """A drawn sheet.

    Attributes:
        image: (H, W, 3) uint8 sRGB.
        corruptions: as they are written, in the order of the cells, without the clean ones.
    """

    image: UInt8[np.ndarray, "h w 3"]
    corruptions: tuple[str, ...]


def sight_corruptions() -> tuple[str, ...]:
    """Names of all corruptions that images show: those of colour, of cameras, of depth."""
    names = CORRUPTIONS.names()
    return tuple(name for kind in SIGHT for name in names if issubclass(CORRUPTIONS.get(name), kind))


def draw_corruption_sheet(
    world: World, names: Sequence[str] = (), view: int = 0, cell_width_px: int = 200
) -> CorruptionSheet:
    """Draw one view of `world` under corruptions of sight, a row for each.

    Args:
        world: the scene.
        names: of corruptions, without severities; all that images show when empty.
        view: which of the views to take that a preview of the scene shows, from 0.
        cell_width_px: width of an image on the sheet in pixels; it is taken at CAMERA's size and then
            reduced.

    Raises UnknownNameError for an unknown name, InputError for one that no image shows and for a view or
    width that does not exist, SceneError where no view is found.
    """
    if cell_width_px not in range(40, CAMERA.width_px + 1):
        raise InputError(f"expected cells of 40 to {CAMERA.width_px} pixels, got {cell_width_px}")
    renderer = VisibilityRenderer([shaded_mesh(world)])
    viewpoint = _choose_view(world, renderer, view)
    rows = [
        list(_cells_of(name, renderer, viewpoint, world.scene_id))
        for name in tuple(names) or sight_corruptions()
    ]
    return CorruptionSheet(
        _paste(rows, cell_width_px), tuple(cell.caption for row in rows for cell in row[1:])
    )


def _choose_view(world: World, renderer: Renderer, number: int) -> Viewpoint:
    views = choose_viewpoints(world.scene, world.navmesh, renderer)
    if not views:
        raise SceneError(f"{world.scene_id} has no place with a view")
    if number not in range(len(views)):
        raise InputError(f"expected a view from 0 to {len(views) - 1} of {world.scene_id}, got {number}")
    return views[number]


def _cells_of(name: str, renderer: Renderer, viewpoint: Viewpoint, scene_id: str) -> Iterator[Cell]:
    """The clean image, and one for each severity; without severities as many as have other draws."""
    kind = CORRUPTIONS.get(name)
    if not issubclass(kind, SIGHT):
        shown = ", ".join(sight_corruptions())
        raise InputError(f"expected a corruption that images show, got {name!r}; these are {shown}")
    rgb, depth = _take(renderer, viewpoint, CAMERA)
    yield Cell("clean", paint_depth(depth) if issubclass(kind, DepthCorruption) else rgb)
    if kind.severities:
        texts = [(f"{name}:{severity}", f"{name}:{severity}") for severity in kind.severities]
    elif kind.per == "scene":
        texts = [(name, f"{name}, scene {number}") for number in range(1, COLUMNS)]
    else:
        texts = [(name, name)]
    for text, caption in texts:
        generator = make_generator("corruption sheet", caption, scene_id)
        yield Cell(caption, _spoil(find_corruption(text), renderer, viewpoint, rgb, depth, generator))


def _spoil(
    corruption: Corruption,
    renderer: Renderer,
    viewpoint: Viewpoint,
    rgb: UInt8[np.ndarray, "h w 3"],
    depth: Float32[np.ndarray, "h w"],
    generator: np.random.Generator,
) -> UInt8[np.ndarray, "h w 3"]:
    if isinstance(corruption, ImageCorruption):
        return corruption.corrupt(rgb[None], [generator])[0]
    if isinstance(corruption, DepthCorruption):
        return paint_depth(corruption.corrupt(depth[None, :, :, None], [generator])[0, :, :, 0])
    assert isinstance(corruption, CameraCorruption)
    return _take(renderer, viewpoint, replace(CAMERA, hfov=corruption.change(CAMERA.hfov)))[0]


def _take(
    renderer: Renderer, viewpoint: Viewpoint, camera: Camera
) -> tuple[UInt8[np.ndarray, "h w 3"], Float32[np.ndarray, "h w"]]:
    frames = Frames.allocate(1, camera, ("rgb", "depth"))
    place = viewpoint.position[None], viewpoint.rotation[None]
    renderer.render(Views(camera, np.zeros(1, np.int32), *place), frames)
    assert frames.rgb is not None and frames.depth is not None
    return frames.rgb[0], frames.depth[0]


def paint_depth(depth: Float32[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8 colours of `depth`, (H, W) float32 metres: light near, dark far, red where it is 0."""
    share = np.minimum(depth / FAR, 1)[..., None]
    color = (1 - share) * np.array(NEAR_COLOR) + share * np.array(FAR_COLOR)
    return np.where(depth[..., None] > 0, color, np.array(LOST_COLOR)).astype(np.uint8)


def _paste(rows: Sequence[Sequence[Cell]], width: int) -> UInt8[np.ndarray, "h w 3"]:
    height = round(width * CAMERA.height_px / CAMERA.width_px)
    step_x, step_y = width + GAP, height + LABEL_HEIGHT + GAP
    sheet = Image.new("RGB", (GAP + COLUMNS * step_x, GAP + len(rows) * step_y), PAPER)
    draw = ImageDraw.Draw(sheet)
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            x, y = GAP + column * step_x, GAP + row * step_y
            draw.text((x, y + 2), cell.caption, font=font(14), fill=INK)
            resized = Image.fromarray(cell.image).resize((width, height), Image.Resampling.BOX)
            sheet.paste(resized, (x, y + LABEL_HEIGHT))
    return np.array(sheet)
