"""Coverage of tours: share of the next path, and of the whole tour, that was seen before an episode.

The maps of the IVLN paper's figure 2b are cells of a house that the depth camera of a body shows, and on a
navigation graph the nodes that a body visits or sees next to it. The map of a described path is what a body
shows that follows it. What was seen follows from the paths alone (`measure_coverage`: an oracle that follows
them, as in the paper), or from a run (`replay_coverage`: its agent and oracle phases, executed again).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int

from navarena.core.elementary import arctan2
from navarena.core.errors import InputError
from navarena.core.geometry import resample_path
from navarena.core.seeding import make_generator
from navarena.episodes.episode import Episode, require_instruction
from navarena.episodes.graph_episodes import require_graph_goal
from navarena.evaluation.benchmark import Batch, Benchmark
from navarena.evaluation.records.journal import Row
from navarena.evaluation.records.tour_scores import group_tours, over_tours, place_in_tour
from navarena.evaluation.running.replay import execute_actions
from navarena.evaluation.running.rows import pair_rows
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.unprojection import unproject
from navarena.metrics.statistics import Estimate, estimate_mean
from navarena.metrics.tours import TourCoverage, tour_coverage
from navarena.scenes.graphs.atlas import GraphAtlas
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.sensors.images import Depth
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, WorldCache
from navarena.tasks.batch import NavigationBatch
from navarena.tasks.graphs.batch import GraphBatch
from navarena.tasks.protocols.object_goal_task import require_world

CELL = 0.1
"""Metres, side of a cell (the maps of IVLN-CE)."""

FARTHEST = 10.0
"""Metres that the depth camera of VLN-CE reaches."""

VIEW_PX = 64
"""Width and height of the images that are counted, pixels."""

SPACING = 0.5
"""Metres between the places along a described path from which one looks."""

TOGETHER = 32
"""Images taken at a time."""

LIMIT = 30
"""Episodes up to which curves run, as in the paper's figure."""

Seen: TypeAlias = Bool[np.ndarray, "..."]
"""Cells (R, C) of a house, or nodes (V,) of all graphs."""


@dataclass(frozen=True)
class CoveredTour:
    """The coverage of one tour, and the scene it is in."""

    scene_id: str
    coverage: TourCoverage


@dataclass(frozen=True)
class CoveragePoint:
    """A point of the two curves: the mean over the tours that have an episode after so many.

    Attributes:
        episodes: done before.
        next_path: share of what the described path of the next episode shows.
        whole_tour: share of what all described paths of the tour show.
    """

    episodes: int
    next_path: Estimate
    whole_tour: Estimate


def estimate_coverage(
    tours: Sequence[CoveredTour], identity: str, limit: int = LIMIT
) -> tuple[CoveragePoint, ...]:
    """The curves after 0 to `limit` episodes; intervals resample scenes, or tours where these are under five.

    Args:
        tours: at least one; InputError otherwise.
        identity: names the random stream of the intervals.
        limit: the last point, where tours are so long.
    """
    if not tours:
        raise InputError("expected at least one tour to measure, got none")
    points = []
    for done in range(min(limit + 1, max(len(tour.coverage.next_path) for tour in tours))):
        chosen = [tour for tour in tours if len(tour.coverage.next_path) > done]
        scenes = [tour.scene_id for tour in chosen]
        estimates = []
        for name in ("next_path", "whole_tour"):
            values = np.array([getattr(tour.coverage, name)[done] for tour in chosen])
            generator = make_generator("interval", identity, "coverage", name, done)
            estimates.append(over_tours(estimate_mean(values, scenes, generator, bounds=(0.0, 1.0))))
        points.append(CoveragePoint(done, *estimates))
    return tuple(points)


