"""Statistics of episodes, as the tables and figures of the papers have them."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode
from navarena.episodes.goal_points import GoalPoints, euclidean_distance
from navarena.episodes.goals import ImageGoal, LifelongGoal, MultiGoal, ObjectGoal, ObjectInstance

MAX_BINS = 16
"""Of a histogram."""

TAIL = 99.0
"""Per cent of the values that the bins divide evenly; the last bin reaches to the largest one."""


@dataclass(frozen=True)
class Spread:
    """Smallest, mean, median and largest of some numbers; NaN-free, of at least one number."""

    minimum: float
    mean: float
    median: float
    maximum: float

    @classmethod
    def of(cls, values: Float[np.ndarray, "n"]) -> "Spread":
        """The spread of `values` (N,), N >= 1, metres or a ratio."""
        return cls(float(values.min()), float(values.mean()), float(np.median(values)), float(values.max()))


@dataclass(frozen=True)
class Histogram:
    """Histogram: numbers of values between edges.

    Attributes:
        edges: B + 1 ascending numbers. The last bin reaches to the largest value and may be wider.
        counts: B counts; a bin holds its lower edge, the last one both.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, values: Float[np.ndarray, "n"]) -> "Histogram":
        """Bins of a round width, about MAX_BINS, over `values` (N,), N >= 1, metres or a ratio."""
        low, tail, high = float(values.min()), float(np.percentile(values, TAIL)), float(values.max())
        width = _round_width((tail - low) / MAX_BINS)
        first = int(np.floor(low / width + 1e-9))
        last = max(first + 1, int(np.ceil(tail / width - 1e-9)))
        edges = np.arange(first, last + 1) * width
        edges[-1] = max(edges[-1], high)
        counts, _ = np.histogram(values, edges)
        return cls(tuple(float(edge) for edge in edges), tuple(int(count) for count in counts))


def _round_width(min_width: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least `min_width`; 0.01 for less."""
    if min_width <= 0.01:
        return 0.01
    power = 10.0 ** math.floor(math.log10(min_width))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= min_width * (1 - 1e-9)))


@dataclass(frozen=True)
class Measure:
    """A quantity of the episodes that have it; both are None when none has."""

    spread: Spread | None
    histogram: Histogram | None

    @classmethod
    def of(cls, values: list[float]) -> "Measure":
        """The measure of `values`, in their own unit."""
        array = np.array(values, float)
        return cls(Spread.of(array), Histogram.of(array)) if values else cls(None, None)


@dataclass(frozen=True)
class Statistics:
    """A set of episodes in numbers.

    Attributes:
        scenes, episodes: counts.
        categories: category -> episodes that ask for it; of MultiON, goals.
        difficulties: label -> episodes, where the file labels them.
        instances_by_category: category -> objects that count, over all scenes. Empty where files do
            not list objects; objects that an episode inserts are none of the scene's.
        instances_by_scene: scene -> objects that count.
        goals: number of goals -> episodes.
        hidden: episodes whose distance the file hides.
        unreachable: episodes whose distance in the file is infinite or negative.
        geodesic: metres from start to goal along the floor, as the file has it.
        euclidean: metres as the crow flies, to the nearest point where STOP counts.
        ratio: geodesic / Euclidean distance.
        path_length: metres, sum of all geodesic distances.
    """

    scenes: int
    episodes: int
    categories: dict[str, int]
    difficulties: dict[str, int]
    instances_by_category: dict[str, int]
    instances_by_scene: dict[str, int]
    goals: dict[int, int]
    hidden: int
    unreachable: int
    geodesic: Measure
    euclidean: Measure
    ratio: Measure
    path_length: float


class _Tally:
    """Counts while episodes go by; keeps no episode."""

    def __init__(self) -> None:
        self.points = GoalPoints()
        self.scenes: set[str] = set()
        self.episodes = self.hidden = self.unreachable = 0
        self.categories: Counter[str] = Counter()
        self.difficulties: Counter[str] = Counter()
        self.goals: Counter[int] = Counter()
        self.instances: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self.geodesic: list[float] = []
        self.euclidean: list[float] = []
        self.ratio: list[float] = []
        self._scene = ""
        self._listed: dict[str, tuple[ObjectInstance, ...]] = {}

    def add(self, episode: Episode) -> None:
        self.episodes += 1
        self.scenes.add(episode.scene_id)
        if episode.difficulty:
            self.difficulties[episode.difficulty] += 1
        self._add_goal(episode)
        self._measure(episode)

    def _add_goal(self, episode: Episode) -> None:
        goal = episode.goal
        if isinstance(goal, MultiGoal):
            self.goals[len(goal.objects)] += 1
            self.categories.update(one.category for one in goal.objects)
            return
        if isinstance(goal, LifelongGoal):
            self.goals[len(goal.subtasks)] += 1
            for subtask in goal.subtasks:
                self.categories[subtask.category] += 1
                found = self.instances[episode.scene_id, subtask.category]
                found.update(one.object_id for one in subtask.instances)
            return
        self.goals[1] += 1
        if isinstance(goal, ObjectGoal):
            self.categories[goal.category] += 1
            self._add_instances(episode.scene_id, goal.category, goal.instances)
        elif isinstance(goal, ImageGoal):
            self.categories[goal.instance.category] += 1
            self.instances[episode.scene_id, goal.instance.category].add(goal.instance.object_id)

    def _add_instances(self, scene: str, category: str, instances: tuple[ObjectInstance, ...]) -> None:
        """Episodes of a scene and category share the tuple, so that most have been counted already."""
        if scene != self._scene:
            self._scene, self._listed = scene, {}
        if instances and self._listed.get(category) is not instances:
            self._listed[category] = instances
            self.instances[scene, category].update(one.object_id for one in instances)

    def _measure(self, episode: Episode) -> None:
        straight = euclidean_distance(episode, self.points)
        length = episode.geodesic_distance
        if straight is not None:
            self.euclidean.append(straight)
        if length is None:
            self.hidden += 1
        elif not 0 <= length < float("inf"):
            self.unreachable += 1
        else:
            self.geodesic.append(length)
            if straight:
                self.ratio.append(length / straight)


def compute_statistics(
    episodes: Iterable[Episode], objects: Mapping[tuple[str, str], set[str]] | None = None
) -> Statistics:
    """Count and measure episodes; they are read once, in order, and none is kept.

    Args:
        episodes: any number but none, else InputError.
        objects: (scene, category) -> ids of all objects that count, where a file lists more than
            its episodes ask for; by default those that they ask for.
    """
    tally = _Tally()
    for episode in episodes:
        tally.add(episode)
    if not tally.episodes:
        raise InputError("expected at least one episode, got none")
    by_category: Counter[str] = Counter()
    by_scene: Counter[str] = Counter()
    for (scene, category), found in (objects or tally.instances).items():
        by_category[category] += len(found)
        by_scene[scene] += len(found)
    return Statistics(
        scenes=len(tally.scenes),
        episodes=tally.episodes,
        categories=_by_name(tally.categories),
        difficulties=_by_name(tally.difficulties),
        instances_by_category=_by_name(by_category),
        instances_by_scene=_by_name(by_scene),
        goals=dict(sorted(tally.goals.items())),
        hidden=tally.hidden,
        unreachable=tally.unreachable,
        geodesic=Measure.of(tally.geodesic),
        euclidean=Measure.of(tally.euclidean),
        ratio=Measure.of(tally.ratio),
        path_length=float(np.sum(tally.geodesic)),
    )


def _by_name(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
