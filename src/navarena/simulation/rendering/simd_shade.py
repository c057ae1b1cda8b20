"""Explicit SIMD for the deferred pass: 16 pixels of one image row at a time.

What a block of 16 pixels needs to know of its triangles is found by one of two methods. Mostly a
block shows one or two triangles: then each is broadcast from memory into the lanes that see
it. Blocks that show more (distant clutter, scans) load one record per lane and transpose.
Both compute the same operations on the same numbers, so the choice does not change a bit.

Texels are fetched in a second pass over the row: free of branches, it lets the processor wait
for several gathers at once.
"""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering.lanes import CONTRACT, F32, I32, I64, Lanes, Value
from navarena.simulation.rendering.simd_color import mip_level, modulate, pack_tints, store_rgb, texel_index
from navarena.simulation.rendering.simd_source import (
    OneTriangle,
    Source,
    Tables,
    TrianglePerLane,
    prefetch_details,
)

BLOCK = 16
RUNS_ONE_BY_ONE = 2
"""Runs of equal triangles in a block up to which broadcasting is faster than transposing."""

PREPARED_WORDS = 4
NOTHING = 0x7FFFFFFF
"""Stands for the id of a pixel where nothing is seen."""


def _affine(lanes: Lanes, plane: list[Value], point: list[Value]) -> Value:
    """A x + b y + c z + d."""
    a, b, c, d = plane
    return lanes.fma(a, point[0], lanes.fma(b, point[1], lanes.fma(c, point[2], d)))


def _dot(lanes: Lanes, a: list[Value], b: list[Value]) -> Value:
    product = lanes.builder.fmul(a[2], b[2], flags=CONTRACT)
    return lanes.fma(a[0], b[0], lanes.fma(a[1], b[1], product))


def _cross(lanes: Lanes, a: list[Value], b: list[Value]) -> list[Value]:
    builder = lanes.builder

    def part(i: int, j: int) -> Value:
        minus = builder.fmul(a[j], b[i], flags=CONTRACT)
        return builder.fsub(builder.fmul(a[i], b[j], flags=CONTRACT), minus, flags=CONTRACT)

    return [part(1, 2), part(2, 0), part(0, 1)]


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
            kinds |= dict.fromkeys(("u", "v", "density", "facing"), lanes.floats)
        else:
            kinds |= {"word": lanes.ints}
        kinds |= {f"tint{k}": lanes.floats for k in range(color_planes)}
        self.kinds = kinds

    def find(self, lanes: Lanes, source: Source, point: list[Value], away: list[Value]) -> dict[str, Value]:
        """The quantities at the pixels' world points, which lie `away` from the camera."""
        if not self.color_planes:
            words = {"word": at.FLAT_COLOR, "instance": at.INSTANCE, "semantic": at.SEMANTIC}
            return {name: source.surface(word) for name, word in words.items()}
        found = {
            "instance": source.detail(at.DETAIL_INSTANCE),
            "semantic": source.detail(at.DETAIL_SEMANTIC),
        }
        for k in range(self.color_planes):
            found[f"tint{k}"] = _affine(lanes, source.plane(at.DETAIL_TINT + 4 * k), point)
        if not self.textured:
            return found | {"word": source.paint(at.MEAN_COLOR)}
        u, v = source.plane(at.DETAIL_U), source.plane(at.DETAIL_V)
        normal = _cross(lanes, u, v)
        facing = lanes.call(f"llvm.fabs.v{lanes.count}f32", lanes.floats, [_dot(lanes, normal, away)])
        return found | {
            "color": source.paint(at.COLOR),
            "offset": source.paint(at.TEXEL_OFFSET),
            "shape": source.paint(at.TEXTURE_SHAPE),
            "u": _affine(lanes, u, point),
            "v": _affine(lanes, v, point),
            "density": _dot(lanes, normal, normal),
            "facing": facing,
        }

    def prepare(
        self, lanes: Lanes, found: dict[str, Value], metres: Value, hit: Value, scale: Value
    ) -> list[Value]:
        """All that a pixel's colour needs but the texel: words of color, tints, texel index."""
        black = lanes.iconst(0)
        if not self.color_planes:
            return [lanes.builder.select(hit, found["word"], black)]
        tints = pack_tints(lanes, [found[f"tint{k}"] for k in range(self.color_planes)])
        if not self.textured:
            return [lanes.builder.select(hit, found["word"], black), *tints]
        shape = found["shape"]
        level = mip_level(lanes, metres, found["density"], found["facing"], scale, shape)
        index = texel_index(lanes, found["u"], found["v"], level, found["offset"], shape)
        return [lanes.builder.select(hit, found["color"], black), *tints, index]

    def finish(self, lanes: Lanes, prepared: list[Value], texel: Value | None = None) -> Value:
        """Colour words; black where nothing is seen."""
        if not self.color_planes:
            return prepared[0]
        color, *tints = prepared[:3]
        return modulate(lanes, color, texel, tints)


