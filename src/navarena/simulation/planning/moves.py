"""What a body can do next: turn to any heading of its lattice, then move forward once."""

# mypy: disable-error-code="no-untyped-def"

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int32, Int64

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import turned
from navarena.simulation.navmesh.table import NavMeshTable

FULL_TURN_SLACK = 1e-9


@dataclass(frozen=True)
class Places:
    """Where K bodies are and want to go.

    Attributes:
        mesh_index: (K,) int64 rows of the table.
        positions: (K, 3) float64 metres, world frame.
        yaws: (K,) float64 radians.
        triangles: (K,) int32 of the navmesh, under each body; -1 = not known.
        goals: (K, 3) float64 metres, world frame.
    """

    mesh_index: Int64[np.ndarray, "k"]
    positions: Float[np.ndarray, "k 3"]
    yaws: Float[np.ndarray, "k"]
    triangles: Int32[np.ndarray, "k"]
    goals: Float[np.ndarray, "k 3"]


@dataclass(frozen=True)
class Moves:
    """Outcomes of the H combined moves (turn, then one step forward) of K bodies.

    Attributes:
        positions: (K, H, 3) float64 metres, where each move ends.
        yaws: (K, H) float64 radians, the heading of each move.
        triangles: (K, H) int32 of the navmesh, under the end.
        collided: (K, H) bool, whether the step is cut short.
        distances: (K, H) float64 metres, geodesic from the end to the goal; infinite where unreachable.
    """

    positions: Float[np.ndarray, "k h 3"]
    yaws: Float[np.ndarray, "k h"]
    triangles: Int32[np.ndarray, "k h"]
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
        out = np.zeros((len(yaws), len(self.turns)))
        turn_each(np.asarray(yaws, float), self.turns, self.embodiment.turn_angle, out)
        return out

    def try_all(self, table: NavMeshTable, places: Places) -> Moves:
        """The outcomes of all moves from each of the K places on meshes of `table`; metres, radians."""
        count, width = len(places.positions), len(self.turns)
        meshes = np.repeat(places.mesh_index, width)
        positions = np.repeat(places.positions, width, 0)
        triangles = np.repeat(places.triangles, width)
        headings = self.headings(places.yaws)
        collided = np.zeros(count * width, bool)
        distances = np.full(count * width, self.embodiment.forward_step)
        table.step_bodies(
            meshes, triangles, positions, headings.reshape(-1), distances, self.embodiment.slides, collided
        )
        distances = table.geodesic_distance(meshes, positions, np.repeat(places.goals, width, 0))
        return Moves(
            positions.reshape(count, width, 3),
            headings,
            triangles.reshape(count, width),
            collided.reshape(count, width),
            distances.reshape(count, width),
        )


@kernel
def turn_each(yaws, turns, angle, out):
    """Write into `out` (K, H) the yaws (K,) after each number of `turns` (H,) by `angle` radians."""
    for i in range(yaws.shape[0]):
        for j in range(turns.shape[0]):
            yaw = yaws[i]
            for _ in range(abs(turns[j])):
                yaw = turned(yaw, angle if turns[j] > 0 else -angle)
            out[i, j] = yaw
