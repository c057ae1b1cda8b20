"""Plans of discrete actions for many bodies: greedy where that works, a search where it fails."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int64

from navarena.simulation.body import Embodiment
from navarena.simulation.navmesh.table import NavMeshTable
from navarena.simulation.planning.greedy import Course, follow_greedily
from navarena.simulation.planning.lattice import search_lattice
from navarena.simulation.planning.moves import MoveTable

STOP_MARGIN = 1e-3
"""Metres by which a plan ends nearer than it must, so that the last bits of a sum cannot fail it."""


@dataclass(frozen=True)
class Query:
    """Where K bodies are and want to go.

    Attributes:
        mesh_index: (K,) int64 rows of the table.
        positions: (K, 3) float64 metres, world frame.
        yaws: (K,) float64 radians.
        goals: (K, 3) float64 metres, world frame.
    """

    mesh_index: Int64[np.ndarray, "k"]
    positions: Float[np.ndarray, "k 3"]
    yaws: Float[np.ndarray, "k"]
    goals: Float[np.ndarray, "k 3"]


class ActionPlanner:
    """Finds actions that bring a body near its goal, exactly as the simulator will execute them.

    Args:
        embodiment: the body.
        success_distance: metres, geodesic; plans end strictly nearer.
        max_steps: most actions, the closing stop included.
    """

    def __init__(self, embodiment: Embodiment, success_distance: float, max_steps: int) -> None:
        self._moves = MoveTable(embodiment)
        self._stop_distance = success_distance - STOP_MARGIN
        self._max_actions = max_steps - 1

    def plan(self, table: NavMeshTable, query: Query) -> list[tuple[str, ...] | None]:
        """The names of the actions for each of K bodies, "stop" last; None where no plan was found.

        Each plan depends on its own row of `query` only.
        """
        distances = table.geodesic_distance(query.mesh_index, query.positions, query.goals)
        courses = [
            Course(position.copy(), float(yaw), float(distance))
            for position, yaw, distance in zip(query.positions, query.yaws, distances)
        ]
        follow_greedily(
            self._moves,
            table,
            query.mesh_index,
            courses,
            query.goals,
            self._stop_distance,
            self._max_actions,
        )
        return [self._finish(table, query, k, course) for k, course in enumerate(courses)]

    def _finish(self, table: NavMeshTable, query: Query, k: int, course: Course) -> tuple[str, ...] | None:
        """The actions of a greedy course; from where it got stuck, else from the start, by search."""
        if course.arrived and course.action_count <= self._max_actions:
            return action_names(course.moves)
        if not np.isfinite(course.distance):
            return None
        start = Course(query.positions[k], float(query.yaws[k]), course.distance)
        for origin in (course, start):
            rest = search_lattice(
                self._moves,
                table,
                int(query.mesh_index[k]),
                origin,
                query.goals[k],
                self._stop_distance,
                self._max_actions - origin.action_count,
            )
            if rest is not None:
                return action_names([*origin.moves, *rest])
        return None


def action_names(moves: Sequence[int]) -> tuple[str, ...]:
    """The actions of combined moves (numbers of turns before each step), with "stop" at the end."""
    names: list[str] = []
    for turns in moves:
        names += ["turn_left" if turns > 0 else "turn_right"] * abs(turns)
        names.append("move_forward")
    return (*names, "stop")
