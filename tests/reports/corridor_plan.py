"""The plan of the corridor world: a floor of 20 by 4 metres with a pillar cut out of it."""

import numpy as np

from navarena.reports import ScenePlan
from navarena.scenes.scene import Room


def make_plan(scene_id):
    """Four strips around the pillar from (9, 1) to (11, 1.6); the walk is along z = 0."""
    xs, zs = np.meshgrid([-0.5, 9.0, 11.0, 20.5], [-2.0, 1.0, 1.6, 2.0])
    vertices = np.stack([xs.ravel(), np.zeros(16), zs.ravel()], 1)
    triangles = []
    for row in range(3):
        for column in range(3):
            if (row, column) == (1, 1):
                continue
            a, b = 4 * row + column, 4 * row + column + 1
            triangles += [[a, a + 4, b], [b, a + 4, b + 4]]
    triangles = np.array(triangles, np.int32)
    return ScenePlan(
        vertices,
        triangles,
        find_neighbors(triangles),
        (Room(1, "corridor <long>", ((-0.5, -2.0), (20.5, -2.0), (20.5, 2.0), (-0.5, 2.0))),),
        lambda start, goal: np.stack([start, goal]),
    )


def find_neighbors(triangles):
    """Triangle across each edge, by the edge's two corners; -1 at a border."""
    owner = {}
    for index, corners in enumerate(triangles):
        for k in range(3):
            owner[int(corners[k]), int(corners[(k + 1) % 3])] = index
    return np.array(
        [[owner.get((int(t[(k + 1) % 3]), int(t[k])), -1) for k in range(3)] for t in triangles], np.int32
    )
