"""Explicit SIMD for the deferred pass: 16 pixels of one image row at a time.

What a block of 16 pixels needs to know of its triangles is found in one of two ways. Mostly a
block shows one or two triangles: then each is broadcast from memory into the lanes that see
it. Blocks that show more (distant clutter, scans) load one record per lane and transpose.
Both compute the same operations on the same numbers, so the choice does not change a bit.
"""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from navarena.simulation.rendering.lanes import F32, I32, I64, Lanes, Value
from navarena.simulation.rendering.layout import COLOR_PLANE_FLOATS, PLANE_FLOATS
from navarena.simulation.rendering.simd_color import mip_level, modulate, store_rgb, texel_index

BLOCK = 16
RUNS_ONE_BY_ONE = 2
"""Runs of equal triangles in a block up to which broadcasting is faster than transposing."""

# Floats of the row table (layout.SCRATCH_ROW), see shade.py
ROW_POSITION, ROW_COLUMN_STEP, ROW_FIRST_RAY, ROW_MIP_SCALE, ROW_EXTRA_PLANES = 0, 3, 6, 9, 16
# int32 words of a surface, of a paint, and of an extra object (a surface followed by a paint)
FLAT_COLOR, INSTANCE, SEMANTIC, PAINT = 0, 1, 2, 3
MEAN_COLOR, COLOR, TEXEL_OFFSET, TEXTURE_SHAPE = 0, 1, 2, 3
SURFACE_WORDS = PAINT_WORDS = 4
EXTRA_WORDS = SURFACE_WORDS + PAINT_WORDS
# floats of a triangle's planes, see surfaces.py
U_PLANE, V_PLANE, REACH_PLANE, TINT_PLANE = 0, 4, 8, 12
NOTHING = 0x7FFFFFFF
"""Stands for the id of a pixel where nothing is seen."""


class _Tables:
    """Addresses (int64) of the tables of one mesh and of the extra objects."""

    def __init__(
        self, lanes: Lanes, surfaces: Value, planes: Value, paints: Value, extras: Value, row_table: Value,
        plane_floats: int,
    ) -> None:  # fmt: skip
        self.surfaces, self.planes, self.paints, self.extras = surfaces, planes, paints, extras
        self.extra_planes = lanes.builder.add(row_table, ir.Constant(I64, 4 * ROW_EXTRA_PLANES))
        self.plane_floats = plane_floats


@runtime_checkable
class _Source(Protocol):
    """What is known about the triangles of a block, as vectors."""

    def surface(self, word: int) -> Value: ...
    def paint(self, word: int) -> Value: ...
    def plane(self, first: int, point: list[Value]) -> Value: ...


class _OneTriangle:
    """The triangle (or extra object) `ident`, broadcast to all lanes."""

    def __init__(self, lanes: Lanes, tables: _Tables, ident: Value) -> None:
        builder = lanes.builder
        self._lanes = lanes
        wide = builder.sext(ident, I64)
        is_extra = builder.icmp_signed("<", ident, ir.Constant(I32, 0))
        extra = builder.add(tables.extras, builder.mul(builder.not_(wide), _bytes(EXTRA_WORDS)))
        own = builder.add(tables.surfaces, builder.mul(wide, _bytes(SURFACE_WORDS)))
        self._surface = builder.select(is_extra, extra, own)
        own = builder.add(tables.planes, builder.mul(wide, _bytes(tables.plane_floats)))
        self._planes = builder.select(is_extra, tables.extra_planes, own)
        row = builder.sext(builder.load(lanes.at(self._surface, I32, PAINT), align=4), I64)
        own = builder.add(tables.paints, builder.mul(row, _bytes(PAINT_WORDS)))
        self._paint = builder.select(is_extra, builder.add(extra, _bytes(SURFACE_WORDS)), own)

    def surface(self, word: int) -> Value:
        return self._lanes.splat_load(self._surface, I32, word)

    def paint(self, word: int) -> Value:
        return self._lanes.splat_load(self._paint, I32, word)

    def plane(self, first: int, point: list[Value]) -> Value:
        quad = [self._lanes.splat_load(self._planes, F32, first + k) for k in range(4)]
        return _affine(self._lanes, quad, point)


