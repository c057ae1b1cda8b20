"""One frame of a video: camera images, map, and a card with the goal and the number of steps.

RGB  depth  semantic
map  map    goal, counter of steps, distance

On navigation graphs, which have no images, the upper row is left out.
"""

import colorsys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from jaxtyping import Float, Int, UInt8
from PIL import Image, ImageDraw

from navarena.episodes.episode import Episode
from navarena.episodes.goals import (
    GoalImage,
    ImageGoal,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    Subtask,
)
from navarena.metrics.trajectory import Trajectory
from navarena.reports.preview.drawing import FAINT, INK, PAPER, font

NEAR, FAR, NOTHING = (253, 231, 158), (30, 34, 92), (92, 32, 44)
"""Depth runs from the first of these colours to the second; the third is where nothing is seen."""

GOLDEN_RATIO = 0.618033988749895
"""Hues this far apart on the circle stay far apart, however many there are."""

CLASSES = 4096


def paint_depth(depth: Float[np.ndarray, "h w"], max_depth: float) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8 colours of `depth`, (H, W), near is light; `max_depth`, in its unit, is the darkest."""
    share = np.clip(depth / max_depth, 0.0, 1.0)[..., None]
    colors = (1 - share) * np.array(NEAR) + share * np.array(FAR)
    return np.where(depth[..., None] > 0, colors, np.array(NOTHING)).astype(np.uint8)


def paint_classes(classes: Int[np.ndarray, "h w"]) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8 colours of `classes`, (H, W) ids: 0 is dark, every other has a colour of its own."""
    return _palette()[classes % CLASSES]


@cache
def _palette() -> UInt8[np.ndarray, "c 3"]:
    colors = np.full((CLASSES, 3), 28, np.uint8)
    for number in range(1, CLASSES):
        value = (0.92, 0.78, 0.64)[number % 3]
        rgb = colorsys.hsv_to_rgb(number * GOLDEN_RATIO % 1.0, 0.55, value)
        colors[number] = np.round(np.array(rgb) * 255)
    return colors


def fit_image(
    image: UInt8[np.ndarray, "h w 3"], width: int, height: int, background: tuple[int, int, int]
) -> UInt8[np.ndarray, "height width 3"]:
    """`image`, (H, W, 3), as large as fits `width` x `height` pixels, in the middle of `background`."""
    scale = min(width / image.shape[1], height / image.shape[0])
    size = max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = image if size == image.shape[1::-1] else cv2.resize(image, size, interpolation=how)
    out = np.full((height, width, 3), background, np.uint8)
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    out[top : top + size[1], left : left + size[0]] = small
    return out


@dataclass(frozen=True)
class GoalCaption:
    """A goal as a video shows it.

    Attributes:
        text: the goal in words.
        image: the camera of the goal image; None if the goal is not given by an image.
        place: such as "goal 2 of 3"; empty with a single goal.
    """

    text: str
    image: GoalImage | None = None
    place: str = ""


def show_goals(episode: Episode) -> tuple[GoalCaption, ...]:
    """The goals of an episode in order, at least one."""
    goal = episode.goal
    if isinstance(goal, ObjectGoal):
        return (GoalCaption(f"any {goal.category}"),)
    if isinstance(goal, ImageGoal):
        return (GoalCaption(f"this {goal.instance.category}", goal.image),)
    if isinstance(goal, InstructionGoal):
        return (GoalCaption(goal.instruction),)
    if isinstance(goal, MultiGoal):
        count = len(goal.objects)
        return tuple(GoalCaption(one.category, None, _place(k, count)) for k, one in enumerate(goal.objects))
    if isinstance(goal, LifelongGoal):
        count = len(goal.subtasks)
        return tuple(_show_subtask(one, _place(k, count)) for k, one in enumerate(goal.subtasks))
    return (GoalCaption("the marked point"),)


def _place(number: int, count: int) -> str:
    return f"goal {number + 1} of {count}" if count > 1 else ""


def _show_subtask(subtask: Subtask, place: str) -> GoalCaption:
    if subtask.modality == "description":
        return GoalCaption(subtask.description, None, place)
    if subtask.modality == "image":
        return GoalCaption(f"this {subtask.category}", subtask.image, place)
    return GoalCaption(f"any {subtask.category}", None, place)


def current_goal(trajectory: Trajectory, pose: int, count: int) -> int:
    """The place, from 0, of the goal that is current after `pose` actions; the last at the end."""
    return min(int((np.asarray(trajectory.goal_end_steps) <= pose).sum()), count - 1)


GAP = 8

MIN_FOR_HEADLINE = 130
"""Pixels of height below which a card has no room for agent and episode."""

NARROWEST = 0.9
"""Width of a cell by its height, at least; images of upright cameras stand in the middle of one."""

GOOD, BAD = (23, 117, 74), (179, 38, 30)


