"""The true class of every pixel, numbered alike in all scenes, for losses that predict it."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from jaxtyping import Int64, Integer, UInt8

from navarena.mapping.vocabularies import ALL_CATEGORIES, class_names, class_table
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import PixelSensor
from navarena.tasks.task import TaskState


@dataclass(frozen=True)
class SemanticClasses(PixelSensor):
    """(H, W, 1) uint8: the true class of every pixel; 0 is void.

    The numbers of `semantic` belong to one scene; these are those of `class_names`, in every scene.
    `semantic_classes:VOCABULARY` names the classes, such as `semantic_classes:goat`. Of the size of the
    images of the first camera that takes depth. A target of auxiliary losses.

    Args:
        vocabulary: as `class_names` takes it; by default every category of generated houses.
    """

    vocabulary: str = ""

    name = "semantic_classes"
    takes_argument = "vocabulary"
    privileged = True
    channels: ClassVar[tuple[str, ...]] = ("semantic",)

    def __post_init__(self) -> None:
        if self.vocabulary:
            object.__setattr__(self, "name", f"{type(self).name}:{self.vocabulary}")

    def find_highest(self) -> int:
        return len(class_names(self.vocabulary or ALL_CATEGORIES)) - 1

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        slots = np.arange(simulator.slots)
        write_classes(simulator, self.vocabulary or ALL_CATEGORIES, slots, out[..., 0])


def write_classes(
    simulator: Simulator, vocabulary: str, slots: Int64[np.ndarray, "k"], out: Integer[np.ndarray, "n h w"]
) -> None:
    """Write the true classes of what the bodies in `slots` (K,) see into their images of `out` (N, H, W)."""
    _, images = simulator.observer.image("semantic")
    for slot in slots.tolist():
        world = simulator.slot_worlds.world(slot)
        table = _table(vocabulary, () if world is None else world.scene.categories)
        np.take(table.astype(out.dtype), images[slot], out=out[slot], mode="clip")


@cache
def _table(vocabulary: str, categories: tuple[str, ...]) -> UInt8[np.ndarray, "c"]:
    """Class numbers by values of semantic images; goal objects that belong to no scene are void."""
    return np.append(class_table(vocabulary, categories), 0).astype(np.uint8)
