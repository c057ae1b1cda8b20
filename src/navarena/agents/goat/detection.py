"""Unprivileged detection: image segments as connected parts of one class without depth jumps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int32, UInt8
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from navarena.core.errors import InputError
from navarena.mapping.labellers import Labeller


@dataclass(frozen=True)
class DetectionSettings:
    """Settings of the segmentation of an image. Our choices.

    Attributes:
        side: about how many pixels of the shorter side are labelled.
        jump: metres of depth between neighbours that are one object, at 1 m; it grows with the distance.
        min_pixels: labelled pixels of a segment; smaller ones are overlooked.
    """

    side: int = 90
    jump: float = 0.12
    min_pixels: int = 12


USUAL_DETECTION = DetectionSettings()
"""Our choices."""


def detect(
    labeller: Labeller,
    rgb: UInt8[np.ndarray, "h w 3"],
    metres: Float32[np.ndarray, "h w"],
    settings: DetectionSettings = USUAL_DETECTION,
) -> tuple[Int32[np.ndarray, "h w"], dict[int, str]]:
    """(H, W) int32 segments of an image by number from 1, 0 elsewhere, and the class of each.

    Args:
        labeller: tells the class of every pixel; what it calls void is no segment.
        rgb: (H, W, 3) uint8 sRGB.
        metres: (H, W) float32 depth; NaN is unknown.
        settings: how it is cut.

    Raises InputError for a labeller whose labels have another size than the depth that it was given.
    """
    step = max(min(rgb.shape[:2]) // settings.side, 1)
    small, depth = rgb[step // 2 :: step, step // 2 :: step], metres[step // 2 :: step, step // 2 :: step]
    classes = labeller.label(np.ascontiguousarray(small)[None], np.nan_to_num(depth)[None])[0]
    if classes.shape != depth.shape:
        raise InputError(
            f"expected labels of {depth.shape[1]} x {depth.shape[0]} pixels, as the depth that was labelled, "
            f"got {classes.shape[1]} x {classes.shape[0]}; bring them to the size of the depth in `label`"
        )
    parts = connect(classes, depth, settings.jump)
    numbers, first, counts = np.unique(parts, return_index=True, return_counts=True)
    kept = (numbers > 0) & (counts >= settings.min_pixels)
    table = np.zeros(int(parts.max()) + 1, np.int32)
    table[numbers[kept]] = np.arange(1, np.count_nonzero(kept) + 1)
    names = [labeller.classes[number] for number in classes.reshape(-1)[first[kept]].tolist()]
    large = table[parts].repeat(step, 0).repeat(step, 1)[: rgb.shape[0], : rgb.shape[1]]
    return large, dict(enumerate(names, 1))


def connect(
    classes: Int32[np.ndarray, "h w"], metres: Float32[np.ndarray, "h w"], jump: float
) -> Int32[np.ndarray, "h w"]:
    """(H, W) int32 numbers from 1 of connected parts of one class and a depth without jumps; 0 for void.

    Neighbours, across or down, are one where they have one class and their depths differ by at most `jump`
    times the metres of the nearer one, at least 1; unknown depth joins by the class alone.
    """
    height, width = classes.shape
    places = np.arange(height * width).reshape(height, width)
    ends: list[np.ndarray] = []
    for one, other in (
        ((slice(None), slice(None, -1)), (slice(None), slice(1, None))),
        ((slice(None, -1), slice(None)), (slice(1, None), slice(None))),
    ):
        near, far = metres[one], metres[other]
        apart = np.abs(near - far) > jump * np.maximum(np.fmin(near, far), 1.0)  # False of NaN
        joined = (classes[one] == classes[other]) & (classes[one] > 0) & ~apart
        ends.append(np.stack([places[one][joined], places[other][joined]]))
    rows, columns = np.concatenate(ends, 1)
    graph = coo_array((np.ones(len(rows), bool), (rows, columns)), shape=(places.size,) * 2)
    parts = connected_components(graph, directed=False)[1].reshape(height, width) + 1
    return np.where(classes > 0, parts, 0).astype(np.int32)


@dataclass(frozen=True)
class PerceptionErrors:
    """Differences between segments and the true objects of an image.

    Attributes:
        objects: that fill at least as many pixels as count.
        missed: of them, those of which segments cover less than half.
        wrong: segments that show an object which may not be called by their names.
        merged: segments that show two objects or more, each by a share of their pixels.
        split: objects that two segments or more show, each by a share of theirs.
        segments: all of them.
    """

    objects: int = 0
    missed: int = 0
    wrong: int = 0
    merged: int = 0
    split: int = 0
    segments: int = 0

    def __add__(self, other: "PerceptionErrors") -> "PerceptionErrors":
        return PerceptionErrors(*(getattr(self, key) + getattr(other, key) for key in vars(self)))


def count_errors(
    segments: Int32[np.ndarray, "h w"],
    names: Mapping[int, Sequence[str]],
    truth: Int32[np.ndarray, "h w"],
    categories: Mapping[int, str],
    min_pixels: int = 200,
    share: float = 0.25,
) -> PerceptionErrors:
    """The errors in one image.

    Args:
        segments: (H, W) int32 numbers of segments, 0 for none.
        names: segment -> categories of the scene that it may stand for.
        truth: (H, W) int32 ids of objects.
        categories: id -> category, of the objects that count.
        min_pixels: pixels from which on an object counts.
        share: of the pixels of a segment, or of an object, that count as showing it.
    """
    known = {number: int((truth == number).sum()) for number in categories}
    known = {number: pixels for number, pixels in known.items() if pixels >= min_pixels}
    wrong = merged = 0
    shown_by = dict.fromkeys(known, 0)
    covered = dict.fromkeys(known, 0)
    for segment, meant in names.items():
        inside = truth[segments == segment]
        if not len(inside):
            continue
        ids, counts = np.unique(inside, return_counts=True)
        pixels = {k: n for k, n in zip(ids.tolist(), counts.tolist()) if k in categories}
        merged += sum(n >= share * len(inside) for n in pixels.values()) > 1
        main = max(pixels, key=lambda k: pixels[k], default=None)
        wrong += main is None or categories[main] not in meant
        for number in known:
            seen = pixels.get(number, 0)
            covered[number] += seen
            shown_by[number] += seen >= share * known[number]
    missed = sum(covered[number] < 0.5 * pixels for number, pixels in known.items())
    split = sum(count > 1 for count in shown_by.values())
    return PerceptionErrors(len(known), missed, wrong, merged, split, len(names))
