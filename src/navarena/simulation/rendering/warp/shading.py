# mypy: ignore-errors
"""What is visible into colour, instance and semantic, by the formulas of the CPU's engine (simd_color).

Colours are sRGB bytes multiplied as such, in 16-bit fixed point.
"""

import warp as wp

from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering import shade as ceilings
from navarena.simulation.rendering.simd_color import EVEN_TEXEL_BITS, LOG_TILE
from navarena.simulation.rendering.warp.scene_record import SceneRecord
from navarena.simulation.rendering.warp.visibility import pixel_ray, read_vector

FLAT = wp.constant(ceilings.FLAT)
TEXTURED = wp.constant(ceilings.TEXTURED)
PATTERN = wp.constant(EVEN_TEXEL_BITS)
LOG_SMALLEST = wp.constant(LOG_TILE)
SURFACE, PAINT, DETAIL = (
    wp.constant(at.EXTRA_SURFACE),
    wp.constant(at.EXTRA_PAINT),
    wp.constant(at.EXTRA_DETAIL),
)
FLAT_COLOR, INSTANCE, SEMANTIC, MATERIAL = (
    wp.constant(at.FLAT_COLOR),
    wp.constant(at.INSTANCE),
    wp.constant(at.SEMANTIC),
    wp.constant(at.MATERIAL),
)
MEAN_COLOR, COLOR, TEXEL_OFFSET, TEXTURE_SHAPE = (
    wp.constant(at.MEAN_COLOR),
    wp.constant(at.COLOR),
    wp.constant(at.TEXEL_OFFSET),
    wp.constant(at.TEXTURE_SHAPE),
)
PLANE_U, PLANE_V, PLANE_TINT = wp.constant(at.DETAIL_U), wp.constant(at.DETAIL_V), wp.constant(at.DETAIL_TINT)


@wp.func
def surface_word(record: SceneRecord, extras: wp.array2d(dtype=wp.int32), ident: int, word: int):
    """A word of the surface of triangle `ident`, or of extra object ~ident."""
    if ident >= 0:
        return record.surface[ident, word]
    return extras[-1 - ident, SURFACE + word]


@wp.func
def paint_word(record: SceneRecord, extras: wp.array2d(dtype=wp.int32), ident: int, word: int):
    """A word of its paint."""
    if ident >= 0:
        return record.paint[record.surface[ident, MATERIAL], word]
    return extras[-1 - ident, PAINT + word]


@wp.func
def detail_plane(record: SceneRecord, extras: wp.array2d(dtype=wp.int32), ident: int, first: int):
    """(a, b, c, d) of a plane of its detail."""
    plane = wp.vec4()
    for k in range(4):
        if ident >= 0:
            plane[k] = wp.cast(record.detail[ident, first + k], wp.float32)
        else:
            plane[k] = wp.cast(extras[-1 - ident, DETAIL + first + k], wp.float32)
    return plane


@wp.func
def at_point(plane: wp.vec4, point: wp.vec3):
    """A x + b y + c z + d."""
    return plane[0] * point[0] + plane[1] * point[1] + plane[2] * point[2] + plane[3]


@wp.func
def mip_level(depth: float, density: float, facing: float, scale: float, log_w: int, log_h: int):
    """Level of detail, see simd_color.mip_level."""
    stretch = depth * wp.sqrt(density) / wp.max(facing, 1.0e-9)
    squared = depth * depth
    fourth_power = density * scale * squared * squared * stretch * stretch * stretch
    exponent = (wp.cast(fourth_power, wp.int32) >> 23) - 127
    return wp.clamp(exponent >> 2, 0, wp.min(log_w, log_h) - LOG_SMALLEST)


@wp.func
def texel_index(u: float, v: float, level: int, offset: int, log_w: int, log_h: int):
    """Index of texel (floor u, floor v), wrapped, at a level, see simd_color.texel_index."""
    log_area = log_w + log_h
    pattern = (PATTERN << (log_area & 1)) & ((2 << log_area) - 1)
    start = offset + (pattern & (-1 << (log_area + 2 - 2 * level)))
    column = (int(wp.floor(u)) & ((1 << log_w) - 1)) >> level
    row = (int(wp.floor(v)) & ((1 << log_h) - 1)) >> level
    tile = ((row >> 2) << (log_w - level + 2)) + ((column >> 2) << 4)
    return start + (tile | ((row & 3) << 2) | (column & 3))


