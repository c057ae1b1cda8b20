"""Pieces of a mesh: triangles joined by their corners, which are the instances of a scene without labels."""

import numpy as np
from jaxtyping import Float32, Int32

from navarena.scenes.scene import Scene


def instance_numbers(scene: Scene) -> Int32[np.ndarray, "t"]:
    """(T,) ids that instance images show: a triangle's object, or its piece where nothing is labelled."""
    return scene.triangle_object if scene.has_semantics else number_pieces(scene.vertices, scene.triangles)


def number_pieces(
    vertices: Float32[np.ndarray, "v 3"], triangles: Int32[np.ndarray, "t 3"]
) -> Int32[np.ndarray, "t"]:
    """(T,) from 1, by first triangle: triangles with a corner in the same place are of one piece.

    Vertices are (V, 3) metres, triangles (T, 3) indices.
    """
    from scipy.sparse import coo_matrix  # SciPy: slow to import, and most scenes have labels
    from scipy.sparse.csgraph import connected_components

    _, place = np.unique(vertices + np.float32(0), axis=0, return_inverse=True)  # -0 is 0
    corners = place.reshape(-1)[triangles]
    rows, columns = corners[:, [0, 1]].ravel(), corners[:, [1, 2]].ravel()
    links = coo_matrix((np.ones(len(rows), np.bool_), (rows, columns)), (len(vertices),) * 2)
    _, label = connected_components(links, directed=False)
    _, first, number = np.unique(label[corners[:, 0]], return_index=True, return_inverse=True)
    rank = np.zeros(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return (rank[number.reshape(-1)] + 1).astype(np.int32)
