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
from navarena.tasks.sensors.goal_sensor import PixelSensor
from navarena.tasks.sensors.seen_maps import SemanticMapSensor
from navarena.tasks.task import TaskState


@dataclass(frozen=True)
class SemanticPredicted(PixelSensor):
    """(H, W, 1) int32: the class of every pixel, predicted by a segmenter; 0 is void.

    Of the size of depth images. It looks at colours and depth as they are after corruptions, and at no true
    label. `semantic_predicted:DIR` names the segmenter by its folder, else $NAVARENA_SEGMENTER does; its
    checkpoint.json says which classes there are.

    Args:
        segmenter: as `find_labeller` takes it.
    """

    segmenter: str = ""

    name = "semantic_predicted"
    takes_argument = "segmenter"
    dtype = np.int32
    channels: ClassVar[tuple[str, ...]] = ("rgb", "depth")

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", join_name(type(self).name, self.segmenter))

    @property
    def model_sha256(self) -> str:
        return hash_weights(find_labeller(self.segmenter))

    def find_highest(self) -> int:
        return len(find_labeller(self.segmenter).classes) - 1

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        placed = simulator.slot_worlds.row >= 0
        out[..., 0] = label_images(find_labeller(self.segmenter), simulator, placed)


@dataclass(frozen=True)
class PredictedSemanticMap(SemanticMapSensor):
    """(14, 64, 64) uint8: semantic_map, drawn from predicted classes in the place of true labels.

    `semantic_map_predicted:DIR` names a segmenter of the vocabulary "ivln", as for semantic_predicted.

    Args:
        segmenter: as `find_labeller` takes it.
    """

    segmenter: str = ""

    name = "semantic_map_predicted"
    takes_argument = "segmenter"
    privileged = False
    channels: ClassVar[tuple[str, ...]] = ("depth", "rgb")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "name", join_name(type(self).name, self.segmenter))

    @property
    def model_sha256(self) -> str:
        return hash_weights(find_labeller(self.segmenter))

    def spec_on(self, body: Embodiment) -> ObservationSpec:
        labeller = find_labeller(self.segmenter)
        if tuple(labeller.classes) != CLASSES:
            raise InputError(
                f"expected a segmenter of the classes {', '.join(CLASSES)} for {self.name!r}, got one of "
                f"{', '.join(labeller.classes)}; train one by the recipe segmenter-small"
            )
        return self.spec()

    def label(self, simulator: Simulator, placed: Bool[np.ndarray, "n"]) -> Int32[np.ndarray, "n h w"]:
        return label_images(find_labeller(self.segmenter), simulator, placed)


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


def join_name(kind: str, argument: str) -> str:
    """The name of a sensor `kind` with an argument, as observations are called."""
    return f"{kind}:{argument}" if argument else kind
