"""Audit of episode lists: checks positions, paths, distances and objects in their scenes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from navarena.episodes.episode import Episode
from navarena.episodes.goal_objects import find_goal_object
from navarena.episodes.goal_points import GoalPoints
from navarena.episodes.goal_words import word_for
from navarena.episodes.goals import (
    ImageGoal,
    InstructionGoal,
    LifelongGoal,
    MultiGoal,
    ObjectGoal,
    ObjectInstance,
    PointGoal,
)
from navarena.episodes.goat.ambiguity import find_ambiguous_descriptions
from navarena.episodes.view_points import ViewPointSettings, box_distance, find_view_points
from navarena.scenes.scene import SceneObject
from navarena.simulation.world import World

CHECKS = {
    "start": "the body can stand at the start",
    "goal": "the body can stand at the goal, or at a view point of it",
    "reachable": "there is a path from the start to the goal, and on to the next",
    "distance": "the distance in the file is ours, within the tolerance",
    "duplicate": "no other episode has the id, or the scene, start, goal and words",
    "instances": "the objects of the category are those of the scene",
    "description": "words fit one object of the scene alone",
    "spl": "the distance in the file gives an SPL in [0, 1]",
    "expert": "the expert succeeds",
}
"""Name -> what must hold."""

SAME_OBJECT = 0.5
"""Metres: a listed object within this of an object's box is that object, whatever it is called."""

VIEW_POINT_REACH = 1.0
"""Metres from an object's box within which view points lie (ObjectNav 2020; Habitat's generators)."""


@dataclass(frozen=True)
class Tolerance:
    """Allowed difference between a distance in the file and ours: the larger of both bounds.

    Attributes:
        absolute: metres. Files of Habitat round to five decimals; navmeshes differ by more.
        relative: share of ours.
    """

    absolute: float = 0.05
    relative: float = 0.01

    def allows(self, said: float, measured: float) -> bool:
        """Whether `said` (metres) is near enough to `measured`."""
        return abs(said - measured) <= max(self.absolute, self.relative * measured)


@dataclass(frozen=True)
class Finding:
    """A fault of one episode, or (episode_id empty) of the goals of a scene."""

    episode_id: str
    scene_id: str
    check: str
    message: str


@dataclass(frozen=True)
class AuditReport:
    """The outcome of an audit.

    Attributes:
        scenes, episodes: that were looked at.
        findings: everything that is wrong, by scene in order of appearance.
    """

    scenes: int
    episodes: int
    findings: tuple[Finding, ...] = field(default=())

    @property
    def bad_episodes(self) -> tuple[str, ...]:
        """Ids of episodes with a finding, in order, each once."""
        return tuple(dict.fromkeys(one.episode_id for one in self.findings if one.episode_id))

    @property
    def counts(self) -> dict[str, int]:
        """Check -> findings, zeros included."""
        counted = Counter(one.check for one in self.findings)
        return {check: counted[check] for check in CHECKS}


def audit_episodes(
    episodes: Iterable[Episode],
    open_scene: Callable[[str], World],
    tolerance: Tolerance | None = None,
    progress: Callable[[int], None] | None = None,
    view_points: ViewPointSettings | None = None,
) -> AuditReport:
    """Run all checks that need a scene and its navmesh, but not the expert.

    Args:
        episodes: of any task.
        open_scene: scene id -> world, cut for the body that the episodes are for. What it raises
            for a scene that is not there passes through.
        tolerance: for distances.
        progress: called with the number of episodes done since the last call.
        view_points: by which objects count as goals; None where the rule of a list is not known.
    """
    by_scene: defaultdict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        by_scene[episode.scene_id].append(episode)
    findings: list[Finding] = list(_find_repeated_ids(by_scene))
    for scene_id, members in by_scene.items():
        findings += _audit_scene(members, open_scene(scene_id), tolerance or Tolerance(), view_points)
        if progress is not None:
            progress(len(members))
    return AuditReport(len(by_scene), sum(map(len, by_scene.values())), tuple(findings))


def _audit_scene(
    episodes: Sequence[Episode], world: World, tolerance: Tolerance, view_points: ViewPointSettings | None
) -> Iterator[Finding]:
    yield from _find_duplicates(episodes)
    yield from _find_unfit_places(episodes, world)
    yield from _find_wrong_distances(episodes, world, tolerance)
    lists = {
        (one.goal.category, id(one.goal.instances)): one.goal.instances
        for one in episodes
        if isinstance(one.goal, ObjectGoal) and one.goal.instances
    }
    for (category, _), instances in lists.items():
        for message in find_wrong_instances(world, category, instances, view_points):
            yield Finding("", episodes[0].scene_id, "instances", message)
    listed = [
        obj
        for one in episodes
        if isinstance(one.goal, LifelongGoal)
        for subtask in one.goal.subtasks
        for obj in subtask.instances
    ]
    for message in find_unknown_objects(world, listed):
        yield Finding("", episodes[0].scene_id, "instances", message)
    for message in find_ambiguous_descriptions(world, episodes):
        yield Finding("", episodes[0].scene_id, "description", message)


