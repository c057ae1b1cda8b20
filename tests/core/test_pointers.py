"""Address tables: views rebuilt in a kernel equal the arrays they point to."""

import numpy as np
import pytest

from navarena.core.kernels import kernel
from navarena.core.pointers import AddressTable, flat_view


@kernel
def sums(table):
    out = np.zeros((table.shape[0], 2))
    for row in range(table.shape[0]):
        out[row, 0] = flat_view(table, row, 0, np.float32).sum()
        out[row, 1] = flat_view(table, row, 1, np.int32).sum()
    return out


def test_views_equal_the_arrays() -> None:
    records = [
        [np.arange(6, dtype=np.float32).reshape(2, 3), np.array([4, 5], np.int32)],
        [np.zeros(0, np.float32), np.array([-1], np.int32)],
    ]
    assert sums(AddressTable(records).table).tolist() == [[15, 9], [0, -1]]


def test_the_table_keeps_its_arrays_alive() -> None:
    table = AddressTable([[np.full(100_000, 2, np.float32), np.zeros(1, np.int32)] for _ in range(3)])
    np.full(300_000, 7, np.float32)  # would reuse freed memory
    assert sums(table.table)[:, 0].tolist() == [200_000] * 3


def test_empty_table() -> None:
    assert AddressTable([]).table.shape == (0, 0)


def test_unlike_records_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 2 arrays in every record, got 1 in record 1"):
        AddressTable([[np.zeros(1), np.zeros(1)], [np.zeros(1)]])


def test_strided_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="expected contiguous arrays"):
        AddressTable([[np.zeros((4, 4))[:, 1]]])
