"""Tours: made from the paths of a split, kept in the community's layout, counted.

The layout is JSON, {split: {scan: [[instruction id, ...], ...]}}, as `tours_iVLN.json` (discrete) and
`tours.json` (continuous, whose ids are written as numbers or texts).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from navarena.core.errors import FileError, InputError, unknown_name
from navarena.core.files import read_json, write_atomic
from navarena.episodes.episode import Episode
from navarena.episodes.exchange.r2r import R2RFile, R2RPath
from navarena.episodes.graph_episodes import check_path, end_to_start, require_graph_goal
from navarena.episodes.tour_order import ITERATIONS, Solver, order_paths
from navarena.scenes.graphs.matterport import Connectivity

KIND = "tour file"

TourLists = Mapping[str, Sequence[Sequence[str]]]
"""Scan -> tours -> instruction ids, of one split."""


def common_copies(paths: Sequence[R2RPath]) -> int:
    """Most frequent number of instructions per path (the smallest on ties): the copies of each tour."""
    counts = Counter(len(path.instructions) for path in paths)
    return min(counts, key=lambda n: (-counts[n], n))


def make_tours(
    file: R2RFile,
    connectivity: Connectivity,
    solver: Solver = "pyvrp",
    seed: int = 0,
    iterations: int = ITERATIONS,
    copies: int | None = None,
    advance: Callable[[], object] | None = None,
) -> dict[str, list[list[str]]]:
    """Tours through all paths of a split: the generator of the IVLN paper, section 3.

    The paths of a scan are parted into sets that can follow each other; each set is ordered with
    small gaps from end to start. Every order is used once per instruction index k: the k-th copy
    reads instruction k of each path (paths with fewer instructions are left out of it). Tours of a
    single episode are dropped. These rules reproduce the paper's Table 1 exactly.

    Args:
        file: the paths; their goals must be known.
        connectivity: graphs of their scans.
        solver: of the ordering.
        seed: of the solver; the same seed gives the same tours.
        iterations: of the solver; it never stops by time.
        copies: of each tour; None for the number of instructions that most paths have.
        advance: called after each scan.

    Returns:
        Scan -> tours -> instruction ids.

    Raises FileError for a path that does not lie in its graph or has no goal, InputError for a test split.
    """
    if not file.has_goals:
        raise InputError(f"expected paths from start to goal in {file.name}, got starts only (a test split)")
    number = common_copies(file.paths) if copies is None else copies
    if number < 1:
        raise InputError(f"expected at least 1 copy of each tour, got {number}")
    by_scan: dict[str, list[R2RPath]] = {}
    for path in file.paths:
        check_path(file, path, connectivity)
        if len(path.path) < 2:
            raise FileError(
                f"{file.name}, path {path.path_id}: expected viewpoints up to the goal, got the start only"
            )
        by_scan.setdefault(path.scan, []).append(path)
    tours: dict[str, list[list[str]]] = {}
    for scan, paths in by_scan.items():
        gaps = end_to_start(connectivity.graph(scan), paths)
        orders = order_paths(gaps, solver, seed, iterations)
        names = [[path.instruction_id(k) for k in range(len(path.instructions))] for path in paths]
        kept = lay_tours(orders, names, number)
        if kept:
            tours[scan] = kept
        if advance is not None:
            advance()
    return tours


def lay_tours(
    orders: Sequence[Sequence[int]], names: Sequence[Sequence[str]], copies: int
) -> list[list[str]]:
    """Tours of instruction ids: each order `copies` times, the k-th with the k-th instruction of each path.

    Args:
        orders: rows of paths, one list for each tour.
        names: for each path the ids of its instructions; where there is no k-th, the path is left out.
        copies: of each order.

    Tours of a single episode are dropped.
    """
    made = [
        [names[row][k] for row in order if k < len(names[row])] for order in orders for k in range(copies)
    ]
    return [tour for tour in made if len(tour) > 1]


def save_tours(splits: Mapping[str, TourLists], path: Path) -> None:
    """Write {split: {scan: [[instruction id, ...], ...]}}; equal tours give equal bytes."""
    write_atomic(Path(path), msgspec.json.encode(splits))


def load_tours(path: Path) -> dict[str, dict[str, list[list[str]]]]:
    """Read split -> scan -> tours -> ids; numbers among the ids become texts.

    Raises FileError naming the file and the reason: damaged data, an empty tour, an id that
    occurs twice in a split.
    """
    layout = "expected {split: {scan: [[instruction id, ...], ...]}}"
    raw = read_json(path, KIND, dict[str, dict[str, list[list[str | int]]]], layout)
    splits = {
        split: {scan: [[str(name) for name in tour] for tour in tours] for scan, tours in scans.items()}
        for split, scans in raw.items()
    }
    for split, scans in splits.items():
        seen: set[str] = set()
        for scan, tours in scans.items():
            for number, tour in enumerate(tours):
                if not tour:
                    raise FileError(f"{KIND} {path}: tour {number} of scan {scan} in {split!r} is empty")
                for name in tour:
                    if name in seen:
                        raise FileError(
                            f"{KIND} {path}: expected each id once in {split!r}, got {name!r} twice"
                        )
                    seen.add(name)
    if not splits:
        raise FileError(f"{KIND} {path}: expected at least one split, got none")
    return splits


def find_split(path: Path, *names: str) -> str | None:
    """The first of `names` that is a split of a tour file; None when none is. Raises FileError."""
    splits = load_tours(path)
    return next((name for name in names if name in splits), None)


def pick_split(splits: Mapping[str, TourLists], split: str | None, path: Path) -> tuple[str, TourLists]:
    """(name, tours) of a split; None stands for the only one. Raises FileError or UnknownNameError."""
    if split is None:
        if len(splits) != 1:
            raise FileError(
                f"{KIND} {path}: expected one split, got {', '.join(splits)}; name one with --split"
            )
        split = next(iter(splits))
    if split not in splits:
        raise unknown_name(f"split of {path}", split, splits)
    if not any(splits[split].values()):
        raise FileError(f"{KIND} {path}: expected at least one tour in split {split!r}, got none")
    return split, splits[split]


def build_tours(lists: TourLists, episodes: Mapping[str, Episode], name: str) -> tuple[Episode, ...]:
    """The episodes of tours on graphs in their order; tour ids count the tours of all scans.

    Args:
        lists: scan -> tours -> instruction ids.
        episodes: by instruction id.
        name: of the tour file, for messages.

    Raises FileError for an id without episode, and for an episode of another scan.
    """
    ordered: list[Episode] = []
    number = 0
    for scan, members in lists.items():
        for ids in members:
            for one in ids:
                if one not in episodes:
                    raise FileError(
                        f"{KIND} {name}: instruction {one!r} of scan {scan} is not in the R2R file; "
                        "give the file of the same split"
                    )
                if episodes[one].scene_id != scan:
                    raise FileError(
                        f"{KIND} {name}: expected instruction {one!r} to be of scan {scan}, got scan "
                        f"{episodes[one].scene_id} in the R2R file"
                    )
            ordered += [replace(episodes[one], tour_id=str(number)) for one in ids]
            number += 1
    return tuple(ordered)


@dataclass(frozen=True)
class TourStatistics:
    """The columns of the IVLN paper's Table 1, for one split.

    Attributes:
        scenes, episodes, tours: counts.
        tours_per_scene: their ratio.
        mean, min, max, sd: episodes per tour; the standard deviation is that of a population.
    """

    scenes: int
    episodes: int
    tours: int
    tours_per_scene: float
    mean: float
    min: int
    max: int
    sd: float


def count_tours(lists: TourLists) -> TourStatistics:
    """The statistics of one split; raises InputError when it has no tour."""
    sizes = np.array([len(tour) for tours in lists.values() for tour in tours])
    if not sizes.size:
        raise InputError("expected at least one tour, got none")
    scenes = sum(1 for tours in lists.values() if len(tours))
    return TourStatistics(
        scenes,
        int(sizes.sum()),
        len(sizes),
        len(sizes) / scenes,
        float(sizes.mean()),
        int(sizes.min()),
        int(sizes.max()),
        float(sizes.std()),
    )


@dataclass(frozen=True)
class GapStatistics:
    """Distances from the end of an episode to the start of the next, along the graph.

    Attributes:
        mean: metres.
        at_start: share of transitions that end where the next episode starts.
        within_3m: share of transitions of at most 3 m.
    """

    mean: float
    at_start: float
    within_3m: float


def measure_gaps(episodes: Sequence[Episode], connectivity: Connectivity) -> GapStatistics:
    """Gaps between consecutive episodes of tours; raises InputError when no tour has two."""
    gaps: list[float] = []
    for before, after in pairwise(episodes):
        if before.tour_id == after.tour_id:
            graph = connectivity.graph(before.scene_id)
            end, start = require_graph_goal(before).viewpoints[-1], require_graph_goal(after).viewpoints[0]
            gaps.append(float(graph.distances[graph.index(end), graph.index(start)]))
    if not gaps:
        raise InputError("expected a tour of at least two episodes, got none")
    array = np.array(gaps)
    return GapStatistics(float(array.mean()), float((array == 0).mean()), float((array <= 3).mean()))
