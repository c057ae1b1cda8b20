"""Merges the cells of floors, walls and ceilings where the baked light is even."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float32, Int

from navarena.scenes.houses.appearance.cell_merging_kernels import join, merge
from navarena.scenes.houses.solids.mesh_builder import HouseMesh
from navarena.scenes.houses.solids.panels import Panel

TOLERANCE = 7 / 256
"""Light that a merged cell may differ by from what was baked."""

LONGEST_MM = 4000.0
"""No merged cell is longer."""


@dataclass(frozen=True)
class _Merged:
    """A panel of few triangles: those of points in the middle of rectangles count down from -1."""

    triangles: Int[np.ndarray, "t 3"]
    middles: Int[np.ndarray, "c 4"]
    uv: Float32[np.ndarray, "t 3 2"]
    source: int


def merge_cells(
    mesh: HouseMesh, light: Float32[np.ndarray, "v"], seen: Bool[np.ndarray, "v"]
) -> tuple[HouseMesh, Float32[np.ndarray, "u"]]:
    """The mesh and its light with panels of as few triangles as the light allows.

    Surfaces stay where they are; `light` is (V,) float32, multiples of 1/256, before and after, and `seen`
    (V,) says where it matters. No panels are left.
    """
    if not mesh.panels:
        return mesh, light
    pieces: list[_Merged] = []
    point = triangle = 0
    for panel in mesh.panels:
        pieces.append(_merge_panel(mesh, light, seen, panel, point, triangle))
        point, triangle = point + len(panel.used), triangle + 2 * int(panel.cells.sum())
    middles = np.concatenate([piece.middles for piece in pieces])
    parts, count = [], len(light)
    for piece in pieces:
        parts.append(np.where(piece.triangles < 0, count - 1 - piece.triangles, piece.triangles))
        count += len(piece.middles)
    kept, triangles = np.unique(np.concatenate([*parts, mesh.triangles[triangle:]]), return_inverse=True)
    rows = np.concatenate(
        [
            np.repeat([piece.source for piece in pieces], [len(part) for part in parts]),
            np.arange(triangle, len(mesh.triangles)),
        ]
    )

    def of_vertices(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, values[middles[:, 0]]])[kept]

    merged = replace(
        mesh,
        vertices=np.concatenate([mesh.vertices, mesh.vertices[middles].sum(1) / 4])[kept],
        normals=of_vertices(mesh.normals),
        triangles=triangles.reshape(-1, 3).astype(np.int32),
        triangle_object=mesh.triangle_object[rows],
        triangle_look=mesh.triangle_look[rows],
        uv=np.concatenate([*(piece.uv for piece in pieces), mesh.uv[triangle:]]),
        vertex_part=of_vertices(mesh.vertex_part),
        vertex_room=of_vertices(mesh.vertex_room),
        vertex_glows=of_vertices(mesh.vertex_glows),
        panels=(),
        flat_vertices=0,
    )
    middle_light = np.floor(light[middles].astype(float).sum(1) * 64 + 0.5) / 256
    return merged, np.concatenate([light, middle_light.astype(np.float32)])[kept]


def _merge_panel(
    mesh: HouseMesh,
    light: Float32[np.ndarray, "v"],
    seen: Bool[np.ndarray, "v"],
    panel: Panel,
    point: int,
    triangle: int,
) -> _Merged:
    """The panel whose first vertex and triangle in the mesh are `point` and `triangle`."""
    numbers = panel.numbers()
    grid = np.where(numbers >= 0, light[np.maximum(numbers, 0) + point], 0.0).astype(float)
    shown = (numbers >= 0) & seen[np.maximum(numbers, 0) + point]
    leaves = merge(grid, shown, panel.cells, panel.first, panel.second, TOLERANCE, LONGEST_MM)
    corners, fans = join(leaves, grid)
    i0, i1, j0, j1 = leaves[fans].T
    middles = np.stack([numbers[i0, j0], numbers[i1, j0], numbers[i1, j1], numbers[i0, j1]], 1) + point
    triangles = np.where(corners < 0, corners, numbers.ravel()[np.maximum(corners, 0)] + point)
    if panel.flipped:
        triangles = triangles[:, ::-1]
    cells = slice(triangle, triangle + 2 * int(panel.cells.sum()))
    uv = np.zeros((len(panel.used) + len(fans), 2))
    uv[(mesh.triangles[cells] - point).ravel()] = mesh.uv[cells].reshape(-1, 2)
    uv[len(panel.used) :] = uv[middles - point].sum(1) / 4
    places = np.where(triangles < 0, len(panel.used) - 1 - triangles, triangles - point)
    return _Merged(triangles, middles, uv[places].astype(np.float32), triangle)
