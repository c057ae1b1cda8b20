"""What bodies can remember of the places they saw: maps, and plans on maps."""

from navarena.mapping.binning import bin_highest, bin_last, bin_majority, bin_max
from navarena.mapping.egocentric import crop_turned, turn_blended
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyMaps, OccupancySettings
from navarena.mapping.unprojection import PointClouds, in_height_band, unproject

__all__ = [
    "FREE",
    "OCCUPIED",
    "UNKNOWN",
    "MapGrid",
    "OccupancyMaps",
    "OccupancySettings",
    "PointClouds",
    "bin_highest",
    "bin_last",
    "bin_majority",
    "bin_max",
    "crop_turned",
    "in_height_band",
    "turn_blended",
    "unproject",
]
