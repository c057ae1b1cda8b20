"""Explicit SIMD for the deferred pass: 16 pixels of one image row at a time.

A block of 16 pixels rarely shows more than a few triangles, so the triangles are taken one by
one: what is constant on a triangle is broadcast from memory into the lanes that see it. Only
texels are gathered. Colours are sRGB bytes multiplied as such, in 16-bit fixed point.
"""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from navarena.simulation.rendering.lanes import CONTRACT, F32, I8, I16, I32, I64, Lanes, Value
from navarena.simulation.rendering.layout import COLOR_PLANE_FLOATS, PLANE_FLOATS

BLOCK = 16
# Floats of the row table (layout.SCRATCH_ROW), see shade.py
ROW_POSITION, ROW_COLUMN_STEP, ROW_FIRST_RAY, ROW_MIP_SCALE, ROW_EXTRA_PLANES = 0, 3, 6, 9, 16
# int32 words of a surface, of a paint, and of an extra object (a surface followed by a paint)
FLAT_COLOR, INSTANCE, SEMANTIC, PAINT = 0, 1, 2, 3
MEAN_COLOR, COLOR, TEXEL_OFFSET, TEXTURE_SHAPE = 0, 1, 2, 3
SURFACE_WORDS = PAINT_WORDS = 4
EXTRA_WORDS = SURFACE_WORDS + PAINT_WORDS
EVEN_TEXEL_BITS = 0x55555555


class _Triangle:
    """Addresses of what is known about the triangle (or extra object) `ident`."""

    def __init__(
        self, lanes: Lanes, ident: Value, surfaces: Value, planes: Value, paints: Value, extras: Value,
        extra_planes: Value, plane_floats: int,
    ) -> None:  # fmt: skip
        builder = lanes.builder

        def words(count: int) -> Value:
            """The size in bytes of `count` 4-byte words."""
            return ir.Constant(I64, 4 * count)

        wide = builder.sext(ident, I64)
        is_extra = builder.icmp_signed("<", ident, ir.Constant(I32, 0))
        extra = builder.add(extras, builder.mul(builder.not_(wide), words(EXTRA_WORDS)))
        own = builder.add(surfaces, builder.mul(wide, words(SURFACE_WORDS)))
        self.surface = builder.select(is_extra, extra, own)
        own = builder.add(planes, builder.mul(wide, words(plane_floats)))
        self.planes = builder.select(is_extra, extra_planes, own)
        row = builder.sext(builder.load(lanes.at(self.surface, I32, PAINT), align=4), I64)
        own = builder.add(paints, builder.mul(row, words(PAINT_WORDS)))
        self.paint = builder.select(is_extra, builder.add(extra, words(SURFACE_WORDS)), own)


def _plane_at(lanes: Lanes, address: Value, first: int, point: list[Value]) -> Value:
    """The affine function whose 4 floats start at `first`, at `point` (x, y, z)."""
    a, b, c, d = (lanes.splat_load(address, F32, first + k) for k in range(4))
    return lanes.fma(a, point[0], lanes.fma(b, point[1], lanes.fma(c, point[2], d)))


def _texel_index(lanes: Lanes, u: Value, v: Value, level: Value, offset: Value, shape: Value) -> Value:
    """Index of texel (floor u, floor v), wrapped, at mip `level` of the texture at `offset`.

    Level l of a 2^a x 2^b texture holds 2^(a+b-2l) texels, so the levels before it hold the
    bits above a+b-2l of the alternating pattern that starts at bit a+b: no table is needed.
    """
    builder = lanes.builder
    one, two, ones = lanes.iconst(1), lanes.iconst(2), lanes.iconst(-1)
    log_w, log_h = builder.and_(shape, lanes.iconst(255)), builder.lshr(shape, lanes.iconst(8))

    def wrapped(value: Value, log_size: Value) -> Value:
        whole = builder.fptosi(lanes.floor(value), lanes.ints)
        inside = builder.and_(whole, builder.sub(builder.shl(one, log_size), one))
        return builder.lshr(inside, level)

    log_area = builder.add(log_w, log_h)
    parity = builder.and_(log_area, one)
    pattern = builder.shl(lanes.iconst(EVEN_TEXEL_BITS), parity)
    pattern = builder.and_(pattern, builder.sub(builder.shl(two, log_area), one))
    kept = builder.shl(ones, builder.sub(builder.add(log_area, two), builder.shl(level, one)))
    row = builder.shl(wrapped(v, log_h), builder.sub(log_w, level))
    start = builder.add(offset, builder.and_(pattern, kept))
    return builder.add(start, builder.add(row, wrapped(u, log_w)))


