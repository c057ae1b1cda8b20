"""Goals that are given by a name, a description or an image (GOAT-Bench)."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jaxtyping import Int64, UInt8

from navarena.core.errors import InputError
from navarena.core.geometry import rotation_from_quaternion
from navarena.episodes.goals import GoalImage, Modality, Subtask
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.instruction import MAX_LETTERS, TEXT
from navarena.tasks.task import TaskState

MODALITY_IDS: dict[Modality, int] = {"object": 0, "description": 1, "image": 2}
"""Modality -> what `current_subtask` says (spec ivln_goat 4.2)."""

FINISHED = len(MODALITY_IDS)
"""What `current_subtask` says when no goal is left."""

REMEDY = "mend the episode file, or leave the episode out"

NAME_LETTERS = 64

IMAGE_PX = 512
"""Side of the images of goals (spec 4.1)."""


GoalImageTransform: TypeAlias = Callable[[int, int, UInt8[np.ndarray, "h w 3"]], UInt8[np.ndarray, "h w 3"]]
"""(slot, place of the goal in its episode, image) -> image."""


class LifelongGoalState(TaskState):
    """State of tasks whose goals are given one after another, each by its own modality.

    Attributes:
        modality: (N,) int64, one of MODALITY_IDS, or FINISHED.
        names: (N,) text, the category of goals given by it, else empty.
        descriptions: (N,) text, of goals given by a description, else empty.
        images: for each slot the camera of the goal's image; None for other goals.
        numbers: (N,) int64, place of the goal in its episode, from 0.
        image_transform: what makes the image that the agent sees of the rendered one; None leaves it.
    """

    protocols = "of GOAT-Bench"

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.modality = np.full(slots, FINISHED, np.int64)
        self.names = np.zeros(slots, f"<U{NAME_LETTERS}")
        self.descriptions = np.zeros(slots, TEXT)
        self.images: list[GoalImage | None] = [None] * slots
        self.numbers = np.zeros(slots, np.int64)
        self.image_transform: GoalImageTransform | None = None

    def show_goal(self, slot: int, subtask: Subtask, number: int) -> None:
        """Show in `slot` the goal of `subtask`, the `number`-th from 0 of its episode, and no other.

        Raises InputError for words that are too long, for a description without words and for a
        image that is missing or of another size.
        """
        self.clear_goal(slot)
        self.modality[slot], self.numbers[slot] = MODALITY_IDS[subtask.modality], number
        if subtask.modality == "object":
            self.names[slot] = require_text(subtask.category, NAME_LETTERS, "a category")
        elif subtask.modality == "description":
            self.descriptions[slot] = require_text(subtask.description, MAX_LETTERS, "a description")
        else:
            self.images[slot] = require_image(subtask)

    def clear_goal(self, slot: int) -> None:
        """Show in `slot` that no goal is left."""
        self.modality[slot] = FINISHED
        self.names[slot] = self.descriptions[slot] = ""
        self.images[slot] = None


def require_text(text: str, letters: int, what: str) -> str:
    """`text`, which must have 1 to `letters` letters; raises InputError."""
    if not 1 <= len(text) <= letters:
        raise InputError(
            f"expected {what} of 1 to {letters} letters, got {len(text)}: {text[:80]!r}; {REMEDY}"
        )
    return text


def require_image(subtask: Subtask) -> GoalImage:
    """The camera of a goal given by an image; raises InputError without one of IMAGE_PX pixels."""
    image, who = subtask.image, [one.object_id for one in subtask.instances]
    if image is None:
        raise InputError(f"expected the camera of an image of {subtask.category!r} {who}, got none; {REMEDY}")
    if not 1e-9 < math.hypot(*image.rotation) < math.inf:
        raise InputError(
            f"expected a rotation of the camera of {subtask.category!r} {who}, got {image.rotation}; {REMEDY}"
        )
    if (image.width_px, image.height_px) != (IMAGE_PX, IMAGE_PX):
        raise InputError(
            f"expected an image of {IMAGE_PX} x {IMAGE_PX} pixels of {subtask.category!r} {who}, got "
            f"{image.width_px} x {image.height_px}; {REMEDY}"
        )
    return image


def render_goal_image(world: World, image: GoalImage) -> UInt8[np.ndarray, "h w 3"]:
    """(H, W, 3) uint8 sRGB: what the camera of a goal sees in its scene."""
    camera = Camera(width_px=image.width_px, height_px=image.height_px, hfov=image.hfov, channels=("rgb",))
    frames = Frames.allocate(1, camera, camera.channels)
    rotation = rotation_from_quaternion(np.array(image.rotation))
    position = np.array(image.position, float)
    views = Views(camera, np.zeros(1, np.int32), position[None], rotation[None])
    VisibilityRenderer([world.render_mesh]).render(views, frames)
    return np.asarray(frames.rgb)[0]


class ObjectNameGoal(GoalSensor[LifelongGoalState]):
    """() text: the category to be found; empty while the goal has another modality."""

    name = "objectgoal"
    state_type = LifelongGoalState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((), np.dtype(f"<U{NAME_LETTERS}"), 0, 0, "letters")

    def observe(self, simulator: Simulator, state: LifelongGoalState, out: np.ndarray) -> None:
        out[:] = state.names


class LanguageGoal(GoalSensor[LifelongGoalState]):
    """() text: the description of the object to be found; empty while the goal has another modality."""

    name = "language_goal"
    state_type = LifelongGoalState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((), TEXT, 0, 0, "letters")

    def observe(self, simulator: Simulator, state: LifelongGoalState, out: np.ndarray) -> None:
        out[:] = state.descriptions


class ImageGoalSensor(GoalSensor[LifelongGoalState]):
    """(512, 512, 3) uint8: the image of the object to be found; black while the goal has another modality.

    It is rendered when it is first looked at, and kept while it is the goal of its slot.
    """

    name = "image_goal"
    state_type = LifelongGoalState

    def __init__(self) -> None:
        self._kept: dict[int, tuple[GoalImage, int, np.ndarray]] = {}

    def begin(self, simulator: Simulator, state: LifelongGoalState, slots: Int64[np.ndarray, "k"]) -> None:
        for slot in slots.tolist():
            self._kept.pop(slot, None)

    def spec(self) -> ObservationSpec:
        return ObservationSpec((IMAGE_PX, IMAGE_PX, 3), np.uint8, 0, 255)

    def observe(self, simulator: Simulator, state: LifelongGoalState, out: np.ndarray) -> None:
        for slot in range(len(state.images)):
            seen = self.look(simulator, state, slot)
            out[slot] = 0 if seen is None else seen

    def look(
        self, simulator: Simulator, state: LifelongGoalState, slot: int
    ) -> UInt8[np.ndarray, "h w 3"] | None:
        """(H, W, 3) uint8: the image of the goal in `slot`; None while it has another modality."""
        image, number, world = state.images[slot], int(state.numbers[slot]), simulator.slot_worlds.world(slot)
        if image is None or world is None:
            return None
        kept = self._kept.get(slot)
        if kept is None or kept[:2] != (image, number):
            seen = render_goal_image(world, image)
            if state.image_transform is not None:
                seen = state.image_transform(slot, number, seen)
            kept = self._kept[slot] = image, number, seen
        return kept[2]


class CurrentSubtask(GoalSensor[LifelongGoalState]):
    """(1,) int64: modality of the current goal: 0 object, 1 description, 2 image, 3 when none is left."""

    name = "current_subtask"
    state_type = LifelongGoalState

    def spec(self) -> ObservationSpec:
        return ObservationSpec((1,), np.int64, 0, FINISHED)

    def observe(self, simulator: Simulator, state: LifelongGoalState, out: np.ndarray) -> None:
        out[:, 0] = state.modality
