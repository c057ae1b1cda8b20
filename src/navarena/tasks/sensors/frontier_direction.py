"""Where the nearest frontier of what a body has seen is, and which way leads to it."""

import math
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.geometry import forward_from_yaw
from navarena.mapping.frontier_choice import FrontierChoice
from navarena.mapping.local_controller import SteeringSettings, count_turns
from navarena.mapping.occupancy import OccupancySettings
from navarena.mapping.terrain import Terrain, TerrainSettings, build_terrain, flood_terrain
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.seen_maps import OccupancyMapSensor
from navarena.tasks.task import TaskState

TERRAIN_CELLS = OccupancySettings(cell=0.05, size=60.0, max_range=5.0, obstacle_bottom=0.1)
"""Maps as the explorers plan on, in cells of 10 cm."""

STOPPED = 0.6
"""Of a step: a body that came less far was stopped."""


@dataclass(eq=False)
class _Plan:
    """What is remembered in an episode: where steps that were stopped led to, and which frontier to go to."""

    bumps: list[Float[np.ndarray, "3"]] = field(default_factory=list)
    choice: FrontierChoice = field(default_factory=FrontierChoice)


@dataclass(frozen=True)
class FrontierDirection(OccupancyMapSensor):
    """(2,) float32 [metres, radians]: length of the path to the nearest frontier, turn to its next step.

    Frontiers are free places beside unknown ones, of the map of what was seen (as `occupancy_map`). The path
    leads to the one that is cheapest to reach; the one chosen before is preferred, and one that the body was
    near for long is left out. Like those of the agent `frontier`, paths keep the body's radius from what was
    seen to be occupied or stopped the body, and the angle is that of its next steps: 0 ahead, growing to the
    left in multiples of the body's turn, and pi where no step is open. Without frontiers both are 0.
    """

    settings: OccupancySettings = TERRAIN_CELLS

    name = "frontier_direction"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_plans", WeakKeyDictionary())

    def begin(self, simulator: Simulator, state: TaskState, slots: Int64[np.ndarray, "k"]) -> None:
        super().begin(simulator, state, slots)
        for slot in slots.tolist():
            self._plans_of(state).pop(slot, None)

    def spec(self) -> ObservationSpec:
        return ObservationSpec((2,), np.float32, -np.pi, np.inf)

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        bodies = simulator.mapped_bodies
        acted = bodies.unseen.copy()
        maps, slots = self._update(simulator, state)
        body = simulator.embodiment
        steering = SteeringSettings(body.forward_step, body.turn_angle)
        for slot in slots.tolist():
            plan = self._plans_of(state).setdefault(slot, _Plan())
            if acted[slot]:
                self._note_collision(simulator, slot, plan)
            position, layer = bodies.positions[slot], maps.layer[slot]
            terrain = build_terrain(
                maps.scores[slot, layer], maps.grid(slot), TerrainSettings(body.radius),
                np.array(plan.bumps).reshape(-1, 3), position, maps.boxes[slot, layer],
            )  # fmt: skip
            out[slot] = _find_way(terrain, position, float(bodies.yaws[slot]), plan.choice, steering)

    def _note_collision(self, simulator: Simulator, slot: int, plan: _Plan) -> None:
        """Remember where the body was stopped by the step that it took last."""
        body, bodies = simulator.embodiment, simulator.mapped_bodies
        moved = np.linalg.norm(bodies.positions[slot] - bodies.last_positions[slot])
        if simulator.collided[slot] and moved < STOPPED * body.forward_step:
            ahead = forward_from_yaw(bodies.yaws[slot])
            plan.bumps.append(bodies.positions[slot] + body.forward_step * ahead)

    def _plans_of(self, state: TaskState) -> dict[int, _Plan]:
        """Slot -> what is remembered of its episode."""
        kept: WeakKeyDictionary[TaskState, dict[int, _Plan]] = self.__dict__["_plans"]
        return kept.setdefault(state, {})


def _find_way(
    terrain: Terrain,
    position: Float[np.ndarray, "3"],
    yaw: float,
    choice: FrontierChoice,
    steering: SteeringSettings,
) -> tuple[float, float]:
    """Metres of the path from `position` (3,), metres, to a frontier, and radians from `yaw` to its step."""
    row, column = terrain.grid.cells_of(position).tolist()
    reach = flood_terrain(terrain, (row, column), False)
    frontiers = choice.list(terrain, reach)
    if not len(frontiers.costs):
        return 0.0, 0.0
    path = reach.path_to(*choice.choose(terrain, frontiers, position).tolist())
    length = float(np.hypot(*np.diff(path, axis=0).T).sum()) * terrain.grid.cell
    turn = count_turns(terrain, path, position, yaw, steering) * steering.turn
    return max(length, terrain.grid.cell), min(turn, math.pi)
