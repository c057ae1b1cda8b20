"""A scene compiled for drawing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32, Int16, Int32, UInt32

from navarena.core.errors import SceneError
from navarena.scenes.packs import Pack
from navarena.scenes.pieces import instance_numbers
from navarena.scenes.scene import Scene
from navarena.simulation.rendering.clusters import Clusters, build_clusters
from navarena.simulation.rendering.memory_layout import INSTANCE, MATERIAL, SEMANTIC, SURFACE_WORDS
from navarena.simulation.rendering.shared_texels import shared_store
from navarena.simulation.rendering.surface_details import (
    fill_flat_colors,
    texture_rows,
    triangle_details,
    vertex_tint,
    zeros_on_lines,
)
from navarena.simulation.rendering.texel_store import TexelStore, pack_textures, pack_words

ARRAY_NAMES = (
    "box", "cone", "vertex_offset", "triangle_offset", "vertex", "corner", "surface", "detail",
    "paint", "texel", "features",
)  # fmt: skip

"""The arrays of a RenderMesh in the order of the MESH_ slots of memory_layout.py."""


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
        surface: (T, 4): flat colour word, object id (without labels the piece of the mesh), category id
            (index + 1), material.
        detail: (T, 16) or (T, 32): integers and bits of float32, see surfaces.py.
        paint: (M, 4): mean colour word, colour word, first texel, log2 width | log2 height << 8.
        texel: (K,): red | green << 8 | blue << 16.
        features: (2,): planes of vertex light or colour (0, 1 or 3); 1 if textured.
        categories: names of category ids 1, 2, ...
        shares_texels: whether `texel` is that of shared_texels, which all houses map.
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
        """The arrays in the order of the MESH_ slots of memory_layout.py, for an AddressTable."""
        return tuple(getattr(self, name) for name in ARRAY_NAMES)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays, without the texels that other meshes share."""
        return sum(a.nbytes for a in self.record()) - (self.texel.nbytes if self.shares_texels else 0)

    def to_arrays(self) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
        """(arrays, meta) for a pack."""
        return dict(zip(ARRAY_NAMES, self.record())), {"categories": list(self.categories)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> "RenderMesh":
        """The mesh of an opened pack; the arrays are used in place, memory-mapped or not."""
        named = {name: arrays[name] for name in ARRAY_NAMES}
        return cls(**named, categories=tuple(meta["categories"]), shares_texels=False)


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
    return assemble_render_mesh(scene, cluster_scene(scene, cluster_limit), share_texels)


def cluster_scene(scene: Scene, cluster_limit: int | None = None) -> Clusters:
    """The clusters of a scene's triangles; arguments and errors as `build_render_mesh`."""
    if len(scene.triangles) == 0:
        raise SceneError(f"expected at least one triangle in scene {scene.scene_id!r}, got none")
    if not np.isfinite(scene.vertices).all():
        raise SceneError(f"expected finite vertices in scene {scene.scene_id!r}, got NaN or infinity")
    return build_clusters(scene.vertices, scene.triangles, cluster_limit)


def assemble_render_mesh(scene: Scene, clusters: Clusters, share_texels: bool = False) -> RenderMesh:
    """The render mesh of a scene and the clusters of its triangles; see `build_render_mesh`."""
    shared = shared_store(scene.textures) if share_texels else None
    store = pack_textures(scene.textures) if shared is None else shared
    tint = vertex_tint(scene)
    surface = _surfaces(scene, clusters.order, store)
    return RenderMesh(
        box=np.ascontiguousarray(clusters.box),
        cone=np.ascontiguousarray(clusters.cone),
        vertex_offset=clusters.vertex_offset,
        triangle_offset=clusters.triangle_offset,
        vertex=np.ascontiguousarray(scene.vertices[clusters.vertex].T, np.float32),
        corner=np.ascontiguousarray(clusters.corner[:, [0, 2, 1]]),
        surface=surface,
        detail=triangle_details(scene, clusters.order, store, surface[:, 1:]),
        paint=_paints(scene, store),
        texel=_on_lines(store.texels) if shared is None else store.texels,
        features=np.array([0 if tint is None else tint.shape[1], int(texture_rows(scene).any())], np.int32),
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
    instance, material = instance_numbers(scene)[order], scene.triangle_material[order]
    surface = np.zeros((len(order), SURFACE_WORDS), np.int32)
    surface[:, INSTANCE], surface[:, SEMANTIC] = instance, _categories(scene, instance)
    surface[:, MATERIAL] = material
    tint = vertex_tint(scene)
    tints = np.ones((len(order), 3, 1)) if tint is None else tint[scene.triangles[order]]
    fill_flat_colors(_mean_colors(scene, store), material, tints, surface)
    return surface


def _categories(scene: Scene, instance: Int32[np.ndarray, "t"]) -> np.ndarray:
    """Category id (index in scene.categories + 1; 0 = none) of each object id."""
    names = {name: index + 1 for index, name in enumerate(scene.categories)}
    if not scene.objects:
        return np.zeros(len(instance), np.int32)
    known = np.array(sorted(obj.object_id for obj in scene.objects))
    value = {obj.object_id: names[obj.category] for obj in scene.objects}
    values = np.array([value[int(ident)] for ident in known], np.int32)
    place = np.minimum(np.searchsorted(known, instance), len(known) - 1)
    return np.where(known[place] == instance, values[place], 0)


def _on_lines(array: np.ndarray) -> np.ndarray:
    """A copy that starts on a cache line, so that tiles of 64 bytes fill whole lines."""
    copy = zeros_on_lines(array.shape, array.dtype.type)
    copy[...] = array
    return copy


def render_mesh_to_arrays(scene: Scene) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
    """(arrays, meta) of the pack from which `render_mesh_from_pack` restores the mesh of `scene` exactly.

    The mesh of a generated house takes twice the room of its scene and follows from it within
    milliseconds, except for the order of its triangles: its pack holds the clusters only. Meshes with
    textures of their own, such as scans, are stored as they are drawn, so that processes share memory.

    Raises SceneError when there is nothing to draw or the geometry is not finite.
    """
    clusters = cluster_scene(scene)
    mesh = assemble_render_mesh(scene, clusters, share_texels=True)
    if mesh.shares_texels:
        return clusters.to_arrays(), {"stored": "clusters"}
    arrays, meta = mesh.to_arrays()
    return arrays, {"stored": "mesh", **meta}


def render_mesh_from_pack(pack: Pack, load: Callable[[], Scene]) -> RenderMesh:
    """The mesh stored in `pack`.

    Args:
        pack: as `render_mesh_to_arrays` made it.
        load: returns the scene that it was made of; called only where the pack holds clusters.
    """
    if pack.meta["stored"] == "mesh":
        return RenderMesh.from_arrays(pack.arrays, pack.meta)
    scene = load()
    return assemble_render_mesh(scene, Clusters.from_arrays(pack.arrays, scene.triangles), share_texels=True)
