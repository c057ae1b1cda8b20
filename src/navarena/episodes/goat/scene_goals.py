"""All goals of a scene: by category, by image and by description, with their view points."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int32, Int64

from navarena.core.sources import source_fingerprint
from navarena.episodes.goal_words import word_for
from navarena.episodes.goals import GoalImage
from navarena.episodes.goat.candidate_views import find_candidate_views, measure_candidate_views
from navarena.episodes.goat.contexts import find_contexts
from navarena.episodes.goat.image_cameras import ImageCameras, find_image_cameras
from navarena.episodes.goat.settings import GOAL_CATEGORIES, MIN_COVERAGE, find_goal_view_points
from navarena.episodes.view_points import SceneViewPoints, hash_labelled_scene
from navarena.scenes.packs import Pack, content_hash, load_or_build
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World

NO_VIEW_POINT = "no view point"
TOO_SMALL = "fills at most 5 % of every image"
NO_IMAGE = "no camera shows it whole and large enough"
NO_SIGHT = "fills at most 10 % of every image from 1 m on"
LONELY = "fewer than two kinds of objects around it"


@dataclass(frozen=True)
class Dropped:
    """A goal that a scene does not pool.

    Attributes:
        object_id: of the scene.
        category: of the scene.
        modality: "object", "image" or "description".
        reason: why.
    """

    object_id: int
    category: str
    modality: str
    reason: str


@dataclass(frozen=True)
class DescriptionView:
    """The view of an object from which it is described.

    Attributes:
        eye: (x, y, z) metres, world frame.
        neighbours: ids of the objects that the image shows besides, largest first.
    """

    eye: tuple[float, float, float]
    neighbours: tuple[int, ...]


@dataclass(frozen=True)
class SceneGoals:
    """The goals of one scene.

    Attributes:
        views: the view points of all that can be looked at; goals are those of `objects`.
        objects: (O,) int32 object ids, rising, of the goals by category.
        cameras: of the goals by image.
        described: object id -> where it is looked at, of what can be described in words.
        dropped: what is not on offer, and why.
    """

    views: SceneViewPoints
    objects: Int32[np.ndarray, "o"]
    cameras: ImageCameras
    described: dict[int, DescriptionView]
    dropped: tuple[Dropped, ...]

    @cached_property
    def _camera_rows(self) -> dict[int, Int64[np.ndarray, "k"]]:
        return {
            number: np.flatnonzero(self.cameras.owner == number)
            for number in np.unique(self.cameras.owner).tolist()
        }

    def images(self, object_id: int) -> tuple[GoalImage, ...]:
        """The cameras that show an object; empty where no image of it is good enough."""
        rows = self._camera_rows.get(object_id, np.zeros(0, np.int64))
        return tuple(self.cameras.image(row) for row in rows.tolist())

    def has_image(self, object_id: int) -> bool:
        """Whether an object has a goal image."""
        return object_id in self._camera_rows


_KEPT: WeakKeyDictionary[World, SceneGoals] = WeakKeyDictionary()


def find_scene_goals(world: World) -> SceneGoals:
    """The goals of a world of Stretch, computed once and kept in the cache folder.

    Raises SceneError for a scene whose triangles are not labelled with objects.
    """
    if world not in _KEPT:
        views = find_goal_view_points(world)
        key = content_hash(hash_labelled_scene(world), world.scene_id, source_fingerprint(Path(__file__)))
        pack = load_or_build(
            "goat-goals", key, lambda: (compute_scene_goals(world, views), {}), world.scene_id
        )
        _KEPT[world] = _from_pack(world, views, pack)
    return _KEPT[world]


def compute_scene_goals(world: World, views: SceneViewPoints) -> dict[str, np.ndarray]:
    """Compute the arrays of SceneGoals and of its parts (shapes and units there) by rendering."""
    seen = set(views.objects.tolist())
    visible = [obj for obj in world.scene.objects if obj.object_id in seen]
    candidates = find_candidate_views(world, visible)
    shares = measure_candidate_views(world, candidates)
    objects = np.unique(candidates.owner[shares > MIN_COVERAGE])
    goals = [obj for obj in visible if obj.object_id in set(objects.tolist())]
    cameras = find_image_cameras(world, goals, candidates.take(np.isin(candidates.owner, objects)))
    contexts = find_contexts(world, candidates, shares, objects)
    arrays = {f"camera_{name}": values for name, values in vars(cameras).items()}
    return {"objects": objects.astype(np.int32), **arrays, **vars(contexts)}


def _from_pack(world: World, views: SceneViewPoints, pack: Pack) -> SceneGoals:
    arrays = {name: np.asarray(array) for name, array in pack.arrays.items()}
    cameras = ImageCameras(
        **{
            name.removeprefix("camera_"): array
            for name, array in arrays.items()
            if name.startswith("camera_")
        }
    )
    described = _sights(arrays["owner"], arrays["eyes"], arrays["first"], arrays["neighbours"])
    objects = arrays["objects"]
    dropped = tuple(_explain(world, views, set(objects.tolist()), cameras, arrays["owner"], described))
    return SceneGoals(views, objects, cameras, described, dropped)


def _sights(
    owner: Int32[np.ndarray, "d"],
    eyes: Float[np.ndarray, "d 3"],
    first: Int64[np.ndarray, "d1"],
    neighbours: Int32[np.ndarray, "n"],
) -> dict[int, DescriptionView]:
    """Object id -> candidate view, of those with something around them."""
    found = {}
    for k, (number, (x, y, z)) in enumerate(zip(owner.tolist(), eyes.tolist())):
        around = tuple(neighbours[first[k] : first[k + 1]].tolist())
        if around:
            found[number] = DescriptionView((x, y, z), around)
    return found


def _explain(
    world: World,
    views: SceneViewPoints,
    objects: set[int],
    cameras: ImageCameras,
    sighted: Int32[np.ndarray, "d"],
    described: dict[int, DescriptionView],
) -> list[Dropped]:
    """Every missing goal with its reason; objects that are no goal by category are left out."""
    in_view, shown, seen = set(views.objects.tolist()), set(cameras.owner.tolist()), set(sighted.tolist())
    dropped = []
    for obj in goal_objects(world):
        number = obj.object_id
        if number not in objects:
            reason = TOO_SMALL if number in in_view else NO_VIEW_POINT
            dropped.append(Dropped(number, obj.category, "object", reason))
            continue
        if number not in shown:
            dropped.append(Dropped(number, obj.category, "image", NO_IMAGE))
        if number not in described:
            reason = LONELY if number in seen else NO_SIGHT
            dropped.append(Dropped(number, obj.category, "description", reason))
    return dropped


def goal_objects(world: World) -> list[SceneObject]:
    """Objects of a scene whose category can be a goal of the benchmark."""
    return [obj for obj in world.scene.objects if word_for(obj, GOAL_CATEGORIES) is not None]


def count_dropped(dropped: tuple[Dropped, ...]) -> dict[str, int]:
    """Modality and reason, as one text -> how many goals."""
    return dict(Counter(f"{one.modality}: {one.reason}" for one in dropped).most_common())
