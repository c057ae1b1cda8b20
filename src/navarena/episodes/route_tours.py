"""Tours of episodes in continuous scenes, as the ways along the floor allow, with short gaps."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from navarena.core.errors import InputError
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.tour_order import ITERATIONS, Solver, order_paths
from navarena.episodes.tours import TourLists, lay_tours
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.navmesh.queries.goal_fields import geodesic_table


@dataclass(frozen=True)
class EpisodeTour:
    """Episodes of one scene in the order in which they are run, memory kept between them.

    Attributes:
        tour_id: unique within its split.
        episodes: at least one.
    """

    tour_id: str
    episodes: tuple[Episode, ...]

    def __post_init__(self) -> None:
        scenes = {episode.scene_id for episode in self.episodes}
        if len(scenes) != 1:
            raise InputError(
                f"expected a tour {self.tour_id!r} of at least one episode, all in one scene, got "
                f"{len(self.episodes)} episodes in {sorted(scenes)}"
            )

    @property
    def scene_id(self) -> str:
        """The scene."""
        return self.episodes[0].scene_id


def make_scene_tours(
    navmesh: NavMesh,
    episodes: Sequence[Episode],
    solver: Solver = "pyvrp",
    seed: int = 0,
    iterations: int = ITERATIONS,
) -> list[list[str]]:
    """Tours through the ways of one scene, as `tours.make_tours` but over the floor.

    Ways are parted where no way along the floor leads from one's end to another's start and back; each
    part is ordered with small gaps, and run once for each instruction of its ways.

    Args:
        navmesh: of the body that walks.
        episodes: of the scene; those with the same `path_id` follow the same way.
        solver: of the ordering.
        seed: of the solver; the same seed gives the same tours.
        iterations: of the solver; it never stops by time.

    Returns lists of episode ids. Raises InputError for an episode without instruction.
    """
    names: dict[str, list[str]] = {}
    ways: dict[str, Episode] = {}
    for episode in episodes:
        path_id = require_instruction(episode).path_id
        names.setdefault(path_id, []).append(episode.episode_id)
        ways.setdefault(path_id, episode)
    if not ways:
        return []
    gaps = end_to_start(navmesh, list(ways.values()))
    copies = max(len(ids) for ids in names.values())
    return lay_tours(order_paths(gaps, solver, seed, iterations), list(names.values()), copies)


def end_to_start(navmesh: NavMesh, ways: Sequence[Episode]) -> Float[np.ndarray, "p p"]:
    """(P, P) metres along the floor from the end of each way to the start of each; infinite without a way."""
    starts = np.array([way.start_position for way in ways], float)
    ends = np.array([way.goal.places[-1] for way in ways], float)
    return geodesic_table(navmesh, ends, starts)


def make_episode_tours(
    episodes: Iterable[Episode],
    navmesh_of: Callable[[str], NavMesh],
    seed: int = 0,
    advance: Callable[[], object] | None = None,
    iterations: int = ITERATIONS,
) -> dict[str, list[list[str]]]:
    """Scene id -> tours -> episode ids, of all scenes.

    Args:
        episodes: with instructions, of any number of scenes.
        navmesh_of: scene id -> navmesh of the body that walks.
        seed: of the ordering.
        advance: called after each scene.
        iterations: of the ordering.
    """
    by_scene: dict[str, list[Episode]] = {}
    for episode in episodes:
        by_scene.setdefault(episode.scene_id, []).append(episode)
    tours: dict[str, list[list[str]]] = {}
    for scene, own in by_scene.items():
        made = make_scene_tours(navmesh_of(scene), own, seed=seed, iterations=iterations)
        if made:
            tours[scene] = made
        if advance is not None:
            advance()
    return tours


def build_episode_tours(lists: TourLists, episodes: Iterable[Episode], name: str) -> tuple[EpisodeTour, ...]:
    """Tours from lists of ids; tour ids count the tours of all scenes in the order of the lists.

    Args:
        lists: scene -> tours -> episode ids.
        episodes: of the split; those in no tour are left out.
        name: of the tours, for messages.

    Raises InputError for an id without episode, and for a tour over several scenes.
    """
    known = {episode.episode_id: episode for episode in episodes}
    tours: list[EpisodeTour] = []
    for members in lists.values():
        for ids in members:
            missing = [one for one in ids if one not in known]
            if missing:
                raise InputError(
                    f"expected the episodes of {name} in the data set, got none with id {missing[0]!r}; give "
                    "the tours of the same split"
                )
            tours.append(EpisodeTour(str(len(tours)), tuple(known[one] for one in ids)))
    return tuple(tours)
