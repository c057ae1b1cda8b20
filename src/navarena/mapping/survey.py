"""Maps of whole scenes, made beforehand by looking around everywhere, and kept in the cache folder.

A body of the task stands on places about `SPACING` apart on every storey, turns once around at each, and what
it sees goes into the same maps that bodies fill while they walk. Places on stairs are left out.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Float32, Int32

from navarena.core.errors import SceneError
from navarena.core.sources import source_fingerprint
from navarena.mapping.occupancy import OccupancyMaps, OccupancySettings
from navarena.mapping.semantic_map import SemanticMaps, SemanticMapSettings, label_table
from navarena.mapping.storeys import LEVEL, find_storeys, sample_floor
from navarena.scenes.packs import Pack, content_hash, load_or_build
from navarena.simulation.body import Camera, Embodiment
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World

SPACING = 1.0
"""Metres between two places, at least."""

OVERLAP = 1.25
"""How many times a full turn the images at one place cover together."""

MARGIN = 1.0
"""Metres of a map around the floor."""


@dataclass(frozen=True, eq=False)
class View:
    """One image of a survey.

    Attributes:
        camera: that took it.
        pose: (4, 4) metres, world_from_camera.
        floor: metres, world y of the floor under the body.
        depth: (H, W) float32 metres.
        classes: (H, W) int32 ids into CLASSES of Iterative VLN; all 0 where labels were not asked for.
    """

    camera: Camera
    pose: Float[np.ndarray, "4 4"]
    floor: float
    depth: Float32[np.ndarray, "h w"]
    classes: Int32[np.ndarray, "h w"]


_OCCUPANCY: WeakKeyDictionary[World, dict[tuple[Embodiment, OccupancySettings], OccupancyMaps]] = (
    WeakKeyDictionary()
)
_SEMANTICS: WeakKeyDictionary[World, dict[tuple[Embodiment, SemanticMapSettings], SemanticMaps]] = (
    WeakKeyDictionary()
)


def survey_occupancy(world: World, body: Embodiment, settings: OccupancySettings) -> OccupancyMaps:
    """The occupancy map of a whole scene, one agent's, world frame; a layer for each storey.

    It is computed once and kept in the cache folder; `settings.size` and `layers` become the scene's. Raises
    InputError when the scene needs more than `limit_bytes`, SceneError when there is no storey.
    """
    kept = _OCCUPANCY.setdefault(world, {})
    if (body, settings) not in kept:
        floors, middle, size = _extent(world)
        maps = OccupancyMaps(1, replace(settings, size=size, layers=len(floors)), threads=1)
        maps.reset([0], middle[None])
        pack = _load("occupancy", world, body, repr(settings), lambda: _carve_all(world, body, maps))
        maps.scores[0], maps.boxes[0] = pack.arrays["scores"], [0, maps.settings.side] * 2
        maps.floors[0] = pack.arrays["floors"]
        kept[body, settings] = maps
    return kept[body, settings]


def survey_semantics(world: World, body: Embodiment, settings: SemanticMapSettings) -> SemanticMaps:
    """The semantic map of a whole scene, one body's, world frame; a layer for each storey.

    As `survey_occupancy`; raises SceneError for a scene without labels, too.
    """
    kept = _SEMANTICS.setdefault(world, {})
    if (body, settings) not in kept:
        if not world.scene.has_semantics:
            raise SceneError(
                f"expected labelled objects for a semantic map, got scene {world.scene_id!r} without "
                "semantics; use a generated house, or a scan with its annotation"
            )
        floors, middle, size = _extent(world)
        maps = SemanticMaps(1, replace(settings, size=size, layers=len(floors)), threads=1)
        maps.reset([0], middle[None])
        table = label_table(world.scene.categories)
        described = f"{settings!r} {table.tolist()}"
        pack = _load("semantics", world, body, described, lambda: _collect_all(world, body, maps))
        maps.cloud[0], maps.labels[0] = pack.arrays["cloud"], pack.arrays["labels"]
        maps.storeys.floors[0] = pack.arrays["floors"]
        kept[body, settings] = maps
    return kept[body, settings]


def choose_places(world: World) -> Float[np.ndarray, "p 3"]:
    """(P, 3) metres: places on the storeys, none nearer than SPACING to another."""
    points = sample_floor(world.navmesh)
    floors = find_storeys(points)
    points = points[np.abs(points[:, 1, None] - floors).min(1) < LEVEL]
    chosen = np.zeros(len(points), bool)
    is_left = np.ones(len(points), bool)
    while is_left.any():
        one = int(np.argmax(is_left))
        chosen[one] = True
        is_left &= ((points - points[one]) ** 2).sum(1) >= SPACING**2
    return points[chosen]


def look_everywhere(world: World, body: Embodiment, labels: bool) -> Iterator[View]:
    """The images of a survey, of the body's first camera that takes depth; with labels if asked for."""
    channels = ("depth", "semantic") if labels else ("depth",)
    camera = next(camera for camera in body.cameras if set(channels) <= set(camera.channels))
    count = math.ceil(OVERLAP * 2 * math.pi / camera.hfov)
    simulator = Simulator(body, count, channels=channels)
    yaws = np.arange(count) * (2 * math.pi / count)
    table = label_table(world.scene.categories if labels else ())
    for place in choose_places(world):
        simulator.place(range(count), [world] * count, np.tile(place, (count, 1)), yaws)
        simulator.observer.observe(simulator.slot_worlds)
        _, depths = simulator.observer.image("depth")
        poses = simulator.observer.world_from_camera(camera)
        shown = simulator.observer.image("semantic")[1] if labels else np.zeros(depths.shape, np.int32)
        for k in range(count):
            yield View(camera, poses[k], float(place[1]), depths[k], table[shown[k]])


