"""The maps of what a body has seen, by names that say how long they last."""

from dataclasses import dataclass

from navarena.tasks.sensors.seen_maps import OccupancyMapSensor, SemanticMapSensor


@dataclass(frozen=True)
class IterativeOccupancyMap(OccupancyMapSensor):
    """(W, W, 1) uint8: occupancy_map, kept for the whole of a tour."""

    lifetime: str = "iterative"

    name = "occupancy_map_iterative"


@dataclass(frozen=True)
class KnownOccupancyMap(OccupancyMapSensor):
    """(W, W, 1) uint8: occupancy_map, made beforehand by looking around everywhere; known at once."""

    lifetime: str = "known"

    name = "occupancy_map_known"
    privileged = True


@dataclass(frozen=True)
class IterativeSemanticMap(SemanticMapSensor):
    """(14, 64, 64) uint8: semantic_map, kept for the whole of a tour."""

    lifetime: str = "iterative"

    name = "semantic_map_iterative"


@dataclass(frozen=True)
class KnownSemanticMap(SemanticMapSensor):
    """(14, 64, 64) uint8: semantic_map, made beforehand by looking around everywhere; known at once."""

    lifetime: str = "known"

    name = "semantic_map_known"
