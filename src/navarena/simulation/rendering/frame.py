"""One native call: a share of the views of a batch, whatever their scenes."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.pointers import flat_view
from navarena.simulation.rendering import layout as at
from navarena.simulation.rendering.draw import draw_mesh
from navarena.simulation.rendering.shade import shade_view

BYTES_PER_PIXEL = (3, 4, 4, 4)


@kernel
def _clear(inverse_depth, width, height, pitch):
    """Nothing is seen yet; what lies right of the image hides nothing and is never drawn."""
    inverse_depth[: pitch * (height + 1)] = np.float32(0)
    right = pitch - at.PITCH_SLACK
    if right > width:
        for row in range(height):
            inverse_depth[row * pitch + width : row * pitch + right] = at.FAR_AWAY


@kernel
def render_views(
    share, first, last, meshes, scratch, cameras, scenes, extra_offset, extra_mesh, extra_cameras,
    extra_words, outputs, width, height, pitch, stride, shading,
):  # fmt: skip
    """Draw views first..last - 1 with the scratch memory of thread `share`.

    meshes, scratch (R, 2 K) int64 are address tables with slots as in layout; cameras (N, 16)
    float32; scenes (N,) int32 are rows of `meshes`. Extra objects [extra_offset[v],
    extra_offset[v + 1]) belong to view v: extra_mesh (E,) int32 are their rows of `meshes`,
    extra_cameras (E, 16) float32 the camera in their own frames, extra_words (E, EXTRA_WORDS)
    int32 their surface, paint and detail. outputs (4,) int64 are the addresses of rgb, depth,
    instance and semantic, N first, 0 = not wanted. pitch and stride are layout.row_pitch(width)
    and layout.hiz_stride(width); shading is a ceiling, see shade.
    """
    inverse_depth = flat_view(scratch, share, at.SCRATCH_INVERSE_DEPTH, np.float32)
    mine = np.zeros(4, np.int64)
    for view in range(first, last):
        _clear(inverse_depth, width, height, pitch)
        camera, row = cameras[view], scenes[view]
        ready = draw_mesh(meshes, row, scratch, share, camera, width, height, pitch, stride, 0, 1, False)
        for extra in range(extra_offset[view], extra_offset[view + 1]):
            ready = draw_mesh(
                meshes, extra_mesh[extra], scratch, share, extra_cameras[extra], width, height, pitch,
                stride, ~extra, 0, ready,
            )  # fmt: skip
        for k in range(4):
            size = width * height * BYTES_PER_PIXEL[k]
            mine[k] = outputs[k] + view * size if outputs[k] != 0 else 0
        shade_view(
            meshes, row, scratch, share, camera, width, height, pitch, shading,
            extra_words.ctypes.data, mine,
        )  # fmt: skip
