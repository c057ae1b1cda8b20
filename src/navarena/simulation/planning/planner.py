"""Plans of discrete actions for many bodies: greedy where that works, a search where it fails."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.geometry import ALONG, TURN
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import movement_table
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.planning.greedy import GreedyPaths, follow_greedily
from navarena.simulation.planning.lattice import Origin, search_lattice

STOP_MARGIN = 1e-3
"""Metres by which a plan ends nearer than it must, so that the last bits of a sum cannot fail it."""


@dataclass(frozen=True)
class Query:
    """The poses and goals of K bodies.

    Attributes:
        meshes: K navmeshes, the same one any number of times.
        positions: (K, 3) float64 metres, world frame.
        yaws: (K,) float64 radians.
        goals: (K, 3) float64 metres, world frame; or K times (G, 3): the nearest of G places.
    """

    meshes: Sequence[NavMesh]
    positions: Float[np.ndarray, "k 3"]
    yaws: Float[np.ndarray, "k"]
    goals: Float[np.ndarray, "k 3"] | Sequence[Float[np.ndarray, "_ 3"]]


class ActionPlanner:
    """Plans discrete actions to a goal; the simulator executes them exactly as planned.

    Args:
        embodiment: the body.
        success_distance: metres, geodesic; plans end strictly nearer.
        max_steps: largest number of actions, the closing stop included.
    """

    def __init__(self, embodiment: Embodiment, success_distance: float, max_steps: int) -> None:
        self._embodiment = embodiment
        self._stop_distance = success_distance - STOP_MARGIN
        self._max_actions = max_steps - 1

    def plan(self, query: Query) -> list[tuple[str, ...] | None]:
        """The names of the actions for each of K bodies, "stop" last; None where no plan was found.

        Each plan depends on its own row of `query` only.
        """
        fields = GoalFields(len(query.meshes))
        for row, mesh in enumerate(query.meshes):
            fields.set_goals(row, mesh, np.reshape(query.goals[row], (-1, 3)))
        walks = GreedyPaths.begin(query.positions, query.yaws)
        rows = np.arange(len(query.meshes))
        follow_greedily(fields, rows, walks, self._embodiment, self._stop_distance, self._max_actions)
        return [
            self._finish(fields, row, walks, Origin(position, float(yaw)))
            for row, position, yaw in zip(rows.tolist(), query.positions, query.yaws)
        ]

    def _finish(
        self, fields: GoalFields, row: int, walks: GreedyPaths, start: Origin
    ) -> tuple[str, ...] | None:
        """The actions of a greedy walk; from where it got stuck, else from the start, by search."""
        moves, count = walks.moves[row, : walks.move_counts[row]].tolist(), int(walks.action_counts[row])
        if walks.arrived[row] and count <= self._max_actions:
            return action_names(moves)
        if not np.isfinite(walks.distances[row]):
            return None
        origins: list[tuple[Origin, list[int], int]] = [(start, [], self._max_actions)]
        if moves:
            reached = Origin(walks.positions[row], float(walks.yaws[row]), int(walks.triangles[row]))
            origins.insert(0, (reached, moves, self._max_actions - count))
        for origin, behind, left in origins:
            rest = search_lattice(fields, row, self._embodiment, origin, self._stop_distance, left)
            if rest is not None:
                return action_names([*behind, *rest])
        return None


def action_names(moves: Sequence[int]) -> tuple[str, ...]:
    """The actions of combined moves (numbers of turns before each step), with "stop" at the end."""
    names: list[str] = []
    for turns in moves:
        names += ["turn_left" if turns > 0 else "turn_right"] * abs(turns)
        names.append("move_forward")
    return (*names, "stop")


NO_PLAN = ("stop",)


def follow_plans(
    mesh: NavMesh,
    body: Embodiment,
    positions: Float[np.ndarray, "k 3"],
    yaws: Float[np.ndarray, "k"],
    plans: Sequence[tuple[str, ...] | None],
) -> tuple[Float[np.ndarray, "k 3"], Float[np.ndarray, "k"]]:
    """Final positions (K, 3), metres, and yaws (K,), radians, of K bodies after their plans.

    Args:
        mesh: on which all of them walk.
        body: what they are.
        positions: (K, 3) metres, world frame, where they start.
        yaws: (K,) radians.
        plans: names of the actions of each, as ActionPlanner makes them; None stays where it is.
    """
    named = [plan or NO_PLAN for plan in plans]
    actions = sorted({name for plan in named for name in plan})
    table = movement_table(body, actions)
    longest = max((len(plan) for plan in named), default=0)
    moves = np.zeros((longest, len(named), table.shape[1]))
    for k, plan in enumerate(named):
        moves[: len(plan), k] = table[[actions.index(name) for name in plan]]
    positions, yaws = np.array(positions, float), np.array(yaws, float)
    triangles, collided = np.full(len(named), -1, np.int32), np.zeros(len(named), bool)
    rows = np.zeros(len(named), np.int64)
    for move in moves:
        yaws = yaws + move[:, TURN]
        forward = np.ascontiguousarray(move[:, ALONG])
        mesh.table.step_bodies(rows, triangles, positions, yaws, forward, body.slides, collided)
    return positions, (yaws + np.pi) % (2 * np.pi) - np.pi
