"""Settings of a navmesh: the size of the body and the resolution of the voxels.

The parameters and their rounding to voxels are those of Recast as the field's standard
simulator uses it (habitat-sim 0.3.3, NavMeshSettings), so that a navmesh of the same mesh has
the same islands and the same distances.
"""

import math
from dataclasses import dataclass

from navarena.core.errors import InputError
from navarena.simulation.body import Embodiment

_ROUNDING = 1e-5  # of a voxel: 0.2 m / 0.05 m is four cells, whatever the last bit says


@dataclass(frozen=True)
class NavMeshSettings:
    """Size of the body and of the voxels.

    Attributes:
        radius, height: metres, of the upright cylinder that must fit.
        max_climb: metres, highest step it takes.
        max_slope: radians, steepest triangle it stands on.
        cell_size: metres, side of a voxel column.
        cell_height: metres, height of a voxel.
        region_min_size: side, in cells, of the square whose area an island must reach.
        edge_max_error: cells, how far a simplified outline may run from the traced one.
        detail_max_error: metres, how far the stored ground may lie from the traced ground.

    Raises:
        InputError: a length is not positive, or not finite.
    """

    radius: float = 0.1
    height: float = 1.5
    max_climb: float = 0.2
    max_slope: float = math.radians(45)
    cell_size: float = 0.05
    cell_height: float = 0.2
    region_min_size: int = 20
    edge_max_error: float = 1.3
    detail_max_error: float = 0.1

    def __post_init__(self) -> None:
        for name in ("height", "cell_size", "cell_height", "detail_max_error"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"expected a positive {name}, got {value}; give metres")
        for name in ("radius", "max_climb", "max_slope", "region_min_size", "edge_max_error"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"expected {name} of at least 0, got {value}")

    @classmethod
    def for_body(cls, embodiment: Embodiment) -> "NavMeshSettings":
        """The settings for the size and abilities of `embodiment`, and its vertical resolution."""
        return cls(
            radius=embodiment.radius,
            height=embodiment.height,
            max_climb=embodiment.max_climb,
            max_slope=embodiment.max_slope,
            cell_height=embodiment.voxel_height,
        )

    @property
    def radius_cells(self) -> int:
        """Cells between the body's centre and an obstacle: the radius, rounded up."""
        return math.ceil(self.radius / self.cell_size - _ROUNDING)

    @property
    def height_voxels(self) -> int:
        """Free voxels that a body needs above the floor: its height, rounded up."""
        return math.ceil(self.height / self.cell_height - _ROUNDING)

    @property
    def climb_voxels(self) -> int:
        """Voxels between floors of neighbouring columns: the highest step, rounded down."""
        return math.floor(self.max_climb / self.cell_height + _ROUNDING)

    @property
    def min_island_cells(self) -> int:
        """Smallest number of cells of an island (Recast: the square of region_min_size)."""
        return int(self.region_min_size) ** 2

    @property
    def min_island_area(self) -> float:
        """Smallest area of an island in square metres."""
        return self.min_island_cells * self.cell_size**2
