"""What a body can do next: turn to any heading of its lattice, then move forward once."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError
from navarena.core.geometry import wrap_angle
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import mark_collisions, translate
from navarena.simulation.navmesh.table import NavMeshTable

FULL_TURN_SLACK = 1e-9


@dataclass(frozen=True)
class Moves:
    """Outcomes of the H combined moves (turn, then one step forward) of K bodies.

    Attributes:
        positions: (K, H, 3) float64 metres, where each move ends.
        yaws: (K, H) float64 radians, the heading of each move.
        collided: (K, H) bool, whether the step is cut short.
        distances: (K, H) float64 metres, geodesic from the end to the goal; infinite where unreachable.
    """

    positions: Float[np.ndarray, "k h 3"]
    yaws: Float[np.ndarray, "k h"]
    collided: Bool[np.ndarray, "k h"]
    distances: Float[np.ndarray, "k h"]


class MoveTable:
    """Tries out the combined moves of one body in many places at once.

    Args:
        embodiment: the body; a whole turn must be a multiple of its turn angle.

    Attributes:
        turns: (H,) int64: turns to the left (negative: to the right) before the step, the fewest first.
    """

    def __init__(self, embodiment: Embodiment) -> None:
        count = round(2 * np.pi / embodiment.turn_angle)
        if abs(count * embodiment.turn_angle - 2 * np.pi) > FULL_TURN_SLACK:
            raise InputError(
                f"expected a turn angle that divides a whole turn, got {np.degrees(embodiment.turn_angle):g} "
                f"degrees of {embodiment.name!r}; no lattice of headings exists for it"
            )
        self.embodiment = embodiment
        lefts = np.arange(1, count // 2 + 1)
        rights = np.arange(1, (count - 1) // 2 + 1)
        self.turns: Int64[np.ndarray, h] = np.array(
            sorted([0, *lefts.tolist(), *(-rights).tolist()], key=lambda turn: (abs(turn), -turn)), np.int64
        )

    def headings(self, yaws: Float[np.ndarray, "k"]) -> Float[np.ndarray, "k h"]:
        """(K, H) radians after each number of turns, rounded exactly as single turns round."""
        by_turn = {0: wrap_angle(np.asarray(yaws, float))}
        for turn in self.turns[1:]:
            sign = 1 if turn > 0 else -1
            by_turn[int(turn)] = wrap_angle(by_turn[int(turn) - sign] + sign * self.embodiment.turn_angle)
        return np.stack([by_turn[int(turn)] for turn in self.turns], 1)

    def try_all(
        self,
        table: NavMeshTable,
        mesh_index: Int64[np.ndarray, "k"],
        positions: Float[np.ndarray, "k 3"],
        yaws: Float[np.ndarray, "k"],
        goals: Float[np.ndarray, "k 3"],
    ) -> Moves:
        """The outcomes of all moves of K bodies at poses (metres, radians) on meshes of `table`."""
        count, width = len(positions), len(self.turns)
        headings = self.headings(yaws)
        starts = np.repeat(positions, width, 0)
        meshes = np.repeat(mesh_index, width)
        steps = np.zeros((count * width, 4))
        steps[:, 0] = self.embodiment.forward_step
        intended = np.zeros_like(starts)
        translate(starts, headings.reshape(-1), steps, intended)
        reached = table.try_step(meshes, starts, intended, self.embodiment.slides)
        collided = np.zeros(count * width, bool)
        mark_collisions(starts, intended, reached, collided)
        distances = table.geodesic_distance(meshes, reached, np.repeat(goals, width, 0))
        shape = (count, width)
        return Moves(reached.reshape(*shape, 3), headings, collided.reshape(shape), distances.reshape(shape))
