"""Episodes of MultiON: a random start and goals that follow one another at 2 to 20 m."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError, SceneError
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.episode import Episode
from navarena.episodes.goals import MultiGoal, ObjectInstance
from navarena.episodes.recipe import DEFAULT_DATASET, EpisodeRecipe, SceneBatch, Stream, require_actions
from navarena.episodes.sampling import (
    as_tuple,
    choose_solvable,
    label_difficulty,
    round_distance,
    sample_places,
    sample_yaws,
)
from navarena.episodes.sequence import MappedEpisodes
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import MULTION
from navarena.simulation.planning import ActionPlanner, Query, follow_plans
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

MEASURED_TOGETHER = 4
"""Candidates whose paths are measured at a time: mostly one of the first is taken."""

MAX_ROUNDS = 100
"""Starts in a row from which no goals are found, after which a scene counts as unfit."""

FOUND_DISTANCE = 1.5
"""Metres, geodesic, within which the planner must come to each goal (multiON, SUCCESS_DISTANCE)."""

MAX_STEPS = 2500
"""Actions within which it must have come to all of them (multiON, MAX_EPISODE_STEPS); the consensus of 2020
drew with 750 at most (Batra et al. 2020, "ObjectNav Episode Dataset")."""


@dataclass(frozen=True)
class Candidate:
    """A start and goals that fulfil the rules; metres and radians, world frame.

    Attributes:
        points: (1 + m, 3) the start, and the goals in order.
        yaw: of the start.
        classes: m class ids.
        legs: m geodesic distances.
    """

    points: Float[np.ndarray, "p 3"]
    yaw: float
    classes: tuple[int, ...]
    legs: tuple[float, ...]


@dataclass(frozen=True)
class MultiOnRecipe(EpisodeRecipe):
    """The rules of the paper (Wani et al. 2020, section 5.1) and of its authors' generator.

    The start is uniform over the navigable floor, its yaw uniform. Goals are drawn one after
    another, uniform over the floor; a candidate is rejected when it is on another floor or island,
    or when the geodesic distance from the point before it (the start, or the goal before) lies
    outside [min_distance, max_distance]. Classes are drawn without replacement. A candidate on which
    the planner does not come to all goals in turn is dropped and counted.

    Attributes:
        protocol_id: whose episodes they are.
        embodiment: the body.
        goals: m, how many objects are to be found.
        classes: the categories, by class id.
        min_distance, max_distance: metres, geodesic, between successive points.
        max_rise: metres of height between successive points; more is another floor.
        difficulty: metres, geodesic, for each goal: an episode of m goals is easy up to m times the
            first, and medium up to m times the second.
        max_steps: actions within which the planner must have come to all goals.
        shares, default_dataset: see EpisodeRecipe.
    """

    protocol_id: str
    embodiment: Embodiment
    goals: int
    classes: tuple[str, ...] = CYLINDERS
    min_distance: float = 2.0
    max_distance: float = 20.0
    max_rise: float = 0.5
    difficulty: tuple[float, float] = (5.5, 8.0)
    shares: str = ""
    default_dataset: str = DEFAULT_DATASET
    max_steps: int = MAX_STEPS

    def __post_init__(self) -> None:
        if not 1 <= self.goals <= len(self.classes):
            raise InputError(f"expected 1 to {len(self.classes)} goals of distinct classes, got {self.goals}")

    def with_max_actions(self, actions: int) -> "MultiOnRecipe":
        """See EpisodeRecipe."""
        return replace(self, max_steps=require_actions(actions))

    def with_goal_count(self, goals: int) -> "MultiOnRecipe":
        """See EpisodeRecipe; 0 for the protocol's own number. Raises InputError for more than classes."""
        if goals in (0, self.goals):
            return self
        return replace(self, goals=goals, shares=f"multion-{goals}on-v1")

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Solvable episodes; raises SceneError when the floor is too small for the rules."""
        scene = scene_name(world.scene_id)
        stem = (self.stream_protocol, stream.dataset, stream.split, stream.seed, scene)
        candidates = [
            self._candidates(world, make_generator(*stem, index, "pose"))
            for index in range(first, first + count)
        ]
        found, dropped = choose_solvable(candidates, lambda tried: self._are_solved(world, tried))
        episodes = (
            self._make_episode(world, f"{scene}-{index:04d}", candidate)
            for index, candidate in enumerate(found, first)
        )
        return SceneBatch(tuple(episodes), dropped)

    @property
    def words(self) -> tuple[str, ...]:
        """The classes."""
        return self.classes

    def _make_episode(self, world: World, episode_id: str, candidate: Candidate) -> Episode:
        distance = round_distance(sum(candidate.legs))
        easy, medium = self.difficulty
        return Episode(
            episode_id=episode_id,
            scene_id=world.scene_id,
            start_position=as_tuple(candidate.points[0]),
            start_yaw=candidate.yaw,
            goal=MultiGoal(
                tuple(
                    ObjectInstance(str(number), self.classes[number], as_tuple(point))
                    for number, point in zip(candidate.classes, candidate.points[1:])
                )
            ),
            geodesic_distance=distance,
            difficulty=label_difficulty(distance, (easy * self.goals, medium * self.goals)),
        )

    def translate(self, episodes: Sequence[Episode]) -> tuple[Episode, ...]:
        """The same goal places with objects of these classes."""
        return tuple(
            replace(
                episode,
                goal=MultiGoal(
                    tuple(
                        replace(one, category=self.classes[int(one.object_id)])
                        for one in require_multi_goal(episode).objects
                    )
                ),
            )
            for episode in episodes
        )

    def _candidates(self, world: World, generator: np.random.Generator) -> Iterator[Candidate]:
        """Candidates of one episode's stream that fulfil the rules, without end."""
        in_vain = 0
        while in_vain < MAX_ROUNDS:
            classes = generator.permutation(len(self.classes))[: self.goals]
            yaw = float(sample_yaws(generator, 1)[0])
            chain = self._draw_chain(world, generator)
            in_vain = in_vain + 1 if chain is None else 0
            if chain is not None:
                yield Candidate(chain[0], yaw, tuple(classes.tolist()), chain[1])
        raise SceneError(
            f"expected room for episodes in {world.scene_id!r} ({self.goals} goals at geodesic distances of "
            f"{self.min_distance:g} to {self.max_distance:g} m from one another), got too few among "
            f"{MAX_ROUNDS} starts; choose a larger scene, or check its scale"
        )

    def _draw_chain(
        self, world: World, generator: np.random.Generator
    ) -> tuple[Float[np.ndarray, "p 3"], tuple[float, ...]] | None:
        """Start and goals (1 + m, 3) metres, and the metres between them; None where no goal is found."""
        starts, fits = sample_places(world.navmesh, generator, 1)
        if not fits[0]:
            return None
        points, legs = [starts[0]], []
        for _ in range(self.goals):
            found = self._draw_goal(world, generator, points[-1])
            if found is None:
                return None
            points.append(found[0])
            legs.append(found[1])
        return np.stack(points), tuple(legs)

    def _draw_goal(
        self, world: World, generator: np.random.Generator, origin: Float[np.ndarray, "3"]
    ) -> tuple[Float[np.ndarray, "3"], float] | None:
        """The first candidate that fulfils the rules, and its distance; None when a draw holds none."""
        candidates, fits = sample_places(world.navmesh, generator, DRAWN_TOGETHER)
        level = np.flatnonzero(fits & (np.abs(candidates[:, 1] - origin[1]) <= self.max_rise))
        for rows in np.split(level, range(MEASURED_TOGETHER, len(level), MEASURED_TOGETHER)):
            distances = world.navmesh.geodesic_distance(
                np.repeat(origin[None], len(rows), 0), candidates[rows]
            )
            fit = (distances >= self.min_distance) & (distances <= self.max_distance)
            if fit.any():
                first = int(np.argmax(fit))
                return candidates[rows[first]], float(distances[first])
        return None

    def _are_solved(self, world: World, tried: Mapping[int, Candidate]) -> list[bool]:
        """Whether the planner comes to the goals of each candidate, one after the other."""
        planner = ActionPlanner(self.embodiment, FOUND_DISTANCE, self.max_steps)
        points = np.stack([candidate.points for candidate in tried.values()])
        positions, yaws = points[:, 0].copy(), np.array([candidate.yaw for candidate in tried.values()])
        actions = np.zeros(len(tried), np.int64)
        for goal in range(1, 1 + self.goals):
            plans = planner.plan(Query([world.navmesh] * len(tried), positions, yaws, points[:, goal]))
            actions += [self.max_steps + 1 if plan is None else len(plan) for plan in plans]
            positions, yaws = follow_plans(world.navmesh, self.embodiment, positions, yaws, plans)
        return (actions <= self.max_steps).tolist()


