"""Episodes of ObjectNav: a random start, and a category of which the scene has something to be seen."""

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.episode import Episode
from navarena.episodes.goals import ObjectGoal
from navarena.episodes.recipe import DEFAULT_DATASET, EpisodeRecipe, SceneBatch, Stream, require_actions
from navarena.episodes.sampling import (
    as_tuple,
    choose_solvable,
    label_difficulty,
    round_distance,
    round_places,
    sample_places,
    sample_yaws,
)
from navarena.episodes.view_points import SceneViewPoints, ViewPointSettings, find_view_points
from navarena.scenes.scene import Scene
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import LOCOBOT, STRETCH_2023
from navarena.simulation.navmesh.queries.goal_fields import GoalFields
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.world import World

MP3D_CATEGORIES = (
    "chair", "table", "picture", "cabinet", "cushion", "sofa", "bed", "chest_of_drawers", "plant", "sink",
    "toilet", "stool", "towel", "tv_monitor", "shower", "bathtub", "counter", "fireplace", "gym_equipment",
    "seating", "clothes",
)  # fmt: skip
"""Task category id -> category of the challenges of 2020 and 2021."""

HM3D_CATEGORIES = ("chair", "bed", "plant", "toilet", "tv_monitor", "sofa")
"""Task category id -> category of the challenges of 2022 and 2023."""

DRAWN_TOGETHER = 32
"""Candidates drawn from an episode's stream at a time."""

MAX_ROUNDS = 100
"""Draws of DRAWN_TOGETHER candidates after which a category counts as out of reach."""

SLACK = 0.05
"""Metres by which a straight line may seem longer than the path along the floor: snapping."""


TIE = 1e-6
"""Metres within which distances by a field from the start and by single searches agree (to rounding); view
points so near to the nearest are compared by single searches."""

STRETCH_MAX_ACTIONS = 80
"""Discrete actions that a plan for the Stretch of 2023 may have. At 0.3 m/s and 0.45 rad/s none takes longer
than 1.2 s, so that the path is driven within 1,000 steps of 0.1 s."""

STRETCH_MAX_RISE = 0.5
"""Metres of height between start and view point (spec 2.2: "same floor from HM3D 2023")."""

STRETCH_TILTS = (-math.radians(30), 0.0, math.radians(30))
"""Radians upwards of the three renders: the tilts that the generator commands (spec 2.2), carried out. Level
alone, this upright camera at 1.31 m sees nothing below 0.8 m within a metre, while the published goals of
this year hold sofas and beds with a coverage above 1."""


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Candidate:
    """A start that fulfils the rules for a category; metres and radians, world frame."""

    start: Float[np.ndarray, "3"]
    yaw: float
    distance: float
    arrival: Float[np.ndarray, "3"]
    closest: int