def _find_repeated_ids(by_scene: dict[str, list[Episode]]) -> Iterator[Finding]:
    seen: set[str] = set()
    for episode in (one for members in by_scene.values() for one in members):
        if episode.episode_id in seen:
            yield Finding(episode.episode_id, episode.scene_id, "duplicate", "another episode has this id")
        seen.add(episode.episode_id)


def _find_duplicates(episodes: Sequence[Episode]) -> Iterator[Finding]:
    first: dict[Hashable, str] = {}
    for episode in episodes:
        key = (episode.start_position, episode.start_yaw, episode.start_tilt, _goal_key(episode))
        if key in first:
            yield Finding(
                episode.episode_id,
                episode.scene_id,
                "duplicate",
                f"start and goal are those of {first[key]!r}",
            )
        first.setdefault(key, episode.episode_id)


def _goal_key(episode: Episode) -> Hashable:
    goal = episode.goal
    if isinstance(goal, ObjectGoal):
        return goal.category, goal.closest if not goal.instances else ""
    if isinstance(goal, MultiGoal):
        return tuple((one.category, one.position) for one in goal.objects)
    if isinstance(goal, ImageGoal):
        return goal.instance.object_id, goal.image
    if isinstance(goal, LifelongGoal):
        return tuple((one.category, one.description, one.image) for one in goal.subtasks)
    if isinstance(goal, InstructionGoal):
        return goal.places, goal.instruction
    return goal.places


def _find_unfit_places(episodes: Sequence[Episode], world: World) -> Iterator[Finding]:
    """Starts and goals at which the body cannot stand."""
    starts = np.array([episode.start_position for episode in episodes], float)
    for episode, fits in zip(episodes, world.navmesh.is_navigable(starts)):
        if not fits:
            yield _finding(episode, "start", f"the body cannot stand at {_text(episode.start_position)}")
    known: dict[int, bool] = {}
    for episode in episodes:
        goal = episode.goal
        if isinstance(goal, PointGoal | MultiGoal):
            fits = world.navmesh.is_navigable(np.array(goal.places, float))
            for place in (goal.places[k] for k in np.flatnonzero(~fits)):
                yield _finding(episode, "goal", f"the body cannot stand at {_text(place)}")
            continue
        instances = _instances_of(episode)
        if id(instances) not in known:
            known[id(instances)] = _any_view_point_fits(world, instances)
        if not known[id(instances)]:
            yield _finding(episode, "goal", "the body can stand at none of the view points")


def _instances_of(episode: Episode) -> tuple[ObjectInstance, ...]:
    goal = episode.goal
    if isinstance(goal, ImageGoal):
        return (goal.instance,)
    if isinstance(goal, LifelongGoal):
        return goal.subtasks[0].instances
    return goal.instances if isinstance(goal, ObjectGoal) else ()


def _any_view_point_fits(world: World, instances: tuple[ObjectInstance, ...]) -> bool:
    """Also for objects without view points, which only the distance can judge."""
    points = [point.position for one in instances for point in one.view_points]
    return not points or bool(world.navmesh.is_navigable(np.array(points, float)).any())


def _find_wrong_distances(
    episodes: Sequence[Episode], world: World, tolerance: Tolerance
) -> Iterator[Finding]:
    for episode, measured in zip(episodes, measure_distances(episodes, world).tolist()):
        said = episode.geodesic_distance
        if not episode.goal.places:
            continue  # a test split: there is nothing to measure
        if not np.isfinite(measured):
            yield _finding(episode, "reachable", "the goal cannot be reached from the start")
        elif said is not None and np.isfinite(said) and not tolerance.allows(said, measured):
            yield _finding(episode, "distance", f"the file says {said:.3f} m, ours is {measured:.3f} m")
        if said is not None and not 0 < said < np.inf:
            yield _finding(episode, "spl", f"a distance of {said} m gives no SPL")


