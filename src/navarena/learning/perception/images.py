"""Labelled images of houses in which every class is seen, kept in the cache folder house by house.

Poses are drawn anywhere on the floor. Of each house more are drawn than kept: its classes take turns, and
each takes a pose from which it is seen, the larger the likelier, so that a sink is learned from as many
images as a bed where the house has both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Float16, Float32, Int32, Int64, UInt8

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator, scene_name
from navarena.core.sources import source_fingerprint
from navarena.learning.perception import choosing
from navarena.learning.perception.choosing import choose_images, count_classes
from navarena.learning.perception.houses import first_scene_ids
from navarena.learning.perception.settings import ImageSettings
from navarena.mapping.vocabularies import class_names, class_table
from navarena.scenes.catalog import scene_hash
from navarena.scenes.packs import content_hash, load_or_build
from navarena.simulation.body import Embodiment
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, open_world
from navarena.tasks.catalog import get_body_task

LOOK_SIZE = (32, 32)
"""(height, width) pixels of the images by which poses are chosen."""

ROWS = 100
"""Images that are drawn in one go."""

DRAWING = "labelled-1"
"""Changes with whatever makes other images of the same settings, beside the source of `choosing`."""


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """K labelled images of one house.

    Attributes:
        rgb: (K, H, W, 3) uint8 sRGB.
        depth: (K, H, W) float16 metres, 0 where nothing was hit.
        classes: (K, H, W) uint8 class numbers (`class_names`).
    """

    rgb: UInt8[np.ndarray, "k h w 3"]
    depth: Float16[np.ndarray, "k h w"]
    classes: UInt8[np.ndarray, "k h w"]

    def __len__(self) -> int:
        return len(self.rgb)


class HouseImages:
    """The images of many houses as one row of examples.

    Args:
        houses: whose images they are, in order.

    Attributes:
        houses: likewise.
    """

    def __init__(self, houses: Sequence[LabelledImages]) -> None:
        self.houses = houses
        sizes = [len(one) for one in houses]
        self._owners = np.repeat(np.arange(len(sizes)), sizes)
        self._places = np.concatenate([np.arange(size) for size in sizes])

    def __len__(self) -> int:
        return len(self._owners)

    def pick(self, chosen: Int64[np.ndarray, "b"], generator: np.random.Generator) -> LabelledImages:
        """Copies of the images `chosen` (B,), depth in metres; half are mirrored, by `generator`."""
        one = [(self.houses[self._owners[k]], self._places[k]) for k in chosen.tolist()]
        is_mirrored = generator.random(len(one)) < 0.5
        parts = []
        for kind in ("rgb", "depth", "classes"):
            part = np.stack([getattr(images, kind)[k] for images, k in one])
            part[is_mirrored] = part[is_mirrored, :, ::-1]
            parts.append(part)
        return LabelledImages(*parts)


def load_all(settings: ImageSettings, seed: int) -> list[LabelledImages]:
    """The images of all train houses of `settings`, as `load_images`."""
    return [load_images(settings, "train", k, seed) for k in range(settings.houses)]


def camera_body(protocol: str, size: tuple[int, int]) -> Embodiment:
    """The body of `protocol` with one camera: where its first one is, with images of `size`, of all kinds."""
    body = get_body_task(protocol).embodiment
    height, width = size
    channels = ("rgb", "depth", "semantic")
    camera = replace(body.cameras[0], name="", width_px=width, height_px=height, channels=channels)
    return replace(body, cameras=(camera,))


def load_images(settings: ImageSettings, split: str, number: int, seed: int = 0) -> LabelledImages:
    """The images of house `number` of `split`, from the cache folder, drawn first where they are not there.

    Args:
        settings: what is drawn.
        split: of the scenes.
        number: of the house, 0 to settings.houses - 1.
        seed: of the poses.

    Raises SceneError for a scene without labels, StorageError when the cache cannot be written.
    """
    scene_id = first_scene_ids(settings.scenes, split, settings.houses)[number]
    protocol = settings.cameras[number % len(settings.cameras)]
    body = camera_body(protocol, settings.size)
    if len(class_names(settings.vocabulary)) > 256:
        raise InputError(f"expected a vocabulary of at most 256 classes, got {settings.vocabulary!r}")
    names = class_names(settings.vocabulary)
    # how many houses there are beside this one changes none of its images
    described = repr((replace(settings, houses=1), body, names, seed))
    # the renderer's source is left out: nobody wants to draw 20,000 images again for each of its changes
    key = content_hash(DRAWING, scene_hash(scene_id), described, source_fingerprint(Path(choosing.__file__)))

    def build() -> tuple[dict[str, np.ndarray], dict[str, str]]:
        images = draw_images(open_world(scene_id, body), body, settings, seed)
        return vars(images), {"scene": scene_id, "camera": protocol}

    arrays = load_or_build("labelled-images", key, build, scene_id).arrays
    return LabelledImages(arrays["rgb"], arrays["depth"], arrays["classes"])


def draw_images(world: World, body: Embodiment, settings: ImageSettings, seed: int) -> LabelledImages:
    """The images of one house, seen through the only camera of `body`.

    Raises SceneError for a scene without labels.
    """
    if not world.scene.has_semantics:
        raise SceneError(
            f"expected labelled objects to learn from, got scene {world.scene_id!r} without semantics; use "
            "generated houses, or scans with their annotation"
        )
    generator = make_generator("labelled-images", seed, scene_name(world.scene_id))
    count = settings.images * settings.candidates
    positions = world.navmesh.random_point(generator, count)
    yaws = generator.uniform(-math.pi, math.pi, count)
    tilts = np.radians(generator.choice(np.array(settings.tilts), count))
    table = class_table(settings.vocabulary, world.scene.categories)
    height, width = LOOK_SIZE
    look = replace(body, cameras=(replace(body.cameras[0], width_px=width, height_px=height),))
    seen = _Views(look, ("semantic",), world, table).draw(positions, yaws, tilts)[2]
    shares = count_classes(seen, len(class_names(settings.vocabulary))) / seen[0].size
    kept = choose_images(shares, settings.images, settings.min_share, generator)
    views = _Views(body, ("rgb", "depth", "semantic"), world, table)
    return LabelledImages(*views.draw(positions[kept], yaws[kept], tilts[kept]))


class _Views:
    """Draws images from poses in one world, ROWS at a time."""

    def __init__(
        self, body: Embodiment, channels: tuple[str, ...], world: World, table: Int32[np.ndarray, "c1"]
    ) -> None:
        self._simulator = Simulator(body, ROWS, (), threads=1, channels=channels)
        self._world, self._channels, self._table = world, channels, table.astype(np.uint8)

    def draw(
        self, positions: Float[np.ndarray, "k 3"], yaws: Float[np.ndarray, "k"], tilts: Float[np.ndarray, "k"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """rgb, depth and classes (K, H, W, ...); empty arrays for channels that were not asked for."""
        parts: list[list[np.ndarray]] = [[], [], []]
        simulator = self._simulator
        for first in range(0, len(yaws), ROWS):
            chosen = slice(first, min(first + ROWS, len(yaws)))
            slots = range(chosen.stop - first)
            worlds = [self._world] * len(slots)
            simulator.place(slots, worlds, positions[chosen], yaws[chosen], tilts[chosen])
            simulator.observer.observe(simulator.slot_worlds)
            for part, channel in zip(parts, ("rgb", "depth", "semantic")):
                if channel in self._channels:
                    part.append(self._convert(channel, simulator.observer.image(channel)[1][: len(slots)]))
        rgb, depth, classes = (np.concatenate(part) if part else np.zeros(0) for part in parts)
        return rgb, depth, classes

    def _convert(self, channel: str, images: np.ndarray) -> np.ndarray:
        """A copy, as LabelledImages holds it."""
        if channel == "semantic":
            return self._table[images]
        # beyond 10 m depth is clipped before it is learned from; far ends of half floats would overflow
        return np.minimum(images, 100.0).astype(np.float16) if channel == "depth" else images.copy()


def depth_image(metres: Float32[np.ndarray, "*k h w"] | Float16[np.ndarray, "*k h w"]) -> np.ndarray:
    """(..., H, W) float32 as segmenters see depth `metres`: 0 to 1 for 0 to 10 m, clipped."""
    return np.clip(metres.astype(np.float32) / np.float32(10), 0, 1)
