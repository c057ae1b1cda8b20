"""Episodes that follow instructions: paths through several rooms of a house, with three instructions each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.errors import SceneError
from navarena.core.geometry import divide_path
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.episode import Episode, InstructionGoal
from navarena.episodes.goals import Position
from navarena.episodes.language.grammar import word_route
from navarena.episodes.language.route_facts import describe_route
from navarena.episodes.language.route_follower import follow_route
from navarena.episodes.language.surroundings import Surroundings
from navarena.episodes.recipe import EpisodeRecipe, SceneBatch, Stream
from navarena.episodes.sampling import (
    as_tuple,
    round_distance,
    round_places,
    sample_places,
    sample_yaws,
)
from navarena.metrics.instruction import SUCCESS_DISTANCE
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.goal_fields import geodesic_table
from navarena.simulation.world import World

ROUTE_SET = "r2r-houses-v1"
"""The data set of instructions in generated houses; see `route_sets`."""

DRAWN_TOGETHER = 32
"""Starts and goals drawn from a path's stream at a time."""

MAX_ROUNDS = 60
"""Draws of DRAWN_TOGETHER after which a house counts as unfit."""

WORDING_TRIES = 8
"""Choices of landmarks and words for one instruction, before another path is drawn."""

WORDS = (8, 60)
"""Fewest and most words of an instruction (R2R: 26 in the mean, by white space)."""

WAYPOINT_GAP = 1.9
"""Metres between waypoints, a little under the mean edge of Matterport's graphs (2.27 m)."""


@dataclass(frozen=True)
class RoutePath:
    """A path through a house and its instructions.

    Attributes:
        path: (K, 3) metres, waypoints on the floor, both ends included.
        yaw: radians, at its start.
        length: metres, geodesic.
        instructions: different texts.
    """

    path: Float[np.ndarray, "k 3"]
    yaw: float
    length: float
    instructions: tuple[str, ...]


@dataclass(frozen=True)
class RouteRecipe(EpisodeRecipe):
    """Room-to-room paths of generated houses, after those of R2R (Anderson et al. 2018).

    Start and goal are uniform over the navigable floor, the yaw is uniform; the shortest path between
    them leads through at least two rooms. Each path is described by `wordings` different instructions, and
    each of them alone leads a reader who knows the house, but not the path, to within
    `success_distance` of the goal: what says too little is worded again, or the path is dropped.

    Attributes:
        protocol_id: whose episodes they are.
        embodiment: the body.
        min_distance, max_distance: metres, geodesic.
        way_points: fewest and most, both ends included (R2R: 4 to 7).
        wordings: instructions of each path.
        success_distance: metres, geodesic.
        default_dataset: see EpisodeRecipe.
    """

    protocol_id: str
    embodiment: Embodiment
    min_distance: float = 5.0
    max_distance: float = 20.0
    way_points: tuple[int, int] = (4, 7)
    wordings: int = 3
    success_distance: float = SUCCESS_DISTANCE
    default_dataset: str = ROUTE_SET

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Episodes `first` to `first + count - 1`, `wordings` of each path next to each other.

        `dropped` counts paths of the right length that could not be described. Raises SceneError when the
        house is too small.
        """
        surroundings, scene = Surroundings(world), scene_name(world.scene_id)
        episodes: list[Episode] = []
        dropped = 0
        first_path = first // self.wordings
        for index in range(first_path, -(-(first + count) // self.wordings)):
            generator = make_generator(
                self.protocol_id, stream.dataset, stream.split, stream.seed, scene, index, "way"
            )
            for start, goal, length in self._candidates(world, generator):
                route = self._describe(surroundings, start, goal, length, generator)
                if route is not None:
                    episodes += self._episodes(route, world.scene_id, f"{scene}-{index:04d}")
                    break
                dropped += 1
        skipped = first - first_path * self.wordings
        return SceneBatch(tuple(episodes[skipped : skipped + count]), dropped)

    def measure_gaps(self, world: World, paths: Sequence[Episode]) -> Float[np.ndarray, "p p"]:
        """(P, P) metres along the floor from the end of each path to the start of each."""
        return end_to_start(world.navmesh, paths)

    def _candidates(
        self, world: World, generator: np.random.Generator
    ) -> Iterator[tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"], float]]:
        """Starts and goals at the right distance, metres; raises SceneError at the end of patience."""
        for _ in range(MAX_ROUNDS):
            starts, start_fits = sample_places(world.navmesh, generator, DRAWN_TOGETHER)
            goals, goal_fits = sample_places(world.navmesh, generator, DRAWN_TOGETHER)
            lengths = world.navmesh.geodesic_distance(starts, goals)
            long = (lengths >= self.min_distance) & (lengths <= self.max_distance)
            for row in np.flatnonzero(start_fits & goal_fits & long):
                yield starts[row], goals[row], round_distance(float(lengths[row]))
        raise SceneError(
            f"expected paths of {self.min_distance:g} to {self.max_distance:g} m through several rooms of "
            f"{world.scene_id!r} that can be described, got too few among {MAX_ROUNDS * DRAWN_TOGETHER} "
            "draws; choose a larger house"
        )

    def _describe(
        self,
        surroundings: Surroundings,
        start: Float[np.ndarray, "3"],
        goal: Float[np.ndarray, "3"],
        length: float,
        generator: np.random.Generator,
    ) -> RoutePath | None:
        """The shortest path with its instructions; None where fewer than `wordings` can be found."""
        corners = surroundings.navmesh.shortest_path(start, goal)
        yaw = float(sample_yaws(generator, 1)[0])
        instructions = find_wordings(
            surroundings, corners, yaw, generator, self.wordings, self.success_distance
        )
        if instructions is None:
            return None
        return RoutePath(self._place_waypoints(corners, length), yaw, length, instructions)

    def _place_waypoints(self, corners: Float[np.ndarray, "k 3"], length: float) -> Float[np.ndarray, "p 3"]:
        """(P, 3) points at equal distances along the path, metres."""
        fewest, most = self.way_points
        count = int(np.clip(round(length / WAYPOINT_GAP) + 1, fewest, most))
        return round_places(divide_path(corners, count))

    def _episodes(self, route: RoutePath, scene_id: str, path_id: str) -> list[Episode]:
        """One episode for each instruction, with ids as R2R's: "{path_id}_{k}"."""
        path: tuple[Position, ...] = tuple(as_tuple(point) for point in route.path)
        return [
            Episode(
                episode_id=f"{path_id}_{k}",
                scene_id=scene_id,
                start_position=path[0],
                start_yaw=route.yaw,
                goal=InstructionGoal(text, path, path_id),
                geodesic_distance=route.length,
            )
            for k, text in enumerate(route.instructions)
        ]


