"""Static recognition under corruptions: which object a picture shows, and which corruption changed an image.

A frozen trunk (EfficientNet-Lite0) makes features of single images, and linear probes, fitted in train
scenes, read them. RobustNav's appendix recognises ImageNet's objects under the same corruptions, to show
that those that hurt recognition are not those that hurt navigation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from jaxtyping import Float, Int64, UInt8
from scipy import ndimage

from navarena.core.errors import InputError
from navarena.core.seeding import make_generator
from navarena.corruptions.catalog import find_corruption, write_corruption
from navarena.corruptions.corruption import ImageCorruption
from navarena.learning.perception.images import LabelledImages, load_images
from navarena.learning.perception.lite0 import FrozenTrunk
from navarena.learning.perception.probing import fit_probe, score_probe
from navarena.learning.perception.settings import ImageSettings
from navarena.mapping.vocabularies import class_names

CLEAN = "clean"

VISUAL = ("defocus_blur:5", "motion_blur:5", "spatter:5", "lighting:5", "speckle_noise:5", "camera_crack")
"""RobustNav's corruptions of images; its lower field of view changes the camera, not a picture."""


def _see() -> ImageSettings:
    return ImageSettings(
        vocabulary="robothor",
        cameras=("robustnav-objectnav-v1",),
        size=(192, 256),
        scenes="robothor-like-v1",
        houses=12,
        images=40,
        tilts=(0.0, 0.0, -30.0),
    )


@dataclass(frozen=True)
class RecognitionSettings:
    """Settings of static recognition.

    Attributes:
        images: images of the scenes, their size, and whose words the objects are called by; `houses` are
            those of each split.
        crop_px: side of the pictures of single objects.
        image_size: (height, width) pixels at which whole images are encoded.
        margin: of a picture around its object, as a share of the object's longer side.
        min_pixels: of an object's visible part; smaller ones make no picture.
        penalty: of the probe (see fit_probe).
        together: images of one scene whose evidence is added before the corruption is named.
        seed: of images and corruptions.
    """

    images: ImageSettings = field(default_factory=_see)
    crop_px: int = 128
    image_size: tuple[int, int] = (96, 128)
    margin: float = 0.15
    min_pixels: int = 200
    penalty: float = 1.0
    together: int = 16
    seed: int = 0


@dataclass(frozen=True)
class Recognised:
    """How often a probe was right under one corruption.

    Attributes:
        corruption: "clean", or name and severity.
        n: pictures of objects.
        right: of them, how many were called by the right class.
        images: whole images.
        identified: of them, how many were found to have this corruption, each image by itself.
        groups: sets of images of one scene.
        identified_together: of them, how many were found to have it, all images of a set together.
    """

    corruption: str
    n: int
    right: int
    images: int
    identified: int
    groups: int
    identified_together: int

    @property
    def accuracy(self) -> float:
        """Share of the objects that are recognised."""
        return self.right / self.n


def score_recognition(
    trunk: FrozenTrunk,
    settings: RecognitionSettings | None = None,
    corruptions: Sequence[str] = VISUAL,
    splits: tuple[str, str] = ("train", "val"),
) -> list[Recognised]:
    """Recognition of objects, and of the corruption, clean and under each of `corruptions`.

    The probe of objects is fitted on clean pictures of the first split, that of corruptions on images of the
    first split under all of them. Both are scored in the second.

    Args:
        trunk: makes the features.
        settings: None for the defaults.
        corruptions: of images, each as "name:severity".
        splits: of the scenes.

    Raises InputError for other corruptions, and where the scenes show no object of the vocabulary.
    """
    settings = settings or RecognitionSettings()
    names = (CLEAN, *map(write_corruption, corruptions))
    for name in names[1:]:
        if not isinstance(find_corruption(name), ImageCorruption):
            raise InputError(f"expected corruptions of images, such as {VISUAL[0]!r}, got {name!r}")
    fit, test = splits
    pictures, shown = _encode_objects(trunk, settings, fit, CLEAN)
    known = np.unique(shown)
    if len(known) < 2:
        raise InputError(
            f"expected objects of two classes of {settings.images.vocabulary!r} at least in "
            f"{settings.images.scenes}/{fit}, got {len(known)}; draw more images"
        )
    of_objects = fit_probe(pictures, shown[:, None] == known[None], settings.penalty)
    learned = [_encode_images(trunk, settings, fit, name)[0] for name in names]
    present = np.repeat(np.eye(len(names), dtype=bool), [len(one) for one in learned], axis=0)
    of_corruptions = fit_probe(np.concatenate(learned), present, settings.penalty)
    found = []
    for number, name in enumerate(names):
        pictures, shown = _encode_objects(trunk, settings, test, name)
        images, scenes = _encode_images(trunk, settings, test, name)
        called = known[score_probe(of_objects, pictures).argmax(1)]
        scores = score_probe(of_corruptions, images)
        groups = _group(scenes, settings.together)
        found.append(
            Recognised(
                name,
                len(called),
                int((called == shown).sum()),
                len(scores),
                int((scores.argmax(1) == number).sum()),
                len(groups),
                sum(int(scores[rows].sum(0).argmax()) == number for rows in groups),
            )
        )
    return found


