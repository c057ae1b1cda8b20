"""MultiON's oracle maps as observations."""

from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int64, UInt8

from navarena.core.errors import InputError
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.oracle_ego_map import CODE_REVEAL, PAPER_REVEAL, RevealSettings, Uncovered
from navarena.mapping.oracle_map import (
    LEAST,
    MOST,
    WINDOW,
    Channels,
    choose_channels,
    crop_oracle,
    draw_occupancy,
    oracle_grid,
    paint_goals,
)
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.protocols.multi_on import MultiOnState
from navarena.tasks.sensors.goal_sensor import GoalSensor

CLASSES = 8
"""Of goals."""

FLOORS = 3
"""Values of the occupancy: outside the building, blocked, navigable."""


class _Drawings:
    """The maps of N slots, one array for each resolution, and the goal that each was painted for."""

    def __init__(self, slots: int, cells: tuple[int, ...], channels: int) -> None:
        self.grids = [oracle_grid(count) for count in cells]
        self.maps = [np.zeros((slots, count, count, channels), np.uint8) for count in cells]
        self.current = np.full(slots, -1, np.int64)
        self.occupancy: WeakKeyDictionary[NavMesh, dict[tuple[int, float], UInt8[np.ndarray, "r c"]]] = (
            WeakKeyDictionary()
        )
        self.uncovered: list[Uncovered] = []


@dataclass(frozen=True)
class OracleMap(GoalSensor[MultiOnState]):
    """(50, 50, K) uint8: the window of MultiON's oracle map, in which the body looks down.

    Channel 0 is occupancy (0 outside the building, 1 blocked, 2 navigable), the last the goals (0 nothing,
    class + 1). With several resolutions their channels follow one another.

    Args:
        channels_shown: which; networks saw "both".
        cells: along a side of the map, for each resolution; 300 make cells of 0.8 m.
        block: cells along a side of what a goal paints: 3 (code) or 1 (paper).
        dynamic: whether only the current goal is shown.
        window: cells along a side of the window.
    """

    channels_shown: Channels = "both"
    cells: tuple[int, ...] = (300,)
    block: int = 3
    dynamic: bool = False
    window: int = WINDOW

    name = "oracle_map"
    is_map = True
    state_type = MultiOnState
    privileged = True
    first_class: ClassVar[int] = 1
    lowest_value: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "_memory", WeakKeyDictionary())

    @property
    def depth(self) -> int:
        """Channels of one resolution."""
        return 2 if self.channels_shown == "both" else 1

    def spec(self) -> ObservationSpec:
        counts = {"occupancy": (FLOORS + self.lowest_value,), "objects": (CLASSES + self.first_class,)}
        shown = counts.get(self.channels_shown, counts["occupancy"] + counts["objects"]) * len(self.cells)
        shape = (self.window, self.window, len(shown))
        return ObservationSpec(shape, np.uint8, 0, max(shown) - 1, categories=shown)

    def begin(self, simulator: Simulator, state: MultiOnState, slots: Int64[np.ndarray, "k"]) -> None:
        drawings = self._drawings(state)
        for slot in slots.tolist():
            self._draw(drawings, simulator, state, slot)

    def observe(self, simulator: Simulator, state: MultiOnState, out: np.ndarray) -> None:
        drawings = self._drawings(state)
        if self.dynamic:
            for slot in np.flatnonzero(drawings.current >= 0).tolist():
                if drawings.current[slot] != state.current(slot):
                    self._draw(drawings, simulator, state, slot)
        bodies = simulator.mapped_bodies
        for k, (grid, maps) in enumerate(zip(drawings.grids, drawings.maps)):
            window = crop_oracle(maps, grid, bodies.positions, bodies.yaws, self.window)
            out[..., k * self.depth : (k + 1) * self.depth] = window

    def _drawings(self, state: MultiOnState) -> _Drawings:
        memory: WeakKeyDictionary[MultiOnState, _Drawings] = self.__dict__["_memory"]
        if state not in memory:
            memory[state] = _Drawings(len(state.steps), self.cells, self.depth)
        return memory[state]

    def _draw(self, drawings: _Drawings, simulator: Simulator, state: MultiOnState, slot: int) -> None:
        """Draw the maps of one slot for its goals now."""
        current = state.current(slot)
        shown = slice(current, current + 1) if self.dynamic else slice(None)
        navmesh, height = simulator.navmesh(slot), float(simulator.bodies.start_positions[slot, 1])
        known = drawings.occupancy.setdefault(navmesh, {})
        _require_on_map(drawings.grids[0], navmesh, state.goals[slot], state.classes[slot])
        for grid, maps in zip(drawings.grids, drawings.maps):
            key = (grid.rows, round(height, 1))
            if key not in known:
                known[key] = draw_occupancy(navmesh, grid, height)
            places, classes = state.goals[slot][shown], state.classes[slot][shown]
            goals = paint_goals(grid, places, classes, self.block, self.first_class)
            drawn = choose_channels(
                known[key] + self.lowest_value, np.maximum(goals, self.lowest_value), self.channels_shown
            )
            maps[slot] = drawn
        drawings.current[slot] = current


