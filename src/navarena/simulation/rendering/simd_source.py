"""Explicit SIMD for the deferred pass: the data of the triangles of 16 pixels.

Two sources give the same answers: one triangle broadcast to all lanes, and one triangle per
lane, whose records are loaded lane by lane and transposed.
"""

from typing import Protocol, runtime_checkable

from llvmlite import ir

from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering.lanes import F32, I32, I64, Lanes, Value


class Tables:
    """Addresses (int64) of the tables of one mesh and of the extra objects."""

    def __init__(self, surfaces: Value, details: Value, paints: Value, extras: Value, words: int) -> None:
        self.surfaces, self.details, self.paints, self.extras = surfaces, details, paints, extras
        self.detail_words = words


@runtime_checkable
class Source(Protocol):
    """The data of the triangles of a block, as vectors of 16 lanes."""

    def surface(self, word: int) -> Value:
        """An int32 word of the surfaces, see memory_layout."""

    def paint(self, word: int) -> Value:
        """An int32 word of the paints, see memory_layout."""

    def detail(self, word: int) -> Value:
        """An int32 word of the details, see memory_layout."""

    def plane(self, word: int) -> list[Value]:
        """The 4 float32 words of the details from `word`: an affine function of the position."""


class OneTriangle:
    """The triangle (or extra object) `ident`, broadcast to all lanes."""

    def __init__(self, lanes: Lanes, tables: Tables, ident: Value) -> None:
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
        """See Source.surface."""
        return self._lanes.splat_load(self._surface, I32, word)

    def paint(self, word: int) -> Value:
        """See Source.paint."""
        return self._lanes.splat_load(self._paint, I32, word)

    def detail(self, word: int) -> Value:
        """See Source.detail."""
        return self._lanes.splat_load(self._detail, I32, word)

    def plane(self, word: int) -> list[Value]:
        """See Source.plane."""
        return [self._lanes.splat_load(self._detail, F32, word + k) for k in range(4)]


class TrianglePerLane:
    """The triangles (or extra objects) `idents`, one per lane; all must exist."""

    def __init__(self, lanes: Lanes, tables: Tables, idents: Value) -> None:
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
        """See Source.surface."""
        return self._quad("surface", 0)[word]

    def paint(self, word: int) -> Value:
        """See Source.paint."""
        return self._quad("paint", 0)[word]

    def detail(self, word: int) -> Value:
        """See Source.detail."""
        return self._quad("detail", word // 4 * 4)[word % 4]

    def plane(self, word: int) -> list[Value]:
        """See Source.plane."""
        quad = self._quad("detail", word)
        return [self._lanes.builder.bitcast(part, self._lanes.floats) for part in quad]


def _bytes(words: int) -> Value:
    """The size of `words` 4-byte words as an int64 constant."""
    return ir.Constant(I64, 4 * words)


def prefetch_details(lanes: Lanes, tables: Tables, idents: Value) -> None:
    """Ask for the details of triangles that will be needed soon; scans miss the caches."""
    builder = lanes.builder
    wide = builder.sext(idents, ir.VectorType(I64, lanes.count))
    place = builder.mul(wide, lanes.splat(_bytes(tables.detail_words)))
    lanes.prefetch(builder.add(lanes.splat(tables.details), place))
