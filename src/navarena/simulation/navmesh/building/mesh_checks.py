"""Checks of a mesh: valid triangles, advice for one without floor, and which axis points up.

A mesh stands upright when its largest connected floor faces upwards.

A scene lies mostly open in the plane of its floors: what can be walked without a break is larger
there than on its walls, which floors and other walls part from each other.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int, Int64

from navarena.core.errors import SceneError
from navarena.scenes.formats.importing import UP_AXES
from navarena.scenes.mesh_reference import MARK
from navarena.scenes.scene import Scene
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.voxels.floor_filters import find_floors, link_floors
from navarena.simulation.navmesh.voxels.layer_partition import label_islands
from navarena.simulation.navmesh.voxels.voxel_spans import plan_grid, voxelise

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

    Vertices are (V, 3) metres, triangles (T, 3) indices; `up_axis` of the file became the world's y, "" for
    a scene that is no file, whose axes nobody can choose.
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
    if faces["-y"] > 2 * faces["y"] and faces["-y"] >= settings.min_island_area:
        return (
            f"{wanted}; its floors face downwards ({faces['-y']:.3g} m2): try --flip ({MARK}sides=back "
            f"behind the path), or --double-sided ({MARK}sides=both)"
        )
    if not up_axis:
        return f"{wanted}; choose a smaller body, or another scene"
    if best.lstrip("-") != "y" and faces[best] > faces["y"]:
        return (
            f"{wanted}; more of its area faces {best} ({faces[best]:.3g} m2) than y ({faces['y']:.3g} m2): "
            f"try --up={axis_of_file(best, up_axis)} (up_axis={axis_of_file(best, up_axis)!r})"
        )
    return f"{wanted}; check its up axis (now {up_axis!r}), its scale, and the size of the body"


DOUBT = 1.8
"""Times the floor that another direction must have to be worth a word."""

CLEAR = 2.5
"""Times the floor that makes an error of it. Upright, none of 200 generated houses of 1 to 27 rooms has
1.7 times its floor in another direction (DOWNWARDS counted), nor has the dungeon; tipped over, the
dungeon has 7 times."""

DOWNWARDS = 2.0
"""Times less that a direction against an axis of the file counts: files seldom have one up, and the
bare ceilings of small houses have up to twice their furnished floors."""

CLEAR_OF_WALLS = 1.5
"""Times the floor of every direction across: in a shaft all four walls are larger than its floor."""

SMALL_SHARE = 0.6
"""Of a scene's width, height and depth, above which an object is floor, wall or ceiling."""

AT_REST = 0.3
"""Metres from floor or top within which an object stands or hangs; slabs are thinner."""

MIN_HANGING = 3
"""Objects that must hang; a room may well have a lamp and a fan, and nothing on its floor."""

COARSE_CELL = 0.2
"""Metres of the voxels of this comparison, at least."""

COARSE_COLUMNS = 1e6
COARSE_VOXELS = 3e4
"""Columns, and voxels in one, that it takes at most; larger scenes get larger voxels."""


@dataclass(frozen=True)
class UpAdvice:
    """A direction in which a mesh has more connected floor than upwards.

    Attributes:
        up_axis: of its file, as `import_mesh` takes it.
        area, area_as_imported: square metres of the largest connected floor, with that axis up and now.
        clear: whether this leaves no reasonable doubt.
    """

    up_axis: str
    area: float
    area_as_imported: float
    clear: bool

    @property
    def message(self) -> str:
        """The expected and the found area, and the remedy, as a sentence."""
        return (
            f"expected the largest floor to face up, got {self.area_as_imported:.3g} m2 of connected floor, "
            f"and {self.area:.3g} m2 with {self.up_axis} up; try --up={self.up_axis}"
        )


def advise_up(
    vertices: Float[np.ndarray, "v 3"],
    triangles: Int[np.ndarray, "t 3"],
    settings: NavMeshSettings,
    up_axis: str = "y",
    island_area: float = 0.0,
) -> UpAdvice | None:
    """The up axis that suits a mesh clearly better, or None.

    Args:
        vertices: (V, 3) metres, world frame, y up.
        triangles: (T, 3) vertex indices.
        settings: the size of the body.
        up_axis: axis of the file that became the world's y.
        island_area: square metres of the largest island of its navmesh, where that is known: saves
            looking in directions that fewer triangles face.
    """
    points, faces = np.asarray(vertices, np.float64), np.ascontiguousarray(triangles, np.int64)
    facing = facing_areas(points, faces)
    rivals = [axis for axis, area in facing.items() if axis != "y" and area > DOUBT * island_area]
    if not rivals:
        return None
    areas = {axis: _largest_floor(_turned(points, axis), faces, settings) for axis in ("y", *rivals)}
    names = {axis: axis_of_file(axis, up_axis) for axis in rivals}
    weights = {axis: DOWNWARDS if name.startswith("-") else 1.0 for axis, name in names.items()}
    best = max(rivals, key=lambda axis: areas[axis] / weights[axis])
    floor = areas["y"] * (weights[best] if best == "-y" else 1.0)
    if areas[best] < DOUBT * max(floor, settings.min_island_area):
        return None
    across = [area for axis, area in areas.items() if axis[-1] != best[-1]]
    clear = areas[best] >= CLEAR * floor and areas[best] >= CLEAR_OF_WALLS * max(across, default=0.0)
    return UpAdvice(names[best], areas[best], areas["y"], clear)


