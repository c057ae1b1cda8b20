"""Episodes of GOAT-Bench: goals that follow one another, given by category, in words or by an image."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from navarena.core.errors import SceneError
from navarena.core.seeding import make_generator, scene_name
from navarena.episodes.episode import Episode
from navarena.episodes.goals import LifelongGoal, Modality, Subtask
from navarena.episodes.goat.goal_pool import MODALITIES, Choice, GoalPool
from navarena.episodes.goat.names import names_of_split
from navarena.episodes.goat.settings import GOAT_EPISODE_SPLITS, GOAT_VIEW_POINTS, VAL_SPLITS
from navarena.episodes.recipe import DEFAULT_DATASET, EpisodeRecipe, SceneBatch, SplitSize, Stream
from navarena.episodes.sampling import (
    as_tuple,
    choose_solvable,
    label_difficulty,
    round_distance,
    sample_places,
    sample_yaws,
)
from navarena.episodes.view_points import ViewPointSettings
from navarena.scenes.houses.vocabulary import GOAT
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import STRETCH
from navarena.simulation.planning import ActionPlanner, Query, follow_plans
from navarena.simulation.world import World

MAX_STARTS = 3000
"""Starts in a row from which no episode can be drawn, after which a scene counts as unfit."""

SUCCESS_DISTANCE = 0.25
"""Metres, geodesic, from a view point, within which the planner must come (spec 4.2, code)."""

STEPS_PER_SUBTASK = 500
"""Actions within which it must (spec 4.2, paper)."""

DIFFICULTY = (3.0, 5.0)
"""Metres for each sub-task, up to which an episode is easy, and medium."""

TRAIN = "train"
"""Split whose nearly straight first paths are thinned out (spec 4.5: disabled for val)."""


@dataclass(frozen=True)
class Candidate:
    """A start and goals that fulfil the rules; metres and radians, world frame."""

    start: Float[np.ndarray, "3"]
    yaw: float
    choices: tuple[Choice, ...]
    subtasks: tuple[Subtask, ...]
    legs: tuple[float, ...]


@dataclass(frozen=True)
class GoatRecipe(EpisodeRecipe):
    """The rules of GOAT-Bench (spec ivln_goat 4.5; its generator of whole episodes was never published).

    The start is uniform over the floor, on an island of a radius of at least 1.5 m, its yaw uniform. The
    number of sub-tasks is uniform in [min_subtasks, max_subtasks]. For each a modality is drawn among those
    for which the start's floor has a goal, then a name of the split, then an object of that name. Goals that
    follow one another have no object in common, as long as the floor has others. The first lies 1 to 30 m
    away, geodesic, to the nearest view point; all can be reached. In training nearly straight first paths are
    thinned out as those of ObjectNav are. Episodes whose goals the planner cannot reach in turn within
    STEPS_PER_SUBTASK actions each are dropped and counted. Houses of a val split that have no such goal
    have no episodes: few objects are called by names that are not seen in training.

    Attributes:
        protocol_id: whose episodes they are.
        min_subtasks, max_subtasks: bounds of the number of sub-tasks.
        modalities: how goals are given.
        embodiment: the body.
        min_distance, max_distance: metres, geodesic, of the first goal.
        min_island_radius: metres.
        shares, default_dataset: see EpisodeRecipe.
    """

    protocol_id: str
    min_subtasks: int = 5
    max_subtasks: int = 10
    modalities: tuple[Modality, ...] = MODALITIES
    embodiment: Embodiment = STRETCH
    min_distance: float = 1.0
    max_distance: float = 30.0
    min_ratio: float = 1.05
    min_island_radius: float = 1.5
    shares: str = ""
    default_dataset: str = DEFAULT_DATASET

    def with_goal_count(self, goals: int) -> "GoatRecipe":
        """See EpisodeRecipe; 0 for the protocol's own numbers."""
        return replace(self, min_subtasks=goals, max_subtasks=goals) if goals else self

    @property
    def words(self) -> tuple[str, ...]:
        """All names of the benchmark that houses can answer."""
        return tuple(GOAT)

    @property
    def splits(self) -> Mapping[str, SplitSize]:
        """The splits of GOAT-Bench."""
        return GOAT_EPISODE_SPLITS

    @property
    def view_points(self) -> ViewPointSettings:
        """Settings of the view points of its goals."""
        return GOAT_VIEW_POINTS

    def make(self, world: World, count: int, stream: Stream, first: int = 0) -> SceneBatch:
        """Solvable episodes, none in a house of a val split without goals.

        Raises SceneError for another scene without labels, goals or room.
        """
        scene = scene_name(world.scene_id)
        stem = (self.stream_protocol, stream.dataset, stream.split, stream.seed, scene)
        pool = GoalPool(world, names_of_split(stream.split))
        if stream.split in VAL_SPLITS and not any(pool.choices(modality) for modality in self.modalities):
            return SceneBatch((), 0)
        thin = stream.split == TRAIN
        candidates = [
            self._candidates(pool, make_generator(*stem, row, "pose"), thin)
            for row in range(first, first + count)
        ]
        found, dropped = choose_solvable(candidates, lambda tried: self._are_solved(pool, tried))
        episodes = tuple(
            self._make_episode(world, f"{scene}-{row:04d}", candidate)
            for row, candidate in enumerate(found, first)
        )
        return SceneBatch(episodes, dropped)

    def _make_episode(self, world: World, episode_id: str, candidate: Candidate) -> Episode:
        distance = round_distance(sum(candidate.legs))
        return Episode(
            episode_id=episode_id,
            scene_id=world.scene_id,
            start_position=as_tuple(candidate.start),
            start_yaw=candidate.yaw,
            goal=LifelongGoal(candidate.subtasks),
            geodesic_distance=distance,
            difficulty=label_difficulty(distance / len(candidate.legs), DIFFICULTY),
        )

    def _candidates(self, pool: GoalPool, generator: np.random.Generator, thin: bool) -> Iterator[Candidate]:
        """Candidates of one episode's stream that fulfil the rules, without end."""
        in_vain = 0
        while in_vain < MAX_STARTS:
            drawn = self._draw(pool, generator, thin)
            in_vain = in_vain + 1 if drawn is None else 0
            if drawn is not None:
                yield drawn
        raise SceneError(
            f"expected goals of {self.protocol_id} ({', '.join(self.modalities)}) in "
            f"{pool.world.scene_id!r}, the first at {self.min_distance:g} to {self.max_distance:g} m, got "
            f"too few among {MAX_STARTS} starts; `navarena goals make` lists what was dropped and why"
        )

    def _draw(self, pool: GoalPool, generator: np.random.Generator, thin: bool) -> Candidate | None:
        """A start and goals; None where they break a rule."""
        navmesh = pool.world.navmesh
        starts, fits = sample_places(navmesh, generator, 1)
        yaw, uniform_draw = float(sample_yaws(generator, 1)[0]), float(generator.random())
        count = int(generator.integers(self.min_subtasks, self.max_subtasks, endpoint=True))
        if not fits[0] or navmesh.island_radius(starts)[0] < self.min_island_radius:
            return None
        start = here = starts[0]
        options = [pool.on_floor(modality, float(start[1])) for modality in self.modalities]
        choices: list[Choice] = []
        legs: list[float] = []
        while len(choices) < count:
            choice = self._choose(pool, options, choices, generator)
            distance = np.inf if choice is None else pool.distance(choice, here)
            if choice is None or not np.isfinite(distance):
                return None
            arrival = pool.arrival(choice, here, distance)
            if not choices:
                straight = float(np.linalg.norm(arrival - start))
                kept = not thin or self._is_kept(distance / max(straight, 1e-9), uniform_draw)
                if not (self.min_distance <= distance <= self.max_distance and kept):
                    return None
            choices.append(choice)
            legs.append(distance)
            here = arrival
        subtasks = tuple(pool.subtask(choice, generator) for choice in choices)
        return Candidate(start, yaw, tuple(choices), subtasks, tuple(legs))

    def _choose(
        self,
        pool: GoalPool,
        options: Sequence[Sequence[Choice]],
        before: Sequence[Choice],
        generator: np.random.Generator,
    ) -> Choice | None:
        """The next goal: modality, then name, then object, each uniform; None where there is none."""
        last = set(pool.meant(before[-1])) if before else set()
        rest = [[choice for choice in choices if not last & set(pool.meant(choice))] for choices in options]
        left = [found for found in rest if found] or [list(found) for found in options if found]
        if not left:
            return None
        choices = left[int(generator.integers(len(left)))]
        names = list(dict.fromkeys(choice.name for choice in choices))
        name = names[int(generator.integers(len(names)))]
        called = [choice for choice in choices if choice.name == name]
        return called[int(generator.integers(len(called)))]

    def _is_kept(self, ratio: float, uniform_draw: float) -> bool:
        """Whether a path so much longer than the straight line is kept (see object_nav.ObjectNavRecipe)."""
        return ratio >= self.min_ratio or uniform_draw < 20 * (ratio - 0.98) ** 2

    def _are_solved(self, pool: GoalPool, tried: Mapping[int, Candidate]) -> list[bool]:
        """Whether the planner comes to the goals of each candidate, one after the other."""
        mesh = pool.world.navmesh
        planner = ActionPlanner(self.embodiment, SUCCESS_DISTANCE, STEPS_PER_SUBTASK)
        candidates = list(tried.values())
        positions = np.stack([candidate.start for candidate in candidates])
        yaws = np.array([candidate.yaw for candidate in candidates])
        solved = [True] * len(candidates)
        for turn in range(max(len(candidate.choices) for candidate in candidates)):
            rows = [k for k, one in enumerate(candidates) if solved[k] and turn < len(one.choices)]
            if not rows:
                break
            goals = [pool.places(candidates[k].choices[turn]) for k in rows]
            plans = planner.plan(Query([mesh] * len(rows), positions[rows], yaws[rows], goals))
            for k, plan in zip(rows, plans):
                solved[k] = plan is not None
            positions[rows], yaws[rows] = follow_plans(
                mesh, self.embodiment, positions[rows], yaws[rows], plans
            )
        return solved


GOAT_V1 = GoatRecipe("goat-v1")
OVON_V1 = GoatRecipe("ovon-v1", 1, 1, ("object",))
INSTANCE_IMAGENAV_V1 = GoatRecipe("instance-imagenav-v1", 1, 1, ("image",))
LANGUAGENAV_V1 = GoatRecipe("languagenav-v1", 1, 1, ("description",))
