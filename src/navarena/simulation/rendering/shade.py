"""Stage 5: the visibility buffer into colour, depth, instance and semantic."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from navarena.core.kernels import kernel
from navarena.core.pointers import flat_view
from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering.simd_shade import (
    shade_row_color,
    shade_row_flat,
    shade_row_light,
    shade_row_textured_color,
    shade_row_textured_light,
)

FLAT, VERTEX, TEXTURED = 0, 1, 2
"""Ceilings of shading; a mesh without textures or vertex shading is drawn with what it has."""
ONE = np.float32(1)
MIP_ROUNDING = np.float32(4)
"""2 to the power 4 * 0.5: half a mip level, so that levels are rounded to the nearest."""


@kernel(fastmath=True)
def shade_view(meshes, row, scratch, share, camera, width, height, pitch, shading, extras, outputs):
    """Write the wanted outputs of one view, through mesh `row` and scratch row `share`.

    extras is the address of the int32 rows of the call's extra objects; outputs (4) int64 are
    the addresses of this view's rgb, depth, instance and semantic, 0 = not wanted.
    """
    table = flat_view(scratch, share, at.SCRATCH_ROW, np.float32)
    features = flat_view(meshes, row, at.MESH_FEATURES, np.int32)
    inverse_depth = scratch[share, 2 * at.SCRATCH_INVERSE_DEPTH]
    visible = scratch[share, 2 * at.SCRATCH_VISIBLE]
    row_table = scratch[share, 2 * at.SCRATCH_ROW]
    surfaces, details = meshes[row, 2 * at.MESH_SURFACE], meshes[row, 2 * at.MESH_DETAIL]
    paints, texels = meshes[row, 2 * at.MESH_PAINT], meshes[row, 2 * at.MESH_TEXEL]
    colored = features[0] == 3
    textured = shading == TEXTURED and features[1] == 1
    flat = shading == FLAT or (features[0] == 0 and not textured)
    if outputs[0] == 0:
        flat = True
    inverse_focal = ONE / camera[12]
    for k in range(3):
        table[at.ROW_POSITION + k] = camera[k]
        table[at.ROW_COLUMN_STEP + k] = camera[3 + k] * inverse_focal
    squared = inverse_focal * inverse_focal
    table[at.ROW_MIP_SCALE] = MIP_ROUNDING * squared * squared
    for y in range(height):
        down = (np.float32(y) - camera[14]) * inverse_focal
        for k in range(3):
            left = camera[13] * table[at.ROW_COLUMN_STEP + k]
            table[at.ROW_FIRST_RAY + k] = camera[9 + k] + down * camera[6 + k] - left
        zs, ids = inverse_depth + 4 * y * pitch, visible + 4 * y * pitch
        start = y * width
        rgb = outputs[0] + 3 * start if outputs[0] != 0 else 0
        depth = outputs[1] + 4 * start if outputs[1] != 0 else 0
        instance = outputs[2] + 4 * start if outputs[2] != 0 else 0
        semantic = outputs[3] + 4 * start if outputs[3] != 0 else 0
        if flat:
            shade_row_flat(
                zs, ids, pitch, width, row_table, surfaces, details, paints, texels, extras,
                rgb, depth, instance, semantic,
            )  # fmt: skip
        elif textured and colored:
            shade_row_textured_color(
                zs, ids, pitch, width, row_table, surfaces, details, paints, texels, extras,
                rgb, depth, instance, semantic,
            )  # fmt: skip
        elif textured:
            shade_row_textured_light(
                zs, ids, pitch, width, row_table, surfaces, details, paints, texels, extras,
                rgb, depth, instance, semantic,
            )  # fmt: skip
        elif colored:
            shade_row_color(
                zs, ids, pitch, width, row_table, surfaces, details, paints, texels, extras,
                rgb, depth, instance, semantic,
            )  # fmt: skip
        else:
            shade_row_light(
                zs, ids, pitch, width, row_table, surfaces, details, paints, texels, extras,
                rgb, depth, instance, semantic,
            )  # fmt: skip
