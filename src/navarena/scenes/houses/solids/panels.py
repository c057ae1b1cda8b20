"""Flat grids: the floors, ceilings and walls of rooms before their cells are merged."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.scenes.houses.plan.floor_plan import Rect


@dataclass(frozen=True, eq=False)
class Panel:
    """A flat grid of A by B lines with holes; its points are numbered in the order of `used`.

    Attributes:
        first, second: (A,) and (B,) float64, millimetres, the lines along both axes.
        cells: (A - 1, B - 1) bool, the cells that are there.
        flipped: whether the panel is seen from the side where second lies clockwise of first.
    """

    first: Float[np.ndarray, "a"]
    second: Float[np.ndarray, "b"]
    cells: Bool[np.ndarray, "a1 b1"]
    flipped: bool

    @classmethod
    def of(
        cls,
        first: Float[np.ndarray, "a"],
        second: Float[np.ndarray, "b"],
        holes: Sequence[Rect],
        flipped: bool = False,
    ) -> "Panel":
        """The grid without the cells in `holes`, whose borders are among the lines."""
        cells = np.ones((len(first) - 1, len(second) - 1), bool)
        for hole in holes:
            inside_first = (first[:-1] >= hole.x0) & (first[1:] <= hole.x1)
            inside_second = (second[:-1] >= hole.z0) & (second[1:] <= hole.z1)
            cells &= ~(inside_first[:, None] & inside_second[None])
        return cls(first, second, cells, flipped)

    @property
    def shape(self) -> tuple[int, int]:
        """(A, B)."""
        return len(self.first), len(self.second)

    @property
    def used(self) -> Int[np.ndarray, "n"]:
        """(N,) flat indices i * B + j of the points at a corner of a cell, ascending."""
        return np.flatnonzero(self._touched())

    def numbers(self) -> Int[np.ndarray, "a b"]:
        """(A, B) number of each point, -1 where it is at no cell."""
        touched = self._touched()
        return np.where(touched, np.cumsum(touched).reshape(touched.shape) - 1, -1)

    def cell_triangles(self) -> Int[np.ndarray, "t 3"]:
        """(T, 3) numbers of points: two triangles for each cell."""
        number = self.numbers()
        corners = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
        quads = np.stack([corner[self.cells] for corner in corners], 1)
        if self.flipped:
            quads = quads[:, [0, 3, 2, 1]]
        return quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)

    def _touched(self) -> Bool[np.ndarray, "a b"]:
        touched = np.zeros(self.shape, bool)
        for i in (0, 1):
            for j in (0, 1):
                touched[i : i + len(self.cells), j : j + self.cells.shape[1]] |= self.cells
        return touched


def subdivide(start: int, end: int, spacing: int, marks: Sequence[int] = ()) -> list[int]:
    """Whole numbers from `start` to `end` through all `marks`, at most `spacing` apart."""
    fixed = sorted({start, end, *(mark for mark in marks if start < mark < end)})
    lines = [start]
    for a, b in pairwise(fixed):
        pieces = max(1, -(-(b - a) // spacing))
        lines += [a + (b - a) * k // pieces for k in range(1, pieces + 1)]
    return lines