class _Block:
    """16 pixels of a row: where they are, what they show, and what is known about it."""

    def __init__(self, lanes: Lanes, look: _Look, tables: Tables, ids: Value, pitch: Value) -> None:
        self._lanes, self._look, self._tables = lanes, look, tables
        self._ids, self._pitch = ids, pitch
        builder = lanes.builder
        self._places = {name: cgutils.alloca_once(builder, kind) for name, kind in look.kinds.items()}
        self._pending = cgutils.alloca_once(builder, ir.IntType(BLOCK))

    def find(self, x: Value, hit: Value, point: list[Value], away: list[Value]) -> dict[str, Value]:
        """The inputs of shading at the 16 pixels from column `x`."""
        lanes, builder = self._lanes, self._lanes.builder
        idents = lanes.load(lanes.at(self._ids, I32, x), lanes.ints)
        idents = builder.select(hit, idents, lanes.iconst(NOTHING))
        starts = _run_starts(lanes, idents, hit)
        runs = builder.ctpop(starts)
        many = builder.icmp_unsigned(">", runs, ir.Constant(runs.type, RUNS_ONE_BY_ONE))
        with builder.if_else(many) as (transposing, broadcasting):
            with transposing:
                self._transpose(x, builder.select(hit, idents, lanes.iconst(0)), point, away)
            with broadcasting:
                self._broadcast(x, idents, starts, point, away)
        return {name: builder.load(place) for name, place in self._places.items()}

    def _transpose(self, x: Value, idents: Value, point: list[Value], away: list[Value]) -> None:
        lanes, builder = self._lanes, self._lanes.builder
        if self._look.color_planes:
            below = lanes.load(lanes.at(self._ids, I32, builder.add(x, self._pitch)), lanes.ints)
            prefetch_details(lanes, self._tables, below)
        source = TrianglePerLane(lanes, self._tables, idents)
        for name, value in self._look.find(lanes, source, point, away).items():
            builder.store(value, self._places[name])

    def _broadcast(
        self, x: Value, idents: Value, starts: Value, point: list[Value], away: list[Value]
    ) -> None:
        """Run after run; a run whose triangle came before repeats the same work."""
        lanes, builder = self._lanes, self._lanes.builder
        for name, kind in self._look.kinds.items():
            builder.store(ir.Constant(kind, None), self._places[name])
        builder.store(starts, self._pending)
        with lanes.while_nonzero(self._pending) as bits:
            rest = builder.and_(bits, builder.sub(bits, ir.Constant(bits.type, 1)))
            builder.store(rest, self._pending)
            lane = builder.cttz(bits, ir.Constant(ir.IntType(1), 1))
            place = lanes.at(self._ids, I32, builder.add(x, builder.zext(lane, I64)))
            ident = builder.load(place, align=4)
            same = builder.icmp_signed("==", idents, lanes.splat(ident))
            source = OneTriangle(lanes, self._tables, ident)
            for name, value in self._look.find(lanes, source, point, away).items():
                before = builder.load(self._places[name])
                builder.store(builder.select(same, value, before), self._places[name])


