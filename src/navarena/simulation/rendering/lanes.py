"""A small vocabulary for writing explicit SIMD in Numba: LLVM vectors of equal width.

LLVM vectorises long regular loops well (vertex transform, triangle set-up) but not the spans
of 1 to 10 pixels that a rasteriser lives on. The pixel loops are therefore written as LLVM
vector operations inside Numba `@intrinsic`s; LLVM maps them to whatever the processor has
(AVX-512, AVX2, NEON). No compiler is needed on the user's machine.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils

F32, I8, I16, I32, I64 = ir.FloatType(), ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
Value = Any
"""An llvmlite value; llvmlite has no type stubs."""

CONTRACT = ("contract", "nsz", "arcp")


class Lanes:
    """Vector operations of `count` lanes on one llvmlite builder."""

    def __init__(self, builder: Any, count: int) -> None:
        self.builder = builder
        self.count = count
        self.floats = ir.VectorType(F32, count)
        self.ints = ir.VectorType(I32, count)

    # --- constants and broadcasts
    def fconst(self, value: float) -> Value:
        """The float `value` in all lanes."""
        return ir.Constant(self.floats, [float(value)] * self.count)

    def iconst(self, value: int) -> Value:
        """The int32 `value` in all lanes."""
        return ir.Constant(self.ints, [value] * self.count)

    def index(self) -> Value:
        """0, 1, 2, ... as integers."""
        return ir.Constant(self.ints, list(range(self.count)))

    def index_float(self) -> Value:
        """0, 1, 2, ... as floats."""
        return ir.Constant(self.floats, [float(i) for i in range(self.count)])

    def splat(self, scalar: Value) -> Value:
        """`scalar` in all lanes."""
        vector = ir.VectorType(scalar.type, self.count)
        undefined = ir.Constant(vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(I32, 0))
        return self.builder.shuffle_vector(first, undefined, self.iconst(0))

    # --- memory
    def at(self, address: Value, scalar_type: Any, offset: Value | int = 0) -> Value:
        """Pointer to element `offset` of an array at an int64 address."""
        base = self.builder.inttoptr(address, scalar_type.as_pointer())
        if isinstance(offset, int):
            offset = ir.Constant(I64, offset)
        return self.builder.gep(base, [offset])

    def load(self, pointer: Value, vector: Any, align: int = 4) -> Value:
        """The vector at `pointer`."""
        return self.builder.load(self.builder.bitcast(pointer, vector.as_pointer()), align=align)

    def store(self, value: Value, pointer: Value, align: int = 4) -> None:
        """Write the vector `value` to `pointer`."""
        self.builder.store(value, self.builder.bitcast(pointer, value.type.as_pointer()), align=align)

    def splat_load(self, address: Value, scalar_type: Any, offset: Value | int = 0) -> Value:
        """One scalar from memory in all lanes."""
        return self.splat(self.builder.load(self.at(address, scalar_type, offset), align=4))

    def collect(self, address: Value, indices: Value) -> Value:
        """int32 words of the array at an int64 address, at the int32 indices that start at a pointer.

        One load for each lane: that takes less time than a gather of the processor, whose indices would
        have to be in a register.
        """
        builder = self.builder
        words = ir.Constant(self.ints, ir.Undefined)
        for lane in range(self.count):
            index = builder.sext(builder.load(builder.gep(indices, [ir.Constant(I32, lane)]), align=4), I64)
            word = builder.load(self.at(address, I32, index), align=4)
            words = builder.insert_element(words, word, ir.Constant(I32, lane))
        return words

    def prefetch(self, addresses: Value) -> None:
        """Ask for the cache line at each lane's int64 address; any address is allowed."""
        builder = self.builder
        read, keep, data = (ir.Constant(I32, value) for value in (0, 3, 1))
        for lane in range(self.count):
            address = builder.extract_element(addresses, ir.Constant(I32, lane))
            pointer = builder.inttoptr(address, I8.as_pointer())
            self.call("llvm.prefetch.p0", ir.VoidType(), [pointer, read, keep, data])

    def load_quads(self, addresses: Value, first: int) -> list[Value]:
        """int32 words first..first + 3 of the record at each lane's int64 address, as 4 vectors.

        Needs 16 lanes: one load of 4 words per lane, then a transpose that stays within
        128-bit parts (part p holds the lanes 4 p to 4 p + 3).
        """
        builder, quad = self.builder, ir.VectorType(I32, 4)
        rows = []
        for lane in range(16):
            address = builder.extract_element(addresses, ir.Constant(I32, lane))
            rows.append(self.load(self.at(address, I32, first), quad))
        parts = [
            self._joined(self._joined(rows[k], rows[k + 4]), self._joined(rows[k + 8], rows[k + 12]))
            for k in range(4)
        ]
        low = [self._within_parts(parts[k], parts[k + 1], (0, 16, 1, 17)) for k in (0, 2)]
        high = [self._within_parts(parts[k], parts[k + 1], (2, 18, 3, 19)) for k in (0, 2)]
        picks = ((0, 1, 16, 17), (2, 3, 18, 19))
        return [self._within_parts(a, b, pick) for a, b in (low, high) for pick in picks]

    def _joined(self, low: Value, high: Value) -> Value:
        """Two vectors end to end."""
        order = ir.Constant(ir.VectorType(I32, 2 * low.type.count), list(range(2 * low.type.count)))
        return self.builder.shuffle_vector(low, high, order)

    def _within_parts(self, a: Value, b: Value, picks: tuple[int, ...]) -> Value:
        """In each 128-bit part the same 4 picks: 0..3 from a's part, 16..19 from b's."""
        order = [pick + 4 * part for part in range(4) for pick in picks]
        return self.builder.shuffle_vector(a, b, ir.Constant(self.ints, order))

    # --- arithmetic
    def fma(self, a: Value, x: Value, c: Value) -> Value:
        """A * x + c, fused where the processor can."""
        product = self.builder.fmul(a, x, flags=CONTRACT)
        return self.builder.fadd(product, c, flags=CONTRACT)

    def minimum(self, a: Value, b: Value) -> Value:
        """The smaller of the floats `a` and `b`, lane by lane; `b` where either is NaN."""
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def maximum(self, a: Value, b: Value) -> Value:
        """The greater of the floats `a` and `b`, lane by lane; `b` where either is NaN."""
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def minimum_int(self, a: Value, b: Value) -> Value:
        """The smaller of the int32 `a` and `b`, lane by lane."""
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    def maximum_int(self, a: Value, b: Value) -> Value:
        """The greater of the int32 `a` and `b`, lane by lane."""
        return self.builder.select(self.builder.icmp_signed(">", a, b), a, b)

    def floor(self, value: Value) -> Value:
        """The floats rounded down."""
        return self.call(f"llvm.floor.v{self.count}f32", self.floats, [value])

    # --- masks and control
    def bits(self, mask: Value) -> Value:
        """A mask as one integer of `count` bits, lane 0 lowest."""
        return self.builder.bitcast(mask, ir.IntType(self.count))

    def any(self, mask: Value) -> Value:
        """Whether a mask holds in any lane, as one bit."""
        bits = self.bits(mask)
        return self.builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    def call(self, name: str, result: Any, arguments: Sequence[Value]) -> Value:
        """The result, of type `result`, of the LLVM intrinsic `name`."""
        signature = ir.FunctionType(result, [argument.type for argument in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, signature, name)
        return self.builder.call(function, list(arguments))

    @contextmanager
    def while_nonzero(self, variable: Value) -> Iterator[Value]:
        """A loop that runs while the integer at pointer `variable` is not zero; yields its value."""
        builder = self.builder
        head = builder.append_basic_block("while")
        body = builder.append_basic_block("while.body")
        done = builder.append_basic_block("while.done")
        builder.branch(head)
        builder.position_at_end(head)
        value = builder.load(variable)
        builder.cbranch(builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0)), body, done)
        builder.position_at_end(body)
        yield value
        builder.branch(head)
        builder.position_at_end(done)


def data_pointer(context: Any, builder: Any, array_type: Any, array: Value) -> Value:
    """Pointer to the first item of a Numba array argument."""
    return context.make_array(array_type)(context, builder, array).data
