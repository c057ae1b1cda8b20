"""Episodes of PointNav: a random start and a random goal at a sufficient path length."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import SceneError
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.episode import Episode, PointGoal
from navarena.episodes.recipe import DEFAULT_DATASET, EpisodeRecipe, SceneBatch, Stream
from navarena.episodes.sampling import (
    as_tuple,
    choose_solvable,
    label_difficulty,
    round_distance,
    sample_places,
    sample_yaws,
)
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import LOCOBOT, LOCOBOT_POINTNAV, LOCOBOT_ROBUSTNAV
from navarena.simulation.planning import ActionPlanner, Query
from navarena.simulation.world import World

DRAWN_TOGETHER = 32
"""Candidates drawn from an episode's stream at a time."""

MEASURED_TOGETHER = 4
"""Candidates whose paths are measured at a time: mostly one of the first is taken."""

MAX_ROUNDS = 100
"""Draws of DRAWN_TOGETHER candidates after which a scene counts as unfit."""


@dataclass(frozen=True)
class Candidate:
    """A start and a goal that fulfil the rules; metres and radians, world frame."""

    start: Float[np.ndarray, "3"]
    yaw: float
    goal: Float[np.ndarray, "3"]
    distance: float


@dataclass(frozen=True)
class PointNavRecipe(EpisodeRecipe):
    """Rules of the generators of the Habitat challenges, for points.

    Start and goal are uniform over the navigable floor, on one island of a radius of at least
    `min_island_radius` and on one floor; the geodesic distance lies in [min_distance,
    max_distance]. Nearly straight paths are thinned out: with geodesic / Euclidean distance r <
    `min_ratio`, a candidate is kept with probability 20 (r - 0.98)^2. The yaw is uniform. A
    candidate that the planner cannot solve is dropped and counted.

    Attributes:
        protocol_id: whose episodes they are.
        embodiment: the body.
        success_distance: metres, geodesic, within which the planner must arrive.
        max_steps: actions within which it must.
        min_distance, max_distance: metres, geodesic.
        min_ratio: below it, candidates are thinned out.
        min_island_radius: metres.
        max_rise: metres of height between start and goal; more is another floor.
        difficulty: metres, geodesic, up to which an episode is easy, and medium: about the thirds of `val`.
        shares, default_dataset: see EpisodeRecipe.
    """

    protocol_id: str
    embodiment: Embodiment
    success_distance: float
    max_steps: int
    min_distance: float = 1.0
    max_distance: float = 30.0
    min_ratio: float = 1.05
    min_island_radius: float = 1.5
    max_rise: float = 0.5
    difficulty: tuple[float, float] = (6.0, 9.0)
    shares: str = ""
    default_dataset: str = DEFAULT_DATASET

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Solvable episodes; raises SceneError when the floor is too small for the rules."""
        scene = scene_name(world.scene_id)
        stem = (self.stream_protocol, stream.dataset, stream.split, stream.seed, scene)
        candidates = [
            self._candidates(world, make_generator(*stem, index, "pose"), bounds)
            for index, bounds in enumerate(self.bounds_of(world, first, count, stem), first)
        ]
        planner = ActionPlanner(self.embodiment, self.success_distance, self.max_steps)
        found, dropped = choose_solvable(candidates, lambda tried: _are_solved(planner, world, tried))
        episodes = tuple(
            Episode(
                episode_id=f"{scene}-{index:04d}",
                scene_id=world.scene_id,
                start_position=as_tuple(candidate.start),
                start_yaw=candidate.yaw,
                goal=PointGoal(as_tuple(candidate.goal)),
                geodesic_distance=candidate.distance,
                difficulty=label_difficulty(candidate.distance, self.difficulty),
            )
            for index, candidate in enumerate(found, first)
        )
        return SceneBatch(episodes, dropped)

    def bounds_of(
        self, world: World, first: int, count: int, stem: tuple[str | int, ...]
    ) -> Sequence[tuple[float, float]]:
        """Least and largest geodesic distance, metres, of each of `count` episodes from `first` on."""
        return [(self.min_distance, self.max_distance)] * count

    def _candidates(
        self, world: World, generator: np.random.Generator, bounds: tuple[float, float]
    ) -> Iterator[Candidate]:
        """Candidates of one episode's stream that fulfil the rules, without end."""
        for _ in range(MAX_ROUNDS):
            starts, start_fits = sample_places(world.navmesh, generator, DRAWN_TOGETHER)
            goals, goal_fits = sample_places(world.navmesh, generator, DRAWN_TOGETHER)
            yaws = sample_yaws(generator, DRAWN_TOGETHER)
            uniform_draw = generator.random(DRAWN_TOGETHER)
            fits = np.flatnonzero(start_fits & goal_fits & self.fits(world, starts, goals))
            for rows in np.split(fits, range(MEASURED_TOGETHER, len(fits), MEASURED_TOGETHER)):
                distances = world.navmesh.geodesic_distance(starts[rows], goals[rows])
                far = self._is_far(starts[rows], goals[rows], distances, uniform_draw[rows], bounds)
                for row, distance in zip(rows[far].tolist(), distances[far].tolist()):
                    yield Candidate(starts[row], float(yaws[row]), goals[row], round_distance(distance))
        raise SceneError(
            f"expected room for episodes in {world.scene_id!r} (geodesic distance {bounds[0]:g} to "
            f"{bounds[1]:g} m on an island of radius {self.min_island_radius:g} m), got too few "
            f"among {MAX_ROUNDS * DRAWN_TOGETHER} draws; choose a larger scene, or check its scale"
        )

    def fits(
        self, world: World, starts: Float[np.ndarray, "k 3"], goals: Float[np.ndarray, "k 3"]
    ) -> Bool[np.ndarray, "k"]:
        """(K,) whether start and goal share a large enough island and a floor."""
        island = world.navmesh.island(starts)
        same = (island >= 0) & (island == world.navmesh.island(goals))
        large = np.asarray(world.navmesh.island_radii)[np.maximum(island, 0)] >= self.min_island_radius
        level = np.abs(starts[:, 1] - goals[:, 1]) <= self.max_rise
        return same & large & level

    def _is_far(
        self,
        starts: Float[np.ndarray, "k 3"],
        goals: Float[np.ndarray, "k 3"],
        distances: Float[np.ndarray, "k"],
        uniform_draw: Float[np.ndarray, "k"],
        bounds: tuple[float, float],
    ) -> Bool[np.ndarray, "k"]:
        """(K,) whether the path's length is within `bounds` (metres), and it is not too straight.

        That is decided by `uniform_draw` in [0, 1).
        """
        in_range = (distances >= bounds[0]) & (distances <= bounds[1])
        euclidean = np.linalg.norm(goals - starts, axis=1)
        ratio = np.where(in_range, distances, 0.0) / np.maximum(euclidean, 1e-9)
        return in_range & ((ratio >= self.min_ratio) | (uniform_draw < 20 * (ratio - 0.98) ** 2))


def _are_solved(planner: ActionPlanner, world: World, tried: Mapping[int, Candidate]) -> list[bool]:
    """Whether each candidate is solved."""
    query = Query(
        [world.navmesh] * len(tried),
        np.stack([candidate.start for candidate in tried.values()]),
        np.array([candidate.yaw for candidate in tried.values()]),
        np.stack([candidate.goal for candidate in tried.values()]),
    )
    return [plan is not None for plan in planner.plan(query)]


POINTNAV_V1 = PointNavRecipe("pointnav-v1", LOCOBOT, success_distance=0.2, max_steps=500)
POINTNAV_HABITAT2020_V1 = PointNavRecipe(
    "pointnav-habitat2020-v1", LOCOBOT_POINTNAV, success_distance=0.36, max_steps=500
)
POINTNAV_ROBOTHOR_V1 = PointNavRecipe(
    "pointnav-robothor-v1",
    LOCOBOT_ROBUSTNAV,
    success_distance=0.2,
    max_steps=500,
    difficulty=(2.28, 4.39),  # thirds of RobustNav's episodes (Chattopadhyay et al. 2021; its files)
)