@dataclass(frozen=True)
class Layout:
    """Sizes in pixels.

    Attributes:
        cell_width, cell_height: of one image.
        columns: how many images stand side by side, two or three.
        has_images: whether there is a row of images above the map.
    """

    cell_width: int
    cell_height: int
    columns: int = 3
    has_images: bool = True

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of a frame, even."""
        width = self.columns * (self.cell_width + GAP) + GAP
        height = self.map_top + self.cell_height + GAP
        return width + width % 2, height + height % 2

    @property
    def map_top(self) -> int:
        """Row of pixels at which the map begins."""
        return GAP + self.has_images * (self.cell_height + GAP)

    @property
    def map_size(self) -> tuple[int, int]:
        """(width, height) of the map."""
        return (self.columns - 1) * (self.cell_width + GAP) - GAP, self.cell_height


def lay_out(height_px: int, aspect: float, columns: int = 3) -> Layout:
    """The layout of `columns` images `height_px` high, of a camera `aspect` times as wide as high.

    Without images (0 columns) the map and the card are as large as beside three.
    """
    return Layout(round(height_px * max(aspect, NARROWEST)), height_px, columns or 3, columns > 0)


@dataclass(frozen=True)
class Moment:
    """The text of a frame.

    Attributes:
        headline: agent and episode.
        goal: the current goal.
        step, steps: actions taken, and how many there are in all.
        action: that led here; empty at the start.
        distance: metres, geodesic, to the goal; infinite without a path.
        verdict: "success" or what else came of it, at the last pose; empty before.
    """

    headline: tuple[str, str]
    goal: GoalCaption
    step: int
    steps: int
    action: str
    distance: float
    verdict: str


def compose(
    layout: Layout,
    images: Mapping[str, UInt8[np.ndarray, "_ _ 3"]],
    plan: UInt8[np.ndarray, "_ _ 3"],
    moment: Moment,
    goal_image: UInt8[np.ndarray, "_ _ 3"] | None,
) -> UInt8[np.ndarray, "h w 3"]:
    """The (H, W, 3) uint8 frame of `layout.size`.

    Args:
        layout: sizes of the parts.
        images: caption -> image of a camera; as many as the layout has columns, or none.
        plan: the map, of `layout.map_size`.
        moment: the text.
        goal_image: of the current goal; None if it is not given by an image.
    """
    width, height = layout.size
    frame = np.full((height, width, 3), PAPER, np.uint8)
    for column, taken in enumerate(images.values()):
        left = GAP + column * (layout.cell_width + GAP)
        fitted = fit_image(taken, layout.cell_width, layout.cell_height, PAPER)
        frame[GAP : GAP + layout.cell_height, left : left + layout.cell_width] = fitted
    top = layout.map_top
    frame[top : top + layout.cell_height, GAP : GAP + plan.shape[1]] = plan
    image = Image.fromarray(frame)
    draw = ImageDraw.Draw(image)
    for column, caption in enumerate(images):
        _draw_caption(draw, GAP + column * (layout.cell_width + GAP), GAP, caption)
    left = 2 * GAP + layout.map_size[0]
    _draw_card(image, draw, (left, top, layout.cell_width, layout.cell_height), moment, goal_image)
    return np.asarray(image)


def _draw_caption(draw: ImageDraw.ImageDraw, left: int, top: int, text: str) -> None:
    box = draw.textbbox((left + 6, top + 4), text, font=font(11))
    draw.rectangle((left, top, box[2] + 6, box[3] + 4), fill=PAPER)
    draw.text((left + 6, top + 4), text, font=font(11), fill=INK)


def _draw_card(
    image: Image.Image,
    draw: ImageDraw.ImageDraw,
    box: tuple[int, int, int, int],
    moment: Moment,
    goal_image: UInt8[np.ndarray, "_ _ 3"] | None,
) -> None:
    """Text and the image of the goal in `box` (left, top, width, height)."""
    left, top, width, height = box
    x, y = left + 4, top + 2
    for line in moment.headline if height >= MIN_FOR_HEADLINE else ():
        draw.text((x, y), _shorten(draw, line, width - 8, 11), font=font(11), fill=FAINT)
        y += 15
    y += 4
    if moment.goal.place:
        draw.text((x, y), moment.goal.place, font=font(12), fill=FAINT)
        y += 17
    floor = top + height - 62
    lines = _wrap(draw, moment.goal.text, width - 8, 15)
    for line in lines[: max(1, (floor - y) // 20)]:
        draw.text((x, y), line, font=font(15), fill=INK)
        y += 20
    if goal_image is not None and floor - y > 24:
        side = min(floor - y - 4, width - 8)
        image.paste(Image.fromarray(fit_image(goal_image, side, side, PAPER)), (x, y + 2))
    _draw_counter(draw, x, floor, width - 8, moment)


def _draw_counter(draw: ImageDraw.ImageDraw, x: int, y: int, width: int, moment: Moment) -> None:
    draw.text((x, y + 2), f"step {moment.step} of {moment.steps}", font=font(14), fill=INK)
    draw.text((x + width, y + 4), moment.action, font=font(12), fill=FAINT, anchor="ra")
    draw.rectangle((x, y + 24, x + width, y + 27), fill=(221, 225, 230))
    done = round(width * moment.step / max(moment.steps, 1))
    draw.rectangle((x, y + 24, x + done, y + 27), fill=(36, 87, 214))
    far = f"{moment.distance:.2f} m to go" if np.isfinite(moment.distance) else "no path to the goal"
    draw.text((x, y + 36), far, font=font(13), fill=INK)
    if moment.verdict:
        color = GOOD if moment.verdict == "success" else BAD
        draw.text((x + width, y + 36), moment.verdict, font=font(13), fill=color, anchor="ra")


def _wrap(draw: ImageDraw.ImageDraw, text: str, width: int, size: int) -> list[str]:
    """Lines of `text` that are at most `width` pixels long, letters of this size taken at their mean."""
    letter = max(draw.textlength("the quick brown fox jumps", font=font(size)) / 25, 1.0)
    return textwrap.wrap(text, max(int(width / letter), 8)) or [""]


def _shorten(draw: ImageDraw.ImageDraw, text: str, width: int, size: int) -> str:
    while len(text) > 4 and draw.textlength(text, font=font(size)) > width:
        text = text[:-2].rstrip("…") + "…"
    return text
