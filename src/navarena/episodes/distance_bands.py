"""Distances of episodes in given proportions: equally frequent bands, which take turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.seeding import make_generator

PROBED = 2000
"""Random starts by which it is found out which distances a scene has."""

LEAST_SHARE = 0.005
"""Of these, that must lie in a band; in others an episode could hardly be drawn."""

Bounds = tuple[float, float]
"""Metres, geodesic: the least and the largest distance."""


@dataclass(frozen=True)
class DistanceBands:
    """Bands of geodesic distance of which each holds the same share of the episodes.

    Attributes:
        edges: metres, ascending; quantiles at equal steps of the distribution that is asked for.
    """

    edges: tuple[float, ...]

    @property
    def count(self) -> int:
        """Number of bands."""
        return len(self.edges) - 1

    def bounds(self, band: int) -> Bounds:
        """Metres of band `band`."""
        return self.edges[band], self.edges[band + 1]

    def turns(self, stem: Sequence[str | int], first: int, number: int) -> list[int]:
        """The bands of `number` places from `first` on: each round goes once through all, in random order."""
        orders = {
            turn: make_generator(*stem, turn, "bands").permutation(self.count).tolist()
            for turn in range(first // self.count, -(-(first + number) // self.count))
        }
        return [orders[place // self.count][place % self.count] for place in range(first, first + number)]

    def feasible(self, distances: Float[np.ndarray, "n"]) -> Bool[np.ndarray, "bands"]:
        """(bands,) which of them hold LEAST_SHARE of `distances` (N,) metres; the fullest one always does."""
        counts = np.histogram(distances[np.isfinite(distances)], self.edges)[0]
        return (counts >= LEAST_SHARE * len(distances)) | (counts == max(counts.max(), 1))


def nearest_feasible(band: int, feasible: Bool[np.ndarray, "bands"]) -> int:
    """The feasible band with the least difference from `band`, the one of less distance of two.

    feasible: (bands,) whether each is; where none is, the answer is `band`.
    """
    found = np.flatnonzero(feasible)
    return band if not len(found) else int(found[np.argmin(np.abs(found - band))])


def share_bands(
    bands: Sequence[int], feasible: Mapping[str, Bool[np.ndarray, "bands"]], order: Sequence[str]
) -> dict[str, int]:
    """Band of each of the names in `order`, as many as `bands`.

    Bands that fewest names can have choose first, each the first name in `order` that can have it. What is
    left over gets the nearest that it can have. Bands are indices without unit.

    feasible: (bands,) of each name, whether it can have a band.
    """
    scarcity = {band: sum(bool(feasible[name][band]) for name in order) for band in bands}
    chosen: dict[str, int] = {}
    left: list[int] = []
    for band in sorted(bands, key=lambda band: (scarcity[band], -band)):
        name = next((name for name in order if name not in chosen and feasible[name][band]), None)
        if name is None:
            left.append(band)
        else:
            chosen[name] = band
    for name, band in zip([name for name in order if name not in chosen], left, strict=True):
        chosen[name] = nearest_feasible(band, feasible[name])
    return chosen
