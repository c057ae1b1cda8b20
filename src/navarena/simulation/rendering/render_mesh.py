"""A scene compiled for drawing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32, Int16, Int32, UInt32

from navarena.core.errors import SceneError
from navarena.scenes.scene import Scene
from navarena.simulation.rendering.clusters import build_clusters
from navarena.simulation.rendering.shared_texels import shared_store, shared_texels
from navarena.simulation.rendering.surfaces import texture_rows, triangle_details, vertex_tint
from navarena.simulation.rendering.textures import TexelStore, pack_textures, pack_words

ARRAY_NAMES = (
    "box", "cone", "vertex_offset", "triangle_offset", "vertex", "corner", "surface", "detail",
    "paint", "texel", "features",
)  # fmt: skip

"""The arrays of a RenderMesh in the order of the MESH_ slots of layout.py."""
CACHE_LINE = 64
"""Bytes."""


@dataclass(frozen=True, eq=False)
class RenderMesh:
    """Clusters of triangles with everything that drawing them needs. Arrays are never written.

    C clusters, V vertices (copied per cluster), T triangles, M materials, K texels.

    Attributes:
        box: (6, C) metres: centre x, y, z, half extent x, y, z of each cluster.
        cone: (4, C): mean normal, and sine of the widest deviation (9 = never culled).
        vertex_offset, triangle_offset: (C + 1,).
        vertex: (3, V) metres, world frame: all x, all y, all z.
        corner: (T, 3) vertex numbers within the cluster, clockwise seen from the front
            (so that the signed area is positive on screen, where y points down).
        surface: (T, 4): flat colour word, object id, category id (index + 1), material.
        detail: (T, 16) or (T, 32): integers and bits of float32, see surfaces.py.
        paint: (M, 4): mean colour word, colour word, first texel, log2 width | log2 height << 8.
        texel: (K,): red | green << 8 | blue << 16.
        features: (2,): planes of vertex light or colour (0, 1 or 3); 1 if textured.
        categories: names of category ids 1, 2, ...
        shares_texels: whether `texel` is that of shared_texels, which packs leave out.
    """

    box: Float32[np.ndarray, "6 c"]
    cone: Float32[np.ndarray, "4 c"]
    vertex_offset: Int32[np.ndarray, "c1"]
    triangle_offset: Int32[np.ndarray, "c1"]
    vertex: Float32[np.ndarray, "3 v"]
    corner: Int16[np.ndarray, "t 3"]
    surface: Int32[np.ndarray, "t 4"]
    detail: Int32[np.ndarray, "t w"]
    paint: Int32[np.ndarray, "m 4"]
    texel: UInt32[np.ndarray, "k"]
    features: Int32[np.ndarray, "2"]
    categories: tuple[str, ...] = ()
    shares_texels: bool = False

    @property
    def triangle_count(self) -> int:
        """T."""
        return len(self.surface)

    @property
    def cluster_count(self) -> int:
        """C."""
        return len(self.triangle_offset) - 1

    def triangle_corners(self) -> Float32[np.ndarray, "t 3 3"]:
        """(T, 3, 3) metres, counter-clockwise seen from the front, in the mesh's own order."""
        cluster = np.repeat(np.arange(self.cluster_count), np.diff(self.triangle_offset))
        place = self.vertex_offset[cluster][:, None] + self.corner[:, [0, 2, 1]]
        return np.ascontiguousarray(self.vertex.T[place])

    def record(self) -> tuple[np.ndarray, ...]:
        """The arrays in the order of the MESH_ slots of layout.py, for an AddressTable."""
        return tuple(getattr(self, name) for name in ARRAY_NAMES)

    def to_arrays(self) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) for a pack; shared texels are left out."""
        names = [name for name in ARRAY_NAMES if name != "texel" or not self.shares_texels]
        meta = {"categories": list(self.categories), "shares_texels": self.shares_texels}
        return {name: getattr(self, name) for name in names}, meta

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> "RenderMesh":
        """The mesh of an opened pack; the arrays are used in place, memory-mapped or not."""
        shares = bool(meta["shares_texels"])
        own = {**arrays, "texel": shared_texels()} if shares else arrays
        return cls(
            **{name: own[name] for name in ARRAY_NAMES},
            categories=tuple(meta["categories"]),
            shares_texels=shares,
        )


def build_render_mesh(
    scene: Scene, cluster_limit: int | None = None, share_texels: bool = False
) -> RenderMesh:
    """Compile `scene` for drawing.

    Args:
        scene: at least one triangle. Triangles without area are left out.
        cluster_limit: most triangles in a cluster, at most 128; by default 64, or 128 for
            meshes of more than 200,000 triangles.
        share_texels: use the texels in the cache folder where all textures are shared tiles.

    Raises SceneError when there is nothing to draw or the geometry is not finite.
    """
    if len(scene.triangles) == 0:
        raise SceneError(f"expected at least one triangle in scene {scene.scene_id!r}, got none")
    if not np.isfinite(scene.vertices).all():
        raise SceneError(f"expected finite vertices in scene {scene.scene_id!r}, got NaN or infinity")
    clusters = build_clusters(scene.vertices, scene.triangles, cluster_limit)
    shared = shared_store(scene.textures) if share_texels else None
    store = pack_textures(scene.textures) if shared is None else shared
    tint = vertex_tint(scene)
    planes = 0 if tint is None else tint.shape[1]
    surface = _surfaces(scene, clusters.order, store)
    return RenderMesh(
        box=np.ascontiguousarray(clusters.box),
        cone=np.ascontiguousarray(clusters.cone),
        vertex_offset=clusters.vertex_offset,
        triangle_offset=clusters.triangle_offset,
        vertex=np.ascontiguousarray(scene.vertices[clusters.vertex].T, np.float32),
        corner=np.ascontiguousarray(clusters.corner[:, [0, 2, 1]]),
        surface=surface,
        detail=_on_lines(triangle_details(scene, clusters.order, store, surface[:, 1:])),
        paint=_paints(scene, store),
        texel=_on_lines(store.texels) if shared is None else store.texels,
        features=np.array([planes, int(texture_rows(scene).any())], np.int32),
        categories=scene.categories,
        shares_texels=shared is not None,
    )


def _mean_colors(scene: Scene, store: TexelStore) -> np.ndarray:
    """(M, 3) float64 material colours times the means of their textures, 0..255."""
    colors = np.array([material.color for material in scene.materials], np.float64)
    return np.asarray(colors * store.mean[texture_rows(scene)] / 255)


def _paints(scene: Scene, store: TexelStore) -> Int32[np.ndarray, "m 4"]:
    rows = texture_rows(scene)
    colors = np.array([material.color for material in scene.materials], np.float64)
    shape = store.log_stored[rows, 0] | store.log_stored[rows, 1] << 8
    columns = [pack_words(_mean_colors(scene, store)), pack_words(colors), store.offset[rows], shape]
    return np.ascontiguousarray(np.stack(columns, 1), np.int32)


def _surfaces(scene: Scene, order: np.ndarray, store: TexelStore) -> Int32[np.ndarray, "t 4"]:
    flat = _mean_colors(scene, store)[scene.triangle_material[order]]
    tint = vertex_tint(scene)
    if tint is not None:
        flat = flat * np.clip(tint[scene.triangles[order]].mean(1), 0, 1)
    instance = scene.triangle_object[order]
    columns = [pack_words(flat), instance, _categories(scene, instance), scene.triangle_material[order]]
    return np.ascontiguousarray(np.stack(columns, 1), np.int32)


def _categories(scene: Scene, instance: Int32[np.ndarray, "t"]) -> np.ndarray:
    """Category id (index in scene.categories + 1; 0 = none) of each object id."""
    names = {name: index + 1 for index, name in enumerate(scene.categories)}
    if not scene.objects:
        return np.zeros(len(instance), np.int32)
    known = np.array(sorted(thing.object_id for thing in scene.objects))
    value = {thing.object_id: names[thing.category] for thing in scene.objects}
    values = np.array([value[int(ident)] for ident in known], np.int32)
    place = np.minimum(np.searchsorted(known, instance), len(known) - 1)
    return np.where(known[place] == instance, values[place], 0)


def _on_lines(array: np.ndarray) -> np.ndarray:
    """A copy that starts on a cache line, so that records of 64 bytes fill whole lines."""
    memory = np.zeros(array.nbytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
