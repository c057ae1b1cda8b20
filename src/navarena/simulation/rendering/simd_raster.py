"""Explicit SIMD for the visibility buffer: triangles and spans under the depth test.

`depth` holds inverse view depth (larger is nearer, 0 is nothing) and `visible` the id of what
is nearest, in rows `pitch` pixels apart. Blend + plain store beats masked stores, and the
small path has no "mask is empty" branch: both were measured.
"""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from navarena.simulation.rendering.lanes import I32, I64, Lanes, Value, data_pointer

SPAN_LANES = 16


def _depth_test_store(
    lanes: Lanes, depth: Value, visible: Value, offset: Value, mask: Value, z: Value, ident: Value,
    skip_hidden: bool,
) -> None:  # fmt: skip
    """Where `mask` and z is nearer: write z and ident, for the vector that starts at `offset`."""
    builder = lanes.builder
    z_place, id_place = builder.gep(depth, [offset]), builder.gep(visible, [offset])
    old = lanes.load(z_place, lanes.floats)
    nearer = builder.and_(mask, builder.fcmp_ordered(">", z, old))
    with builder.if_then(lanes.any(nearer)) if skip_hidden else nullcontext():
        lanes.store(builder.select(nearer, z, old), z_place)
        lanes.store(builder.select(nearer, ident, lanes.load(id_place, lanes.ints)), id_place)


def _make_raster_small(count: int) -> Callable[..., Any]:
    @intrinsic
    def raster_small(
        typingctx, depth, visible, offset, pitch, rows,
        e0, e1, e2, a0, a1, a2, b0, b1, b2, z, za, zb, max_z, ident,
    ):  # fmt: skip
        """Draw a triangle whose pixel box is at most `count` wide: one vector per row.

        e0..e2 and z are the edge functions and the inverse depth at the box's corner, a* and
        za their steps per column, b* and zb per row; max_z the largest corner value.
        """
        signature = types.void(
            depth, visible, types.intp, types.intp, types.intp, *[types.float32] * 13, types.int32
        )

        def codegen(context, builder, signature, args):
            lanes = Lanes(builder, count)
            z_base, id_base = (data_pointer(context, builder, signature.args[k], args[k]) for k in (0, 1))
            e0, e1, e2, a0, a1, a2, b0, b1, b2, z, za, zb, max_z, ident = map(lanes.splat, args[5:])
            running = [cgutils.alloca_once(builder, lanes.floats) for _ in range(4)]
            for place, start, step in zip(running, (e0, e1, e2, z), (a0, a1, a2, za)):
                builder.store(lanes.fma(step, lanes.index_float(), start), place)
            offset = cgutils.alloca_once_value(builder, args[2])
            with cgutils.for_range(builder, args[4]):
                f0, f1, f2, fz = (builder.load(place) for place in running)
                least = lanes.minimum(lanes.minimum(f0, f1), f2)
                inside = builder.fcmp_ordered(">=", least, lanes.fconst(0))
                here = builder.load(offset)
                value = lanes.minimum(fz, max_z)
                _depth_test_store(lanes, z_base, id_base, here, inside, value, ident, skip_hidden=False)
                for place, value, step in zip(running, (f0, f1, f2, fz), (b0, b1, b2, zb)):
                    builder.store(builder.fadd(value, step, flags=("nsz",)), place)
                builder.store(builder.add(here, args[3]), offset)
            return context.get_dummy_value()

        return signature, codegen

    return raster_small


raster_small8 = _make_raster_small(8)
raster_small16 = _make_raster_small(16)


@intrinsic
def raster_span(typingctx, depth, visible, offset, count, z, za, max_z, ident):
    """Draw `count` covered pixels from `offset`; only the depth test remains.

    Works on aligned blocks, since a store that splits a cache line costs about twice as much.
    """
    signature = types.void(
        depth, visible, types.intp, types.intp, types.float32, types.float32, types.float32, types.int32
    )

    def codegen(context, builder, signature, args):
        lanes = Lanes(builder, SPAN_LANES)
        z_base, id_base = (data_pointer(context, builder, signature.args[k], args[k]) for k in (0, 1))
        skipped = builder.and_(args[2], ir.Constant(I64, SPAN_LANES - 1))
        start = builder.sub(args[2], skipped)
        total = builder.add(args[3], skipped)
        blocks = builder.lshr(
            builder.add(total, ir.Constant(I64, SPAN_LANES - 1)),
            ir.Constant(I64, SPAN_LANES.bit_length() - 1),
        )
        z, za, max_z, ident = map(lanes.splat, args[4:])
        count = lanes.splat(builder.trunc(args[3], I32))
        column = builder.sub(lanes.index(), lanes.splat(builder.trunc(skipped, I32)))
        step = builder.fmul(za, lanes.fconst(SPAN_LANES))
        z_now = cgutils.alloca_once_value(builder, lanes.fma(za, builder.sitofp(column, lanes.floats), z))
        column_now = cgutils.alloca_once_value(builder, column)
        with cgutils.for_range(builder, blocks) as loop:
            value, column = builder.load(z_now), builder.load(column_now)
            inside = builder.icmp_unsigned("<", column, count)
            place = builder.add(start, builder.mul(loop.index, ir.Constant(I64, SPAN_LANES)))
            clamped = lanes.minimum(value, max_z)
            _depth_test_store(lanes, z_base, id_base, place, inside, clamped, ident, skip_hidden=True)
            builder.store(builder.fadd(value, step, flags=("nsz",)), z_now)
            builder.store(builder.add(column, lanes.iconst(SPAN_LANES)), column_now)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def tile_minimum(typingctx, depth, offset, pitch, rows, tiles, tile):
    """tiles[tile], tiles[tile + 1] = minima of two neighbouring 8-wide tiles at `offset`."""
    signature = types.void(depth, types.intp, types.intp, types.intp, tiles, types.intp)

    def codegen(context, builder, signature, args):
        lanes = Lanes(builder, 16)
        z_base = data_pointer(context, builder, signature.args[0], args[0])
        tile_base = data_pointer(context, builder, signature.args[4], args[4])
        least = cgutils.alloca_once_value(builder, lanes.load(builder.gep(z_base, [args[1]]), lanes.floats))
        offset = cgutils.alloca_once_value(builder, args[1])
        with cgutils.for_range(builder, builder.sub(args[3], ir.Constant(I64, 1))):
            here = builder.add(builder.load(offset), args[2])
            builder.store(here, offset)
            row = lanes.load(builder.gep(z_base, [here]), lanes.floats)
            builder.store(lanes.minimum(builder.load(least), row), least)
        value = builder.load(least)
        for distance in (4, 2, 1):
            swapped = ir.Constant(lanes.ints, [i ^ distance for i in range(16)])
            value = lanes.minimum(value, builder.shuffle_vector(value, value, swapped))
        for half in (0, 1):
            place = builder.gep(tile_base, [builder.add(args[5], ir.Constant(I64, half))])
            builder.store(builder.extract_element(value, ir.Constant(I32, 8 * half)), place)
        return context.get_dummy_value()

    return signature, codegen
