"""What a mesh must be to carry a navmesh, and advice for one that carries none."""

import numpy as np
from jaxtyping import Float, Float64, Int

from navarena.core.errors import SceneError
from navarena.scenes.formats.importing import UP_AXES
from navarena.simulation.navmesh.settings import NavMeshSettings

_AXES = ("x", "y", "z")


def require_mesh(vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"]) -> None:
    """Raise SceneError unless triangles (T, 3) exist, within vertices (V, 3) of finite metres."""
    if len(triangles) == 0:
        raise SceneError("expected a mesh with triangles, got none; check the file")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise SceneError(
            f"expected vertex indices from 0 to {len(vertices) - 1}, got {triangles.min()} to "
            f"{triangles.max()}; the mesh is damaged"
        )
    bad = np.flatnonzero(~np.isfinite(vertices).all(1))
    if bad.size:
        raise SceneError(
            f"expected finite vertices, got {vertices[bad[0]].tolist()} at index {bad[0]} "
            f"({bad.size} in all); repair the mesh"
        )


def facing_areas(vertices: Float[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"]) -> dict[str, float]:
    """Square metres of triangles (T, 3) that face "x", "-x", "y", "-y", "z" or "-z" within 45 degrees."""
    corners = np.asarray(vertices, float)[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    area = np.linalg.norm(normals, axis=1)
    faces = {}
    for k, axis in enumerate(_AXES):
        for sign in (1, -1):
            facing = sign * normals[:, k] > np.cos(np.pi / 4) * area
            faces[axis if sign > 0 else f"-{axis}"] = float(area[facing].sum())
    return faces


def axis_of_file(world_axis: str, up_axis: str) -> str:
    """The axis of a file that became `world_axis` ("x" to "-z") when it was imported with `up_axis`."""
    axis, sign = UP_AXES[up_axis][_AXES.index(world_axis[-1])]
    return ("-" if (sign < 0) != world_axis.startswith("-") else "") + _AXES[axis]


def explain_no_floor(
    vertices: Float64[np.ndarray, "v 3"],
    triangles: Int[np.ndarray, "t 3"],
    settings: NavMeshSettings,
    up_axis: str = "y",
) -> str:
    """The message for a mesh on which no body of these settings can stand.

    Vertices are (V, 3) metres, triangles (T, 3) indices; `up_axis` of the file became the world's y.
    """
    corners = vertices[triangles.ravel()]
    size = corners.max(0) - corners.min(0)
    faces = facing_areas(vertices, triangles)
    wanted = (
        f"expected a floor of at least {settings.min_island_area:.3g} m2 with room for a body of radius "
        f"{settings.radius:.3g} m and height {settings.height:.3g} m, got none with y up in a mesh of "
        + " x ".join(f"{side:.3g}" for side in size)
        + " m (x, y, z)"
    )
    best = max(faces, key=lambda axis: faces[axis])
    if max(size[0], size[2]) < 2 * settings.radius + settings.region_min_size * settings.cell_size:
        return f"{wanted}; it is too small: check its unit (scale=1000 for kilometres, 39.37 for inches)"
    if best == "-y" and faces["-y"] > 2 * faces["y"]:
        return f"{wanted}; its floors face downwards: turn the triangles' winding round"
    if best.lstrip("-") != "y" and faces[best] > faces["y"]:
        return (
            f"{wanted}; more of its area faces {best} ({faces[best]:.3g} m2) than y ({faces['y']:.3g} m2): "
            f"try --up={axis_of_file(best, up_axis)} (up_axis={axis_of_file(best, up_axis)!r})"
        )
    return f"{wanted}; check its up axis (now {up_axis!r}), its scale, and the size of the body"
