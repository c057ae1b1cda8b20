"""An image with the goals of a scene: goal images with the object outlined, names and descriptions."""

import textwrap
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int32, UInt8
from PIL import Image, ImageDraw

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator
from navarena.episodes.goals import Subtask
from navarena.episodes.goat import GoalPool
from navarena.episodes.goat.goal_images import take_goal_images
from navarena.episodes.goat.goal_pool import Choice
from navarena.reports.preview.drawing import FAINT, INK, PAPER, font

COLUMNS = 4
CELL_PX = 256
GAP_PX = 12
CAPTION_PX = 84
LINE_PX = 16
LINE_LETTERS = 40
OUTLINE = (230, 40, 40)
OUTLINE_PX = 2


@dataclass(frozen=True)
class GoalSheet:
    """A drawn sheet.

    Attributes:
        image: (H, W, 3) uint8 sRGB.
        goals: in the order of the cells: goals by image, each with its description, if it has one.
    """

    image: UInt8[np.ndarray, "h w 3"]
    goals: tuple[tuple[Subtask, str], ...]


def draw_goal_sheet(pool: GoalPool, limit: int = 16) -> GoalSheet:
    """Up to `limit` goals by image of a scene, chosen at random by the scene's id.

    Raises InputError for fewer than one, SceneError for a scene without goals by image.
    """
    if limit < 1:
        raise InputError(f"expected at least one goal on the sheet, got {limit}")
    scene_id = pool.world.scene_id
    by_object = {choice.object_id: choice for choice in pool.choices("image")}
    if not by_object:
        raise SceneError(f"expected goals by image in {scene_id!r}, got none; see `navarena goals make`")
    generator = make_generator("goal sheet", scene_id)
    numbers = generator.permutation(sorted(by_object))[:limit].tolist()
    described = {choice.object_id: choice for choice in pool.choices("description")}
    goals = []
    for number in numbers:
        choice = described.get(number)
        words = "" if choice is None else pool.subtask(choice, generator).description
        shown = by_object[number] if choice is None else Choice("image", choice.name, number)
        goals.append((pool.subtask(shown, generator), words))
    return GoalSheet(_paste(pool, goals), tuple(goals))


def _paste(pool: GoalPool, goals: list[tuple[Subtask, str]]) -> UInt8[np.ndarray, "h w 3"]:
    rows = -(-len(goals) // COLUMNS)
    step_x, step_y = CELL_PX + GAP_PX, CELL_PX + CAPTION_PX + GAP_PX
    sheet = Image.new("RGB", (GAP_PX + COLUMNS * step_x, GAP_PX + rows * step_y), PAPER)
    draw = ImageDraw.Draw(sheet)
    goal_images = [goal.image for goal, _ in goals if goal.image is not None]
    rgb, instance = take_goal_images(pool.world, goal_images)
    undescribed = {one.object_id: one.reason for one in pool.goals.dropped if one.modality == "description"}
    for k, (goal, words) in enumerate(goals):
        x, y = GAP_PX + k % COLUMNS * step_x, GAP_PX + k // COLUMNS * step_y
        shown = rgb[k]
        number = int(goal.instances[0].object_id)
        shown[_outline(instance[k], number)] = OUTLINE
        sheet.paste(Image.fromarray(shown).resize((CELL_PX, CELL_PX), Image.Resampling.BOX), (x, y))
        coverage = goal_images[k].frame_coverage or 0.0
        draw.text((x, y + CELL_PX + 4), f"{goal.category} ({coverage:.0%} of it)", font=font(14), fill=INK)
        reason = undescribed.get(number, "none fits it alone")
        lines = textwrap.wrap(words or f"(no description: {reason})", LINE_LETTERS)
        for line, text in enumerate(lines[:4]):
            at = (x, y + CELL_PX + 22 + line * LINE_PX)
            draw.text(at, text, font=font(12), fill=INK if words else FAINT)
    return np.array(sheet)


def _outline(image: Int32[np.ndarray, "h w"], number: int) -> Bool[np.ndarray, "h w"]:
    """(H, W) pixels of an object that lie at most OUTLINE_PX from its edge."""
    shown = image == number
    inside = shown.copy()
    for axis in (0, 1):
        for step in range(1, OUTLINE_PX + 1):
            inside &= np.roll(shown, step, axis) & np.roll(shown, -step, axis)
    return shown & ~inside
