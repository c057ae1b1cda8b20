"""MultiON's ablations of oracle maps, by names of their own: channels, resolutions, current goal alone."""

from dataclasses import dataclass

from navarena.mapping.oracle_map import Channels
from navarena.tasks.sensors.oracle_maps import OracleEgoMap, OracleMap


@dataclass(frozen=True)
class OracleOccupancyMap(OracleMap):
    """(50, 50, 1) uint8: the occupancy of oracle_map alone, OracleMap (Occ)."""

    channels_shown: Channels = "occupancy"

    name = "oracle_map_occupancy"


@dataclass(frozen=True)
class OracleObjectMap(OracleMap):
    """(50, 50, 1) uint8: the goals of oracle_map alone, OracleMap (Obj)."""

    channels_shown: Channels = "objects"

    name = "oracle_map_objects"


@dataclass(frozen=True)
class DynamicOracleMap(OracleMap):
    """(50, 50, 2) uint8: oracle_map with the current goal alone, until it is found."""

    dynamic: bool = True

    name = "oracle_map_dynamic"


@dataclass(frozen=True)
class DynamicOracleObjectMap(OracleObjectMap):
    """(50, 50, 1) uint8: the current goal of oracle_map_objects alone."""

    dynamic: bool = True

    name = "oracle_map_objects_dynamic"


@dataclass(frozen=True)
class CoarseOracleMap(OracleMap):
    """(50, 50, 2) uint8: oracle_map with 150 cells of 1.6 m along a side: twice as far."""

    cells: tuple[int, ...] = (150,)

    name = "oracle_map_150"


@dataclass(frozen=True)
class FineOracleMap(OracleMap):
    """(50, 50, 2) uint8: oracle_map with 600 cells of 0.4 m along a side: half as far."""

    cells: tuple[int, ...] = (600,)

    name = "oracle_map_600"


@dataclass(frozen=True)
class StackedOracleMap(OracleMap):
    """(50, 50, 4) uint8: oracle_map, then oracle_map_600, as further channels (paper, appendix A.4)."""

    cells: tuple[int, ...] = (300, 600)

    name = "oracle_map_stacked"


@dataclass(frozen=True)
class OracleMapOfPaper(OracleMap):
    """(50, 50, 2) uint8: oracle_map in which a goal paints its own cell alone, as the paper says."""

    block: int = 1

    name = "oracle_map_paper"


@dataclass(frozen=True)
class DynamicOracleEgoMap(OracleEgoMap):
    """(50, 50, 2) uint8: oracle_ego_map with the current goal alone, once it was seen."""

    dynamic: bool = True

    name = "oracle_ego_map_dynamic"