@dataclass(frozen=True)
class ObjectNavRecipe(EpisodeRecipe):
    """Rules of the generators of the Habitat challenges, for objects (see view_points for the goals).

    Categories take turns: each round goes once through those of which the scene has a view point, in
    random order. The start is uniform over the navigable floor, on an island of a radius of at least
    `min_island_radius`; the geodesic distance to the nearest view point of the category lies in
    [min_distance, max_distance]. Nearly straight paths are thinned out: with geodesic / Euclidean
    distance r < `min_ratio`, a candidate is kept with probability 20 (r - 0.98)^2 (which is 1 below 0.76:
    the rule is that of the challenge). The yaw is uniform. A candidate that the planner cannot solve in
    `max_steps` actions is dropped and counted; the challenge of 2020 allowed plans of 750 actions.

    Attributes:
        protocol_id: whose episodes they are.
        embodiment: the body.
        categories: by task category id.
        success_distance: metres, geodesic, from a view point, within which the planner must arrive.
        max_steps: actions within which it must.
        ratio_to: whether the Euclidean distance leads to the view point where the path ends (2020) or
            to the centre of its object (2022).
        min_distance, max_distance: metres, geodesic.
        min_ratio: below it, candidates are thinned out.
        min_island_radius: metres.
        max_rise: metres of height between start and view point.
        tilts: radians, upwards, of the three renders by which view points are found.
        difficulty: metres, geodesic, up to which an episode is easy, and medium: about the thirds of `val`.
        shares, default_dataset: see EpisodeRecipe.
    """

    protocol_id: str
    embodiment: Embodiment
    categories: tuple[str, ...]
    success_distance: float = 0.1
    max_steps: int = 500
    ratio_to: Literal["view_point", "center"] = "view_point"
    min_distance: float = 1.0
    max_distance: float = 30.0
    min_ratio: float = 1.05
    min_island_radius: float = 1.5
    max_rise: float = math.inf
    tilts: tuple[float, ...] = (0.0, 0.0, 0.0)
    difficulty: tuple[float, float] = (3.0, 5.0)
    shares: str = ""
    default_dataset: str = DEFAULT_DATASET

    @property
    def words(self) -> tuple[str, ...]:
        """The categories."""
        return self.categories

    @property
    def view_points(self) -> ViewPointSettings:
        """Settings of the view points of its goals."""
        return ViewPointSettings(
            self.categories, self.embodiment, min_island_radius=self.min_island_radius, tilts=self.tilts
        )

    def with_max_actions(self, actions: int) -> "ObjectNavRecipe":
        """See EpisodeRecipe."""
        return replace(self, max_steps=require_actions(actions))

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Solvable episodes; raises SceneError for a scene without labels, goals or room."""
        scene = scene_name(world.scene_id)
        stem = (self.stream_protocol, stream.dataset, stream.split, stream.seed, scene)
        ground = Ground(world, find_view_points(world, self.view_points))
        rows = range(first, first + count)
        goals = self._choose_goals(ground, rows, stem)
        chosen = [category for category, _ in goals]
        candidates = [
            self._candidates(ground, *goal, make_generator(*stem, row, "pose"))
            for row, goal in zip(rows, goals)
        ]
        planner = ActionPlanner(self.embodiment, self.success_distance, self.max_steps)
        found, dropped = choose_solvable(candidates, lambda tried: ground.are_solved(planner, chosen, tried))
        limits = self.difficulty_limits(lambda number: self._first_distances(ground, number, stem))
        episodes = tuple(
            Episode(
                episode_id=f"{scene}-{row:04d}",
                scene_id=world.scene_id,
                start_position=as_tuple(candidate.start),
                start_yaw=candidate.yaw,
                goal=ObjectGoal(
                    category, closest=str(candidate.closest), arrival=as_tuple(candidate.arrival)
                ),
                geodesic_distance=candidate.distance,
                difficulty=label_difficulty(candidate.distance, limits),
            )
            for row, category, candidate in zip(rows, chosen, found)
        )
        return SceneBatch(episodes, dropped)

    def difficulty_limits(
        self, first_distances: Callable[[int], Float[np.ndarray, "count"]]
    ) -> tuple[float, float]:
        """Metres, geodesic, up to which an episode of one scene is easy, and medium.

        first_distances: so many geodesic distances in metres (count,) that are drawn first in the scene,
            before the planner drops any; they do not depend on how many episodes are made.
        """
        return self.difficulty

    def _first_distances(
        self, ground: "Ground", count: int, stem: tuple[str | int, ...]
    ) -> Float[np.ndarray, "count"]:
        """(count,) metres: the distances of the first candidate of each of the first `count` episodes."""
        rows = range(count)
        firsts = [
            next(self._candidates(ground, *goal, make_generator(*stem, row, "pose")))
            for row, goal in zip(rows, self._choose_goals(ground, rows, stem))
        ]
        return np.array([candidate.distance for candidate in firsts])

    def _choose_goals(
        self, ground: "Ground", rows: range, stem: tuple[str | int, ...]
    ) -> list[tuple[str, tuple[float, float]]]:
        """Category, and least and largest distance in metres, of each of the episodes `rows`, in a row."""
        present = self._feasible_categories(ground)
        chosen: list[tuple[str, tuple[float, float]]] = []
        begun = rows.start // len(present)
        for turn in range(begun, -(-rows.stop // len(present))):
            order = make_generator(*stem, turn, "categories").permutation(len(present))
            names = [present[k] for k in order]
            chosen += zip(names, self.bounds_of_round(ground, names, turn, stem), strict=True)
        skipped = rows.start - begun * len(present)
        return chosen[skipped : skipped + len(rows)]

    def bounds_of_round(
        self, ground: "Ground", categories: Sequence[str], turn: int, stem: tuple[str | int, ...]
    ) -> Sequence[tuple[float, float]]:
        """Least and largest geodesic distance, metres, of the episodes of one round through `categories`."""
        return [(self.min_distance, self.max_distance)] * len(categories)

    def _feasible_categories(self, ground: "Ground") -> tuple[str, ...]:
        """Those that can be seen in the scene and have starts; the others that can be seen are logged."""
        kept = _FEASIBLE.setdefault(ground.world, {})
        if self not in kept:
            seen = [name for name in self.categories if name in ground.views.categories]
            if not seen:
                raise SceneError(
                    f"expected an object of a category of {self.protocol_id} that can be seen in "
                    f"{ground.world.scene_id!r}, got none ({', '.join(self.categories)}); choose another "
                    "scene"
                )
            reasons = {name: self._why_infeasible(ground, name) for name in seen}
            kept[self] = tuple(name for name in seen if reasons[name] is None)
            without = [name for name in seen if reasons[name] is not None]
            if not kept[self]:
                raise SceneError(str(reasons[without[0]]))
            if without:
                text = "%d of %d categories of %s have no episodes: %s (%s)"
                scene = ground.world.scene_id
                _log.warning(text, len(without), len(seen), scene, ", ".join(without), reasons[without[0]])
        return kept[self]

    def _why_infeasible(self, ground: "Ground", category: str) -> str | None:
        """Reason why no start is found for a category; None if starts exist."""
        generator = make_generator("feasible", self.protocol_id, scene_name(ground.world.scene_id), category)
        try:
            next(self._candidates(ground, category, (self.min_distance, self.max_distance), generator))
        except SceneError as error:
            return str(error)
        return None

    def _candidates(
        self, ground: "Ground", category: str, bounds: tuple[float, float], generator: np.random.Generator
    ) -> Iterator[Candidate]:
        """Candidates of one episode's stream that fulfil the rules at a distance in `bounds`, without end."""
        navmesh = ground.world.navmesh
        for _ in range(MAX_ROUNDS):
            starts, fits = sample_places(navmesh, generator, DRAWN_TOGETHER)
            yaws = sample_yaws(generator, DRAWN_TOGETHER)
            uniform_draw = generator.random(DRAWN_TOGETHER)
            large = navmesh.island_radius(starts) >= self.min_island_radius
            distances = ground.distance(category, starts)
            in_range = fits & large & (distances >= bounds[0]) & (distances <= bounds[1])
            for row in np.flatnonzero(in_range).tolist():
                arrival, closest = ground.nearest(category, starts[row], float(distances[row]))
                level = abs(starts[row, 1] - arrival[1]) <= self.max_rise
                target = arrival if self.ratio_to == "view_point" else ground.center(closest)
                ratio = distances[row] / max(float(np.linalg.norm(target - starts[row])), 1e-9)
                if level and (ratio >= self.min_ratio or uniform_draw[row] < 20 * (ratio - 0.98) ** 2):
                    distance = round_distance(float(distances[row]))
                    place = round_places(arrival[None])[0]
                    yield Candidate(starts[row], float(yaws[row]), distance, place, closest)
        raise SceneError(
            f"expected starts for {category!r} in {ground.world.scene_id!r} (geodesic distance "
            f"{bounds[0]:g} to {bounds[1]:g} m on an island of radius "
            f"{self.min_island_radius:g} m), got too few among {MAX_ROUNDS * DRAWN_TOGETHER} draws; choose a "
            "larger scene, or check its scale"
        )


