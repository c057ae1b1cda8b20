"""Maps of what a body has seen, as observations: occupancy, and Iterative VLN's semantic map."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool, Float, Int8, Int32, Int64, UInt8

from navarena.core.errors import InputError, require_name
from navarena.mapping.egocentric import crop_turned
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.occupancy import FREE, OCCUPIED, OccupancyMaps, OccupancySettings
from navarena.mapping.semantic_map import CLASSES, WINDOW, SemanticMaps, SemanticMapSettings
from navarena.mapping.survey import survey_occupancy, survey_semantics
from navarena.mapping.vocabularies import MAP_VOCABULARY
from navarena.simulation.camera_pose import world_from_camera
from navarena.simulation.sensors.sensor import ObservationSpec
from navarena.simulation.simulator import Simulator
from navarena.tasks.sensors.goal_sensor import GoalSensor
from navarena.tasks.sensors.semantic_classes import write_classes
from navarena.tasks.task import TaskState

LIFETIMES = ("episodic", "iterative", "known")
"""How long a map lasts: an episode; a tour, with its oracle phases (an episode outside tours); or it is known
from the start, made beforehand by looking around everywhere, and stays as it is."""

OCCUPANCY = OccupancySettings(cell=0.1)
SEMANTICS = SemanticMapSettings(size=30.0)

Maps = TypeVar("Maps", OccupancyMaps, SemanticMaps)


class _Kept(Generic[Maps]):
    """The maps of N slots, and the scene that each was drawn in."""

    def __init__(self, maps: Maps, slots: int) -> None:
        self.maps: Maps = maps
        self.scenes: list[str | None] = [None] * slots


class _SeenMap(GoalSensor, Generic[Maps]):
    """A map of what a body has seen, centred on where the body starts, world frame.

    Attributes:
        lifetime: one of LIFETIMES.
    """

    is_map = True
    lifetime: str

    def __post_init__(self) -> None:
        require_name("lifetime of a map", self.lifetime, LIFETIMES)
        object.__setattr__(self, "_memory", WeakKeyDictionary())

    def begin(self, simulator: Simulator, state: TaskState, slots: Int64[np.ndarray, "k"]) -> None:
        """Forget the maps whose lifetime is over."""
        kept = self._kept(simulator, state)
        for slot in slots.tolist():
            world = simulator.slot_worlds.world(slot)
            scene = None if world is None else world.scene_id
            is_on_tour = self.lifetime == "iterative" and state.tour_position[slot] > 0
            if not (is_on_tour and kept.scenes[slot] == scene):
                kept.maps.reset([slot], simulator.positions[slot : slot + 1, [0, 2]])
            kept.scenes[slot] = scene

    @abstractmethod
    def _make_maps(self, simulator: Simulator) -> Maps:
        """Empty maps of all slots."""

    def _kept(self, simulator: Simulator, state: TaskState) -> _Kept[Maps]:
        """The maps kept for `state`, made when they are first asked for."""
        memory: WeakKeyDictionary[TaskState, _Kept[Maps]] = self.__dict__["_memory"]
        if state not in memory:
            memory[state] = _Kept(self._make_maps(simulator), simulator.slots)
        return memory[state]


class SeenOccupancy(_SeenMap[OccupancyMaps]):
    """An observation of the occupancy that a body has seen.

    It is drawn from depth as the camera measures it, with its corruptions, at the poses of
    `Simulator.mapped_bodies`.

    Attributes:
        settings: of the map.
    """

    settings: OccupancySettings

    channels: ClassVar[tuple[str, ...]] = ("depth",)

    def update(self, simulator: Simulator, state: TaskState) -> tuple[OccupancyMaps, Int64[np.ndarray, "k"]]:
        """The maps, with what the bodies see now (but for known ones), and the (K,) slots with bodies."""
        kept = self._kept(simulator, state)
        maps, placed = kept.maps, np.array([scene is not None for scene in kept.scenes])
        if self.lifetime != "known":
            bodies = simulator.mapped_bodies
            camera, depths = simulator.observer.image("depth")
            poses = world_from_camera(bodies, camera)
            maps.update(depths, camera, poses, bodies.positions[:, 1], placed & bodies.unseen)
        return maps, np.flatnonzero(placed)

    def _settings(self, simulator: Simulator) -> OccupancySettings:
        return replace(self.settings, obstacle_top=simulator.embodiment.height)

    def _make_maps(self, simulator: Simulator) -> OccupancyMaps:
        settings = self._settings(simulator)
        if self.lifetime == "known":  # the slots' own maps stay empty
            settings = replace(settings, size=settings.cell, layers=1)
        return OccupancyMaps(simulator.slots, settings, simulator.threads)


@dataclass(frozen=True)
class OccupancyMapSensor(SeenOccupancy):
    """(W, W, 1) uint8: what was seen around the body: 0 unknown, 1 free, 2 occupied.

    Ahead is up, the body in the middle (between the four middle cells).

    Args:
        settings: of the map.
        window: W, cells along a side.
        lifetime: of the map.
    """

    settings: OccupancySettings = OCCUPANCY
    window: int = 64
    lifetime: str = "episodic"

    name = "occupancy_map"

    def spec(self) -> ObservationSpec:
        return ObservationSpec(
            (self.window, self.window, 1), np.uint8, 0, OCCUPIED, categories=(OCCUPIED + 1,)
        )

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        bodies = simulator.mapped_bodies
        maps, slots = self.update(simulator, state)
        if self.lifetime == "known":
            for slot in slots.tolist():
                self._show_known(simulator, slot, out)
        elif len(slots):
            layers, side = maps.settings.layers, maps.settings.side
            scores = maps.scores.reshape(-1, side, side, 1)
            places = maps.coordinates_of(slots, bodies.positions[slots])
            out[slots] = self._crop(
                scores, places, maps.grid(0), bodies.yaws[slots], slots * layers + maps.layer[slots]
            )

    def _show_known(self, simulator: Simulator, slot: int, out: UInt8[np.ndarray, "n w w 1"]) -> None:
        """Write the window of one slot into a map that was made beforehand."""
        world = simulator.slot_worlds.world(slot)
        if world is not None:
            bodies = simulator.mapped_bodies
            position, yaw = bodies.positions[slot : slot + 1], bodies.yaws[slot : slot + 1]
            known = survey_occupancy(world, simulator.embodiment, self._settings(simulator))
            scores = known.scores[0, known.layer_at(0, position[0, 1])][None, :, :, None]
            grid = known.grid(0)
            out[slot] = self._crop(scores, grid.coordinates_of(position), grid, yaw, np.zeros(1, np.int64))[0]

    def _crop(
        self,
        scores: Int8[np.ndarray, "m r c 1"],
        places: Float[np.ndarray, "k 2"],
        grid: MapGrid,
        yaws: Float[np.ndarray, "k"],
        rows: Int64[np.ndarray, "k"],
    ) -> UInt8[np.ndarray, "k w w 1"]:
        """(K, W, W, 1) windows of the maps `rows` (K,) of evidence around `places` (K, 2), row and column."""
        turns, size = -np.asarray(grid.heading_of(yaws)), (self.window, self.window)
        seen = crop_turned(scores, places - 0.5, turns, size, rows=rows)
        return (seen < 0) * np.uint8(FREE) + (seen > 0) * np.uint8(OCCUPIED)


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
class SemanticMapSensor(_SeenMap[SemanticMaps]):
    """(14, 64, 64) uint8: Iterative VLN's map around the body: occupancy, then 13 planes of classes.

    Row 0 is 3.2 m ahead, the body at (32, 32), a cell 0.1 m. It is drawn from true labels and depth
    as the camera measures it, with its corruptions, at the poses of `Simulator.mapped_bodies`; the labels
    are the categories of the scene, each as the class that it belongs to (`label_table`).

    Args:
        settings: of the map.
        lifetime: of the map.
    """

    settings: SemanticMapSettings = SEMANTICS
    lifetime: str = "episodic"

    name = "semantic_map"
    privileged = True
    channels: ClassVar[tuple[str, ...]] = ("depth", "semantic")

    def spec(self) -> ObservationSpec:
        return ObservationSpec((len(CLASSES) + 1, WINDOW, WINDOW), np.uint8, 0, 1)

    def observe(self, simulator: Simulator, state: TaskState, out: np.ndarray) -> None:
        kept = self._kept(simulator, state)
        placed = np.array([scene is not None for scene in kept.scenes])
        if self.lifetime == "known":
            self._show_known(simulator, np.flatnonzero(placed).tolist(), out)
            return
        camera, depths = simulator.observer.image("depth")
        bodies = simulator.mapped_bodies
        fresh = placed & bodies.unseen
        classes = self.label(simulator, fresh)
        poses = world_from_camera(bodies, camera)
        kept.maps.update(depths, classes, camera, poses, bodies.positions[:, 1], fresh)
        out[:] = kept.maps.views(poses[:, :3, 3], bodies.yaws)

    def label(self, simulator: Simulator, placed: Bool[np.ndarray, "n"]) -> Int32[np.ndarray, "n h w"]:
        """(N, H, W) int32 ids into CLASSES of what the bodies `placed` (N,) bool see now, 0 of others.

        Raises InputError for a body whose depth and labels come from different cameras.
        """
        camera, _ = simulator.observer.image("depth")
        labelled, images = simulator.observer.image("semantic")
        if labelled != camera:
            raise InputError(
                "expected one camera that takes depth and semantic images for a semantic map, got two; "
                "leave the sensor out"
            )
        classes = np.zeros_like(images)
        write_classes(simulator, MAP_VOCABULARY, np.flatnonzero(placed), classes)
        return classes

    def _show_known(self, simulator: Simulator, slots: list[int], out: UInt8[np.ndarray, "n k w w"]) -> None:
        """Write the views (N, 14, 64, 64) of `slots` into maps that were made beforehand."""
        camera, _ = simulator.observer.image("depth")
        bodies = simulator.mapped_bodies
        eyes = world_from_camera(bodies, camera)[:, :3, 3]
        for slot in slots:
            world = simulator.slot_worlds.world(slot)
            if world is not None:
                known = survey_semantics(world, simulator.embodiment, self.settings)
                known.storeys.layer[0] = known.storeys.nearest(0, float(bodies.positions[slot, 1]))
                out[slot] = known.views(eyes[slot : slot + 1], bodies.yaws[slot : slot + 1])[0]

    def _make_maps(self, simulator: Simulator) -> SemanticMaps:
        settings = self.settings
        if self.lifetime == "known":  # the slots' own maps stay empty
            settings = replace(settings, size=settings.column, layers=1)
        return SemanticMaps(simulator.slots, settings, simulator.threads)


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
