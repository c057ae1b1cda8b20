"""Evidence for where a goal is, gathered over images that may err.

Predictions err, most of all far away and at edges. So each place gathers evidence over images: a goal is what
was called so more often than the segmenter's errors explain, and where a nearer look speaks against it, it is
no goal any more.
"""

# mypy: disable-error-code="no-untyped-def"

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.kernels import kernel


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


NONE, FEWEST = -1, 64
"""An empty place of a table; cells for which there is room at first."""


@kernel
def find_place(table, keys, key):
    """The place in `table` (rows of `keys`; its length a power of 2) of the row with `key`, or a free one."""
    place = (key ^ (key >> 21) * 73856093 ^ (key >> 42) * 19349663) & (len(table) - 1)
    while table[place] != NONE and keys[table[place]] != key:
        place = (place + 1) & (len(table) - 1)
    return place


@kernel
def add_image(image_keys, image_points, is_goal, gain, loss, bound,
              places, pixels, sums, table, keys, counts, scores, points, used):  # fmt: skip
    """Add one image to the evidence; returns how many cells are `used` then.

    image_keys, image_points, is_goal: (K,), (K, 3) and (K,), of its pixels.
    places, pixels, sums: scratch: a table of NONE, (K, 2) and (K, 3) of zeros: pixels of the image in each of
    its cells, of these called the goal, and the sums of their points.
    table, keys, counts, scores, points: the cells that were ever called so, with room for those of the image.
    """
    first = np.zeros(len(image_keys), np.int64)
    cells = 0
    for k in range(len(image_keys)):
        place = find_place(places, first, image_keys[k])
        if places[place] == NONE:
            places[place] = cells
            first[cells] = image_keys[k]
            cells += 1
        row = places[place]
        pixels[row, 0] += 1
        if is_goal[k]:
            pixels[row, 1] += 1
            for axis in range(3):
                sums[row, axis] += image_points[k, axis]
    for row in range(cells):
        place = find_place(table, keys, first[row])
        if table[place] == NONE:
            if pixels[row, 1] == 0:
                continue
            table[place] = used
            keys[used] = first[row]
            used += 1
        own, called = table[place], pixels[row, 1]
        change = gain if 2 * called >= pixels[row, 0] else -loss
        scores[own] = min(max(scores[own] + change, -bound), bound)
        total = counts[own] + called
        for axis in range(3):
            whole = points[own, axis] * counts[own] + sums[row, axis]
            points[own, axis] = whole / max(total, 1.0)
        counts[own] = total
    return used


class Evidence:
    """Evidence for one goal in the places of one episode.

    Cells that were ever called the goal stand in arrays, in the order in which they were, and are found by a
    table of their keys with open addressing.
    """

    def __init__(self, settings: EvidenceSettings) -> None:
        self._settings = settings
        self._used = 0
        self._keys, self._counts = np.zeros(FEWEST, np.int64), np.zeros(FEWEST)
        self._scores, self._points = np.zeros(FEWEST), np.zeros((FEWEST, 3))
        self._table = np.full(2 * FEWEST, NONE, np.int32)

    @property
    def scores(self) -> Float[np.ndarray, "c"]:
        """(C,) evidence of the cells that were called the goal at least once."""
        return self._scores[: self._used]

    @property
    def points(self) -> Float[np.ndarray, "c 3"]:
        """(C, 3) metres, in the frame of the map, the mean of the pixels called so in each."""
        return self._points[: self._used]

    def add(self, points: Float[np.ndarray, "k 3"], is_goal: Bool[np.ndarray, "k"]) -> None:
        """Note one image: points (K, 3) metres of its pixels, and which of them were called the goal."""
        called, settings = int(np.count_nonzero(is_goal)), self._settings
        if not called and not self._used:
            return
        self._reserve(self._used + called)
        size = 1 << max(2 * len(points), 1).bit_length()
        self._used = add_image(
            self.keys_of(points), np.ascontiguousarray(points), is_goal,
            settings.gain, settings.loss, settings.bound,
            np.full(size, NONE, np.int32), np.zeros((len(points), 2), np.int32), np.zeros((len(points), 3)),
            self._table, self._keys, self._counts, self._scores, self._points, self._used,
        )  # fmt: skip

    def keys_of(self, points: Float[np.ndarray, "k 3"]) -> Int64[np.ndarray, "k"]:
        """(K,) numbers of the cells of points (K, 3), metres."""
        places = np.floor(points / self._settings.cell).astype(np.int64) + 2**20
        return (places[:, 0] * 2**21 + places[:, 1]) * 2**21 + places[:, 2]

    def holds(self, points: Float[np.ndarray, "k 3"], least: float) -> Bool[np.ndarray, "k"]:
        """(K,) whether points (K, 3), metres, lie in cells with evidence of at least `least`."""
        return np.isin(self.keys_of(points), self._keys[: self._used][self.scores >= least])

    def goals(self, least: float) -> Float[np.ndarray, "m 3"]:
        """(M, 3) metres: the points of cells with evidence of at least `least`, by their keys.

        None where they are few.
        """
        rows = np.flatnonzero(self.scores >= least)
        sure = self.points[rows[np.argsort(self._keys[rows], kind="stable")]]
        return sure if len(sure) >= self._settings.cells else sure[:0]

    def _reserve(self, cells: int) -> None:
        """Make room for so many cells in all."""
        if cells <= len(self._keys):
            return
        size = 1 << (cells - 1).bit_length()
        more = size - len(self._keys)
        self._keys, self._counts = np.pad(self._keys, (0, more)), np.pad(self._counts, (0, more))
        self._scores, self._points = (
            np.pad(self._scores, (0, more)),
            np.pad(self._points, ((0, more), (0, 0))),
        )
        self._table = np.full(2 * size, NONE, np.int32)
        for row, key in enumerate(self._keys[: self._used].tolist()):
            self._table[find_place(self._table, self._keys, key)] = row