def measure_coverage(
    tours: Sequence[Sequence[Episode]],
    worlds: WorldCache,
    advance: Callable[[int], object] = lambda done: None,
) -> list[CoveredTour]:
    """The coverage of tours in houses for an oracle that follows the described paths.

    Args:
        tours: the episodes of each in their order, of any number of scenes.
        worlds: where they are.
        advance: called with 1 after each tour.
    """
    known: dict[tuple[str, str], Seen] = {}
    covered = []
    for tour in tours:
        shown = []
        for episode in tour:
            key = (episode.scene_id, require_instruction(episode).path_id)
            if key not in known:
                known[key] = see_along(worlds.get(episode.scene_id), require_instruction(episode).path)
            shown.append(known[key])
        seen = [np.logical_or.reduce([np.zeros_like(shown[0]), *shown[:done]]) for done in range(len(shown))]
        covered.append(CoveredTour(tour[0].scene_id, tour_coverage(shown, seen)))
        advance(1)
    return covered


def replay_coverage(
    rows: Sequence[Row], benchmark: Benchmark, on_episode: Callable[[], object] = lambda: None
) -> list[CoveredTour]:
    """The coverage of the tours of a run, by executing its actions again, in the order of `group_tours`.

    Seen is what bodies at the poses of agent and oracle see, without corruptions of images.

    Args:
        rows: all of the run.
        benchmark: what the run was made on.
        on_episode: called after each episode.

    Raises InputError for rows outside tours and for hidden paths, CheckFailedError for illegal actions.
    """
    tours: dict[tuple[str, str], tuple[list[Seen], list[Seen]]] = {
        place_in_tour(tour[0])[:2]: ([], []) for tour in group_tours(rows)
    }
    pairs = pair_rows(benchmark, rows)
    poses = _Poses()
    seen: dict[tuple[str, str], Seen] = {}
    for row, episode, _ in execute_actions(benchmark, pairs, (), poses.note_agent, poses.note_oracle):
        key = place_in_tour(row)[:2]
        shown, before = tours[key]
        maps = poses.maps.pop(row.episode_id)
        shown.append(maps.see_path(episode))
        led = maps.see(poses.led.pop(row.episode_id, []))
        before.append(seen[key] | led if key in seen else led)
        seen[key] = before[-1] | maps.see(poses.walked.pop(row.episode_id))
        on_episode()
    return [CoveredTour(scene, tour_coverage(*tours[scene, tour])) for scene, tour in tours]


@dataclass(frozen=True)
class _HouseMaps:
    """Maps of a house: cells that the depth camera of a body shows."""

    world: World
    embodiment: Embodiment

    def see(self, poses: Sequence[Sequence[float]]) -> Seen:
        """Cells that images from `poses` [x, y, z metres, yaw radians] show."""
        table = np.array(list(dict.fromkeys(map(tuple, poses))), float).reshape(-1, 4)
        return see_from(self.world, table[:, :3], table[:, 3], self.embodiment)

    def see_path(self, episode: Episode) -> Seen:
        """Cells that a body sees along the described path."""
        return see_along(self.world, require_instruction(episode).path, self.embodiment)


@dataclass(frozen=True)
class _GraphMaps:
    """Maps of navigation graphs: nodes that a body visits, and their neighbours."""

    atlas: GraphAtlas

    def see(self, poses: Sequence[Sequence[float]]) -> Seen:
        """Nodes that a body sees from `poses` [node number]."""
        return see_nodes(self.atlas, np.array(poses, np.int64).reshape(-1))

    def see_path(self, episode: Episode) -> Seen:
        """Nodes that a body sees along the described path."""
        viewpoints = require_graph_goal(episode).viewpoints
        return see_nodes(self.atlas, self.atlas.nodes(episode.scene_id, viewpoints))


