"""Where the goal has been seen, as a map around the body: true, or as far as a segmenter can tell."""

# mypy: disable-error-code="no-untyped-def"

import math
from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool

from navarena.core.errors import InputError
from navarena.core.geometry import intrinsic_matrix
from navarena.core.kernels import kernel
from navarena.mapping.evidence import USUAL_EVIDENCE, Evidence, EvidenceSettings
from navarena.mapping.unprojection import unproject
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_mask import VisibleGoalState, mark_objects
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.predicted import SegmenterSensor, label_images

UNSURE, SURE = 1, 2
"""Cells in which more spoke for the goal than against it, and those with evidence enough to accept it."""

BELOW, ABOVE = -1.5, 2.2
"""Metres over the body's feet between which a place is drawn; others are in another storey."""


@kernel
def draw_places(points, values, position, yaw, cell, out):
    """Draw places (K, 3), world frame, of `values` (K,) into the map `out` (W, W) around a body, the greatest
    on top.
    """
    sine, cosine, middle = math.sin(yaw), math.cos(yaw), len(out) / 2
    for k in range(len(points)):
        east, up, south = points[k] - position
        if values[k] == 0 or up < BELOW or up > ABOVE:
            continue
        row = math.floor(middle + (sine * east + cosine * south) / cell)
        column = math.floor(middle + (cosine * east - sine * south) / cell)
        for i in range(max(row - 1, 0), min(row + 2, len(out))):
            for j in range(max(column - 1, 0), min(column + 2, len(out))):
                out[i, j] = max(out[i, j], values[k])


@dataclass(frozen=True)
class GoalMap(GoalSensor[VisibleGoalState]):
    """(W, W, 1) uint8: where objects that fulfil the current goal have been seen: 0 nowhere, 1 perhaps, 2.

    Ahead is up, the body in the middle (between the four middle cells). It is drawn from true depth and true
    labels, at the poses of `Simulator.mapped_bodies`; each place is drawn on 3 x 3 cells. An episode begins
    with an empty map, and so does another goal.

    Args:
        window: W, cells along a side.
        cell: metres, side of a cell.
        evidence: how what several images say becomes one.
    """

    window: int = 64
    cell: float = 0.15
    evidence: EvidenceSettings = USUAL_EVIDENCE

    name = "goal_map"
    state_type = VisibleGoalState
    is_map = True
    privileged = True
    channels: ClassVar[tuple[str, ...]] = ("depth", "instance")

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kept", WeakKeyDictionary())

    def spec(self) -> ObservationSpec:
        return ObservationSpec((self.window, self.window, 1), np.uint8, 0, SURE, categories=(SURE + 1,))

    def begin(self, simulator: Simulator, state: VisibleGoalState, slots: np.ndarray) -> None:
        places = self._places_of(state)
        for slot in slots.tolist():
            places.pop(slot, None)

    def observe(self, simulator: Simulator, state: VisibleGoalState, out: np.ndarray) -> None:
        bodies, placed = simulator.mapped_bodies, simulator.slot_worlds.row >= 0
        self._look(simulator, state, np.flatnonzero(placed & bodies.unseen))
        out[:] = 0
        for slot in np.flatnonzero(placed).tolist():
            _, found = self._places_of(state)[slot]
            is_sure, is_unsure = found.scores >= self.evidence.accept, found.scores > 0
            values = np.where(is_sure, np.uint8(SURE), np.multiply(is_unsure, np.uint8(UNSURE)))
            draw_places(
                found.points, values,
                bodies.positions[slot], bodies.yaws[slot], self.cell, out[slot, :, :, 0],
            )  # fmt: skip

    def goal_of(self, state: VisibleGoalState, slot: int) -> object:
        """What is looked for; what was gathered holds as long as it stays equal."""
        return state.current_ids(slot)

    def mark(
        self, simulator: Simulator, state: VisibleGoalState, rows: np.ndarray
    ) -> Bool[np.ndarray, "k h w"]:
        """(K, H, W) bool: which pixels show the current goals of the slots `rows` (K,)."""
        _, images = simulator.observer.image("instance")
        return np.stack([mark_objects(images[slot], state.current_ids(slot)) for slot in rows.tolist()])

    def _places_of(self, state: VisibleGoalState) -> dict[int, tuple[object, Evidence]]:
        """Slot -> its goal, and the evidence for it."""
        kept: WeakKeyDictionary[VisibleGoalState, dict[int, tuple[object, Evidence]]] = self.__dict__["_kept"]
        return kept.setdefault(state, {})

    def _look(self, simulator: Simulator, state: VisibleGoalState, rows: np.ndarray) -> None:
        """Gather what the bodies in the slots `rows` (K,) see now."""
        if not len(rows):
            return
        places = self._places_of(state)
        for slot in rows.tolist():
            goal = self.goal_of(state, slot)
            if slot not in places or places[slot][0] != goal:
                places[slot] = goal, Evidence(self.evidence)
        camera, depths = simulator.observer.image("depth")
        poses = world_from_camera(simulator.mapped_bodies, camera)[rows]
        lens = intrinsic_matrix(camera.width_px, camera.height_px, camera.hfov)
        clouds = unproject(depths[rows], lens, poses, 0.0, self.evidence.max_range)
        step = max(depths.shape[1] // self.evidence.rows, 1)
        thinned = (slice(step // 2, None, step), slice(step // 2, None, step))
        for slot, points, valid, shown in zip(
            rows.tolist(), clouds.points, clouds.valid, self.mark(simulator, state, rows)
        ):
            known = valid[thinned]
            places[slot][1].add(points[thinned][known].astype(float), shown[thinned][known])


@dataclass(frozen=True)
class PredictedGoalMap(SegmenterSensor[VisibleGoalState], GoalMap):
    """(W, W, 1) uint8: goal_map, drawn from predicted classes in the place of true labels.

    `goal_map_predicted:DIR` names a segmenter that knows the categories of goals, as for semantic_predicted.
    A name of GOAT-Bench is also known by the categories of houses that it stands for ("couch" by "sofa"), a
    description by those of the first name in it; images, and descriptions that name nothing known, leave the
    map empty. Categories that the segmenter does not know are refused, and goals that have none.
    """

    name = "goal_map_predicted"
    privileged = False
    channels: ClassVar[tuple[str, ...]] = ("depth", "rgb")

    def __post_init__(self) -> None:
        GoalMap.__post_init__(self)
        SegmenterSensor.__post_init__(self)

    def goal_of(self, state: VisibleGoalState, slot: int) -> tuple[int, ...]:
        """The numbers of the classes that show the goal."""
        known, names = self.labeller.classes, state.current_classes(slot)
        numbers = tuple(known.index(name) for name in names or () if name in known)
        category = state.current_category(slot)
        if not numbers and (category or names == ()):
            raise InputError(
                f"expected a goal given by a category that the segmenter of {self.name!r} knows, got "
                f"{category or 'one given otherwise'!r}; train one by --set images.vocabulary=NAME"
            )
        return numbers

    def mark(
        self, simulator: Simulator, state: VisibleGoalState, rows: np.ndarray
    ) -> Bool[np.ndarray, "k h w"]:
        placed = np.zeros(len(state.steps), bool)
        placed[rows] = True
        images = label_images(self.labeller, simulator, placed)
        return np.stack([mark_objects(images[slot], self.goal_of(state, slot)) for slot in rows.tolist()])
