# mypy: ignore-errors
"""Which triangle each pixel of N views shows, and how deep it lies: by ray casting.

This file alone knows how triangles are found: what of a mesh is put on the device for it
(`build_triangles`), and how `visible` and `depth` are filled (`find_visible`), from which shading starts.
One ray goes through the centre of each pixel, in Warp's bounding volume hierarchy; faces seen from behind
are passed.
"""

from typing import Any

import numpy as np
import warp as wp
from jaxtyping import Float32, Int, Int32

from navarena.simulation.rendering.memory_layout import NEAR
from navarena.simulation.rendering.render_mesh import RenderMesh
from navarena.simulation.rendering.warp.scene_record import SceneRecord

TREE_BYTES = 100
"""Of the hierarchy over one triangle, about: two nodes of 32 bytes and the order of the triangles."""

NEAR_PLANE = wp.constant(float(NEAR))
FARTHEST = wp.constant(1.0e6)
"""Metres."""
MAX_BACK_FACES = wp.constant(64)
"""Faces seen from behind that a ray passes before it counts as lost."""
STEP_BEHIND = wp.constant(2.0e-6)
"""How far behind a face a ray goes on, in parts of its depth plus one metre: some units of float32."""


@wp.func
def read_vector(rows: wp.array2d(dtype=wp.float32), row: int, first: int):
    """Three neighbouring numbers of a row of float32."""
    return wp.vec3(rows[row, first], rows[row, first + 1], rows[row, first + 2])


@wp.func
def pixel_ray(cameras: wp.array2d(dtype=wp.float32), row: int, y: int, x: int):
    """The ray through the centre of a pixel, of length 1 along the axis; cameras as in memory_layout."""
    inverse_focal = 1.0 / cameras[row, 12]
    right = (float(x) - cameras[row, 13]) * inverse_focal
    down = (float(y) - cameras[row, 14]) * inverse_focal
    return (
        read_vector(cameras, row, 9)
        + right * read_vector(cameras, row, 3)
        + down * read_vector(cameras, row, 6)
    )


@wp.func
def find_front(record: SceneRecord, origin: wp.vec3, ray: wp.vec3, limit: float):
    """(depth in metres, triangle) of the nearest face that the ray meets from the front before `limit`.

    The triangle is -1 where there is none.
    """
    begin = wp.float32(NEAR_PLANE)
    depth = wp.float32(limit)
    triangle = wp.int32(-1)  # Warp's spelling of a variable that a loop changes
    for _ in range(MAX_BACK_FACES):
        hit = wp.mesh_query_ray(record.mesh, origin + begin * ray, ray, limit - begin)
        if not hit.result:
            break
        if hit.sign > 0.0:
            depth = begin + hit.t
            triangle = hit.face
            break
        if record.back.shape[0] > 0:
            if record.back[hit.face] >= 0:
                depth = begin + hit.t
                triangle = record.back[hit.face]
                break
        begin = begin + hit.t + STEP_BEHIND * (1.0 + begin + hit.t)
    return depth, triangle


def build_triangles(mesh: RenderMesh, device: Any) -> tuple[Any, Any]:
    """The triangles of a RenderMesh on the device, in its order: a wp.Mesh, and `SceneRecord.back`."""
    cluster = np.repeat(np.arange(mesh.cluster_count), np.diff(mesh.triangle_offset))
    corner = mesh.vertex_offset[cluster][:, None] + mesh.corner[:, [0, 2, 1]]
    vertices = np.ascontiguousarray(mesh.vertex.T)
    points = wp.array(vertices, dtype=wp.vec3, device=device)
    indices = wp.array(corner.astype(np.int32).ravel(), dtype=wp.int32, device=device)
    back = wp.array(find_backs(vertices, corner), dtype=wp.int32, device=device)
    return wp.Mesh(points, indices, bvh_constructor="sah"), back


def find_backs(
    vertices: Float32[np.ndarray, "v 3"], triangles: Int[np.ndarray, "t 3"]
) -> Int32[np.ndarray, "b"]:
    """(T,) int32 the triangle with the same corners that faces the other way, -1 for none.

    Of surfaces that are seen from both sides a ray may meet either triangle first. Without elements where
    there are none. vertices: (V, 3) metres; triangles: (T, 3) indices.
    """
    bits = (vertices + np.float32(0)).view(np.uint32).astype(np.uint64)  # -0 is 0
    mixed = bits @ np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    keys = mixed[triangles].sum(1, dtype=np.uint64)  # the same for any order of the corners
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    first, second = order[same], order[same + 1]
    normals = [
        np.cross(vertices[one[:, 1]] - vertices[one[:, 0]], vertices[one[:, 2]] - vertices[one[:, 0]])
        for one in (triangles[first], triangles[second])
    ]
    opposite = (normals[0] * normals[1]).sum(1) < 0
    if not opposite.any():
        return np.zeros(0, np.int32)
    back = np.full(len(triangles), -1, np.int32)
    back[first[opposite]], back[second[opposite]] = second[opposite], first[opposite]
    return back


def count_bytes(mesh: RenderMesh) -> int:
    """Bytes of device memory that `build_triangles` takes for a RenderMesh, about."""
    return mesh.vertex.nbytes + mesh.triangle_count * (16 + TREE_BYTES)


def find_visible(inputs: list[Any], visible: Any, depth: Any, device: Any) -> None:
    """Fill visible (N, H, W) int32 and depth (N, H, W) float32 by one launch; inputs as of `cast_rays`."""
    _, height, width = visible.shape
    size = (inputs[1].shape[0], height, width)
    wp.launch(cast_rays, dim=size, inputs=inputs, outputs=[visible, depth], device=device)


@wp.kernel(enable_backward=False)
def cast_rays(
    records: wp.array(dtype=SceneRecord),
    drawn: wp.array(dtype=wp.int32),
    scenes: wp.array(dtype=wp.int32),
    cameras: wp.array2d(dtype=wp.float32),
    extra_offset: wp.array(dtype=wp.int32),
    extra_mesh: wp.array(dtype=wp.int32),
    extra_cameras: wp.array2d(dtype=wp.float32),
    visible: wp.array3d(dtype=wp.int32),
    depth: wp.array3d(dtype=wp.float32),
):
    """Write triangle and depth of the pixels of the views `drawn`; threads are (view, row, column).

    visible (N, H, W) int32: triangle of the scene, or ~e for extra object e; depth (N, H, W) float32
    metres, 0 where nothing is seen. Extra objects [extra_offset[v], extra_offset[v + 1]) belong to view v:
    extra_mesh (E,) are their rows of `records`, extra_cameras (E, 16) the camera in their own frames.
    """
    place, y, x = wp.tid()
    view = drawn[place]
    found_depth, found = find_front(
        records[scenes[view]], read_vector(cameras, view, 0), pixel_ray(cameras, view, y, x), FARTHEST
    )
    seen = found >= 0
    for extra in range(extra_offset[view], extra_offset[view + 1]):
        nearer, triangle = find_front(
            records[extra_mesh[extra]],
            read_vector(extra_cameras, extra, 0),
            pixel_ray(extra_cameras, extra, y, x),
            found_depth,
        )
        if triangle >= 0:
            found_depth = nearer
            found = -1 - extra
            seen = True
    visible[view, y, x] = found
    depth[view, y, x] = wp.where(seen, found_depth, 0.0)
