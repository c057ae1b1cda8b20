"""Episodes of MultiON: a random start and goals that follow one another at 2 to 20 m."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode
from navarena.episodes.goals import MultiGoal, ObjectInstance
from navarena.episodes.point_nav import as_tuple, scene_name
from navarena.episodes.recipe import EpisodeRecipe, SceneBatch, Stream
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import MULTION
from navarena.simulation.world import World

CYLINDERS = tuple(
    f"cylinder_{color}" for color in ("red", "green", "blue", "yellow", "white", "pink", "black", "cyan")
)
"""Class id -> category, in the order of the published files."""

SHAPES = (
    "cone", "cube", "cylinder", "frustum", "joined_inverted_frustums", "sphere", "tetrahedron", "torus",
)  # fmt: skip
"""Class id -> category of the variant of the paper's appendix, in its order."""

DRAWN_TOGETHER = 32
"""Candidates drawn from an episode's stream at a time."""

MAX_ROUNDS = 100
"""Draws of DRAWN_TOGETHER candidates after which a scene counts as unfit."""


@dataclass(frozen=True)
class MultiOnRecipe(EpisodeRecipe):
    """The rules of the paper (Wani et al. 2020, section 5.1) and of its authors' generator.

    The start is uniform over the navigable floor, its yaw uniform. Goals are drawn one after
    another, uniform over the floor; a candidate is rejected when it is on another floor or island,
    or when the geodesic distance from the point before it (the start, or the goal before) lies
    outside [min_distance, max_distance]. Classes are drawn without replacement.

    Attributes:
        protocol_id: whose episodes they are.
        embodiment: the body.
        goals: m, how many objects are to be found.
        classes: the categories, by class id.
        min_distance, max_distance: metres, geodesic, between successive points.
        max_rise: metres of height between successive points; more is another floor.
    """

    protocol_id: str
    embodiment: Embodiment
    goals: int
    classes: tuple[str, ...] = CYLINDERS
    min_distance: float = 2.0
    max_distance: float = 20.0
    max_rise: float = 0.5

    def __post_init__(self) -> None:
        if not 1 <= self.goals <= len(self.classes):
            raise InputError(f"expected 1 to {len(self.classes)} goals of distinct classes, got {self.goals}")

    def make(self, world: World, count: int, stream: Stream) -> SceneBatch:
        """`count` episodes; raises SceneError when the floor is too small for the rules."""
        scene = scene_name(world.scene_id)
        episodes = []
        for index in range(count):
            name = (self.protocol_id, stream.dataset, stream.split, stream.seed, scene, index)
            episodes.append(self._make_one(world, f"{scene}-{index:04d}", make_generator(*name, "pose")))
        return SceneBatch(tuple(episodes), 0)

    def _make_one(self, world: World, episode_id: str, generator: np.random.Generator) -> Episode:
        chosen = generator.permutation(len(self.classes))[: self.goals]
        yaw = float(generator.uniform(-np.pi, np.pi))
        points, legs = self._draw_chain(world, generator)
        objects = tuple(
            ObjectInstance(str(number), self.classes[number], as_tuple(point))
            for number, point in zip(chosen.tolist(), points[1:])
        )
        return Episode(
            episode_id=episode_id,
            scene_id=world.scene_id,
            start_position=as_tuple(points[0]),
            start_yaw=yaw,
            goal=MultiGoal(objects),
            geodesic_distance=float(sum(legs)),
        )

    def _draw_chain(
        self, world: World, generator: np.random.Generator
    ) -> tuple[list[Float[np.ndarray, "3"]], list[float]]:
        """Start and goals, and the metres between them. A start from which no goal is found is drawn anew."""
        for _ in range(MAX_ROUNDS):
            points = [world.navmesh.random_point(generator, 1)[0]]
            legs: list[float] = []
            while len(legs) < self.goals:
                found = self._draw_goal(world, generator, points[-1])
                if found is None:
                    break
                points.append(found[0])
                legs.append(found[1])
            else:
                return points, legs
        raise SceneError(
            f"expected room for episodes in {world.scene_id!r} ({self.goals} goals at geodesic distances of "
            f"{self.min_distance:g} to {self.max_distance:g} m from one another), got too few among "
            f"{MAX_ROUNDS} starts; choose a larger scene, or check its scale"
        )

    def _draw_goal(
        self, world: World, generator: np.random.Generator, origin: Float[np.ndarray, "3"]
    ) -> tuple[Float[np.ndarray, "3"], float] | None:
        """The first candidate that fulfils the rules, and its distance; None when a draw holds none."""
        candidates = world.navmesh.random_point(generator, DRAWN_TOGETHER)
        distances = world.navmesh.geodesic_distance(np.repeat(origin[None], DRAWN_TOGETHER, 0), candidates)
        level = np.abs(candidates[:, 1] - origin[1]) <= self.max_rise
        fit = level & (distances >= self.min_distance) & (distances <= self.max_distance)
        if not fit.any():
            return None
        row = int(np.argmax(fit))
        return candidates[row], float(distances[row])


def make_recipe(goals: int) -> MultiOnRecipe:
    """The recipe of `multion-<goals>on-v1`; protocols exist for 1 to 3 goals, recipes for up to 8."""
    return MultiOnRecipe(f"multion-{goals}on-v1", MULTION, goals)


def make_shapes_recipe(goals: int) -> MultiOnRecipe:
    """The recipe of `multion-shapes-<goals>on-v1`."""
    return MultiOnRecipe(f"multion-shapes-{goals}on-v1", MULTION, goals, SHAPES)


MULTION_1ON_V1, MULTION_2ON_V1, MULTION_3ON_V1 = (make_recipe(goals) for goals in (1, 2, 3))
MULTION_SHAPES_1ON_V1, MULTION_SHAPES_2ON_V1, MULTION_SHAPES_3ON_V1 = (
    make_shapes_recipe(goals) for goals in (1, 2, 3)
)


def require_multi_goal(episode: Episode) -> MultiGoal:
    """The goal of a MultiON episode; raises InputError when it asks for something else."""
    if not isinstance(episode.goal, MultiGoal):
        raise InputError(
            f"expected objects in order as the goal of episode {episode.episode_id!r}, got "
            f"{type(episode.goal).__name__}; choose episodes of the protocol's own task"
        )
    return episode.goal
