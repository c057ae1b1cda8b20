"""What K bodies can do next, and how far each would then be from its goal."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int32, Int64

from navarena.simulation.body import Embodiment
from navarena.simulation.navmesh.goal_fields import GoalFields
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.table import NavMeshTable
from navarena.simulation.planning.headings import headings_after, turns_of


@dataclass(frozen=True)
class Places:
    """M places where bodies of a ground may be.

    Attributes:
        bodies: (M,) int64, whose place each is: 0 to K - 1. A body may occur any number of times.
        positions: (M, 3) float64 metres, world frame.
        yaws: (M,) float64 radians.
        triangles: (M,) int32 of the navmesh, under each place; -1 = not known.
    """

    bodies: Int64[np.ndarray, "m"]
    positions: Float[np.ndarray, "m 3"]
    yaws: Float[np.ndarray, "m"]
    triangles: Int32[np.ndarray, "m"]


@dataclass(frozen=True)
class Moves:
    """Outcomes of the H combined moves (turn, then one step forward) from M places.

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


class Ground:
    """The navmeshes and goals of K bodies of one kind.

    Args:
        embodiment: the body; a whole turn must be a multiple of its turn angle.
        meshes: K navmeshes, the same one any number of times.
        goals: (K, 3) float64 metres, world frame; or K times (G, 3): the nearest of G places.

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

    def try_all(self, places: Places) -> Moves:
        """The outcomes of all H moves from each of M places."""
        count, width = len(places.bodies), len(self.turns)
        bodies = np.repeat(places.bodies, width)
        positions = np.repeat(places.positions, width, 0)
        triangles = np.repeat(places.triangles, width)
        yaws = headings_after(places.yaws, self.turns, self.embodiment.turn_angle)
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