def _require_on_map(
    grid: MapGrid, navmesh: NavMesh, goals: Float[np.ndarray, "m 3"], classes: Int64[np.ndarray, "m"]
) -> None:
    """Raise InputError for a floor or `goals` (M, 3) metres off the map, and for unknown `classes` (M,)."""
    ends = np.stack([navmesh.vertices.min(0), navmesh.vertices.max(0)])
    if not grid.contains(grid.cells_of(ends)).all():
        (west, _, north), (east, _, south) = ends.round(1).tolist()
        raise InputError(
            f"expected a house within the oracle map, x and z of {LEAST:.1f} to {MOST:.1f} m, got x {west} "
            f"to {east} and z {north} to {south}; move its origin into it"
        )
    off = goals[~grid.contains(grid.cells_of(goals))]
    if len(off):
        raise InputError(
            f"expected goals within the oracle map, x and z of {LEAST:.1f} to {MOST:.1f} m, got one at "
            f"{off[0].round(1).tolist()}"
        )
    if not ((classes >= 0) & (classes < CLASSES)).all():
        raise InputError(
            f"expected classes 0 to {CLASSES - 1} of goals on oracle maps, got {classes.tolist()}"
        )


@dataclass(frozen=True)
class OracleEgoMap(OracleMap):
    """(50, 50, 2) uint8: what of the oracle map was seen in this episode (paper: 79 degrees and 5 m).

    0 is undiscovered. Else channel 0 is occupancy (1 outside the building, 2 blocked, 3 navigable), channel 1
    the goals (1 nothing, class + 2).

    Args:
        reveal: what is uncovered from one place.
    """

    reveal: RevealSettings = PAPER_REVEAL

    name = "oracle_ego_map"
    first_class: ClassVar[int] = 2
    lowest_value: ClassVar[int] = 1
    channels: ClassVar[tuple[str, ...]] = ("depth",)

    def begin(self, simulator: Simulator, state: MultiOnState, slots: Int64[np.ndarray, "k"]) -> None:
        super().begin(simulator, state, slots)
        drawings = self._drawings(state)
        if not drawings.uncovered:
            count = len(state.steps)
            drawings.uncovered = [Uncovered(count, grid, self.reveal) for grid in drawings.grids]
        for uncovered in drawings.uncovered:
            uncovered.reset(slots)

    def observe(self, simulator: Simulator, state: MultiOnState, out: np.ndarray) -> None:
        super().observe(simulator, state, out)
        drawings = self._drawings(state)
        placed, bodies = drawings.current >= 0, simulator.mapped_bodies
        for k, uncovered in enumerate(drawings.uncovered):
            if self.reveal.occlusion:
                camera, depths = simulator.observer.image("depth")
                uncovered.reveal_frames(depths, camera, world_from_camera(bodies, camera), placed)
            else:
                uncovered.reveal_sectors(bodies.positions, bodies.yaws, placed)
            seen = uncovered.window(bodies.positions, bodies.yaws, self.window)
            out[..., k * self.depth : (k + 1) * self.depth] *= seen


@dataclass(frozen=True)
class OracleEgoMapOfCode(OracleEgoMap):
    """(50, 50, 1) uint8: the same as the code has it: 80 degrees, 6 m, through walls, goals only."""

    channels_shown: Channels = "objects"
    reveal: RevealSettings = CODE_REVEAL

    name = "oracle_ego_map_code"
    channels: ClassVar[tuple[str, ...]] = ()
