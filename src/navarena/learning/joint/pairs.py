"""Crops of objects in houses and the words for them, kept in the cache folder house by house."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from jaxtyping import Bool, Float, Int32, UInt8

from navarena.core.geometry import rotation_from_quaternion, rotation_from_yaw_pitch
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.goat.appearance import describable_attributes, name_with
from navarena.episodes.goat.descriptions import Describer
from navarena.episodes.goat.names import names_for, names_of_split
from navarena.episodes.goat.rewording import find_describer
from navarena.episodes.goat.scene_goals import find_scene_goals
from navarena.episodes.goat.settings import EYE_HEIGHT
from navarena.episodes.goat.wording import word_description
from navarena.learning.joint.settings import PairSettings
from navarena.learning.perception.houses import first_scene_ids
from navarena.scenes.catalog import scene_hash
from navarena.scenes.packs import content_hash, load_or_build
from navarena.scenes.scene import SceneObject
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_body_task

RENDERED_PX = 192
"""Side of the images that are cropped."""

VIEW_HFOV = math.radians(60)
"""Radians, of images from view points: what the tall camera of GOAT-Bench sees upwards."""

MIN_PIXELS = 48
"""Of an object in an image; smaller ones are left out."""

TRIES = 3
"""Images that are drawn for each that is kept at most."""

DRAWING = "joint-pairs-1"
"""Changes with whatever makes other crops or words of the same settings."""


@dataclass(frozen=True, eq=False)
class HousePairs:
    """The objects of one house that have names: C crops of O objects.

    Attributes:
        crops: (C, side, side, 3) uint8 sRGB.
        owners: (C,) int32 place of the object that a crop shows.
        is_goal: (C,) bool, whether it was seen through the camera of a goal's image.
        is_whole: (C,) bool, whether the image was left uncropped.
        categories: of each object, as the scene calls it.
        names: of each object, those of the benchmark.
        descriptions: of each object, wordings; none where no words distinguish it.
        facts: of each object, its category, attributes and room in words, as the scene has them.
    """

    crops: UInt8[np.ndarray, "c s s 3"]
    owners: Int32[np.ndarray, "c"]
    is_goal: Bool[np.ndarray, "c"]
    is_whole: Bool[np.ndarray, "c"]
    categories: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    descriptions: tuple[tuple[str, ...], ...]
    facts: tuple[str, ...]


def load_pairs(settings: PairSettings, split: str, number: int, seed: int = 0) -> HousePairs:
    """The pairs of house `number` of `split`, from the cache folder, drawn first where they are not there.

    Raises InputError when the split has fewer houses, SceneError for a scene without labels, StorageError
    when the cache cannot be written.
    """
    scene_id = first_scene_ids(settings.scenes, split, number + 1)[number]
    described = repr((replace(settings, houses=1), names_of_split(settings.names), seed))
    key = content_hash(DRAWING, scene_hash(scene_id), described)

    def build() -> tuple[dict[str, np.ndarray], dict[str, object]]:
        pairs = draw_pairs(open_world(scene_id, get_body_task("goat-v1").embodiment), settings, seed)
        texts = {name: getattr(pairs, name) for name in ("categories", "names", "descriptions", "facts")}
        return {name: value for name, value in vars(pairs).items() if name not in texts}, texts

    pack = load_or_build("joint-pairs", key, build, scene_id)
    names, descriptions = (tuple(tuple(own) for own in pack.meta[name]) for name in ("names", "descriptions"))
    categories, facts = tuple(pack.meta["categories"]), tuple(pack.meta["facts"])
    return HousePairs(
        **pack.arrays, categories=categories, names=names, descriptions=descriptions, facts=facts
    )


def draw_pairs(world: World, settings: PairSettings, seed: int) -> HousePairs:
    """Render the pairs of one house; raises SceneError for a scene without labels."""
    generator = make_generator("joint-pairs", seed, scene_name(world.scene_id))
    goals, listed = find_scene_goals(world), names_of_split(settings.names)
    offered, describer = set(goals.objects.tolist()), find_describer(world)
    crops, owners, kinds = [], [], []
    objects: list[tuple[SceneObject, tuple[str, ...]]] = []
    renderer = _CropRenderer(world, settings, generator)
    for obj in world.scene.objects:
        names = names_for(obj, listed)
        if obj.object_id not in offered or not names:
            continue
        taken = renderer.take(obj)
        if not taken:
            continue
        for image, is_goal, is_whole in taken:
            crops.append(image)
            kinds.append((is_goal, is_whole))
            owners.append(len(objects))
        objects.append((obj, tuple(names)))
    side = settings.side
    marks = np.array(kinds, bool).reshape(len(kinds), 2)
    return HousePairs(
        np.array(crops, np.uint8).reshape(len(crops), side, side, 3),
        np.array(owners, np.int32),
        marks[:, 0],
        marks[:, 1],
        tuple(obj.category for obj, _ in objects),
        tuple(names for _, names in objects),
        tuple(_describe(describer, obj, names, settings.wordings, generator) for obj, names in objects),
        tuple(_state(describer, obj) for obj, _ in objects),
    )


def _state(describer: Describer, obj: SceneObject) -> str:
    """The facts of an object in words: "white sofa in the study"."""
    text, room = (
        name_with(obj.category.replace("_", " "), describable_attributes(obj)),
        describer.room_of(obj),
    )
    return f"{text} in the {room.replace('_', ' ')}" if room else text


def _describe(
    describer: Describer, obj: SceneObject, names: Sequence[str], count: int, generator: np.random.Generator
) -> tuple[str, ...]:
    """Up to `count` wordings of what distinguishes an object under a name; none where nothing does."""
    if not describer.can_describe(obj.object_id):
        return ()
    texts = []
    for _ in range(count):
        known = describer.describe(obj.object_id, names[int(generator.integers(len(names)))])
        if known is not None:
            texts.append(word_description(known, generator))
    return tuple(dict.fromkeys(texts))


class _CropRenderer:
    """Takes crops of objects of one world."""

    def __init__(self, world: World, settings: PairSettings, generator: np.random.Generator) -> None:
        self._goals, self._settings, self._generator = find_scene_goals(world), settings, generator
        self._renderer = VisibilityRenderer([world.render_mesh])

    def take(self, obj: SceneObject) -> list[tuple[np.ndarray, bool, bool]]:
        """(crop, whether through a goal's camera, whether uncropped) of an object; none of a hidden one."""
        shots = self._settings.views
        cameras = self._goals.images(obj.object_id)
        taken: list[tuple[np.ndarray, bool, bool]] = []
        for k in range(shots // 2 if cameras else 0):
            image = cameras[int(self._generator.integers(len(cameras)))]
            rotation = rotation_from_quaternion(np.array(image.rotation))
            is_whole = k > 0 and self._generator.random() < self._settings.whole
            crop = self._render_crop(
                obj.object_id, np.array(image.position, float), rotation, image.hfov, is_whole
            )
            taken += [] if crop is None else [(crop, True, is_whole)]
        rows = self._goals.views.rows_of_objects([obj.object_id])
        for _ in range(TRIES * shots):
            if len(taken) >= shots or not len(rows):
                break
            row = int(rows[self._generator.integers(len(rows))])
            eye = self._goals.views.positions[row] + np.array([0.0, EYE_HEIGHT, 0.0])
            offset = np.array(obj.center) - eye
            pitch = math.atan2(offset[1], math.hypot(offset[0], offset[2]))
            jitter = self._generator.normal(0.0, 0.12, 2)
            yaw = float(self._goals.views.yaws[row]) + jitter[0]
            rotation = rotation_from_yaw_pitch(yaw, float(np.clip(pitch + jitter[1], -1.2, 1.2)))
            crop = self._render_crop(obj.object_id, eye, rotation, VIEW_HFOV, False)
            taken += [] if crop is None else [(crop, False, False)]
        return taken if len(taken) > 1 else []

    def _render_crop(
        self, number: int, eye: Float[np.ndarray, "3"], rotation: np.ndarray, hfov: float, is_whole: bool
    ) -> UInt8[np.ndarray, "s s 3"] | None:
        """The crop of object `number` in a camera's image; None if too little of it is visible."""
        camera = Camera(width_px=RENDERED_PX, height_px=RENDERED_PX, hfov=hfov)
        rgb = np.zeros((1, RENDERED_PX, RENDERED_PX, 3), np.uint8)
        instance = np.zeros((1, RENDERED_PX, RENDERED_PX), np.int32)
        views = Views(camera, np.zeros(1, np.int32), eye[None], rotation[None])
        self._renderer.render(views, Frames(rgb=rgb, instance=instance))
        mask = instance[0] == number
        if np.count_nonzero(mask) < MIN_PIXELS:
            return None
        side = (self._settings.side,) * 2
        if is_whole:
            return np.asarray(cv2.resize(rgb[0], side, interpolation=cv2.INTER_AREA), np.uint8)
        margin = float(self._generator.uniform(0, self._settings.margin))
        return scale_crop(rgb[0], mask, margin, self._settings.side)


def scale_crop(
    image: UInt8[np.ndarray, "h w 3"], mask: Bool[np.ndarray, "h w"], margin: float, side: int
) -> UInt8[np.ndarray, "s s 3"]:
    """(side, side, 3) uint8: the box around what `mask` marks, with the share `margin` of it around, scaled.

    Args:
        image: sRGB.
        mask: with at least one pixel.
        margin: of the box's longer side, on each of its sides.
        side: pixels.
    """
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    more = round(margin * max(rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1))
    top, left = max(int(rows[0]) - more, 0), max(int(columns[0]) - more, 0)
    cut = np.ascontiguousarray(image[top : int(rows[-1]) + more + 1, left : int(columns[-1]) + more + 1])
    return np.asarray(cv2.resize(cut, (side, side), interpolation=cv2.INTER_AREA), np.uint8)