def _mip_level(lanes: Lanes, depth: Value, reach: Value, scale: Value, shape: Value) -> Value:
    """Mip level: log2 of texels per pixel, rounded, within the texture's levels.

    `reach` is the camera's distance from the triangle's plane over texels per metre to the
    power 4/3, so depth^7 / (focal^4 reach^3) is the fourth power of the texels under a pixel,
    between the short and the long axis of the pixel's footprint.
    """
    builder = lanes.builder

    def multiply(a: Value, b: Value) -> Value:
        return builder.fmul(a, b, flags=CONTRACT)

    d2 = multiply(depth, depth)
    d7 = multiply(multiply(multiply(d2, d2), d2), depth)
    near = lanes.maximum(reach, lanes.fconst(1e-9))
    fourth_power = builder.fdiv(multiply(d7, scale), multiply(near, multiply(near, near)))
    exponent = builder.sub(
        builder.ashr(builder.bitcast(fourth_power, lanes.ints), lanes.iconst(23)), lanes.iconst(127)
    )
    level = builder.ashr(exponent, lanes.iconst(2))
    log_w, log_h = builder.and_(shape, lanes.iconst(255)), builder.lshr(shape, lanes.iconst(8))
    return lanes.maximum_int(lanes.minimum_int(level, lanes.minimum_int(log_w, log_h)), lanes.iconst(0))


def _modulate(lanes: Lanes, word: Value, color: Value | None, tints: list[Value]) -> Value:
    """Bytes of `word` times bytes of `color` (255 = 1) times tints (one, or red, green, blue)."""
    builder = lanes.builder
    halves = ir.VectorType(I16, 2 * lanes.count)
    wide = ir.VectorType(I32, 2 * lanes.count)

    def constant(kind: Value, value: int) -> Value:
        return ir.Constant(kind, [value] * (2 * lanes.count))

    def red_blue(value: Value) -> Value:
        return builder.bitcast(builder.and_(value, lanes.iconst(0x00FF00FF)), halves)

    def green(value: Value) -> Value:
        return red_blue(builder.lshr(value, lanes.iconst(8)))

    def scaled(value: Value) -> Value:  # 0..255 -> 0..256
        return builder.add(value, builder.lshr(value, constant(halves, 7)))

    def fixed(tint: Value) -> Value:  # 0..1 -> 0..65535
        clamped = lanes.minimum(lanes.maximum(tint, lanes.fconst(0)), lanes.fconst(1))
        return builder.fptosi(lanes.fma(clamped, lanes.fconst(65535), lanes.fconst(0.5)), lanes.ints)

    def pair(low: Value, high: Value) -> Value:
        return builder.bitcast(builder.or_(low, builder.shl(high, lanes.iconst(16))), halves)

    fixed_tints = [fixed(tint) for tint in tints]
    red, green_tint, blue = fixed_tints if len(tints) == 3 else fixed_tints * 3
    results = []
    for part, tint in ((red_blue, pair(red, blue)), (green, pair(green_tint, green_tint))):
        if color is None:
            product = builder.shl(part(word), constant(halves, 8))
        else:
            product = builder.mul(part(word), scaled(part(color)))
        full = builder.mul(builder.zext(product, wide), builder.zext(tint, wide))
        lit = builder.trunc(builder.lshr(full, constant(wide, 16)), halves)
        rounded = builder.lshr(builder.add(lit, constant(halves, 128)), constant(halves, 8))
        results.append(builder.bitcast(rounded, lanes.ints))
    return builder.or_(results[0], builder.shl(results[1], lanes.iconst(8)))


