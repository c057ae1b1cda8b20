"""View points: where a body that stops has an object before it, found by rendering.

The rules are those of the episode sets of the Habitat challenges, as far as they are known (the
generator was never published; its descendants and the published files agree on them):

1. a grid over the object's axis-aligned box, 1 m wider on all sides, at the height of its centre,
   with a spacing of half the body's radius, or as the settings say;
2. kept where the oriented box is at most 1 m away, and where a floor is found within 2 m below, on an
   island of a radius of at least 1.5 m;
3. the body looks at the object's centre; its coverage is the sum over three renders of the share of
   pixels that show the object. In the original the camera's tilt was reset between the renders, so all
   three look level; `tilts` gives other views;
4. kept where coverage is above `min_coverage`. Objects without a view point are no goals.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Float32, Int, Int32, Int64

from navarena.core.elementary import arctan2
from navarena.core.errors import SceneError
from navarena.core.sources import source_fingerprint
from navarena.episodes.goal_words import word_for
from navarena.scenes.packs import Pack, content_hash, load_or_build
from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Embodiment
from navarena.simulation.instance_images import Nearness, count_pixels, object_boxes, render_instances
from navarena.simulation.world import World

PROBED_BELOW = 2.0
"""Metres below the centre of an object within which a floor is looked for."""


@dataclass(frozen=True)
class ViewPointSettings:
    """The rules above, in numbers.

    Attributes:
        categories: of the objects that are looked for.
        embodiment: the body; its first camera is the one that looks.
        reach: metres from the oriented box.
        min_island_radius: metres.
        width_px, height_px: of the images whose pixels are counted. The published sets counted at
            640 x 480. A sixteenth of their pixels takes an eighth of the time and finds the same: of 17,303
            view points in two houses of `houses-v1` it misses 11 (each shows fewer than 50 of 307,200
            pixels), and no object; one pixel here is a coverage of 1.6e-4, below the threshold of 1e-3
            that the generator's descendants apply.
        tilts: radians, upwards, of the three renders.
        min_coverage: coverage must be above it.
        nearness: of the pixels that count; None for any distance.
        spacing: metres, of the grid; None for half the body's radius.
    """

    categories: tuple[str, ...]
    embodiment: Embodiment
    reach: float = 1.0
    min_island_radius: float = 1.5
    width_px: int = 160
    height_px: int = 120
    tilts: tuple[float, ...] = (0.0, 0.0, 0.0)
    min_coverage: float = 0.0
    nearness: Nearness | None = None
    spacing: float | None = None


@dataclass(frozen=True)
class SceneViewPoints:
    """The view points of all goals of a scene.

    Attributes:
        objects: (O,) int32 object ids, rising, of those with a view point.
        categories: of each of them.
        first: (O + 1,) int64: the view points of object k are rows first[k] to first[k + 1] - 1.
        positions: (V, 3) float64 metres, world frame, on the floor.
        yaws: (V,) float64 radians, towards the object's centre.
        coverage: (V,) float32, falling within each object.
        hash: 16 hex digits of all that.
    """

    objects: Int32[np.ndarray, "o"]
    categories: tuple[str, ...]
    first: Int64[np.ndarray, "o1"]
    positions: Float[np.ndarray, "v 3"]
    yaws: Float[np.ndarray, "v"]
    coverage: Float32[np.ndarray, "v"]
    hash: str

    def rows_of(self, category: str) -> Int64[np.ndarray, "k"]:
        """(K,) int64 indices of the view points of all objects of `category`."""
        chosen = [k for k, name in enumerate(self.categories) if name == category]
        ranges = [np.arange(self.first[k], self.first[k + 1]) for k in chosen]
        return np.concatenate(ranges) if ranges else np.zeros(0, np.int64)

    def rows_of_objects(self, numbers: Sequence[int]) -> Int64[np.ndarray, "k"]:
        """(K,) int64 indices of the view points of the objects with these ids."""
        ranges = [
            np.arange(self.first[k], self.first[k + 1])
            for k in np.flatnonzero(np.isin(self.objects, numbers))
        ]
        return np.concatenate(ranges) if ranges else np.zeros(0, np.int64)

    def owner_of(self, row: int) -> int:
        """The id of the object that view point `row` belongs to."""
        return int(self.objects[np.searchsorted(self.first, row, side="right") - 1])


@dataclass(frozen=True)
class _Candidates:
    """Poses that may turn out to be view points: (C,) each; positions (C, 3)."""

    owner: Int32[np.ndarray, "c"]
    positions: Float[np.ndarray, "c 3"]
    yaws: Float[np.ndarray, "c"]


_KEPT: WeakKeyDictionary[World, dict[ViewPointSettings, SceneViewPoints]] = WeakKeyDictionary()


def find_view_points(world: World, settings: ViewPointSettings) -> SceneViewPoints:
    """The view points of a world, computed once and kept in the cache folder.

    Raises SceneError for a scene whose triangles are not labelled with objects.
    """
    kept = _KEPT.setdefault(world, {})
    if settings not in kept:
        kept[settings] = _from_pack(_load(world, settings))
    return kept[settings]


def hash_labelled_scene(world: World) -> str:
    """Names what view points and goals depend on: geometry, labels, objects and floor.

    Raises SceneError for a scene whose triangles are not labelled with objects.
    """
    scene, navmesh = world.scene, world.navmesh
    if not scene.has_semantics:
        raise SceneError(
            f"expected labelled objects for object goals, got scene {world.scene_id!r} without semantics; "
            "use a generated house, or a scan with its annotation"
        )
    return content_hash(
        scene.vertices,
        scene.triangles,
        scene.triangle_object,
        repr(scene.objects),
        navmesh.vertices,
        navmesh.triangles,
    )


def _load(world: World, settings: ViewPointSettings) -> Pack:
    key = content_hash(hash_labelled_scene(world), repr(settings), source_fingerprint(Path(__file__)))
    return load_or_build(
        "view-points", key, lambda: (compute_view_points(world, settings), {}), world.scene_id
    )


def compute_view_points(world: World, settings: ViewPointSettings) -> dict[str, np.ndarray]:
    """Compute `objects`, `first`, `positions` (metres), `yaws` and `coverage` of SceneViewPoints."""
    objects = [obj for obj in world.scene.objects if word_for(obj, settings.categories) is not None]
    candidates = _find_candidates(world, objects, settings)
    coverage = _measure_coverage(world, candidates, settings)
    seen = np.flatnonzero(coverage > settings.min_coverage)
    order = seen[np.lexsort((seen, -coverage[seen], candidates.owner[seen]))]
    numbers, counts = np.unique(candidates.owner[order], return_counts=True)
    return {
        "objects": numbers.astype(np.int32),
        "first": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "positions": candidates.positions[order],
        "yaws": candidates.yaws[order],
        "coverage": coverage[order],
        "names": np.frombuffer("\n".join(_names(objects, numbers, settings.categories)).encode(), np.uint8),
    }


def _names(objects: Sequence[SceneObject], numbers: Int[np.ndarray, "o"], words: Sequence[str]) -> list[str]:
    """The benchmark's word for each of the objects with these ids."""
    names = {obj.object_id: word_for(obj, words) or "" for obj in objects}
    return [names[number] for number in numbers.tolist()]