def _make_shade_row(color_planes: int, textured: bool) -> Callable[..., Any]:
    detail_words = at.COLOR_DETAIL_WORDS if color_planes == 3 else at.DETAIL_WORDS

    @intrinsic
    def shade_row(
        typingctx, inverse_depth, visible, pitch, width, row_table, surfaces, details, paints, texels,
        extras, rgb, depth, instance, semantic,
    ):  # fmt: skip
        """Colour, depth, instance and semantic of one row of `width` >= 16 pixels.

        All arguments but `pitch` and `width` (pixels) are addresses; an output at address 0 is left out.
        """
        signature = types.void(*[types.int64] * 14)

        def codegen(context, builder, signature, args):
            zs, ids, pitch, width, row_table, surfaces, details, paints, texels, extras, *outputs = args
            lanes = Lanes(builder, BLOCK)
            look = _Look(lanes, color_planes, textured)
            tables = Tables(surfaces, details, paints, extras, detail_words)
            block = _Block(lanes, look, tables, ids, pitch)
            position, column_step, first_ray = (
                [lanes.splat_load(row_table, F32, first + k) for k in range(3)]
                for first in (at.ROW_POSITION, at.ROW_COLUMN_STEP, at.ROW_FIRST_RAY)
            )
            mip_scale = lanes.splat_load(row_table, F32, at.ROW_MIP_SCALE)
            zero = ir.Constant(I64, 0)
            wanted = [builder.icmp_unsigned("!=", output, zero) for output in outputs]
            more_than_depth = builder.or_(builder.or_(wanted[0], wanted[2]), wanted[3])

            last = builder.sub(width, ir.Constant(I64, BLOCK))
            blocks = builder.lshr(builder.add(width, ir.Constant(I64, BLOCK - 1)), ir.Constant(I64, 4))

            def column_of(index: Value) -> Value:
                """First column of a block; the last one may overlap its neighbour."""
                x = builder.mul(index, ir.Constant(I64, BLOCK))
                return builder.select(builder.icmp_signed("<", x, last), x, last)

            def later(k: int, x: Value) -> Value:
                """Where the row table keeps prepared word `k` of the pixels from column `x`."""
                start = builder.add(builder.mul(pitch, ir.Constant(I64, k)), x)
                return builder.add(start, ir.Constant(I64, at.ROW_PREPARED))

            with cgutils.for_range(builder, blocks) as loop:
                x = column_of(loop.index)
                z = lanes.load(lanes.at(zs, F32, x), lanes.floats)
                hit = builder.fcmp_ordered(">", z, lanes.fconst(0))
                inverse = builder.fdiv(lanes.fconst(1), builder.select(hit, z, lanes.fconst(1)))
                metres = builder.select(hit, inverse, lanes.fconst(0))
                with builder.if_then(wanted[1]):
                    lanes.store(metres, lanes.at(outputs[1], F32, x))
                with builder.if_then(more_than_depth):
                    column = builder.fadd(lanes.splat(builder.sitofp(x, F32)), lanes.index_float())
                    rays = [lanes.fma(column, step, ray) for step, ray in zip(column_step, first_ray)]
                    away = [builder.fmul(metres, ray, flags=CONTRACT) for ray in rays]
                    point = [builder.fadd(part, origin) for part, origin in zip(away, position)]
                    found = block.find(x, hit, point, away)
                    with builder.if_then(wanted[0]):
                        prepared = look.prepare(lanes, found, metres, hit, mip_scale)
                        if textured:
                            for k, value in enumerate(prepared):
                                lanes.store(value, lanes.at(row_table, I32, later(k, x)))
                        else:
                            store_rgb(lanes, look.finish(lanes, prepared), outputs[0], x)
                    for k, name in ((2, "instance"), (3, "semantic")):
                        with builder.if_then(wanted[k]):
                            value = builder.select(hit, found[name], lanes.iconst(0))
                            lanes.store(value, lanes.at(outputs[k], I32, x))
            if textured:
                with builder.if_then(wanted[0]), cgutils.for_range(builder, blocks) as loop:
                    x = column_of(loop.index)
                    places = [lanes.at(row_table, I32, later(k, x)) for k in range(PREPARED_WORDS)]
                    prepared = [lanes.load(place, lanes.ints) for place in places[:-1]]
                    texel = lanes.collect(texels, places[-1])
                    store_rgb(lanes, look.finish(lanes, prepared, texel), outputs[0], x)
            return context.get_dummy_value()

        return signature, codegen

    return shade_row


shade_row_flat = _make_shade_row(0, False)
shade_row_light = _make_shade_row(1, False)
shade_row_color = _make_shade_row(3, False)
shade_row_textured_light = _make_shade_row(1, True)
shade_row_textured_color = _make_shade_row(3, True)