class _Poses:
    """Poses of bodies while actions are executed again.

    Attributes:
        walked, led: episode id -> poses in its agent phase, and in the oracle phases before it.
        maps: episode id -> what makes maps of these poses.
    """

    def __init__(self) -> None:
        self.walked: dict[str, list[Sequence[float]]] = {}
        self.led: dict[str, list[Sequence[float]]] = {}
        self.maps: dict[str, _HouseMaps | _GraphMaps] = {}

    def note_agent(self, batch: Batch, rows: Mapping[int, Row]) -> None:
        """Note where the bodies of agents are; a Watch of execute_actions."""
        self._note(self.walked, batch, rows)

    def note_oracle(self, batch: Batch, rows: Mapping[int, Row]) -> None:
        """Note where the bodies that an oracle leads are; a Watch of execute_actions."""
        self._note(self.led, batch, rows)

    def _note(self, poses: dict[str, list[Sequence[float]]], batch: Batch, rows: Mapping[int, Row]) -> None:
        for slot, row in rows.items():
            if isinstance(batch, GraphBatch):
                self.maps[row.episode_id] = _GraphMaps(batch.atlas)
                pose = [float(batch.state.node[slot])]
            elif isinstance(batch, NavigationBatch):
                simulator, body = batch.simulator, batch.task.embodiment
                self.maps[row.episode_id] = _HouseMaps(require_world(simulator, slot), body)
                pose = [*simulator.positions[slot].tolist(), float(simulator.yaws[slot])]
            else:
                raise InputError(f"expected bodies in houses or on graphs, got {type(batch).__name__}")
            poses.setdefault(row.episode_id, []).append(pose)


def see_nodes(atlas: GraphAtlas, nodes: Int[np.ndarray, "k"]) -> Bool[np.ndarray, "v"]:
    """(V,) bool: nodes of all graphs that a body at `nodes` (K,) visits or sees next to it."""
    seen = np.zeros(len(atlas), bool)
    neighbours = atlas.candidates.places[nodes]
    seen[nodes] = True
    seen[neighbours[neighbours >= 0]] = True
    return seen


def see_along(
    world: World, path: Sequence[tuple[float, float, float]], embodiment: Embodiment = VLN_CE
) -> Bool[np.ndarray, "r c"]:
    """(R, C) bool: cells of the scene's plan of which a body sees a point from along `path` (metres)."""
    corners = world.navmesh.snap_point(np.array(path, float))
    points = world.navmesh.snap_point(resample_path(corners, SPACING))
    steps = np.diff(points, axis=0, append=points[-1:])
    steps[-1] = steps[-2] if len(steps) > 1 else steps[-1]
    return see_from(world, points, arctan2(-steps[:, 0], -steps[:, 2]), embodiment)


def see_from(
    world: World,
    positions: Float[np.ndarray, "n 3"],
    yaws: Float[np.ndarray, "n"],
    embodiment: Embodiment = VLN_CE,
) -> Bool[np.ndarray, "r c"]:
    """(R, C) bool: cells of the scene's plan of which a body sees a point.

    Args:
        world: the scene.
        positions: (N, 3) metres, world frame: where the body stands.
        yaws: (N,) radians.
        embodiment: whose depth camera looks.
    """
    grid = plan_grid(world)
    seen = np.zeros((grid.rows, grid.columns), bool)
    simulator = Simulator(_with_one_camera(embodiment), TOGETHER, [Depth(0.0, FARTHEST, False)])
    for first in range(0, len(positions), TOGETHER):
        chosen = slice(first, first + TOGETHER)
        slots = np.arange(len(positions[chosen]))
        simulator.place(slots, [world] * len(slots), positions[chosen], yaws[chosen])
        depths = np.asarray(simulator.observations["depth"])[: len(slots), :, :, 0]
        poses = simulator.world_from_camera()[: len(slots)]
        clouds = unproject(depths, simulator.intrinsics(), poses, 0.0, FARTHEST)
        cells = grid.cells_of(clouds.points[clouds.valid])
        cells = cells[grid.contains(cells)]
        seen[cells[:, 0], cells[:, 1]] = True
    return seen


def plan_grid(world: World) -> MapGrid:
    """The cells over the whole scene."""
    low, high = world.scene.bounds
    size = np.ceil((high - low)[[0, 2]] / CELL).astype(int) + 1
    return MapGrid(int(size[1]), int(size[0]), CELL, (float(low[0]), float(low[2])))


def _with_one_camera(embodiment: Embodiment) -> Embodiment:
    """The body with its depth camera alone, and small images."""
    camera = next(camera for camera in embodiment.cameras if "depth" in camera.channels)
    small = replace(camera, width_px=VIEW_PX, height_px=VIEW_PX, name="")
    return replace(embodiment, cameras=(small,))
