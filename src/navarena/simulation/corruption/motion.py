"""Corruptions of the movements of N bodies."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.corruptions.corruption import FLOORS, MotionCorruption
from navarena.simulation.corruption.draws import EpisodeDraws, EpisodeKey
from navarena.simulation.floor_materials import FloorMap
from navarena.simulation.slot_worlds import SlotWorlds
from navarena.simulation.world import World


class MotionStage:
    """Corruptions of motion, in the order in which they are applied.

    Args:
        draws: of each corruption; those of other kinds are left out.
        slots: N.

    Attributes:
        stays_when_blocked: whether a movement that meets an obstacle is not made at all, turn included.
    """

    def __init__(self, draws: Sequence[EpisodeDraws], slots: int) -> None:
        self._draws = [(one, one.corruption) for one in draws if isinstance(one.corruption, MotionCorruption)]
        self._reads_floors = any(corruption.reads_floors for _, corruption in self._draws)
        self.stays_when_blocked = any(corruption.stays_when_blocked for _, corruption in self._draws)
        self._no_floors = np.zeros(slots, np.int64)
        self._maps: dict[World, FloorMap] = {}

    def begin(self, slot: int, episode: EpisodeKey, world: World | None) -> None:
        """Draw for an episode; raises SceneError for a scene without materials of floors that are needed."""
        for one, _ in self._draws:
            one.begin(slot, episode)
        if world is not None:
            self.read_floors(world)

    def read_floors(self, world: World) -> None:
        """Read the floor materials of `world` if a corruption needs them; raises SceneError without any."""
        if self._reads_floors and world not in self._maps:
            self._maps[world] = FloorMap(world.scene, FLOORS)

    def corrupt(
        self,
        movements: Float[np.ndarray, "n 4"],
        active: Bool[np.ndarray, "n"],
        steps: Int64[np.ndarray, "n"],
        positions: Float[np.ndarray, "n 3"],
        slot_worlds: SlotWorlds,
    ) -> Float[np.ndarray, "n 4"]:
        """(N, 4) what the `active` bodies at `positions` (N, 3) make of the commanded `movements` (N, 4)."""
        if not self._draws:
            return movements
        floors = self._find_floors(positions, slot_worlds) if self._reads_floors else self._no_floors
        changed, slots = movements.copy(), np.flatnonzero(active)
        for one, corruption in self._draws:
            before = changed.copy()
            changed = corruption.change(changed, movements, one.rows(steps, slots), floors)
            changed[~one.active] = before[~one.active]
        return changed

    def _find_floors(
        self, positions: Float[np.ndarray, "n 3"], slot_worlds: SlotWorlds
    ) -> Int64[np.ndarray, "n"]:
        self._maps = {world: found for world, found in self._maps.items() if world in slot_worlds.worlds}
        floors = np.zeros(len(positions), np.int64)
        for row, world in enumerate(slot_worlds.worlds):
            here = slot_worlds.row == row
            if world in self._maps and here.any():
                floors[here] = self._maps[world].find(positions[here])
        return floors
