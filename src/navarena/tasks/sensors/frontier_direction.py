"""Where the nearest frontier of what a body has seen is, and which way leads to it."""

import math
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int64

from navarena.core.geometry import forward_from_yaw
from navarena.mapping.frontier_choice import FrontierChoice
from navarena.mapping.local_controller import SteeringSettings, count_turns
from navarena.mapping.occupancy import OccupancyMaps, OccupancySettings
from navarena.mapping.terrain import TerrainSettings, build_terrain, flood_terrain
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.seen_maps import SeenOccupancy
from navarena.tasks.task import TaskState

EXPLORED = OccupancySettings(size=60.0, obstacle_bottom=0.1)
"""The map, as the explorers have it; their terrain has cells of twice its cells."""

STOPPED = 0.6
"""Of a step: a body that came less far was stopped."""


@dataclass(eq=False)
class _Plan:
    """What is remembered in an episode: where steps that were stopped led to, and which frontier to go to."""

    bumps: list[Float[np.ndarray, "3"]] = field(default_factory=list)
    choice: FrontierChoice = field(default_factory=FrontierChoice)
    way: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class FrontierDirection(SeenOccupancy):
    """(2,) float32 [metres, radians]: length of the path to the nearest frontier, turn to its next step.

    Frontiers are free places beside unknown ones, of the map of what was seen. The path leads to the one that
    is cheapest to reach; the one chosen before is preferred, and one that the body was near for long is left
    out. Like those of the agent `frontier`, paths keep the body's radius from what was seen to be occupied;
    they avoid places, too, where the body was stopped (which `collided` knows). The angle is that of the next
    steps: 0 ahead, growing to the left in multiples of the body's turn, and pi where no step is open. Without
    frontiers both are 0.

    Args:
        settings: of the map.
    """

    settings: OccupancySettings = EXPLORED

    name = "frontier_direction"
    lifetime = "episodic"

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
        maps, slots = self.update(simulator, state)
        for slot in slots.tolist():
            plan = self._plans_of(state).setdefault(slot, _Plan())
            if simulator.bodies.unseen[slot]:
                self._note_collision(simulator, slot, plan)
                plan.way = self._find_way(simulator, maps, slot, plan)
            out[slot] = plan.way

    def _note_collision(self, simulator: Simulator, slot: int, plan: _Plan) -> None:
        """Remember where the body was stopped by the step that it took last."""
        step, bodies, mapped = simulator.embodiment.forward_step, simulator.bodies, simulator.mapped_bodies
        moved = np.linalg.norm(bodies.positions[slot] - bodies.last_positions[slot])
        if bodies.collided[slot] and moved < STOPPED * step:
            plan.bumps.append(mapped.positions[slot] + step * forward_from_yaw(mapped.yaws[slot]))

    def _find_way(
        self, simulator: Simulator, maps: OccupancyMaps, slot: int, plan: _Plan
    ) -> tuple[float, float]:
        """Metres of the path from the body in `slot` to a frontier, and radians to turn to its next step."""
        body, bodies, layer = simulator.embodiment, simulator.mapped_bodies, maps.layer[slot]
        position = bodies.positions[slot]
        terrain = build_terrain(
            maps.scores[slot, layer], maps.grid(slot), TerrainSettings(body.radius),
            np.array(plan.bumps).reshape(-1, 3), position, maps.boxes[slot, layer],
        )  # fmt: skip
        row, column = terrain.grid.cells_of(position).tolist()
        reach = flood_terrain(terrain, (row, column), False)
        frontiers = plan.choice.find(terrain, reach)
        if not len(frontiers.costs):
            return 0.0, 0.0
        path = reach.path_to(*plan.choice.choose(terrain, frontiers, position).tolist())
        length = float(np.hypot(*np.diff(path, axis=0).T).sum()) * terrain.grid.cell
        steering = SteeringSettings(body.forward_step, body.turn_angle)
        turn = count_turns(terrain, path, position, float(bodies.yaws[slot]), steering) * steering.turn
        return max(length, terrain.grid.cell), min(turn, math.pi)

    def _plans_of(self, state: TaskState) -> dict[int, _Plan]:
        """Slot -> what is remembered of its episode."""
        kept: WeakKeyDictionary[TaskState, dict[int, _Plan]] = self.__dict__["_plans"]
        return kept.setdefault(state, {})
