"""Reads the `.navmesh` files of habitat-sim: a header, then one Detour tile.

Layout (little-endian), versions 1 and 2 of the outer file, version 7 of the tile:
`MSET`, version, tile count, tile grid (28 bytes); version 2 adds the navmesh settings; then per
tile its reference, its size, and the tile as Detour keeps it in memory. Facts of the layout:
recastnavigation Detour/Include/DetourNavMesh.h, habitat-sim src/esp/nav/PathFinder.cpp.

Polygons become triangles; the ground pieces that Detour keeps per polygon are cut along them. The
polygons, their ground and Detour's search tree are kept as well, for queries that follow Detour's rounding.
"""

import struct
from pathlib import Path

import numpy as np

from navarena.core.errors import FileError, InputError, SceneError
from navarena.core.files import DAMAGE, describe_damage, read_bytes
from navarena.simulation.navmesh.mesh_structure import PolygonArrays, label_components
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.navmesh_settings import NavMeshSettings
from navarena.simulation.navmesh.polygons.convex_polygons import cut_ground, triangulate

KIND = "Habitat navmesh file"
SET_MAGIC = b"TESM"
TILE_MAGIC = b"VAND"
TILE_VERSION = 7
GRID_BYTES = 28
TILE_HEADER_BYTES = 100
MAX_CORNERS = 6
POLYGON = np.dtype(
    [
        ("first_link", "<u4"),
        ("vertices", "<u2", MAX_CORNERS),
        ("neighbors", "<u2", MAX_CORNERS),
        ("flags", "<u2"),
        ("count", "u1"),
        ("kind", "u1"),
    ]
)
LINK_BYTES = 12
PIECES = np.dtype(
    [("vertex_base", "<u4"), ("base", "<u4"), ("vertices", "u1"), ("count", "u1"), ("pad", "<u2")]
)
BOX = np.dtype([("cells", "<u2", 6), ("item", "<i4")])
JUMP_BYTES = 36
OUTWARD = 0x8000
"""Bit of a polygon's neighbour that means "in another tile"."""
MIN_AREA = 1e-5
"""Square metres below which habitat-sim disables a polygon (removeZeroAreaPolys)."""
WALKABLE = 1
"""Bit of a polygon's flags that habitat-sim asks for (POLYFLAGS_WALK)."""
NOWHERE = (1, 1, 1, 0, 0, 0)
"""Cells of a box that nothing meets."""


