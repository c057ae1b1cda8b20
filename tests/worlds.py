"""Small worlds drawn as text, for tests of bodies, tasks and agents.

Each character is a square of floor ("." walkable, "#" not); rows run along +z, columns along +x.
The navmesh is the walkable squares themselves: nothing is shrunk.
"""

import numpy as np

from navarena.scenes.scene import Material, Scene, SceneObject
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.world import World

WALL_HEIGHT = 2.0


def draw_navmesh(rows: list[str], cell: float = 1.0, height: float = 0.0) -> NavMesh:
    """The walkable squares of `rows`, two triangles each, `cell` metres wide."""
    squares = [(x, z) for z, row in enumerate(rows) for x, mark in enumerate(row) if mark == "."]
    corners = sorted({(x + i, z + j) for x, z in squares for i in (0, 1) for j in (0, 1)})
    index = {corner: k for k, corner in enumerate(corners)}
    vertices = np.array([(x * cell, height, z * cell) for x, z in corners], np.float64)
    triangles = []
    for x, z in squares:
        a, b, c, d = (index[p] for p in ((x, z), (x, z + 1), (x + 1, z + 1), (x + 1, z)))
        triangles += [(a, b, c), (a, c, d)]
    owner = {(tri[k], tri[(k + 1) % 3]): t for t, tri in enumerate(triangles) for k in range(3)}
    neighbors = [[owner.get((tri[(k + 1) % 3], tri[k]), -1) for k in range(3)] for tri in triangles]
    return NavMesh.from_parts(
        vertices,
        np.array(triangles, np.int32),
        np.array(neighbors, np.int32),
        np.zeros(len(triangles) + 1, np.int64),
        np.zeros((0, 3, 3)),
        NavMeshSettings(),
    )


def draw_scene(rows: list[str], cell: float = 1.0, scene_id: str = "drawn") -> Scene:
    """A floor under everything and a box on every "#"; objects 1 (floor) and 2 (the boxes)."""
    width, depth = cell * max(map(len, rows)), cell * len(rows)
    vertices = [(0.0, 0.0, 0.0), (0.0, 0.0, depth), (width, 0.0, depth), (width, 0.0, 0.0)]
    triangles = [(0, 1, 2), (0, 2, 3)]
    owners = [1, 1]
    for z, row in enumerate(rows):
        for x, mark in enumerate(row):
            if mark == "#":
                first = len(vertices)
                vertices += [
                    ((x + i) * cell, y, (z + j) * cell)
                    for y in (0.0, WALL_HEIGHT)
                    for i, j in ((0, 0), (0, 1), (1, 1), (1, 0))
                ]
                for a, b, c, d in ((4, 5, 6, 7), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (0, 1, 5, 4)):
                    triangles += [(first + a, first + b, first + c), (first + a, first + c, first + d)]
                    owners += [2, 2]
    boxes = (
        SceneObject(1, "floor", (width / 2, 0.0, depth / 2), (width / 2, 0.0, depth / 2)),
        SceneObject(2, "wall", (width / 2, 1.0, depth / 2), (width / 2, 1.0, depth / 2)),
    )
    return Scene(
        scene_id,
        np.array(vertices, np.float32),
        np.array(triangles, np.int32),
        np.array(owners, np.int32),
        np.array([owner - 1 for owner in owners], np.int32),
        (Material("floor", (90, 140, 90)), Material("wall", (160, 80, 60))),
        objects=boxes,
    )


def draw_world(rows: list[str], cell: float = 1.0, scene_id: str = "drawn") -> World:
    """Scene and navmesh of `rows` together."""
    return World.of(draw_scene(rows, cell, scene_id), draw_navmesh(rows, cell))


HALL = ["." * 10] * 10
"""An empty hall of 10 by 10 metres."""

ROOMS = [
    "..........",
    "..........",
    "....##....",
    "###.##.###",
    "....##....",
    "..........",
    "....##....",
    "##########",
    "..........",
    "..........",
]
"""Three rooms; the last one is cut off from the others."""
