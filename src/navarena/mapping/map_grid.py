"""Grids of maps: in which world directions rows and columns run.

A map is an image of the floor seen from above, never mirrored: row 0 is its top, column 0 its
left. What differs between papers is which world direction is up in the image, where the corner
lies and how large a cell is. All of it stands in a MapGrid.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError, require_name
from navarena.core.geometry import Angles, wrap_angle

UP_YAWS: dict[str, float] = {"-z": 0.0, "-x": np.pi / 2, "+z": np.pi, "+x": -np.pi / 2}
"""World direction that is up in the image -> yaw (radians) of a body that looks along it."""

DOWN_RIGHT: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "-z": ((0, 1), (1, 0)),
    "-x": ((1, 0), (0, -1)),
    "+z": ((0, -1), (-1, 0)),
    "+x": ((-1, 0), (0, 1)),
}
"""Up -> the (x, z) directions in which rows and columns grow."""


@dataclass(frozen=True)
class MapGrid:
    """A rectangle of square cells on the floor.

    Attributes:
        rows, columns: cells.
        cell: metres, side of a cell.
        corner: (x, z) metres in the world: the outer corner of cell (0, 0), top left in the image.
        up: the world direction that is up in the image; "-z" (yaw 0 looks up) everywhere but in MultiON.
    """

    rows: int
    columns: int
    cell: float
    corner: tuple[float, float]
    up: str = "-z"

    def __post_init__(self) -> None:
        require_name("up direction of a map", self.up, DOWN_RIGHT)
        if self.rows < 1 or self.columns < 1 or not self.cell > 0 or not np.isfinite(self.corner).all():
            raise InputError(
                "expected at least one row and column, a positive cell and a finite corner (metres) of a "
                f"map, got {self.rows} x {self.columns}, {self.cell} and {self.corner}"
            )

    @classmethod
    def centered(
        cls, rows: int, columns: int, cell: float, middle: tuple[float, float] = (0.0, 0.0), up: str = "-z"
    ) -> "MapGrid":
        """The grid of that size (cells, metres) whose middle lies at `middle` (x, z) metres."""
        (row_x, row_z), (column_x, column_z) = DOWN_RIGHT[
            require_name("up direction of a map", up, DOWN_RIGHT)
        ]
        half_rows, half_columns = rows * cell / 2, columns * cell / 2
        x = middle[0] - row_x * half_rows - column_x * half_columns
        z = middle[1] - row_z * half_rows - column_z * half_columns
        return cls(rows, columns, cell, (x, z), up)

    @property
    def directions(self) -> tuple[Float[np.ndarray, "2"], Float[np.ndarray, "2"]]:
        """(2,) and (2,) unit vectors (x, z) in the world along which rows and columns grow."""
        down, right = DOWN_RIGHT[self.up]
        return np.array(down, float), np.array(right, float)

    def coordinates_of(self, points: Float[np.ndarray, "... 3"]) -> Float[np.ndarray, "... 2"]:
        """(..., 2) row and column of `points` (..., 3) metres, as numbers: cell i covers i to i + 1."""
        (row_x, row_z), (column_x, column_z) = DOWN_RIGHT[self.up]
        east, south = points[..., 0] - self.corner[0], points[..., 2] - self.corner[1]
        rows, columns = row_x * east + row_z * south, column_x * east + column_z * south
        return np.stack([rows, columns], -1) / self.cell

    def cells_of(self, points: Float[np.ndarray, "... 3"]) -> Int64[np.ndarray, "... 2"]:
        """(..., 2) row and column of the cells that hold `points` (..., 3) metres; some may lie outside.

        Raises InputError for points that are not finite: they lie in no cell.
        """
        coordinates = self.coordinates_of(points)
        if not np.isfinite(coordinates).all():
            raise InputError("expected finite points (metres) to find their cells, got NaN or infinity")
        return np.floor(coordinates).astype(np.int64)

    def centers_of(
        self, cells: Int64[np.ndarray, "... 2"], height: float = 0.0
    ) -> Float[np.ndarray, "... 3"]:
        """(..., 3) metres: the middles of `cells` (..., 2), at world y `height`."""
        (row_x, row_z), (column_x, column_z) = DOWN_RIGHT[self.up]
        down, right = (cells[..., 0] + 0.5) * self.cell, (cells[..., 1] + 0.5) * self.cell
        x = self.corner[0] + row_x * down + column_x * right
        z = self.corner[1] + row_z * down + column_z * right
        return np.stack([x, np.full_like(x, height), z], -1)

    def contains(self, cells: Int64[np.ndarray, "... 2"]) -> Bool[np.ndarray, "..."]:
        """(...,) bool: which of `cells` (..., 2) lie on the map."""
        rows, columns = cells[..., 0], cells[..., 1]
        inside: Bool[np.ndarray, ...] = np.asarray(
            (rows >= 0) & (rows < self.rows) & (columns >= 0) & (columns < self.columns)
        )
        return inside

    def heading_of(self, yaw: Angles) -> Float[np.ndarray, "..."]:
        """Heading in the map image of bodies at `yaw` (radians): radians from up, counter-clockwise."""
        return wrap_angle(np.asarray(yaw, float) - UP_YAWS[self.up])