class _TrianglePerLane:
    """The triangles (or extra objects) `idents`, one per lane; all must exist."""

    def __init__(self, lanes: Lanes, tables: _Tables, idents: Value) -> None:
        builder = lanes.builder
        self._lanes = lanes
        vector = ir.VectorType(I64, lanes.count)

        def each(scalar: Value) -> Value:
            return lanes.splat(scalar)

        wide = builder.sext(idents, vector)
        is_extra = builder.icmp_signed("<", idents, lanes.iconst(0))
        extra = builder.mul(builder.not_(wide), each(_bytes(EXTRA_WORDS)))
        extra = builder.add(each(tables.extras), extra)
        own = builder.mul(wide, each(_bytes(SURFACE_WORDS)))
        surface = builder.select(is_extra, extra, builder.add(each(tables.surfaces), own))
        own = builder.mul(wide, each(_bytes(tables.plane_floats)))
        own = builder.add(each(tables.planes), own)
        self._planes = builder.select(is_extra, each(tables.extra_planes), own)
        self._surface = lanes.load_quads(surface, 0, I32)
        own = builder.mul(builder.sext(self._surface[PAINT], vector), each(_bytes(PAINT_WORDS)))
        own = builder.add(each(tables.paints), own)
        paint = builder.select(is_extra, builder.add(extra, each(_bytes(SURFACE_WORDS))), own)
        self._paint = lanes.load_quads(paint, 0, I32)

    def surface(self, word: int) -> Value:
        return self._surface[word]

    def paint(self, word: int) -> Value:
        return self._paint[word]

    def plane(self, first: int, point: list[Value]) -> Value:
        return _affine(self._lanes, self._lanes.load_quads(self._planes, first, F32), point)


def _bytes(words: int) -> Value:
    """The size of `words` 4-byte words as an int64 constant."""
    return ir.Constant(I64, 4 * words)


def _affine(lanes: Lanes, quad: list[Value], point: list[Value]) -> Value:
    """a x + b y + c z + d."""
    a, b, c, d = quad
    return lanes.fma(a, point[0], lanes.fma(b, point[1], lanes.fma(c, point[2], d)))


def _run_starts(lanes: Lanes, idents: Value, hit: Value) -> Value:
    """Bits of the hit lanes whose left neighbour shows another triangle."""
    builder = lanes.builder
    order = ir.Constant(lanes.ints, [0, *range(lanes.count - 1)])
    before = builder.shuffle_vector(idents, idents, order)
    changes = lanes.bits(builder.icmp_signed("!=", idents, before))
    changes = builder.or_(changes, ir.Constant(changes.type, 1))
    return builder.and_(changes, lanes.bits(hit))


