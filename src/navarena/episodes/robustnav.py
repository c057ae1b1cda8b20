"""Episodes of RobustNav's evaluation: those of RoboTHOR's protocols, within 300 actions.

Their distances are drawn from equally frequent bands, which take turns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.object_nav import Ground
from navarena.episodes.object_nav_robothor import (
    APARTMENTS,
    ROBOTHOR_CATEGORIES,
    START_HORIZON,
    RobothorRecipe,
)
from navarena.episodes.point_nav import POINTNAV_ROBOTHOR_V1, PointNavRecipe
from navarena.episodes.recipe import SplitSize
from navarena.episodes.sampling import sample_places
from navarena.simulation.body_catalog import LOCOBOT_ROBUSTNAV
from navarena.simulation.world import World

PROBED = 2000
"""Random starts by which it is found out which distances a scene has."""

MIN_SHARE = 0.005
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
        """(bands,) which of them hold MIN_SHARE of `distances` (N,) metres; the fullest one always does."""
        counts = np.histogram(distances[np.isfinite(distances)], self.edges)[0]
        return (counts >= MIN_SHARE * len(distances)) | (counts == max(counts.max(), 1))


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


MAX_STEPS = 300
"""Spec 3.3: evaluation; the code trains with 500."""

SCENES, PER_SCENE = 15, 120
"""Of the episodes that its evaluation and its calibration share out between them (spec 3.4: 1,800)."""

POINT_EPISODES, OBJECT_EPISODES = 1_100, 1_095
"""Evaluated; the others are for calibration (spec 3.4: 700 and 705)."""

EASY_SHARE, MEDIUM_SHARE = 0.2, 0.4
"""Of the episodes of a scene, by distance, in ObjectNav; the others are hard. So are the published files
(spec 3.4): 13 of 15 calibration scenes have 9, 19 and 19 episodes, and labels never overlap in a scene."""

POINT_BANDS = DistanceBands((0.2, 0.82, 1.35, 1.82, 2.28, 2.78, 3.25, 3.8, 4.39, 4.95, 5.67, 6.6, 9.28))
"""Twelfths of the distances in the published files: quantiles of the 700 calibration episodes, which are a
random part of the 1,800. Those nearer than the success distance (3 of 700) are left out; the fourth and the
eighth quantile are the limits of difficulty (spec 3.4)."""

OBJECT_EVALUATION_MEAN, OBJECT_CALIBRATION_MEAN = 3.30, 3.469
"""Metres: mean geodesic distances of the published files. Other categories are evaluated than calibrated on,
hence the difference."""

OBJECT_CALIBRATION_EDGES = (0.05, 0.25, 1.0, 1.5, 2.05, 2.69, 3.25, 3.77, 4.58, 5.29, 6.19, 6.96, 9.33)
"""Twelfths of the distances of the 705 calibration episodes of ObjectNav, metres; the least one is 0 there
(42 episodes begin where the object is visible), which leaves no path to compare with."""

OBJECT_BANDS = DistanceBands(
    tuple(
        round(edge * OBJECT_EVALUATION_MEAN / OBJECT_CALIBRATION_MEAN, 2) for edge in OBJECT_CALIBRATION_EDGES
    )
)
"""The same with the mean of the evaluation's files."""

_FEASIBLE_POINTS: WeakKeyDictionary[World, Bool[np.ndarray, "bands"]] = WeakKeyDictionary()
_FEASIBLE_OBJECTS: WeakKeyDictionary[World, dict[str, Bool[np.ndarray, "bands"]]] = WeakKeyDictionary()


def share_out(evaluated: int) -> dict[str, SplitSize]:
    """The splits "eval" and "calibration": `evaluated` of all episodes, stratified, and the others."""
    return {
        "eval": SplitSize(PER_SCENE, part_of="val", scenes=SCENES, sample=evaluated),
        "calibration": SplitSize(PER_SCENE, part_of="val", scenes=SCENES, rest=evaluated),
    }


