"""Where plans bring the bodies that carry them out exactly."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from navarena.core.movement import ALONG, TURN
from navarena.simulation.body import Embodiment
from navarena.simulation.motion import movement_table
from navarena.simulation.navmesh.navmesh import NavMesh

NO_PLAN = ("stop",)


def follow_plans(
    mesh: NavMesh,
    body: Embodiment,
    positions: Float[np.ndarray, "k 3"],
    yaws: Float[np.ndarray, "k"],
    plans: Sequence[tuple[str, ...] | None],
) -> tuple[Float[np.ndarray, "k 3"], Float[np.ndarray, "k"]]:
    """(K, 3) metres and (K,) radians: where K bodies are after their plans.

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
