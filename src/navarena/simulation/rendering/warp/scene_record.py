# mypy: ignore-errors
"""One scene as the Warp kernels see it."""

import warp as wp


@wp.struct
class SceneRecord:
    """The arrays of one RenderMesh on the device.

    mesh is Warp's id of its triangles and their tree; back (T,) int32 the triangle on the other side of each
    (visibility.find_backs), -1 for none, or without elements where no triangle has one; surface (T, 4),
    detail (T, 16 or 32) and paint (M, 4) int32, texel (K,) uint32, as in RenderMesh; planes: 0, 1 or 3 of
    light or colour for each triangle; textured: 0 or 1.
    """

    mesh: wp.uint64
    back: wp.array(dtype=wp.int32)
    surface: wp.array2d(dtype=wp.int32)
    detail: wp.array2d(dtype=wp.int32)
    paint: wp.array2d(dtype=wp.int32)
    texel: wp.array(dtype=wp.uint32)
    planes: wp.int32
    textured: wp.int32