_FEASIBLE: WeakKeyDictionary[World, dict[ObjectNavRecipe, tuple[str, ...]]] = WeakKeyDictionary()


class Ground:
    """One scene, its view points, and the distances to those of each category.

    Attributes:
        world: the scene.
        views: view points of its objects.
    """

    def __init__(self, world: World, views: SceneViewPoints) -> None:
        self.world, self.views = world, views
        self._rows = {name: views.rows_of(name) for name in dict.fromkeys(views.categories)}
        self._slot = {name: slot for slot, name in enumerate(self._rows)}
        self._fields, self._from_start = GoalFields(max(1, len(self._slot))), GoalFields(1)
        for name, slot in self._slot.items():
            self._fields.set_goals(slot, world.navmesh, self.places(name))

    def places(self, category: str) -> Float[np.ndarray, "g 3"]:
        """(G, 3) metres: all view points of a category."""
        return self.views.positions[self._rows[category]]

    def distance(self, category: str, points: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k"]:
        """(K,) metres to the nearest view point."""
        return self._fields.distance([self._slot[category]] * len(points), points)

    def nearest(
        self, category: str, start: Float[np.ndarray, "3"], distance: float
    ) -> tuple[Float[np.ndarray, "3"], int]:
        """(3,) metres: the view point at a geodesic `distance` in metres from `start`; its object's id."""
        rows = self._rows[category]
        straight = np.linalg.norm(self.views.positions[rows] - start, axis=1)
        rows = rows[straight <= distance + SLACK]
        self._from_start.set_goals(0, self.world.navmesh, start[None])
        away = self._from_start.distance(np.zeros(len(rows), np.int64), self.views.positions[rows])
        rows = rows[away <= away.min() + TIE]
        places = self.views.positions[rows]
        row = int(
            rows[np.argmin(self.world.navmesh.geodesic_distance(np.tile(start, (len(rows), 1)), places))]
        )
        return self.views.positions[row], self.views.owner_of(row)

    def are_solved(
        self, planner: ActionPlanner, categories: Sequence[str], tried: Mapping[int, Candidate]
    ) -> list[bool]:
        """Whether each candidate is solved, by the number of its category in `categories`."""
        query = Query(
            [self.world.navmesh] * len(tried),
            np.stack([candidate.start for candidate in tried.values()]),
            np.array([candidate.yaw for candidate in tried.values()]),
            [self.places(categories[row]) for row in tried],
        )
        return [plan is not None for plan in planner.plan(query)]

    def center(self, object_id: int) -> Float[np.ndarray, "3"]:
        """(3,) metres: the centre of an object's box."""
        return object_center(self.world.scene, object_id)


def object_center(scene: Scene, object_id: int) -> Float[np.ndarray, "3"]:
    """(3,) metres, world frame: the centre of an object's box; raises InputError for an unknown id."""
    for obj in scene.objects:
        if obj.object_id == object_id:
            return np.array(obj.center, float)
    raise InputError(f"expected an object of {scene.scene_id!r}, got the id {object_id}")


def require_object_goal(episode: Episode) -> ObjectGoal:
    """The goal of an ObjectNav episode; raises InputError when it asks for something else."""
    if not isinstance(episode.goal, ObjectGoal):
        raise InputError(
            f"expected a category as the goal of episode {episode.episode_id!r}, got "
            f"{type(episode.goal).__name__}; choose episodes of the protocol's own task"
        )
    return episode.goal


OBJECTNAV_HABITAT2020_V1 = ObjectNavRecipe(
    "objectnav-habitat2020-v1", LOCOBOT, MP3D_CATEGORIES, difficulty=(4.0, 7.0)
)
OBJECTNAV_HM3D2022_V1 = ObjectNavRecipe("objectnav-hm3d2022-v1", LOCOBOT, HM3D_CATEGORIES, ratio_to="center")
OBJECTNAV_STRETCH2023_V1 = ObjectNavRecipe(
    "objectnav-stretch2023-v1",
    STRETCH_2023,
    HM3D_CATEGORIES,
    max_steps=STRETCH_MAX_ACTIONS,
    ratio_to="center",
    max_rise=STRETCH_MAX_RISE,
    tilts=STRETCH_TILTS,
)
