"""Tables of array addresses, so that one kernel call can work on many scenes.

A row of an address table holds, for each array of one record (a navmesh, a render mesh),
its address and its length. A kernel rebuilds flat views from a row; that costs nothing
compared with passing dozens of arrays through Numba's dispatch for each scene.
The owner of a table must keep the arrays alive: `AddressTable` does.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from navarena.core.kernels import kernel


@intrinsic
def _address_as_pointer(typingctx: Any, address: Any, dtype: Any) -> Any:
    signature = types.CPointer(dtype.dtype)(types.int64, dtype)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target = context.get_value_type(signature.return_type)
        return builder.inttoptr(args[0], target if isinstance(target, ir.Type) else target.as_pointer())

    return signature, codegen


@kernel(inline=True)
def flat_view(table: Any, row: Any, slot: Any, dtype: Any) -> Any:
    """1-D view (dtype as given) of the array in `slot` of `row` of an address table."""
    return carray(_address_as_pointer(table[row, 2 * slot], dtype), (table[row, 2 * slot + 1],), dtype)


def address_of(array: np.ndarray) -> int:
    """Address of the first item of an array (...) of any dtype; several times faster than `array.ctypes`."""
    address: int = array.__array_interface__["data"][0]
    return address


class AddressTable:
    """Rows of (address, length) pairs for R records of the same K contiguous arrays.

    Args:
        records: R sequences of K C-contiguous arrays each.

    Attributes:
        table: (R, 2 K) int64, to be passed to kernels.
    """

    table: Int[np.ndarray, "r k2"]

    def __init__(self, records: Sequence[Sequence[np.ndarray]]) -> None:
        self._owned = [tuple(record) for record in records]
        width = len(self._owned[0]) if self._owned else 0
        self.table = np.zeros((len(self._owned), 2 * width), np.int64)
        for row, record in enumerate(self._owned):
            if len(record) != width:
                raise ValueError(
                    f"expected {width} arrays in every record, got {len(record)} in record {row}"
                )
            for slot, array in enumerate(record):
                if not array.flags.c_contiguous:
                    raise ValueError(
                        f"expected contiguous arrays, got strides {array.strides} in slot {slot}"
                    )
                self.table[row, 2 * slot] = address_of(array)
                self.table[row, 2 * slot + 1] = array.size