def _group(scenes: Int64[np.ndarray, "m"], together: int) -> list[Int64[np.ndarray, "k"]]:
    """Rows of images of one scene, at most `together` in each group."""
    found = []
    for scene in np.unique(scenes):
        rows = np.flatnonzero(scenes == scene)
        found += [rows[first : first + together] for first in range(0, len(rows), together)]
    return found


def _encode_objects(
    trunk: FrozenTrunk, settings: RecognitionSettings, split: str, corruption: str
) -> tuple[Float[np.ndarray, "n d"], Int64[np.ndarray, "n"]]:
    """Features (N, D) of the pictures of objects in `split`, and their classes (N,)."""
    features, classes = [], []
    for name, rgb, drawn in _draw(settings, split, corruption):
        pictures, shown = cut_objects(rgb, drawn, settings)
        if len(pictures):
            features.append(trunk.load_or_encode(pictures, name=name).astype(np.float32))
            classes.append(shown)
    if not features:
        raise InputError(
            f"expected objects of {settings.images.vocabulary!r} of {settings.min_pixels} pixels in "
            f"{settings.images.scenes}/{split}, got none; draw more images, or take min_pixels down"
        )
    return np.concatenate(features), np.concatenate(classes)


def _encode_images(
    trunk: FrozenTrunk, settings: RecognitionSettings, split: str, corruption: str
) -> tuple[Float[np.ndarray, "m d"], Int64[np.ndarray, "m"]]:
    """Features (M, D) of the whole images of `split`, and the number of each one's scene (M,)."""
    height, width = settings.image_size
    features, scenes = [], []
    for number, (name, rgb, _) in enumerate(_draw(settings, split, corruption)):
        scaled = [cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA) for image in rgb]
        features.append(trunk.load_or_encode(np.array(scaled, np.uint8), name=name).astype(np.float32))
        scenes.append(np.full(len(rgb), number))
    return np.concatenate(features), np.concatenate(scenes)


def _draw(
    settings: RecognitionSettings, split: str, corruption: str
) -> Iterator[tuple[str, UInt8[np.ndarray, "k h w 3"], LabelledImages]]:
    """For each scene a name for notices, its images under `corruption`, and what was drawn."""
    for number in range(settings.images.houses):
        drawn = load_images(settings.images, split, number, settings.seed)
        rgb = corrupt_images(np.asarray(drawn.rgb), corruption, settings.seed, split, number)
        yield f"{settings.images.scenes}/{split}/{number:05d} {corruption}", rgb, drawn


def corrupt_images(
    images: UInt8[np.ndarray, "k h w 3"], corruption: str, seed: int, *names: str | int
) -> UInt8[np.ndarray, "k h w 3"]:
    """Copies of `images` (K, H, W, 3) uint8 sRGB under `corruption`, each drawn anew; "clean" keeps them."""
    if corruption == CLEAN:
        return images
    found = find_corruption(corruption)
    if not isinstance(found, ImageCorruption):
        raise InputError(f"expected a corruption of images, got {corruption!r}")
    generators = [
        make_generator("recognition", seed, corruption, *names, number) for number in range(len(images))
    ]
    return found.corrupt(images, generators)


def cut_objects(
    rgb: UInt8[np.ndarray, "k h w 3"], drawn: LabelledImages, settings: RecognitionSettings
) -> tuple[UInt8[np.ndarray, "n s s 3"], Int64[np.ndarray, "n"]]:
    """Pictures of single objects, (N, crop_px, crop_px, 3), and their classes (N,).

    An object is a connected part of one class in the labels of `drawn`, of which `rgb` (K, H, W, 3) are the
    images; parts that the image's border cuts are left out, as are those below min_pixels.
    """
    side, (height, width) = settings.crop_px, rgb.shape[1:3]
    pictures, classes = [], []
    for image, labels in zip(rgb, np.asarray(drawn.classes)):
        for number in range(1, len(class_names(settings.images.vocabulary))):
            parts, _ = ndimage.label(labels == number)
            for part, box in enumerate(ndimage.find_objects(parts), start=1):
                rows, columns = box
                is_cut = rows.start == 0 or columns.start == 0 or rows.stop == height or columns.stop == width
                if is_cut or np.count_nonzero(parts[box] == part) < settings.min_pixels:
                    continue
                more = round(settings.margin * max(rows.stop - rows.start, columns.stop - columns.start))
                cut = image[
                    max(rows.start - more, 0) : rows.stop + more,
                    max(columns.start - more, 0) : columns.stop + more,
                ]
                pictures.append(
                    cv2.resize(np.ascontiguousarray(cut), (side, side), interpolation=cv2.INTER_AREA)
                )
                classes.append(number)
    shape = (len(pictures), side, side, 3)
    return np.array(pictures, np.uint8).reshape(shape), np.array(classes, np.int64)
