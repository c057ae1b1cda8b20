"""What a segmenter sees: predicted classes of pixels, and maps of them, in the place of true labels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int32

from navarena.core.errors import InputError
from navarena.mapping.labellers import Labeller, find_labeller, hash_weights
from navarena.mapping.semantic_map import CLASSES
from navarena.simulation.body import Embodiment
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor, PixelSensor
from navarena.tasks.sensors.seen_maps import SemanticMapSensor
from navarena.tasks.task import State, TaskState


@dataclass(frozen=True)
class SegmenterSensor(GoalSensor[State]):
    """Sees what a segmenter sees, which a text behind its name gives: NAME:SEGMENTER.

    Args:
        segmenter: as `find_labeller` takes it.
    """

    segmenter: str = ""

    takes_argument = "segmenter"

    def __post_init__(self) -> None:
        kind = type(self).name
        object.__setattr__(self, "name", f"{kind}:{self.segmenter}" if self.segmenter else kind)

    @property
    def model_sha256(self) -> str:
        return hash_weights(self.labeller)

    @property
    def labeller(self) -> Labeller:
        """The segmenter; raises InputError and FileError as `find_labeller`."""
        return find_labeller(self.segmenter)


@dataclass(frozen=True)
class SemanticPredicted(SegmenterSensor[TaskState], PixelSensor[TaskState]):
    """(H, W, 1) int32: the class of every pixel, predicted by a segmenter; 0 is void.

    Of the size of depth images. It looks at colours and depth as they are after corruptions, and at no true
    label. `semantic_predicted:DIR` names the segmenter by its folder, else $NAVARENA_SEGMENTER does; its
    checkpoint.json says which classes there are.
    """

    name = "semantic_predicted"
    dtype = np.int32
    channels: ClassVar[tuple[str, ...]] = ("rgb", "depth")

    def find_highest(self) -> int:
        return len(self.labeller.classes) - 1

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        placed = simulator.slot_worlds.row >= 0
        out[..., 0] = label_images(self.labeller, simulator, placed)


@dataclass(frozen=True)
class PredictedSemanticMap(SegmenterSensor[TaskState], SemanticMapSensor):
    """(14, 64, 64) uint8: semantic_map, drawn from predicted classes in the place of true labels.

    `semantic_map_predicted:DIR` names a segmenter of the vocabulary "ivln", as for semantic_predicted.
    """

    name = "semantic_map_predicted"
    privileged = False
    channels: ClassVar[tuple[str, ...]] = ("depth", "rgb")

    def __post_init__(self) -> None:
        SemanticMapSensor.__post_init__(self)
        SegmenterSensor.__post_init__(self)

    def spec_on(self, body: Embodiment) -> ObservationSpec:
        labeller = self.labeller
        if tuple(labeller.classes) != CLASSES:
            raise InputError(
                f"expected a segmenter of the classes {', '.join(CLASSES)} for {self.name!r}, got one of "
                f"{', '.join(labeller.classes)}; train one by the recipe segmenter-small"
            )
        return self.spec()

    def label(self, simulator: Simulator, placed: Bool[np.ndarray, "n"]) -> Int32[np.ndarray, "n h w"]:
        return label_images(self.labeller, simulator, placed)


@dataclass(frozen=True)
class IterativePredictedSemanticMap(PredictedSemanticMap):
    """(14, 64, 64) uint8: semantic_map_predicted, kept for the whole of a tour."""

    lifetime: str = "iterative"

    name = "semantic_map_predicted_iterative"


def label_images(
    labeller: Labeller, simulator: Simulator, placed: Bool[np.ndarray, "n"]
) -> Int32[np.ndarray, "n h w"]:
    """(N, H, W) int32 classes of what the bodies `placed` (N,) bool see now, of the size of depth; else 0."""
    _, colours = simulator.observer.image("rgb")
    _, depths = simulator.observer.image("depth")
    classes = np.zeros(depths.shape, np.int32)
    rows = np.flatnonzero(placed)
    if len(rows):
        classes[rows] = labeller.label(colours[rows], depths[rows])
    return classes