class _Reader:
    """Takes bytes from the front; raises FileError when there are too few."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path, self.data, self.at = path, data, 0

    def take(self, size: int, what: str) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise FileError(
                f"{KIND} {self.path} is truncated: expected {size} bytes of {what} at {self.at}, "
                f"got {len(self.data) - self.at}; copy it again"
            )
        self.at += size
        return self.data[self.at - size : self.at]

    def integers(self, count: int, what: str) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.take(4 * count, what))

    def array(self, dtype: str | np.dtype, count: int, what: str) -> np.ndarray:
        return np.frombuffer(self.take(np.dtype(dtype).itemsize * count, what), dtype)


def load_habitat_navmesh(path: str | Path) -> NavMesh:
    """The navmesh of a habitat-sim `.navmesh` file.

    Raises FileError when the file is missing, empty, truncated, of another kind or version, or
    made of several tiles (habitat-sim writes one).
    """
    path = Path(path)
    reader = _Reader(path, read_bytes(path, KIND))
    if reader.take(4, "signature") != SET_MAGIC:
        raise FileError(f"expected a {KIND} (it begins with {SET_MAGIC!r}), got {path}")
    version, tiles = reader.integers(2, "header")
    if version not in (1, 2):
        raise FileError(f"expected version 1 or 2 of a {KIND}, got {version} in {path}")
    if tiles != 1:
        raise FileError(f"expected one tile in {path}, as habitat-sim writes, got {tiles}")
    grid = reader.array("<f4", GRID_BYTES // 4, "tile grid")[:5]
    try:
        with np.errstate(all="ignore"):  # damaged numbers overflow before they are noticed
            settings = _read_settings(reader) if version == 2 else None
            reader.integers(2, "tile size")
            return _read_tile(reader, settings, grid)
    except FileError:
        raise
    except (SceneError, InputError, *DAMAGE) as error:
        raise describe_damage(f"{KIND} {path}", error) from error


def _read_settings(reader: _Reader) -> NavMeshSettings:
    numbers = reader.array("<f4", 13, "settings").astype(float).round(6).tolist()
    reader.take(4, "filter settings")
    cell_size, cell_height, height, radius, climb, slope_deg, region_min = numbers[:7]
    return NavMeshSettings(
        radius=radius,
        height=height,
        max_climb=climb,
        max_slope=float(np.deg2rad(slope_deg)),
        cell_size=cell_size,
        cell_height=cell_height,
        region_min_size=round(region_min),
        edge_max_error=numbers[9],
    )


def _read_tile(reader: _Reader, settings: NavMeshSettings | None, grid: np.ndarray) -> NavMesh:
    if reader.take(4, "tile signature") != TILE_MAGIC:
        raise FileError(f"expected a Detour tile in {reader.path}; the file is damaged, copy it again")
    head = reader.integers(14, "tile header")
    version, polygon_count, vertex_count, link_count = head[0], head[5], head[6], head[7]
    pieces_count, extra_count, piece_count, box_count, jump_count = head[8:13]
    if version != TILE_VERSION:
        raise FileError(f"expected Detour tile version {TILE_VERSION}, got {version} in {reader.path}")
    measures = reader.array("<f4", 10, "tile header")
    body = measures[:3].astype(float).round(6).tolist()
    vertices = reader.array("<f4", 3 * vertex_count, "vertices").reshape(-1, 3).astype(np.float64)
    polygons = reader.array(POLYGON, polygon_count, "polygons")
    if polygon_count and polygons["count"].max() > MAX_CORNERS:
        raise SceneError(
            f"expected at most {MAX_CORNERS} corners, got a polygon of {polygons['count'].max()}"
        )
    reader.take(LINK_BYTES * link_count, "links")
    pieces = reader.array(PIECES, pieces_count, "ground pieces")
    extra = reader.array("<f4", 3 * extra_count, "ground vertices").reshape(-1, 3).astype(np.float64)
    corners = reader.array("u1", 4 * piece_count, "ground triangles").reshape(-1, 4)
    boxes = reader.array(BOX, box_count, "search boxes")
    reader.take(JUMP_BYTES * jump_count, "search boxes")
    if settings is None:
        settings = NavMeshSettings(height=body[0], radius=body[1], max_climb=body[2])

    ground = [
        _ground_of(polygon, piece, vertices, extra, corners)
        for polygon, piece in zip(polygons, pieces, strict=True)
    ]
    usable = [
        _is_walkable(polygon) and _area(surface) >= MIN_AREA
        for polygon, surface in zip(polygons, ground, strict=True)
    ]
    triangles, owner, neighbors, surfaces = _assemble(vertices, polygons, ground, usable)
    frame = np.concatenate([measures[3:10], measures[2:3], grid[[0, 2, 3, 4]]])
    if not np.isfinite(frame).all():
        raise SceneError(f"expected finite measures of the tile, got {frame.tolist()}")
    kept = _keep_polygons(
        vertices, polygons, ground, _count_sides(polygons, pieces, corners), boxes, frame, owner
    )
    offsets = np.cumsum([0, *(len(surface) for surface in surfaces)])
    detail = np.concatenate([np.zeros((0, 3, 3)), *surfaces])
    return NavMesh.from_parts(vertices, triangles, neighbors, offsets, detail, settings, kept)


def _is_walkable(polygon: np.void) -> bool:
    return int(polygon["kind"]) >> 6 == 0 and bool(int(polygon["flags"]) & WALKABLE)


def _ground_of(
    polygon: np.void, piece: np.void, vertices: np.ndarray, extra: np.ndarray, corners: np.ndarray
) -> np.ndarray:
    """(d, 3, 3) ground triangles of a polygon; a corner below the polygon's count is its own vertex."""
    count = int(polygon["count"])
    own = vertices[polygon["vertices"][:count].astype(int)]
    base = int(piece["vertex_base"])
    points = np.concatenate([own, extra[base : base + int(piece["vertices"])]])
    first = int(piece["base"])
    return np.asarray(points[corners[first : first + int(piece["count"]), :3].astype(int)])


def _area(ground: np.ndarray) -> float:
    edges = ground[:, 1:] - ground[:, :1]
    return float(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum() / 2)