def find_wordings(
    surroundings: Surroundings,
    corners: Float[np.ndarray, "k 3"],
    yaw: float,
    generator: np.random.Generator,
    count: int,
    within: float,
) -> tuple[str, ...] | None:
    """`count` different instructions for a path; None where fewer can be found.

    Args:
        surroundings: of the house.
        corners: (K, 3) metres, of the path on the ground.
        yaw: radians, at its start.
        generator: of landmarks and words.
        count: of instructions.
        within: metres, geodesic, from the path's end to where each leads by itself.
    """
    found: dict[str, None] = {}
    for _ in range(count * WORDING_TRIES):
        text = _word(surroundings, corners, yaw, generator, within)
        if text is None:
            return None
        if WORDS[0] <= len(text.split()) <= WORDS[1]:
            found[text] = None
        if len(found) == count:
            return tuple(found)
    return None


def _word(
    surroundings: Surroundings,
    corners: Float[np.ndarray, "k 3"],
    yaw: float,
    generator: np.random.Generator,
    within: float,
) -> str | None:
    """One instruction that leads to the end of the path; None if its facts do not."""
    route = describe_route(surroundings, corners, yaw, generator)
    if route is None:
        return None
    end = follow_route(surroundings, route, corners[0], yaw)
    if end is None:
        return None
    missed = surroundings.navmesh.geodesic_distance(end[None], corners[-1:])[0]
    return word_route(route, generator) if missed < within else None


def end_to_start(navmesh: NavMesh, paths: Sequence[Episode]) -> Float[np.ndarray, "p p"]:
    """(P, P) metres along the floor from the end of each path to the start of each; infinite without one."""
    starts = np.array([path.start_position for path in paths], float)
    ends = np.array([path.goal.places[-1] for path in paths], float)
    return geodesic_table(navmesh, ends, starts)


R2R_CE_V1 = RouteRecipe("r2r-ce-v1", VLN_CE)


@dataclass(frozen=True)
class TourRecipe(RouteRecipe):
    """The same paths and instructions, ordered into tours (see house_tours)."""


IR2R_CE_V1 = TourRecipe("r2r-ce-v1", VLN_CE)
