"""Evidence for where a goal is, gathered over images that may err.

Predictions err, most of all far away and at edges. So each place gathers evidence over images: a goal is what
was called so more often than the segmenter's errors explain, and where a nearer look speaks against it, it is
no goal any more.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64


@dataclass(frozen=True)
class EvidenceSettings:
    """How what several images say becomes one. Our choices, before any episode was played.

    Attributes:
        cell: metres, side of the cubes that gather evidence.
        rows: of pixels that are looked at, evenly chosen; columns likewise.
        max_range: metres beyond which predictions are ignored.
        gain: evidence of an image that calls most of a cell's pixels the goal: the logarithm of how much
            oftener that happens where it is one.
        loss: evidence of an image that does not.
        bound: greatest evidence, so that a later look can still speak against it.
        accept: evidence from which on a cell is a goal.
        cells: of a goal, at least.
        last_resort: evidence that is enough where everything is explored.
    """

    cell: float = 0.25
    rows: int = 60
    max_range: float = 4.0
    gain: float = 1.0
    loss: float = 0.5
    bound: float = 6.0
    accept: float = 3.0
    cells: int = 2
    last_resort: float = 1.0


USUAL_EVIDENCE = EvidenceSettings()
"""Our choices."""


class Evidence:
    """Evidence for one goal in the places of one episode.

    Attributes:
        scores: (C,) of the cells that were called the goal at least once.
        points: (C, 3) metres, in the frame of the map, the mean of the pixels called so in each.
    """

    def __init__(self, settings: EvidenceSettings) -> None:
        self._settings = settings
        self._keys = np.zeros(0, np.int64)
        self._counts = np.zeros(0)
        self.scores, self.points = np.zeros(0), np.zeros((0, 3))

    def add(self, points: Float[np.ndarray, "k 3"], is_goal: Bool[np.ndarray, "k"]) -> None:
        """Note one image: points (K, 3) metres of its pixels, and which of them were called the goal."""
        settings = self._settings
        keys, place = np.unique(self.keys_of(points), return_inverse=True)
        pixels, called = np.bincount(place, minlength=len(keys)), np.bincount(place, is_goal, len(keys))
        sums = np.stack([np.bincount(place, is_goal * axis, len(keys)) for axis in points.T], 1)
        new = np.setdiff1d(keys[called > 0], self._keys, assume_unique=True)
        at = np.searchsorted(self._keys, new)
        self._keys = np.insert(self._keys, at, new)
        self._counts, self.scores = np.insert(self._counts, at, 0.0), np.insert(self.scores, at, 0.0)
        self.points = np.insert(self.points, at, 0.0, axis=0)
        _, own, seen = np.intersect1d(self._keys, keys, assume_unique=True, return_indices=True)
        gains = np.where(2 * called[seen] >= pixels[seen], settings.gain, -settings.loss)
        self.scores[own] = np.clip(self.scores[own] + gains, -settings.bound, settings.bound)
        total = self._counts[own] + called[seen]
        whole = self.points[own] * self._counts[own, None] + sums[seen]
        self.points[own] = whole / np.maximum(total, 1)[:, None]
        self._counts[own] = total

    def keys_of(self, points: Float[np.ndarray, "k 3"]) -> Int64[np.ndarray, "k"]:
        """(K,) numbers of the cells of points (K, 3), metres."""
        places = np.floor(points / self._settings.cell).astype(np.int64) + 2**20
        return (places[:, 0] * 2**21 + places[:, 1]) * 2**21 + places[:, 2]

    def holds(self, points: Float[np.ndarray, "k 3"], least: float) -> Bool[np.ndarray, "k"]:
        """(K,) whether points (K, 3), metres, lie in cells with evidence of at least `least`."""
        return np.isin(self.keys_of(points), self._keys[self.scores >= least])

    def goals(self, least: float) -> Float[np.ndarray, "m 3"]:
        """(M, 3) metres: the points of cells with evidence of at least `least`; none where they are few."""
        sure = self.points[self.scores >= least]
        return sure if len(sure) >= self._settings.cells else sure[:0]