def _from_pack(pack: Pack) -> SceneViewPoints:
    arrays = {name: np.asarray(array) for name, array in pack.arrays.items()}
    text = arrays.pop("names").tobytes().decode()
    digest = content_hash(*(arrays[name] for name in sorted(arrays)), text)[:16]
    return SceneViewPoints(categories=tuple(text.split("\n")) if text else (), hash=digest, **arrays)


def _find_candidates(
    world: World, objects: Sequence[SceneObject], settings: ViewPointSettings
) -> _Candidates:
    """Rules 1 and 2, and the yaw of rule 3, for all `objects`."""
    spacing = settings.embodiment.radius / 2 if settings.spacing is None else settings.spacing
    grids = [_grid_around(obj, settings.reach, spacing) for obj in objects]
    owner = np.repeat(np.array([obj.object_id for obj in objects], np.int32), [len(grid) for grid in grids])
    points = np.concatenate([np.zeros((0, 3)), *grids])
    centers = np.repeat(
        np.array([obj.center for obj in objects], float).reshape(-1, 3), [len(grid) for grid in grids], 0
    )
    floor, feet = find_floor(world, points, settings.min_island_radius)
    towards = centers[floor] - feet
    return _Candidates(owner[floor], feet, arctan2(-towards[:, 0], -towards[:, 2]))