def _extent(world: World) -> tuple[Float[np.ndarray, "l"], Float[np.ndarray, "2"], float]:
    """(L,) metres, the storeys; (2,) x and z of the middle of the floor; metres, the side of its map."""
    low, high = np.array(world.navmesh.bounds)
    middle, span = (low + high)[[0, 2]] / 2, (high - low)[[0, 2]]
    return find_storeys(sample_floor(world.navmesh)), middle, float(np.ceil(span.max() + 2 * MARGIN))


def _load(
    kind: str, world: World, body: Embodiment, settings: str, build: Callable[[], dict[str, np.ndarray]]
) -> Pack:
    """The arrays that `build` makes, from the cache folder where they are there."""
    scene, navmesh = world.scene, world.navmesh
    key = content_hash(
        scene.vertices,
        scene.triangles,
        scene.triangle_object,
        repr(scene.objects),
        navmesh.vertices,
        navmesh.triangles,
        repr(body),
        settings,
        source_fingerprint(Path(__file__)),
    )
    return load_or_build(f"{kind}-map", key, lambda: (build(), {}), world.scene_id)


def _carve_all(world: World, body: Embodiment, maps: OccupancyMaps) -> dict[str, np.ndarray]:
    """Arrays `scores` (L, R, C) int8 and `floors` (L,) metres of a map filled by a survey."""
    for view in look_everywhere(world, body, labels=False):
        maps.update(view.depth[None], view.camera, view.pose[None], np.array([view.floor]))
    return {"scores": maps.scores[0], "floors": maps.floors[0]}


def _collect_all(world: World, body: Embodiment, maps: SemanticMaps) -> dict[str, np.ndarray]:
    """Arrays `cloud` (L, R, C, 3) float32 metres, `labels` (L, R, C) uint8 and `floors` (L,) metres."""
    for view in look_everywhere(world, body, labels=True):
        maps.update(
            view.depth[None], view.classes[None], view.camera, view.pose[None], np.array([view.floor])
        )
    return {"cloud": maps.cloud[0], "labels": maps.labels[0], "floors": maps.storeys.floors[0]}
