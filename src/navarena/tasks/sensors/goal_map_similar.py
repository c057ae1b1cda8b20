"""How alike what was seen is to the goal, as a map around the body: by an encoder of texts and images."""

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float32

from navarena.core.errors import InputError
from navarena.episodes.encoding.encoder import GoalEncoder
from navarena.mapping.view_memory import USUAL_VIEWS, Tile, ViewMemory, ViewSettings, cut_tiles
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_map import draw_places
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.goal_vector import GoalVector
from navarena.tasks.sensors.lifelong_goal import LifelongGoalState

LEVELS = 20
"""Of likeness: level l stands for similarities of (l - 1) / 20 to l / 20, the first for those below, too."""


@dataclass(frozen=True)
class SimilarGoalMap(GoalSensor[LifelongGoalState]):
    """(W, W, 1) uint8: how alike what was seen is to the current goal: 0 nothing seen, 1 least to 20 most.

    `goal_map_similar:ENCODER` names an encoder of goals that sees images. Each image is cut into three
    squares, of which the encoder makes vectors, as `modular-cow` does: what a square shows in its middle is
    drawn on 3 x 3 cells, by its similarity to the vector of the goal; the best of all with 20 more, 21 to 40.
    What was seen is kept for the whole lifelong episode, and compared anew with each goal; when none is left
    the map is empty. Ahead is up, the body in the middle (between the four middle cells). It is drawn from
    true depth, at the poses of `Simulator.mapped_bodies`.

    Args:
        encoder: name of the encoder, or the encoder itself.
        window: W, cells along a side.
        cell: metres, side of a cell.
        max_range: metres, beyond which nothing is remembered.
        views: which are kept.
    """

    encoder: str | GoalEncoder = ""
    window: int = 64
    cell: float = 0.15
    max_range: float = 5.0
    views: ViewSettings = USUAL_VIEWS

    name = "goal_map_similar"
    takes_argument = "encoder"
    state_type = LifelongGoalState
    is_map = True
    channels: ClassVar[tuple[str, ...]] = ("depth", "rgb")

    def __post_init__(self) -> None:
        goals = GoalVector(self.encoder)
        object.__setattr__(self, "name", goals.name.replace(GoalVector.name, type(self).name, 1))
        object.__setattr__(self, "_goals", goals)
        object.__setattr__(self, "_kept", WeakKeyDictionary())

    @property
    def goals(self) -> GoalVector:
        """The goals as vectors of the encoder."""
        goals: GoalVector = self.__dict__["_goals"]
        return goals

    @property
    def model_sha256(self) -> str:
        return self.goals.model_sha256

    def spec(self) -> ObservationSpec:
        if not self.goals.loaded_encoder.sees_images:
            raise InputError(
                f"expected an encoder that sees images for {self.name!r}, got one that does not; take "
                "joint:FOLDER (navarena train joint-small), clip:FOLDER or images"
            )
        top = 2 * LEVELS
        return ObservationSpec((self.window, self.window, 1), np.uint8, 0, top, categories=(top + 1,))

    def begin(self, simulator: Simulator, state: LifelongGoalState, slots: np.ndarray) -> None:
        self.goals.begin(simulator, state, slots)
        memories = self._memories_of(state)
        for slot in slots.tolist():
            memories[slot] = ViewMemory(self.views)

    def observe(self, simulator: Simulator, state: LifelongGoalState, out: np.ndarray) -> None:
        bodies, placed = simulator.mapped_bodies, simulator.slot_worlds.row >= 0
        self._look(simulator, state, np.flatnonzero(placed & bodies.unseen))
        goals = np.zeros((len(out), self.goals.loaded_encoder.dimension), np.float32)
        self.goals.observe(simulator, state, goals)
        goals /= np.maximum(np.linalg.norm(goals, axis=1, keepdims=True), np.float32(1e-8))
        out[:] = 0
        for slot in np.flatnonzero(placed & goals.any(1)).tolist():
            views = self._memories_of(state)[slot]
            draw_places(
                views.places, find_levels(views.scores(goals[slot])),
                bodies.positions[slot], bodies.yaws[slot], self.cell, out[slot, :, :, 0],
            )  # fmt: skip

    def _memories_of(self, state: LifelongGoalState) -> dict[int, ViewMemory]:
        """Slot -> what was seen in it."""
        kept: WeakKeyDictionary[LifelongGoalState, dict[int, ViewMemory]] = self.__dict__["_kept"]
        return kept.setdefault(state, {})

    def _look(self, simulator: Simulator, state: LifelongGoalState, rows: np.ndarray) -> None:
        """Keep what the bodies in the slots `rows` (K,) see now, from where none of it is kept yet."""
        if not len(rows):
            return
        camera, depths = simulator.observer.image("depth")
        _, colours = simulator.observer.image("rgb")
        poses = world_from_camera(simulator.mapped_bodies, camera)
        memories, seen = self._memories_of(state), dict[int, list[Tile]]()
        for slot in rows.tolist():
            if memories[slot].is_new(poses[slot]):
                seen[slot] = cut_tiles(
                    colours[slot], depths[slot], poses[slot], camera.hfov, (0.0, self.max_range),
                    self.views.tiles,
                )  # fmt: skip
        tiles = [tile for own in seen.values() for tile in own]
        if not tiles:
            return
        features = self.goals.loaded_encoder.uncached.encode_images([tile.image for tile in tiles])
        first = 0
        for slot, own in seen.items():
            if own:
                places = np.stack([tile.place for tile in own])
                memories[slot].add(poses[slot], features[first : first + len(own)], places)
                first += len(own)


def find_levels(similarities: Float32[np.ndarray, "v"]) -> np.ndarray:
    """(V,) uint8 levels, 1 to 20, of `similarities` (V,) from -1 to 1; 20 more for the greatest, the first of
    equal ones.
    """
    levels = np.clip(np.floor(similarities * LEVELS) + 1, 1, LEVELS).astype(np.uint8)
    if len(levels):
        levels[np.argmax(similarities)] += LEVELS
    return levels
