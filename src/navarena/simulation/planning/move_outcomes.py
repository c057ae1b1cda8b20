# mypy: disable-error-code="no-untyped-def"
"""Outcomes of the next moves of K bodies: poses, collisions and distances to their goals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int32, Int64

from navarena.core.errors import InputError
from navarena.core.kernels import kernel
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import turned
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.navmesh.queries.navmesh_table import NavMeshTable

FULL_TURN_SLACK = 1e-9


def turns_of(body: Embodiment) -> Int64[np.ndarray, "h"]:
    """(H,) number of turns to the left (negative: to the right) to every heading, the fewest first.

    Raises InputError when a whole turn is no multiple of the body's turn angle.
    """
    count = round(2 * np.pi / body.turn_angle)
    if abs(count * body.turn_angle - 2 * np.pi) > FULL_TURN_SLACK:
        raise InputError(
            f"expected a turn angle that divides a whole turn, got {np.degrees(body.turn_angle):g} "
            f"degrees of {body.name!r}; no lattice of headings exists for it"
        )
    lefts = range(1, count // 2 + 1)
    rights = range(-1, -((count - 1) // 2) - 1, -1)
    return np.array(sorted([0, *lefts, *rights], key=lambda turns: (abs(turns), -turns)), np.int64)


def headings_after(
    yaws: Float[np.ndarray, "k"], turns: Int64[np.ndarray, "h"], angle: float
) -> Float[np.ndarray, "k h"]:
    """(K, H) radians after each number of `turns` by `angle`, rounded exactly as single turns round."""
    out = np.zeros((len(yaws), len(turns)))
    turn_each(np.asarray(yaws, float), turns, float(angle), out)
    return out


@kernel
def turn_each(yaws, turns, angle, out):
    """Write into `out` (K, H) the yaws (K,) after each number of `turns` (H,) by `angle` radians."""
    for i in range(yaws.shape[0]):
        for j in range(turns.shape[0]):
            yaw = yaws[i]
            for _ in range(abs(turns[j])):
                yaw = turned(yaw, angle if turns[j] > 0 else -angle)
            out[i, j] = yaw


@dataclass(frozen=True)
class BodyPoses:
    """M poses of bodies.

    Attributes:
        bodies: (M,) int64, the body of each pose: 0 to K - 1. A body may occur any number of times.
        positions: (M, 3) float64 metres, world frame.
        yaws: (M,) float64 radians.
        triangles: (M,) int32 of the navmesh, under each pose; -1 = not known.
    """

    bodies: Int64[np.ndarray, "m"]
    positions: Float[np.ndarray, "m 3"]
    yaws: Float[np.ndarray, "m"]
    triangles: Int32[np.ndarray, "m"]


@dataclass(frozen=True)
class Moves:
    """Outcomes of the H combined moves (turn, then one step forward) from M poses.

    Attributes:
        positions: (M, H, 3) float64 metres, where each move ends.
        yaws: (M, H) float64 radians, the heading of each move.
        triangles: (M, H) int32 of the navmesh, under the end.
        collided: (M, H) bool, whether the step is cut short.
        distances: (M, H) float64 metres, geodesic from the end to the goal; infinite where unreachable.
    """

    positions: Float[np.ndarray, "m h 3"]
    yaws: Float[np.ndarray, "m h"]
    triangles: Int32[np.ndarray, "m h"]
    collided: Bool[np.ndarray, "m h"]
    distances: Float[np.ndarray, "m h"]


class MoveSimulator:
    """The navmeshes and goals of K bodies of one kind.

    Args:
        embodiment: the body; a whole turn must be a multiple of its turn angle.
        meshes: K navmeshes, the same one any number of times.
        goals: (K, 3) float64 metres, world frame; or K times (G, 3): the nearest of G poses.

    Attributes:
        turns: (H,) int64: turns to the left (negative: to the right) of each move, the fewest first.
    """

    turns: Int64[np.ndarray, "h"]

    def __init__(
        self,
        embodiment: Embodiment,
        meshes: Sequence[NavMesh],
        goals: Float[np.ndarray, "k 3"] | Sequence[Float[np.ndarray, "_ 3"]],
    ) -> None:
        self.embodiment = embodiment
        self.turns = turns_of(embodiment)
        different = list({id(mesh): mesh for mesh in meshes}.values())
        row_of = {id(mesh): row for row, mesh in enumerate(different)}
        self._table = NavMeshTable(different)
        self._rows = np.array([row_of[id(mesh)] for mesh in meshes], np.int64)
        self._fields = GoalFields(len(meshes))
        for body, mesh in enumerate(meshes):
            self._fields.set_goals(body, mesh, np.reshape(goals[body], (-1, 3)))

    def distance(
        self, bodies: Int64[np.ndarray, "m"], positions: Float[np.ndarray, "m 3"]
    ) -> Float[np.ndarray, "m"]:
        """(M,) metres, geodesic, from `positions` to the goals of `bodies`; infinite where unreachable."""
        return self._fields.distance(bodies, positions)

    def try_all(self, poses: BodyPoses) -> Moves:
        """The outcomes of all H moves from each of M poses."""
        count, width = len(poses.bodies), len(self.turns)
        bodies = np.repeat(poses.bodies, width)
        positions = np.repeat(poses.positions, width, 0)
        triangles = np.repeat(poses.triangles, width)
        yaws = headings_after(poses.yaws, self.turns, self.embodiment.turn_angle)
        collided = np.zeros(count * width, bool)
        self._table.step_bodies(
            self._rows[bodies],
            triangles,
            positions,
            yaws.reshape(-1),
            np.full(count * width, self.embodiment.forward_step),
            self.embodiment.slides,
            collided,
        )
        return Moves(
            positions.reshape(count, width, 3),
            yaws,
            triangles.reshape(count, width),
            collided.reshape(count, width),
            self.distance(bodies, positions).reshape(count, width),
        )