def require_upright(
    vertices: Float[np.ndarray, "v 3"],
    triangles: Int[np.ndarray, "t 3"],
    settings: NavMeshSettings,
    up_axis: str = "y",
    island_area: float = 0.0,
) -> None:
    """Raise SceneError where another up axis is clearly better; arguments as `advise_up`.

    Vertices are (V, 3) metres, triangles (T, 3) indices.
    """
    advice = advise_up(vertices, triangles, settings, up_axis, island_area)
    if advice is not None and advice.clear:
        raise SceneError(
            f"{advice.message}, or keep --up={up_axis} with --force-up (force_up=True) if it is right; "
            f"behind a mesh file, or the folder of --scenes, write {MARK}up={advice.up_axis}"
        )


def require_standing(scene: Scene, navmesh: NavMesh, up_axis: str = "y") -> None:
    """Raise SceneError for a scene upside down: objects hang from its top, and few stand on its floor.

    Floors, walls and ceilings do not count, nor does what is not labelled; `up_axis` of the scene's file
    became the world's y.
    """
    if not scene.objects:
        return
    low, high = scene.bounds
    center = np.array([one.center for one in scene.objects])
    half = np.array([one.half_size for one in scene.objects])
    small = (2 * half < SMALL_SHARE * (high - low)).all(1)
    floor = float(np.median(navmesh.vertices[:, 1]))
    standing = int((small & (np.abs((center - half)[:, 1] - floor) < AT_REST)).sum())
    hanging = int((small & ((center + half)[:, 1] > high[1] - AT_REST)).sum())
    if hanging >= MIN_HANGING and hanging > 2 * standing:
        upright = up_axis[1:] if up_axis.startswith("-") else f"-{up_axis}"
        raise SceneError(
            f"expected objects to stand on the floor, got {hanging} that hang from the top of the scene and "
            f"{standing} that stand: bodies would walk on its ceiling; try --up={upright}, or keep "
            f"--up={up_axis} with --force-up (force_up=True) if it is right"
        )


def _turned(points: Float64[np.ndarray, "v 3"], axis: str) -> Float64[np.ndarray, "v 3"]:
    """(V, 3) metres, turned so that `axis` points along y."""
    return np.stack([sign * points[:, source] for source, sign in UP_AXES[axis]], 1)


def _largest_floor(
    points: Float64[np.ndarray, "v 3"], faces: Int64[np.ndarray, "t 3"], settings: NavMeshSettings
) -> float:
    """Square metres of the largest connected floor of a mesh (metres, y up), in coarse voxels."""
    used = points[faces.ravel()]
    size = used.max(0) - used.min(0)
    cell = max(COARSE_CELL, float(np.sqrt(size[0] * size[2] / COARSE_COLUMNS)), size[1] / COARSE_VOXELS)
    coarse = NavMeshSettings(0.0, settings.height, cell, settings.max_slope, cell, cell)
    grid = plan_grid(used, coarse)
    spans = voxelise(np.ascontiguousarray(points), faces, grid, coarse)
    height, climb, room = coarse.height_voxels, coarse.climb_voxels, len(spans.lows)
    starts, columns = np.zeros(grid.nx * grid.nz + 1, np.int32), np.zeros(room, np.int32)
    floors, ceilings = np.zeros(room, np.int16), np.zeros(room, np.int16)
    count = find_floors(
        spans.starts, spans.lows, spans.highs, spans.walkable, spans.heights, grid.nx, grid.nz, height, climb,
        starts, columns, floors, ceilings, np.zeros(room, np.float32),
    )  # fmt: skip
    links = np.full((count, 4), -1, np.int32)
    link_floors(
        starts, columns[:count], floors[:count], ceilings[:count], grid.nx, grid.nz, height, climb, links
    )
    islands, _ = label_islands(np.ones(count, np.bool_), links, 1)
    return float(np.bincount(islands, minlength=1).max() * cell**2)