def _assemble(
    vertices: np.ndarray,
    polygons: np.ndarray,
    ground: list[np.ndarray],
    usable: list[bool],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """(T, 3) triangles of all usable polygons, (T,) their polygons, (T, 3) neighbours inside and across
    polygons, and the ground of each.
    """
    triangles: list[tuple[int, int, int]] = []
    owner: list[int] = []
    edges: dict[tuple[int, int, int], tuple[int, int]] = {}  # (polygon, start, end) -> (triangle, k)
    surfaces: list[np.ndarray] = []
    for number, polygon in enumerate(polygons):
        if not usable[number]:
            continue
        ring = polygon["vertices"][: int(polygon["count"])].astype(int)
        for triangle in triangulate(vertices[ring]):
            a, b, c = (int(ring[i]) for i in triangle)
            corners = (a, b, c)
            for k in range(3):
                edges[number, corners[k], corners[(k + 1) % 3]] = len(triangles), k
            triangles.append(corners)
            owner.append(number)
            surfaces.append(cut_ground(ground[number], vertices[list(corners)]))

    neighbors = np.full((len(triangles), 3), -1, np.int32)
    for (number, start, end), (t, k) in edges.items():
        across = edges.get((number, end, start))
        if across is None:
            there = _polygon_across(polygons[number], start, end)
            across = edges.get((there, end, start)) if there is not None else None
        if across is not None:
            neighbors[t, k] = across[0]
    return np.array(triangles, np.int32).reshape(-1, 3), np.array(owner, np.int64), neighbors, surfaces


def _count_sides(polygons: np.ndarray, pieces: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(G,) uint8, for the ground triangles in the order of the polygons: see mesh_arrays.POLYGON_SIDES.

    A side within the polygon belongs to two triangles; the one in which it runs to the smaller number counts.
    """
    rows = np.concatenate([np.arange(p["base"], p["base"] + p["count"], dtype=np.int64) for p in pieces])
    chosen = corners[rows].astype(np.int64)
    border = np.stack([chosen[:, 3] >> 2 * k & 1 for k in range(3)], 1)
    counts = border | (chosen[:, :3] >= np.roll(chosen[:, :3], -1, 1))
    return (np.concatenate([border, counts], 1) << np.arange(6)).sum(1).astype(np.uint8)


def _keep_polygons(
    vertices: np.ndarray,
    polygons: np.ndarray,
    ground: list[np.ndarray],
    sides: np.ndarray,
    boxes: np.ndarray,
    frame: np.ndarray,
    owner: np.ndarray,
) -> PolygonArrays:
    """All polygons as queries see them; those without triangles are neither found nor entered.

    Islands are those of habitat-sim: it follows neighbours before it disables polygons without area.
    """
    if not len(boxes):
        return PolygonArrays()
    count = len(polygons)
    usable = np.isin(np.arange(count), owner)
    corner = np.arange(MAX_CORNERS) < polygons["count"][:, None]
    places = np.where(corner[:, :, None], vertices[polygons["vertices"] * corner], 0).astype(np.float32)
    beyond = polygons["neighbors"].astype(np.int64)
    links = np.where(corner & (beyond > 0) & (beyond & OUTWARD == 0), beyond - 1, -1)
    here, side = np.nonzero(links >= 0)
    there = links[here, side]
    walkable = np.array([_is_walkable(polygon) for polygon in polygons])
    joined = walkable[here] & walkable[there]
    islands = label_components(count, here[joined], there[joined])
    links[here, side] = np.where(usable[there], there, -1)

    heads = np.zeros((count + 1, 4), np.int32)
    heads[:-1, 0], heads[:-1, 1] = polygons["count"], islands
    heads[:, 2] = np.searchsorted(owner, np.arange(count + 1))
    heads[1:, 3] = np.cumsum([len(surface) for surface in ground])
    cells = boxes["cells"].astype(np.int32)
    leaf = boxes["item"] >= 0
    cells[leaf & ~usable[np.where(leaf, boxes["item"], 0)]] = NOWHERE
    return PolygonArrays(
        places.reshape(-1),
        links.astype(np.int32).reshape(-1),
        heads.reshape(-1),
        np.concatenate(ground).astype(np.float32).reshape(-1),
        sides,
        np.concatenate([cells, boxes["item"][:, None]], 1).astype(np.int32).reshape(-1),
        frame.astype(np.float32),
    )


def _polygon_across(polygon: np.void, start: int, end: int) -> int | None:
    """The polygon beyond the edge between two vertices of `polygon`, in either direction."""
    count = int(polygon["count"])
    ring = polygon["vertices"][:count].tolist()
    for k in range(count):
        if {ring[k], ring[(k + 1) % count]} == {start, end}:
            beyond = int(polygon["neighbors"][k])
            return beyond - 1 if beyond and not beyond & OUTWARD else None
    return None