def make_recipe(goals: int) -> MultiOnRecipe:
    """The recipe of `multion-<goals>on-v1`; protocols exist for 1 to 3 goals, recipes for up to 8."""
    return MultiOnRecipe(f"multion-{goals}on-v1", MULTION, goals)


def make_shapes_recipe(goals: int) -> MultiOnRecipe:
    """The recipe of `multion-shapes-<goals>on-v1`: the places of `multion-<goals>on-v1`, other objects."""
    shared = f"multion-{goals}on-v1"
    return MultiOnRecipe(f"multion-shapes-{goals}on-v1", MULTION, goals, SHAPES, shares=shared)


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


def require_counts(
    episodes: Sequence[Episode], count: int, protocol_id: str, path: str, known: Container[str]
) -> MappedEpisodes:
    """The episodes of a file of MultiON; one with other than `count` goals is refused when it is read.

    Args:
        episodes: of the file.
        count: of the goals of the protocol.
        protocol_id: of the protocol.
        path: of the file.
        known: protocols of which the InputError may name one.
    """
    require = partial(_require_count, count=count, protocol_id=protocol_id, path=path, known=known)
    return MappedEpisodes(episodes, require, find_scene=str)


def _require_count(
    episode: Episode, count: int, protocol_id: str, path: str, known: Container[str]
) -> Episode:
    found = len(require_multi_goal(episode).objects)
    if found != count:
        other = re.sub(r"\d+on", f"{found}on", protocol_id)
        use = other if other in known else f"{protocol_id}+objects={found}"
        raise InputError(
            f"expected {count} goals in each episode, got {found} in {episode.episode_id!r} of {path}; "
            f"use {use}"
        )
    return episode
