# mypy: disable-error-code="no-untyped-def"
"""Kernels that move N bodies in one call: walk, then turn and tilt."""

from navarena.core.geometry import ACROSS, ALONG, TILT, TURN
from navarena.core.kernels import kernel
from navarena.simulation.motion import turned, walk_of
from navarena.simulation.navmesh.queries.stepping import step_body


@kernel
def move_body(
    meshes,
    row,
    i,
    along,
    across,
    turn,
    tilt,
    low_tilt,
    high_tilt,
    slides,
    stays_when_blocked,
    visited,
    positions,
    yaws,
    tilts,
    triangles,
    collided,
    moved,
):
    """Let body i make a movement; see `move_bodies`."""
    direction, distance = walk_of(yaws[i], along, across)
    collided[i] = moved[i] = False
    if distance != 0.0:
        x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
        t, nx, ny, nz, hit = step_body(
            meshes, row, triangles[i], x, y, z, direction, distance, slides, visited
        )
        collided[i] = hit
        if hit and stays_when_blocked:
            return
        triangles[i] = t
        positions[i, 0], positions[i, 1], positions[i, 2] = nx, ny, nz
        moved[i] = nx != x or ny != y or nz != z
    yaws[i] = turned(yaws[i], turn)
    tilts[i] = min(max(tilts[i] + tilt, low_tilt), high_tilt)


@kernel
def move_bodies(
    meshes,
    rows,
    movements,
    low_tilt,
    high_tilt,
    slides,
    stays_when_blocked,
    visited,
    positions,
    yaws,
    tilts,
    triangles,
    collided,
    moved,
):
    """Let each of N bodies make its movement, in place.

    meshes: address table of navmeshes; rows: (N,) int64, that of each body; movements: (N, 4) float64;
    low_tilt, high_tilt: radians; slides: whether blocked steps slide; stays_when_blocked: whether blocked
    movements are not made at all, turn and tilt included; visited: scratch of a step; the others are arrays
    of Bodies.
    """
    for i in range(yaws.shape[0]):
        move_body(
            meshes,
            rows[i],
            i,
            movements[i, ALONG],
            movements[i, ACROSS],
            movements[i, TURN],
            movements[i, TILT],
            low_tilt,
            high_tilt,
            slides,
            stays_when_blocked,
            visited,
            positions,
            yaws,
            tilts,
            triangles,
            collided,
            moved,
        )


@kernel
def act_bodies(
    meshes,
    rows,
    actions,
    active,
    movements,
    low_tilt,
    high_tilt,
    slides,
    visited,
    positions,
    yaws,
    tilts,
    triangles,
    collided,
    moved,
    last_positions,
    last_yaws,
):
    """Let each of N bodies carry out its action, those that are not `active` none, in place.

    actions: (N,) int64 rows of `movements` (A, 4); last_positions, last_yaws: written, the poses before;
    the others as for `move_bodies`.

    Returns:
        Whether every action is one and every active body stands somewhere; else nothing is written.
    """
    for i in range(yaws.shape[0]):
        if active[i] and not (0 <= actions[i] < movements.shape[0] and rows[i] >= 0):
            return False
    for i in range(yaws.shape[0]):
        last_yaws[i] = yaws[i]
        for axis in range(3):
            last_positions[i, axis] = positions[i, axis]
        along, across, turn, tilt = 0.0, 0.0, 0.0, 0.0
        if active[i]:
            action = actions[i]
            along, across = movements[action, ALONG], movements[action, ACROSS]
            turn, tilt = movements[action, TURN], movements[action, TILT]
        move_body(
            meshes,
            rows[i],
            i,
            along,
            across,
            turn,
            tilt,
            low_tilt,
            high_tilt,
            slides,
            False,
            visited,
            positions,
            yaws,
            tilts,
            triangles,
            collided,
            moved,
        )
    return True