def find_floor(
    world: World, points: Float[np.ndarray, "p 3"], min_island_radius: float
) -> tuple[Int64[np.ndarray, "k"], Float[np.ndarray, "k 3"]]:
    """Floor positions for a body within PROBED_BELOW under `points` (P, 3), metres, world frame.

    Returns (K,) their rows and (K, 3) metres the foot points; `min_island_radius` in metres.
    """
    probes = points - [0.0, PROBED_BELOW / 2, 0.0]
    rows = np.flatnonzero(world.navmesh.is_navigable(probes, PROBED_BELOW / 2))
    feet = world.navmesh.snap_point(probes[rows])
    large = world.navmesh.island_radius(feet) >= min_island_radius
    return rows[large], feet[large]


def _grid_around(obj: SceneObject, reach: float, spacing: float) -> Float[np.ndarray, "g 3"]:
    """(G, 3) metres: the grid points at the height of the centre whose box is at most `reach` away."""
    cosine, sine = np.cos(obj.yaw), np.sin(obj.yaw)
    half_x, _, half_z = obj.half_size
    extent_x = abs(cosine) * half_x + abs(sine) * half_z + reach
    extent_z = abs(sine) * half_x + abs(cosine) * half_z + reach
    east, south = np.meshgrid(
        np.arange(-extent_x, extent_x + spacing / 2, spacing),
        np.arange(-extent_z, extent_z + spacing / 2, spacing),
        indexing="ij",
    )
    plan = np.stack([east.reshape(-1), south.reshape(-1)], 1)
    away = box_distance(obj, np.insert(plan, 1, 0.0, axis=1) + obj.center)
    plan = plan[away <= reach]
    return np.insert(plan, 1, 0.0, axis=1) + obj.center


def box_distance(obj: SceneObject, points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k"]:
    """(K,) metres from `points` (K, 3), world frame, to the oriented box of an object; 0 inside."""
    offset = np.asarray(points, float) - obj.center
    cosine, sine = np.cos(obj.yaw), np.sin(obj.yaw)
    own = np.stack(
        [
            cosine * offset[:, 0] - sine * offset[:, 2],
            offset[:, 1],
            sine * offset[:, 0] + cosine * offset[:, 2],
        ],
        1,
    )
    outside = np.maximum(np.abs(own) - obj.half_size, 0.0)
    return np.linalg.norm(outside, axis=1)


def _measure_coverage(
    world: World, candidates: _Candidates, settings: ViewPointSettings
) -> Float32[np.ndarray, "c"]:
    """(C,) the sum over the renders of the share of pixels that show each candidate's object."""
    camera = replace(settings.embodiment.cameras[0], width_px=settings.width_px, height_px=settings.height_px)
    count = len(candidates.owner)
    tilts, times = np.unique(settings.tilts, return_counts=True)
    shares = np.zeros(count)
    boxes = object_boxes(world.scene, candidates.owner)
    for tilt, weight in zip(tilts.tolist(), times.tolist()):
        poses = (candidates.positions, candidates.yaws, np.full(count, tilt))
        for first, last, images in render_instances(world, camera, *poses, settings.nearness, boxes):
            counts = np.zeros(last - first)
            count_pixels(images, candidates.owner[first:last], counts)
            shares[first:last] += weight * (counts / (camera.width_px * camera.height_px))
    return shares.astype(np.float32)