@dataclass(frozen=True)
class RobustPointRecipe(PointNavRecipe):
    """Rules of PointNavRecipe, with RobustNav's splits and its distribution of distances.

    Each round of 12 episodes goes once through POINT_BANDS in random order, and an episode's distance lies in
    its band. Where a scene has hardly any paths of a band, the nearest band that it has takes its place.
    Straight paths are not thinned out, as RoboTHOR's generator does not.
    """

    @property
    def further_splits(self) -> Mapping[str, SplitSize]:
        """The splits of RobustNav's evaluation and its calibration."""
        return share_out(POINT_EPISODES)

    def bounds_of(
        self, world: World, first: int, count: int, stem: tuple[str | int, ...]
    ) -> Sequence[Bounds]:
        """Distance bounds of the bands, or of the nearest distances that the scene has."""
        feasible = self._feasible(world)
        turns = POINT_BANDS.turns(stem, first, count)
        return [POINT_BANDS.bounds(nearest_feasible(band, feasible)) for band in turns]

    def _feasible(self, world: World) -> Bool[np.ndarray, "bands"]:
        if world not in _FEASIBLE_POINTS:
            generator = make_generator("feasible", self.protocol_id, scene_name(world.scene_id))
            starts, start_fits = sample_places(world.navmesh, generator, PROBED)
            goals, goal_fits = sample_places(world.navmesh, generator, PROBED)
            fit = start_fits & goal_fits & self.fits(world, starts, goals)
            distances = np.where(fit, world.navmesh.geodesic_distance(starts, goals), np.inf)
            _FEASIBLE_POINTS[world] = POINT_BANDS.feasible(distances)
        return _FEASIBLE_POINTS[world]


@dataclass(frozen=True)
class RobustObjectRecipe(RobothorRecipe):
    """Rules of RobothorRecipe, with RobustNav's splits and distances; difficulty by quantiles of each scene.

    The episodes go through OBJECT_BANDS in turn, 12 at a time in random order. In each round through the
    categories, its bands are shared out among the categories that have starts at such distances
    (see distance_bands.share_bands). Straight paths are not thinned out, as RoboTHOR's generator does not.
    """

    @property
    def further_splits(self) -> Mapping[str, SplitSize]:
        """The splits of RobustNav's evaluation and its calibration."""
        return share_out(OBJECT_EPISODES)

    def bounds_of_round(
        self, ground: Ground, categories: Sequence[str], turn: int, stem: tuple[str | int, ...]
    ) -> Sequence[Bounds]:
        """Distance bounds of the bands that are distributed over the categories."""
        bands = OBJECT_BANDS.turns(stem, turn * len(categories), len(categories))
        chosen = share_bands(bands, self._feasible(ground), categories)
        return [OBJECT_BANDS.bounds(chosen[name]) for name in categories]

    def _feasible(self, ground: Ground) -> dict[str, Bool[np.ndarray, "bands"]]:
        if ground.world not in _FEASIBLE_OBJECTS:
            generator = make_generator("feasible", self.protocol_id, scene_name(ground.world.scene_id))
            starts, fits = sample_places(ground.world.navmesh, generator, PROBED)
            fits &= ground.world.navmesh.island_radius(starts) >= self.min_island_radius
            _FEASIBLE_OBJECTS[ground.world] = {
                name: OBJECT_BANDS.feasible(np.where(fits, ground.distance(name, starts), np.inf))
                for name in sorted(set(self.categories).intersection(ground.views.categories))
            }
        return _FEASIBLE_OBJECTS[ground.world]

    def difficulty_limits(
        self, first_distances: Callable[[int], Float[np.ndarray, "count"]]
    ) -> tuple[float, float]:
        """Quantiles of the scene's own PER_SCENE episodes, however many of them are made."""
        return scene_limits(first_distances(PER_SCENE))


def scene_limits(distances: Float[np.ndarray, "n"]) -> tuple[float, float]:
    """Metres up to which EASY_SHARE of `distances` (N,) metres lie, and MEDIUM_SHARE more; N at least 1.

    Equal distances have equal labels, so there a share may be larger.
    """
    ranked = np.sort(distances)
    last_easy = max(round(EASY_SHARE * len(ranked)) - 1, 0)
    last_medium = max(round((EASY_SHARE + MEDIUM_SHARE) * len(ranked)) - 1, 0)
    return float(ranked[last_easy]), float(ranked[last_medium])


ROBUSTNAV_POINTNAV_V1 = RobustPointRecipe(
    "robustnav-pointnav-v1",
    LOCOBOT_ROBUSTNAV,
    success_distance=POINTNAV_ROBOTHOR_V1.success_distance,
    max_steps=MAX_STEPS,
    min_distance=POINT_BANDS.edges[0],
    max_distance=POINT_BANDS.edges[-1],
    min_ratio=0.0,
    difficulty=POINTNAV_ROBOTHOR_V1.difficulty,
    default_dataset=APARTMENTS,
)
ROBUSTNAV_OBJECTNAV_V1 = RobustObjectRecipe(
    "robustnav-objectnav-v1",
    LOCOBOT_ROBUSTNAV,
    ROBOTHOR_CATEGORIES,
    max_steps=MAX_STEPS,
    min_distance=OBJECT_BANDS.edges[0],
    max_distance=OBJECT_BANDS.edges[-1],
    min_ratio=0.0,
    start_tilt=-START_HORIZON,
)