@wp.func
def modulate(color: int, texel: int, shift: int, textured: bool, tint: float):
    """One channel, `shift` bits up, of a colour word, times a texel's (255 = 1), times a tint (0 to 1)."""
    byte = wp.uint32((color >> shift) & 255)
    product = byte << wp.uint32(8)
    if textured:
        product = wp.uint32((texel >> shift) & 255) * (byte + (byte >> wp.uint32(7)))
    factor = wp.uint32(wp.clamp(tint, 0.0, 1.0) * 65535.0 + 0.5)
    lit = (product * factor) >> wp.uint32(16)
    return wp.uint8((lit + wp.uint32(128)) >> wp.uint32(8))


@wp.kernel(enable_backward=False)
def shade(
    records: wp.array(dtype=SceneRecord),
    drawn: wp.array(dtype=wp.int32),
    scenes: wp.array(dtype=wp.int32),
    cameras: wp.array2d(dtype=wp.float32),
    extra_words: wp.array2d(dtype=wp.int32),
    visible: wp.array3d(dtype=wp.int32),
    depth: wp.array3d(dtype=wp.float32),
    shading: int,
    rgb: wp.array4d(dtype=wp.uint8),
    instance: wp.array3d(dtype=wp.int32),
    semantic: wp.array3d(dtype=wp.int32),
):
    """Write the wanted outputs of the views `drawn`; threads are (view, row, column).

    visible and depth are those of find_visible; extra_words (E, EXTRA_WORDS) int32 as in memory_layout;
    shading is a ceiling, see shade.py. rgb (N, H, W, 3) uint8, instance and semantic (N, H, W) int32;
    one without elements is not wanted.
    """
    place, y, x = wp.tid()
    view = drawn[place]
    metres = depth[view, y, x]
    ident = visible[view, y, x]
    record = records[scenes[view]]
    seen = metres > 0.0
    if instance.shape[0] > 0:
        instance[view, y, x] = 0
        if seen:
            instance[view, y, x] = surface_word(record, extra_words, ident, INSTANCE)
    if semantic.shape[0] > 0:
        semantic[view, y, x] = 0
        if seen:
            semantic[view, y, x] = surface_word(record, extra_words, ident, SEMANTIC)
    if rgb.shape[0] == 0:
        return
    if not seen:
        for channel in range(3):
            rgb[view, y, x, channel] = wp.uint8(0)
        return
    textured = shading == TEXTURED and record.textured == 1
    if shading == FLAT or (record.planes == 0 and not textured):
        color = surface_word(record, extra_words, ident, FLAT_COLOR)
        for channel in range(3):
            rgb[view, y, x, channel] = wp.uint8((color >> (8 * channel)) & 255)
        return
    away = metres * pixel_ray(cameras, view, y, x)
    point = read_vector(cameras, view, 0) + away
    color = paint_word(record, extra_words, ident, MEAN_COLOR)
    texel = wp.int32(0)
    if textured:
        color = paint_word(record, extra_words, ident, COLOR)
        shape = paint_word(record, extra_words, ident, TEXTURE_SHAPE)
        log_w = shape & 255
        log_h = shape >> 8
        u = detail_plane(record, extra_words, ident, PLANE_U)
        v = detail_plane(record, extra_words, ident, PLANE_V)
        normal = wp.cross(wp.vec3(u[0], u[1], u[2]), wp.vec3(v[0], v[1], v[2]))
        inverse_focal = 1.0 / cameras[view, 12]
        squared = inverse_focal * inverse_focal
        level = mip_level(
            metres,
            wp.dot(normal, normal),
            wp.abs(wp.dot(normal, away)),
            4.0 * squared * squared,
            log_w,
            log_h,
        )
        offset = paint_word(record, extra_words, ident, TEXEL_OFFSET)
        index = texel_index(at_point(u, point), at_point(v, point), level, offset, log_w, log_h)
        texel = int(record.texel[index])
    tint = at_point(detail_plane(record, extra_words, ident, PLANE_TINT), point)
    for channel in range(3):
        if channel > 0 and record.planes == 3:
            tint = at_point(detail_plane(record, extra_words, ident, PLANE_TINT + 4 * channel), point)
        rgb[view, y, x, channel] = modulate(color, texel, 8 * channel, textured, tint)