def _store_rgb(lanes: Lanes, words: Value, address: Value, pixel: Value) -> None:
    """Pack words (red, green, blue, unused) into 3 bytes a pixel."""
    builder = lanes.builder
    many = ir.VectorType(I8, 4 * lanes.count)
    picked = [4 * (k // 3) + k % 3 for k in range(3 * lanes.count)]
    order = ir.Constant(ir.VectorType(I32, len(picked)), picked)
    packed = builder.shuffle_vector(builder.bitcast(words, many), ir.Constant(many, ir.Undefined), order)
    place = lanes.at(address, I8, builder.mul(pixel, ir.Constant(I64, 3)))
    lanes.store(packed, place, align=1)


def _make_shade_row(color_planes: int, textured: bool) -> Callable[..., Any]:
    plane_floats = COLOR_PLANE_FLOATS if color_planes == 3 else PLANE_FLOATS

    @intrinsic
    def shade_row(
        typingctx, inverse_depth, visible, width, row_table, surfaces, planes, paints, texels, extras,
        rgb, depth, instance, semantic,
    ):  # fmt: skip
        """Colour, depth, instance and semantic of one row of `width` >= 16 pixels.

        All arguments but `width` are addresses; an output at address 0 is left out.
        """
        signature = types.void(*[types.int64] * 13)

        def codegen(context, builder, signature, args):
            (zs, ids, width, row_table, surfaces, planes, paints, texels, extras, *outputs) = args
            lanes = Lanes(builder, BLOCK)
            position, column_step, first_ray = (
                [lanes.splat_load(row_table, F32, first + k) for k in range(3)]
                for first in (ROW_POSITION, ROW_COLUMN_STEP, ROW_FIRST_RAY)
            )
            mip_scale = lanes.splat_load(row_table, F32, ROW_MIP_SCALE)
            extra_planes = builder.add(row_table, ir.Constant(I64, 4 * ROW_EXTRA_PLANES))
            zero = ir.Constant(I64, 0)
            wanted = [builder.icmp_unsigned("!=", output, zero) for output in outputs]

            names = ["word", "instance", "semantic"]
            names += ["color", "offset", "shape"] if textured else []
            kinds = dict.fromkeys(names, lanes.ints)
            kinds |= {f"tint{k}": lanes.floats for k in range(color_planes)}
            kinds |= dict.fromkeys(("u", "v", "reach"), lanes.floats) if textured else {}
            found = {name: cgutils.alloca_once(builder, kind) for name, kind in kinds.items()}
            pending = cgutils.alloca_once(builder, ir.IntType(BLOCK))

            last = builder.sub(width, ir.Constant(I64, BLOCK))
            blocks = builder.lshr(builder.add(width, ir.Constant(I64, BLOCK - 1)), ir.Constant(I64, 4))
            with cgutils.for_range(builder, blocks) as loop:
                x = builder.mul(loop.index, ir.Constant(I64, BLOCK))
                x = builder.select(builder.icmp_signed("<", x, last), x, last)
                z = lanes.load(lanes.at(zs, F32, x), lanes.floats)
                here = lanes.load(lanes.at(ids, I32, x), lanes.ints)
                hit = builder.fcmp_ordered(">", z, lanes.fconst(0))
                inverse = builder.fdiv(lanes.fconst(1), builder.select(hit, z, lanes.fconst(1)))
                metres = builder.select(hit, inverse, lanes.fconst(0))
                with builder.if_then(wanted[1]):
                    lanes.store(metres, lanes.at(outputs[1], F32, x))
                if color_planes:
                    column = builder.fadd(lanes.splat(builder.sitofp(x, F32)), lanes.index_float())
                    rays = [lanes.fma(column, s, f) for s, f in zip(column_step, first_ray)]
                    point = [lanes.fma(metres, ray, o) for ray, o in zip(rays, position)]
                for name, kind in kinds.items():
                    builder.store(ir.Constant(kind, None), found[name])
                builder.store(lanes.bits(hit), pending)
                with lanes.while_nonzero(pending) as bits:
                    lane = builder.cttz(bits, ir.Constant(ir.IntType(1), 1))
                    place = builder.add(x, builder.zext(lane, I64))
                    ident = builder.load(lanes.at(ids, I32, place), align=4)
                    same = builder.icmp_signed("==", here, lanes.splat(ident))
                    builder.store(builder.and_(bits, builder.not_(lanes.bits(same))), pending)
                    triangle = _Triangle(
                        lanes, ident, surfaces, planes, paints, extras, extra_planes, plane_floats
                    )
                    seen = {
                        "instance": lanes.splat_load(triangle.surface, I32, INSTANCE),
                        "semantic": lanes.splat_load(triangle.surface, I32, SEMANTIC),
                    }
                    if not color_planes:
                        seen["word"] = lanes.splat_load(triangle.surface, I32, FLAT_COLOR)
                    elif not textured:
                        seen["word"] = lanes.splat_load(triangle.paint, I32, MEAN_COLOR)
                    else:
                        seen["color"] = lanes.splat_load(triangle.paint, I32, COLOR)
                        seen["offset"] = lanes.splat_load(triangle.paint, I32, TEXEL_OFFSET)
                        seen["shape"] = lanes.splat_load(triangle.paint, I32, TEXTURE_SHAPE)
                        for k, name in enumerate(("u", "v")):
                            seen[name] = _plane_at(lanes, triangle.planes, 4 * k, point)
                        seen["reach"] = _plane_at(lanes, triangle.planes, 8, position)
                    for k in range(color_planes):
                        seen[f"tint{k}"] = _plane_at(lanes, triangle.planes, 12 + 4 * k, point)
                    for name, value in seen.items():
                        builder.store(builder.select(same, value, builder.load(found[name])), found[name])
                result = {name: builder.load(place) for name, place in found.items()}
                tints = [result[f"tint{k}"] for k in range(color_planes)]
                with builder.if_then(wanted[0]):
                    if textured:
                        level = _mip_level(lanes, metres, result["reach"], mip_scale, result["shape"])
                        index = _texel_index(
                            lanes, result["u"], result["v"], level, result["offset"], result["shape"]
                        )
                        word = _modulate(lanes, lanes.gather(texels, index), result["color"], tints)
                    elif color_planes:
                        word = _modulate(lanes, result["word"], None, tints)
                    else:
                        word = result["word"]
                    word = builder.select(hit, word, lanes.iconst(0))
                    _store_rgb(lanes, word, outputs[0], x)
                for output, is_wanted, name in zip(outputs[2:], wanted[2:], ("instance", "semantic")):
                    with builder.if_then(is_wanted):
                        value = builder.select(hit, result[name], lanes.iconst(0))
                        lanes.store(value, lanes.at(output, I32, x))
            return context.get_dummy_value()

        return signature, codegen

    return shade_row


shade_row_flat = _make_shade_row(0, False)
shade_row_light = _make_shade_row(1, False)
shade_row_color = _make_shade_row(3, False)
shade_row_textured_light = _make_shade_row(1, True)
shade_row_textured_color = _make_shade_row(3, True)
