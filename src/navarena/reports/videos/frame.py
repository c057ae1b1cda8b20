"""One image of a video: what the body saw, where it is, what it looks for.

RGB  depth  semantic
map  map    goal, counter of steps, distance
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from navarena.reports.preview.drawing import FAINT, INK, PAPER, font
from navarena.reports.videos.goal_words import ToldGoal
from navarena.reports.videos.images import fit_image

GAP = 8

NARROWEST = 0.9
"""Width of a cell by its height, at least; images of upright cameras stand in the middle of one."""

GOOD, BAD = (23, 117, 74), (179, 38, 30)


@dataclass(frozen=True)
class Layout:
    """Sizes in pixels.

    Attributes:
        cell_width, cell_height: of one image.
        columns: how many images stand side by side, two or three.
    """

    cell_width: int
    cell_height: int
    columns: int = 3

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of a frame, even."""
        width = self.columns * (self.cell_width + GAP) + GAP
        height = 2 * self.cell_height + 3 * GAP
        return width + width % 2, height + height % 2

    @property
    def map_size(self) -> tuple[int, int]:
        """(width, height) of the map."""
        return (self.columns - 1) * (self.cell_width + GAP) - GAP, self.cell_height


def lay_out(height_px: int, aspect: float, columns: int = 3) -> Layout:
    """The layout of `columns` images `height_px` high, of a camera `aspect` times as wide as high."""
    return Layout(round(height_px * max(aspect, NARROWEST)), height_px, columns)


@dataclass(frozen=True)
class Moment:
    """What the words of a frame say.

    Attributes:
        headline: agent and episode.
        goal: what is looked for.
        step, steps: actions taken, and how many there are in all.
        action: that led here; empty at the start.
        distance: metres, geodesic, to the goal; infinite without a way.
        verdict: "success" or what else came of it, at the last pose; empty before.
    """

    headline: tuple[str, str]
    goal: ToldGoal
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
        layout: where things stand.
        images: caption -> what a camera saw; as many as the layout has columns.
        plan: the map, of `layout.map_size`.
        moment: the words.
        goal_image: that tells the goal; None where none does.
    """
    width, height = layout.size
    frame = np.full((height, width, 3), PAPER, np.uint8)
    for column, taken in enumerate(images.values()):
        left = GAP + column * (layout.cell_width + GAP)
        fitted = fit_image(taken, layout.cell_width, layout.cell_height, PAPER)
        frame[GAP : GAP + layout.cell_height, left : left + layout.cell_width] = fitted
    top = 2 * GAP + layout.cell_height
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
    """Words and the image of the goal in `box` (left, top, width, height)."""
    left, top, width, height = box
    x, y = left + 4, top + 2
    for line in moment.headline:
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
    far = f"{moment.distance:.2f} m to go" if np.isfinite(moment.distance) else "no way to the goal"
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
