"""Render meshes as packs.

The mesh of a generated house takes twice the room of the scene and follows from it within
milliseconds, but for the order of its triangles: its pack holds the clusters, and the rest is made
when it is opened. Meshes with textures of their own, such as scans, are stored as they are drawn, so
that opening them reads nothing and processes share their memory.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from navarena.scenes.packs import Pack
from navarena.scenes.scene import Scene
from navarena.simulation.rendering.clusters import Clusters
from navarena.simulation.rendering.render_mesh import RenderMesh, assemble_render_mesh, cluster_scene


def render_mesh_to_arrays(scene: Scene) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
    """(arrays, meta) of the pack from which `render_mesh_from_pack` restores the mesh of `scene` exactly.

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
