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

from navarena.simulation.rendering import layout as at
from navarena.simulation.rendering.lanes import CONTRACT, F32, I32, I64, Lanes, Value
from navarena.simulation.rendering.simd_color import mip_level, modulate, store_rgb, texel_index

BLOCK = 16
RUNS_ONE_BY_ONE = 2
"""Runs of equal triangles in a block up to which broadcasting is faster than transposing."""

NOTHING = 0x7FFFFFFF
"""Stands for the id of a pixel where nothing is seen."""


class _Tables:
    """Addresses (int64) of the tables of one mesh and of the extra objects."""

    def __init__(self, surfaces: Value, details: Value, paints: Value, extras: Value, words: int) -> None:
        self.surfaces, self.details, self.paints, self.extras = surfaces, details, paints, extras
        self.detail_words = words


@runtime_checkable
class _Source(Protocol):
    """What is known about the triangles of a block, as vectors."""

    def surface(self, word: int) -> Value: ...
    def paint(self, word: int) -> Value: ...
    def detail(self, word: int) -> Value: ...
    def plane(self, word: int) -> list[Value]: ...


class _OneTriangle:
    """The triangle (or extra object) `ident`, broadcast to all lanes."""

    def __init__(self, lanes: Lanes, tables: _Tables, ident: Value) -> None:
        builder = lanes.builder
        self._lanes = lanes
        wide = builder.sext(ident, I64)
        is_extra = builder.icmp_signed("<", ident, ir.Constant(I32, 0))
        extra = builder.add(tables.extras, builder.mul(builder.not_(wide), _bytes(at.EXTRA_WORDS)))

        def place(own: Value, of_extra: int) -> Value:
            return builder.select(is_extra, builder.add(extra, _bytes(of_extra)), own)

        own = builder.add(tables.surfaces, builder.mul(wide, _bytes(at.SURFACE_WORDS)))
        self._surface = place(own, at.EXTRA_SURFACE)
        own = builder.add(tables.details, builder.mul(wide, _bytes(tables.detail_words)))
        self._detail = place(own, at.EXTRA_DETAIL)
        row = builder.sext(builder.load(lanes.at(self._detail, I32, at.DETAIL_PAINT), align=4), I64)
        own = builder.add(tables.paints, builder.mul(row, _bytes(at.PAINT_WORDS)))
        self._paint = place(own, at.EXTRA_PAINT)

    def surface(self, word: int) -> Value:
        return self._lanes.splat_load(self._surface, I32, word)

    def paint(self, word: int) -> Value:
        return self._lanes.splat_load(self._paint, I32, word)

    def detail(self, word: int) -> Value:
        return self._lanes.splat_load(self._detail, I32, word)

    def plane(self, word: int) -> list[Value]:
        return [self._lanes.splat_load(self._detail, F32, word + k) for k in range(4)]


