"""Exploration by one body: it goes to frontiers until it has an aim, then to the aim."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int8, Int64

from navarena.core.geometry import forward_from_yaw
from navarena.mapping import (
    FREE,
    MapGrid,
    Reach,
    SteeringSettings,
    Terrain,
    TerrainSettings,
    build_terrain,
    find_viewing_cell,
    flood_terrain,
    steer,
)
from navarena.mapping.frontier_choice import USUAL_FRONTIERS, FrontierChoice, FrontierSettings
from navarena.mapping.place_graph import carry


@dataclass(frozen=True)
class ExplorerSettings:
    """Settings of exploration.

    Attributes:
        terrain: how its map becomes a terrain.
        steering: its steps and turns.
        frontiers: which frontier it goes to.
        first_turns: turns to the left with which an episode begins.
        stillness: moves without leaving the place, after which the body breaks free.
        resignation: moves without a frontier, after which it gives its map up and begins anew: on stairs,
            whose heights it does not know, a map closes everything around it.
    """

    terrain: TerrainSettings
    steering: SteeringSettings
    frontiers: FrontierSettings = USUAL_FRONTIERS
    first_turns: int = 10
    stillness: int = 16
    resignation: int = 30


@dataclass(frozen=True, eq=False)
class Aim:
    """A target that an explorer goes to.

    Attributes:
        points: (K, 3) metres, in the frame of the map, on its surface.
        min_distances: (K,) metres to keep from each point.
        max_distance: metres from one of them at which the body is near enough.
        spare: metres before a point within which the object itself may stand.
        arrival: metres (in plan) from a point at which it is reached; None takes any place as reached that
            `min_distances`, `max_distance` and `spare` allow.
        is_sure: whether being there fulfils the goal; else it is only a place to look from.
        fallbacks: (max_distance, spare) in metres to make do with, in order, where nothing fits those above.
    """

    points: Float[np.ndarray, "k 3"]
    min_distances: Float[np.ndarray, "k"]
    max_distance: float
    spare: float
    arrival: float | None = None
    is_sure: bool = True
    fallbacks: tuple[tuple[float, float], ...] = ()


class Explorer:
    """The plans of one body in one episode.

    Args:
        settings: how it explores.
        generator: for the rare case that nothing is left to do.

    Attributes:
        is_done: whether no frontier was left at the last look.
        frontiers: which one it goes to.
    """

    def __init__(self, settings: ExplorerSettings, generator: np.random.Generator) -> None:
        self.settings = settings
        self.is_done = False
        self.frontiers = FrontierChoice(settings.frontiers)
        self._generator = generator
        self._turns_left = settings.first_turns
        self._bumps: list[Float[np.ndarray, 3]] = []
        self._last: tuple[Float[np.ndarray, 3], str] | None = None
        self._escape: list[str] = []
        self._failures = 0
        self._still = 0
        self._idle = 0

    @property
    def idle(self) -> int:
        """Moves since it last went to an aim or a frontier."""
        return self._idle

    @property
    def gives_up(self) -> bool:
        """Whether to clear the map and call `begin_anew`, because no frontier was found for long."""
        return self._idle > self.settings.resignation

    def begin_anew(self) -> None:
        """Discard plans after the map was cleared, and look around."""
        self.look_around()
        self._bumps.clear()
        self.frontiers.begin_anew()
        self._escape.clear()
        self._idle = self._still = 0

    def look_around(self) -> None:
        """Turn once around before it explores on."""
        self._turns_left = round(2 * math.pi / self.settings.steering.turn)

    def change_frame(self, frame: Float[np.ndarray, "3"]) -> None:
        """Change the map frame; the previous one has the pose `frame` (3,) in it (see place graphs)."""
        self._bumps = list(carry(frame, np.array(self._bumps).reshape(-1, 3)))
        self.frontiers.change_frame(frame)
        if self._last is not None:
            self._last = (carry(frame, self._last[0][None])[0], self._last[1])

    def act(
        self,
        scores: Int8[np.ndarray, "r c"],
        grid: MapGrid,
        position: Float[np.ndarray, "3"],
        yaw: float,
        aim: Aim | None,
        box: Int64[np.ndarray, "4"] | None = None,
    ) -> str:
        """The next move: "forward", "left", "right", or "arrived" when a sure aim is reached.

        Args:
            scores: (R, C) int8 evidence of the map, and `grid`, where its cells lie.
            grid: of the map.
            position: (3,) metres, in the frame of the map.
            yaw: radians, in the same frame.
            aim: what to go to; None to explore.
            box: (4,) of the map's cells, as of `build_terrain`.
        """
        self._notice_collision(position, yaw)
        self._idle += 1
        move = self._escape.pop() if self._escape else self._choose(scores, grid, position, yaw, aim, box)
        if move == "blocked" or self._still > self.settings.stillness:
            move = self._break_free()
        self._last = (position.copy(), move)
        return move

    def overrule(self, move: str) -> None:
        """Record that `move` was executed instead of the last chosen move."""
        if self._last is not None:
            self._last = (self._last[0], move)

    def _choose(
        self,
        scores: Int8[np.ndarray, "r c"],
        grid: MapGrid,
        position: Float[np.ndarray, "3"],
        yaw: float,
        aim: Aim | None,
        box: Int64[np.ndarray, "4"] | None,
    ) -> str:
        bumps = np.array(self._bumps).reshape(-1, 3)
        terrain = build_terrain(scores, grid, self.settings.terrain, bumps, position, box)
        row, column = terrain.grid.cells_of(position).tolist()
        if aim is not None:
            reach = flood_terrain(terrain, (row, column))
            stand = self._find_viewing_cell(terrain, reach, aim)
            if stand is not None:
                move: str = steer(terrain, reach.path_to(*stand), position, yaw, self.settings.steering)
                if aim.arrival is not None:
                    move = self._come_nearer(move, aim.points[0] - position, yaw, aim.arrival)
                if move != "arrived" or aim.is_sure:
                    self._idle = 0
                    return move
        if self._turns_left > 0:
            self._turns_left -= 1
            self._idle = 0
            return "left"
        return self._explore(terrain, flood_terrain(terrain, (row, column), False), position, yaw)

    def _find_viewing_cell(self, terrain: Terrain, reach: Reach, aim: Aim) -> tuple[int, int] | None:
        """The reachable cell that fits the aim's distances best."""
        for max_distance, spare in ((aim.max_distance, aim.spare), *aim.fallbacks):
            stand: tuple[int, int] | None = find_viewing_cell(
                terrain, reach, aim.points, aim.min_distances, max_distance, spare
            )
            if stand is not None:
                return stand
        return None

    def _come_nearer(self, move: str, offset: Float[np.ndarray, "3"], yaw: float, arrival: float) -> str:
        """`move`, but "arrived" exactly within `arrival` metres of a point at `offset` (3,) metres."""
        if math.hypot(offset[0], offset[2]) < arrival:
            return "arrived"
        if move != "arrived":
            return move
        ahead, left = offset @ forward_from_yaw(yaw), offset @ forward_from_yaw(yaw + math.pi / 2)
        if abs(math.atan2(left, ahead)) <= self.settings.steering.turn / 2 + 1e-6:
            return "forward"
        return "left" if left > 0 else "right"

    def _explore(self, terrain: Terrain, reach: Reach, position: Float[np.ndarray, "3"], yaw: float) -> str:
        """A move towards the frontier that is cheapest to reach."""
        frontiers = self.frontiers.find(terrain, reach)
        self.is_done = not len(frontiers.costs)
        if self.is_done:
            return self._wander(terrain, reach, position, yaw)
        self._idle = 0
        cell = self.frontiers.choose(terrain, frontiers, position)
        move = steer(terrain, reach.path_to(*cell.tolist()), position, yaw, self.settings.steering)
        return self._face(yaw, terrain.grid.centers_of(cell) - position) if move == "arrived" else move

    def _wander(self, terrain: Terrain, reach: Reach, position: Float[np.ndarray, "3"], yaw: float) -> str:
        """A move towards a random place that can be reached; it is kept until it is near."""
        target = self.frontiers.target
        if target is None or self.frontiers.is_near(position):
            open_cells = np.argwhere((reach.costs > 0) & (terrain.states == FREE))
            if not len(open_cells):
                return "blocked"
            target = terrain.grid.centers_of(open_cells[self._generator.integers(len(open_cells))])
            self.frontiers.target = target
        cell = terrain.grid.cells_of(target)
        path = reach.path_to(*cell.tolist()) if terrain.grid.contains(cell) else np.zeros((0, 2), np.int64)
        move = steer(terrain, path, position, yaw, self.settings.steering)
        if move == "arrived":
            self.frontiers.target = None
            return "left"
        return move

    def _face(self, yaw: float, offset: Float[np.ndarray, "3"]) -> str:
        """Turn towards `offset` (3,) metres; to the left if the body faces it already."""
        ahead, left = forward_from_yaw(yaw), forward_from_yaw(yaw + math.pi / 2)
        return "right" if offset @ left < -0.2 * abs(offset @ ahead) else "left"

    def _notice_collision(self, position: Float[np.ndarray, "3"], yaw: float) -> None:
        """Remember what blocked a step that came to nothing."""
        if self._last is None:
            return
        moved = math.hypot(*(position - self._last[0])[[0, 2]])
        self._still = self._still + 1 if moved < 0.05 else 0
        if self._last[1] != "forward":
            return
        if moved > 0.6 * self.settings.steering.step:
            self._failures = 0
            return
        self._failures += 1
        radius = self.settings.terrain.radius
        self._bumps.append(position + (radius + 0.1) * forward_from_yaw(yaw))
        if self._failures >= 4:
            self._failures = 0
            self._escape = self._random_escape()

    def _break_free(self) -> str:
        """Recovery where every step seems blocked: forget collisions and go to any free cell."""
        self._bumps.clear()
        self._still = 0
        self._escape = self._random_escape()
        return self._escape.pop()

    def _random_escape(self) -> list[str]:
        """A few turns and two steps, last first."""
        side = "left" if self._generator.random() < 0.5 else "right"
        return ["forward", "forward", *[side] * int(self._generator.integers(2, 7))]