class _Look:
    """The quantities that a kind of shading needs per pixel, and how to find and use them."""

    def __init__(self, lanes: Lanes, color_planes: int, textured: bool) -> None:
        self.color_planes, self.textured = color_planes, textured
        kinds = {"instance": lanes.ints, "semantic": lanes.ints}
        if textured:
            kinds |= dict.fromkeys(("color", "offset", "shape"), lanes.ints)
            kinds |= dict.fromkeys(("u", "v", "reach"), lanes.floats)
        else:
            kinds |= {"word": lanes.ints}
        kinds |= {f"tint{k}": lanes.floats for k in range(color_planes)}
        self.kinds = kinds

    def find(self, source: _Source, point: list[Value], position: list[Value]) -> dict[str, Value]:
        """The quantities at the pixels' world points; `position` is the camera's."""
        found = {"instance": source.surface(INSTANCE), "semantic": source.surface(SEMANTIC)}
        if self.textured:
            found["color"] = source.paint(COLOR)
            found["offset"] = source.paint(TEXEL_OFFSET)
            found["shape"] = source.paint(TEXTURE_SHAPE)
            found["u"], found["v"] = source.plane(U_PLANE, point), source.plane(V_PLANE, point)
            found["reach"] = source.plane(REACH_PLANE, position)
        else:
            found["word"] = source.paint(MEAN_COLOR) if self.color_planes else source.surface(FLAT_COLOR)
        for k in range(self.color_planes):
            found[f"tint{k}"] = source.plane(TINT_PLANE + 4 * k, point)
        return found

    def color(self, lanes: Lanes, found: dict[str, Value], metres: Value, scale: Value, texels: Value) -> Value:
        """Colour words."""
        tints = [found[f"tint{k}"] for k in range(self.color_planes)]
        if self.textured:
            level = mip_level(lanes, metres, found["reach"], scale, found["shape"])
            index = texel_index(lanes, found["u"], found["v"], level, found["offset"], found["shape"])
            return modulate(lanes, lanes.gather(texels, index), found["color"], tints)
        return modulate(lanes, found["word"], None, tints) if tints else found["word"]


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
            zs, ids, width, row_table, surfaces, planes, paints, texels, extras, *outputs = args
            lanes = Lanes(builder, BLOCK)
            look = _Look(lanes, color_planes, textured)
            tables = _Tables(lanes, surfaces, planes, paints, extras, row_table, plane_floats)
            position, column_step, first_ray = (
                [lanes.splat_load(row_table, F32, first + k) for k in range(3)]
                for first in (ROW_POSITION, ROW_COLUMN_STEP, ROW_FIRST_RAY)
            )
            mip_scale = lanes.splat_load(row_table, F32, ROW_MIP_SCALE)
            wanted = [builder.icmp_unsigned("!=", output, ir.Constant(I64, 0)) for output in outputs]
            places = {name: cgutils.alloca_once(builder, kind) for name, kind in look.kinds.items()}
            pending = cgutils.alloca_once(builder, ir.IntType(BLOCK))

            last = builder.sub(width, ir.Constant(I64, BLOCK))
            blocks = builder.lshr(builder.add(width, ir.Constant(I64, BLOCK - 1)), ir.Constant(I64, 4))
            with cgutils.for_range(builder, blocks) as loop:
                x = builder.mul(loop.index, ir.Constant(I64, BLOCK))
                x = builder.select(builder.icmp_signed("<", x, last), x, last)
                z = lanes.load(lanes.at(zs, F32, x), lanes.floats)
                hit = builder.fcmp_ordered(">", z, lanes.fconst(0))
                inverse = builder.fdiv(lanes.fconst(1), builder.select(hit, z, lanes.fconst(1)))
                metres = builder.select(hit, inverse, lanes.fconst(0))
                with builder.if_then(wanted[1]):
                    lanes.store(metres, lanes.at(outputs[1], F32, x))
                column = builder.fadd(lanes.splat(builder.sitofp(x, F32)), lanes.index_float())
                rays = [lanes.fma(column, step, ray) for step, ray in zip(column_step, first_ray)]
                point = [lanes.fma(metres, ray, origin) for ray, origin in zip(rays, position)]

                idents = lanes.load(lanes.at(ids, I32, x), lanes.ints)
                idents = builder.select(hit, idents, lanes.iconst(NOTHING))
                starts = _run_starts(lanes, idents, hit)
                many = builder.icmp_unsigned(
                    ">", builder.ctpop(starts), ir.Constant(starts.type, RUNS_ONE_BY_ONE)
                )
                with builder.if_else(many) as (transposing, broadcasting):
                    with transposing:
                        some = builder.select(hit, idents, lanes.iconst(0))
                        source = _TrianglePerLane(lanes, tables, some)
                        for name, value in look.find(source, point, position).items():
                            builder.store(value, places[name])
                    with broadcasting:
                        for name, kind in look.kinds.items():
                            builder.store(ir.Constant(kind, None), places[name])
                        builder.store(starts, pending)
                        with lanes.while_nonzero(pending) as bits:
                            one = ir.Constant(bits.type, 1)
                            builder.store(builder.and_(bits, builder.sub(bits, one)), pending)
                            lane = builder.cttz(bits, ir.Constant(ir.IntType(1), 1))
                            place = lanes.at(ids, I32, builder.add(x, builder.zext(lane, I64)))
                            ident = builder.load(place, align=4)
                            same = builder.icmp_signed("==", idents, lanes.splat(ident))
                            source = _OneTriangle(lanes, tables, ident)
                            for name, value in look.find(source, point, position).items():
                                before = builder.load(places[name])
                                builder.store(builder.select(same, value, before), places[name])
                found = {name: builder.load(place) for name, place in places.items()}
                with builder.if_then(wanted[0]):
                    word = look.color(lanes, found, metres, mip_scale, texels)
                    store_rgb(lanes, builder.select(hit, word, lanes.iconst(0)), outputs[0], x)
                for output, is_wanted, name in zip(outputs[2:], wanted[2:], ("instance", "semantic")):
                    with builder.if_then(is_wanted):
                        value = builder.select(hit, found[name], lanes.iconst(0))
                        lanes.store(value, lanes.at(output, I32, x))
            return context.get_dummy_value()

        return signature, codegen

    return shade_row


shade_row_flat = _make_shade_row(0, False)
shade_row_light = _make_shade_row(1, False)
shade_row_color = _make_shade_row(3, False)
shade_row_textured_light = _make_shade_row(1, True)
shade_row_textured_color = _make_shade_row(3, True)