class _TrianglePerLane:
    """The triangles (or extra objects) `idents`, one per lane; all must exist."""

    def __init__(self, lanes: Lanes, tables: _Tables, idents: Value) -> None:
        builder = lanes.builder
        self._lanes, self._tables = lanes, tables
        self._is_extra = builder.icmp_signed("<", idents, lanes.iconst(0))
        self._wide = builder.sext(idents, ir.VectorType(I64, lanes.count))
        extra = builder.mul(builder.not_(self._wide), lanes.splat(_bytes(at.EXTRA_WORDS)))
        self._extra = builder.add(lanes.splat(tables.extras), extra)
        self._quads: dict[tuple[str, int], list[Value]] = {}

    def _place(self, table: Value, rows: Value, words: int, of_extra: int) -> Value:
        builder, lanes = self._lanes.builder, self._lanes
        own = builder.add(lanes.splat(table), builder.mul(rows, lanes.splat(_bytes(words))))
        extra = builder.add(self._extra, lanes.splat(_bytes(of_extra)))
        return builder.select(self._is_extra, extra, own)

    def _quad(self, kind: str, first: int) -> list[Value]:
        """Words first..first + 3, loaded once."""
        if (kind, first) not in self._quads:
            tables = self._tables
            if kind == "surface":
                place = self._place(tables.surfaces, self._wide, at.SURFACE_WORDS, at.EXTRA_SURFACE)
            elif kind == "detail":
                place = self._place(tables.details, self._wide, tables.detail_words, at.EXTRA_DETAIL)
            else:
                rows = self._lanes.builder.sext(self.detail(at.DETAIL_PAINT), self._wide.type)
                place = self._place(tables.paints, rows, at.PAINT_WORDS, at.EXTRA_PAINT)
            self._quads[kind, first] = self._lanes.load_quads(place, first)
        return self._quads[kind, first]

    def surface(self, word: int) -> Value:
        return self._quad("surface", 0)[word]

    def paint(self, word: int) -> Value:
        return self._quad("paint", 0)[word]

    def detail(self, word: int) -> Value:
        return self._quad("detail", word // 4 * 4)[word % 4]

    def plane(self, word: int) -> list[Value]:
        quad = self._quad("detail", word)
        return [self._lanes.builder.bitcast(part, self._lanes.floats) for part in quad]


def _bytes(words: int) -> Value:
    """The size of `words` 4-byte words as an int64 constant."""
    return ir.Constant(I64, 4 * words)


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


def _prefetch_details(lanes: Lanes, tables: _Tables, idents: Value) -> None:
    """Ask for the details of triangles that will be needed soon; scans miss the caches."""
    builder = lanes.builder
    wide = builder.sext(idents, ir.VectorType(I64, lanes.count))
    place = builder.mul(wide, lanes.splat(_bytes(tables.detail_words)))
    lanes.prefetch(builder.add(lanes.splat(tables.details), place))


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

    def find(self, lanes: Lanes, source: _Source, point: list[Value], away: list[Value]) -> dict[str, Value]:
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

    def color(
        self, lanes: Lanes, found: dict[str, Value], metres: Value, scale: Value, texels: Value
    ) -> Value:
        """Colour words."""
        tints = [found[f"tint{k}"] for k in range(self.color_planes)]
        if self.textured:
            shape = found["shape"]
            level = mip_level(lanes, metres, found["density"], found["facing"], scale, shape)
            index = texel_index(lanes, found["u"], found["v"], level, found["offset"], shape)
            return modulate(lanes, lanes.gather(texels, index), found["color"], tints)
        return modulate(lanes, found["word"], None, tints) if tints else found["word"]


class _Block:
    """16 pixels of a row: where they are, what they show, and what is known about it."""

    def __init__(self, lanes: Lanes, look: _Look, tables: _Tables, ids: Value, pitch: Value) -> None:
        self._lanes, self._look, self._tables = lanes, look, tables
        self._ids, self._pitch = ids, pitch
        builder = lanes.builder
        self._places = {name: cgutils.alloca_once(builder, kind) for name, kind in look.kinds.items()}
        self._pending = cgutils.alloca_once(builder, ir.IntType(BLOCK))

    def find(self, x: Value, hit: Value, point: list[Value], away: list[Value]) -> dict[str, Value]:
        """What the look needs at the 16 pixels from column `x`."""
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
            _prefetch_details(lanes, self._tables, below)
        source = _TrianglePerLane(lanes, self._tables, idents)
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
            source = _OneTriangle(lanes, self._tables, ident)
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

        All arguments but `pitch` and `width` are addresses; an output at address 0 is left out.
        """
        signature = types.void(*[types.int64] * 14)

        def codegen(context, builder, signature, args):
            zs, ids, pitch, width, row_table, surfaces, details, paints, texels, extras, *outputs = args
            lanes = Lanes(builder, BLOCK)
            look = _Look(lanes, color_planes, textured)
            tables = _Tables(surfaces, details, paints, extras, detail_words)
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
            with cgutils.for_range(builder, blocks) as loop:
                x = builder.mul(loop.index, ir.Constant(I64, BLOCK))
                x = builder.select(builder.icmp_signed("<", x, last), x, last)  # the last may overlap
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
                        word = look.color(lanes, found, metres, mip_scale, texels)
                        store_rgb(lanes, builder.select(hit, word, lanes.iconst(0)), outputs[0], x)
                    for k, name in ((2, "instance"), (3, "semantic")):
                        with builder.if_then(wanted[k]):
                            value = builder.select(hit, found[name], lanes.iconst(0))
                            lanes.store(value, lanes.at(outputs[k], I32, x))
            return context.get_dummy_value()

        return signature, codegen

    return shade_row


shade_row_flat = _make_shade_row(0, False)
shade_row_light = _make_shade_row(1, False)
shade_row_color = _make_shade_row(3, False)
shade_row_textured_light = _make_shade_row(1, True)
shade_row_textured_color = _make_shade_row(3, True)
