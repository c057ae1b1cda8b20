"""Asks memory for what will be read soon: clusters lie scattered, and each would miss the caches."""

# mypy: disable-error-code="no-untyped-def"

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from navarena.core.kernels import kernel
from navarena.simulation.rendering import memory_layout as at
from navarena.simulation.rendering.lanes import I8, I32

LINE = 64
"""Bytes of a cache line."""
COORDINATE, CORNERS, FLOAT = 4, 6, 4
"""Bytes of one coordinate of a vertex, of the corners of a triangle, of a float32."""


@intrinsic
def fetch_line(typingctx, address):
    """Ask for the cache line at an int64 address, to be read soon; any address is allowed."""
    signature = types.void(types.int64)

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(I32, value) for value in (0, 3, 1))
        builder.call(function, [builder.inttoptr(args[0], I8.as_pointer()), read, keep, data])
        return context.get_dummy_value()

    return signature, codegen


@kernel(inline=True)
def fetch_bytes(address, size):
    """Ask for the lines of `size` bytes from an int64 address."""
    for offset in range(0, size + LINE - 1, LINE):
        fetch_line(address + offset)


@kernel
def fetch_cluster(meshes, row, first_vertex, vertex_count, first, count):
    """Ask for the vertices and corners of a cluster of mesh `row` of the address table `meshes`."""
    vertex, planes = meshes[row, 2 * at.MESH_VERTEX], meshes[row, 2 * at.MESH_VERTEX + 1] // 3
    for axis in range(3):
        fetch_bytes(vertex + COORDINATE * (axis * planes + first_vertex), COORDINATE * vertex_count)
    fetch_bytes(meshes[row, 2 * at.MESH_CORNER] + CORNERS * first, CORNERS * count)
