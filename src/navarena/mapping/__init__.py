"""Maps that agents build from observations, and planning on these maps."""

from navarena.mapping.binning import bin_highest, bin_last, bin_majority, bin_max
from navarena.mapping.coverage import Coverage, ReachableFloor, find_reachable_floor
from navarena.mapping.egocentric import crop_turned, turn_blended
from navarena.mapping.instance_memory import Instance, InstanceMemory
from navarena.mapping.instance_settings import InstanceSettings
from navarena.mapping.instance_views import InstanceView, SegmentedImage
from navarena.mapping.local_controller import SteeringSettings, steer
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.occupancy import FREE, OCCUPIED, UNKNOWN, OccupancyMaps, OccupancySettings
from navarena.mapping.scan_odometry import ScanOdometry, ScanSettings
from navarena.mapping.terrain import (
    Frontiers,
    Reach,
    Terrain,
    TerrainSettings,
    build_terrain,
    choose_nearest,
    find_frontiers,
    flood_terrain,
)
from navarena.mapping.unprojection import PointClouds, unproject
from navarena.mapping.view_memory import ViewMemory, ViewSettings
from navarena.mapping.viewing_cells import find_viewing_cell

__all__ = [
    "FREE",
    "OCCUPIED",
    "UNKNOWN",
    "Coverage",
    "Frontiers",
    "Instance",
    "InstanceMemory",
    "InstanceSettings",
    "InstanceView",
    "MapGrid",
    "OccupancyMaps",
    "OccupancySettings",
    "PointClouds",
    "Reach",
    "ReachableFloor",
    "ScanOdometry",
    "ScanSettings",
    "SegmentedImage",
    "SteeringSettings",
    "Terrain",
    "TerrainSettings",
    "ViewMemory",
    "ViewSettings",
    "bin_highest",
    "bin_last",
    "bin_majority",
    "bin_max",
    "build_terrain",
    "choose_nearest",
    "crop_turned",
    "find_frontiers",
    "find_reachable_floor",
    "find_viewing_cell",
    "flood_terrain",
    "steer",
    "turn_blended",
    "unproject",
]