def measure_distances(episodes: Sequence[Episode], world: World) -> Float[np.ndarray, "n"]:
    """(N,) float64 metres along the floor, to the nearest point of each goal in turn.

    The episodes are all of `world`. Infinite where there is no path, or the file hides the goal.
    """
    points = GoalPoints()
    groups: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    kept = [points.point_sets(episode.goal) for episode in episodes]
    for row, goals in enumerate(kept):
        is_plain = all(len(goal) == 1 for goal in goals)
        groups[(-len(goals),) if is_plain else tuple(id(goal) for goal in goals)].append(row)
    distances = np.full(len(episodes), np.inf)
    for rows in groups.values():
        starts = np.array([episodes[row].start_position for row in rows], float)
        goals = kept[rows[0]]
        if all(len(goal) == 1 for goal in goals):
            distances[rows] = _chain(world, starts, np.array([np.concatenate(kept[row]) for row in rows]))
        elif len(goals) == 1 and len(goals[0]):
            distances[rows] = world.navmesh.geodesic_to_nearest(starts, goals[0])
        elif all(len(goal) for goal in goals):
            distances[rows] = [_chain_of_sets(world, start, goals) for start in starts]
    return distances


def _chain(
    world: World, starts: Float[np.ndarray, "n 3"], goals: Float[np.ndarray, "n s 3"]
) -> Float[np.ndarray, "n"]:
    """(N,) metres from starts (N, 3) through goals (N, S, 3) in order."""
    total, here = np.zeros(len(starts)), starts
    for place in range(goals.shape[1]):
        there = np.ascontiguousarray(goals[:, place])
        total += world.navmesh.geodesic_distance(here, there)
        here = there
    return total


def _chain_of_sets(world: World, start: np.ndarray, goals: Sequence[np.ndarray]) -> float:
    """Metres from `start` (3,) to the nearest point of each set (K, 3) in turn."""
    total, here = 0.0, start
    for points in goals:
        distances = world.navmesh.geodesic_distance(np.repeat(here[None], len(points), 0), points)
        nearest = int(distances.argmin())
        total += float(distances[nearest])
        here = points[nearest]
    return total


def _finding(episode: Episode, check: str, message: str) -> Finding:
    return Finding(episode.episode_id, episode.scene_id, check, message)


def _text(place: Sequence[float], digits: int = 3) -> str:
    return f"({', '.join(f'{value:.{digits}f}' for value in place)})"


def find_wrong_instances(
    world: World,
    category: str,
    instances: Sequence[ObjectInstance],
    view_points: ViewPointSettings | None = None,
) -> Iterator[str]:
    """Faults of the list of the objects of a category; nothing where the scene has no objects.

    Generators drop objects that are seen from nowhere: one that is not listed is an error where it has view
    points by the rule `view_points`, or without a rule, where a floor is near it.
    """
    unseen = [one for one in instances if one.view_points and not _fits_somewhere(world, one)]
    for one in unseen:
        yield f"{category} {one.object_id}: the body can stand at none of its view points"
    there = [one for one in world.scene.objects if word_for(one, (category,)) is not None]
    if not world.scene.objects:
        return
    for one in instances:
        if not any(_is_same(one, other) for other in there):
            place = _text(one.position, 2)
            yield f"{category} {one.object_id} at {place} is none of the scene's {len(there)}"
    for other in there:
        if not any(_is_same(one, other) for one in instances) and _counts(world, other, view_points):
            yield f"{category} {other.object_id} of the scene at {_text(other.center, 2)} is not listed"


def find_unknown_objects(world: World, instances: Iterable[ObjectInstance]) -> Iterator[str]:
    """Listed objects that the scene does not have; those with view points of their own need not be there."""
    unknown = {
        one.object_id: one
        for one in instances
        if not one.view_points and find_goal_object(world.scene, one) is None
    }
    for one in unknown.values():
        yield f"{one.category} {one.object_id} is none of the scene's objects; leave its episodes out"


def _fits_somewhere(world: World, instance: ObjectInstance) -> bool:
    points = np.array([point.position for point in instance.view_points], float)
    return bool(world.navmesh.is_navigable(points).any())


def _is_same(instance: ObjectInstance, other: SceneObject) -> bool:
    return bool(box_distance(other, np.array([instance.position], float))[0] <= SAME_OBJECT)


def _counts(world: World, other: SceneObject, view_points: ViewPointSettings | None) -> bool:
    """Whether an object would have to be listed."""
    if view_points is None:
        return _is_near_floor(world, other)
    return other.object_id in find_view_points(world, view_points).objects


def _is_near_floor(world: World, other: SceneObject) -> bool:
    """Whether the navmesh comes within reach of the object's box, seen from above."""
    foot = np.array(other.center, float) - (0.0, other.half_size[1], 0.0)
    snapped = world.navmesh.snap_point(foot[None])[0]
    if not np.isfinite(snapped).all():
        return False
    level = np.array([snapped[0], other.center[1], snapped[2]])
    return bool(box_distance(other, level[None])[0] <= VIEW_POINT_REACH)
