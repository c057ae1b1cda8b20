"""How much of a tour's house has been seen when an episode begins (the IVLN paper's figure 2b).

An oracle follows the described path of each episode; what its depth camera sees of the scene fills a map of
cells. Two curves over the number n of episodes done: which share of the cells of the next episode's own map
the map so far holds, and which share of the map of the whole tour.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int64

from navarena.core.errors import InputError
from navarena.core.geometry import resample_path
from navarena.episodes.episode import Episode, require_instruction
from navarena.mapping.map_grid import MapGrid
from navarena.mapping.unprojection import unproject
from navarena.simulation.body import Embodiment
from navarena.simulation.body_catalog import VLN_CE
from navarena.simulation.sensors.images import Depth
from navarena.simulation.simulator import Simulator
from navarena.simulation.world import World, WorldCache

CELL = 0.1
"""Metres, side of a cell (the maps of IVLN-CE)."""

FARTHEST = 10.0
"""Metres that the depth camera of VLN-CE reaches."""

VIEW_PX = 64
"""Width and height of the images that are counted, pixels."""

SPACING = 0.5
"""Metres between the places along a path from which one looks."""

TOGETHER = 32
"""Images taken at a time."""


@dataclass(frozen=True)
class Coverage:
    """Two curves; place n holds what had been seen after n episodes, in the mean over tours that long.

    Attributes:
        next_path: (K,) shares in [0, 1] of the map of the next episode.
        whole_tour: (K,) shares in [0, 1] of the map of the whole tour.
        tours: (K,) how many tours had a further episode.
    """

    next_path: Float[np.ndarray, "k"]
    whole_tour: Float[np.ndarray, "k"]
    tours: Int64[np.ndarray, "k"]


def measure_coverage(
    tours: Sequence[Sequence[Episode]],
    worlds: WorldCache,
    limit: int = 30,
    advance: Callable[[int], object] = lambda done: None,
) -> Coverage:
    """The curves up to `limit` episodes.

    Args:
        tours: the episodes of each in their order, of any number of scenes.
        worlds: where they are.
        limit: K - 1; later episodes count for the whole of their tour only.
        advance: called with 1 after each tour.

    Raises InputError without tours.
    """
    if not tours:
        raise InputError("expected at least one tour to measure, got none")
    next_sums, whole_sums, counts = np.zeros(limit + 1), np.zeros(limit + 1), np.zeros(limit + 1, np.int64)
    seen_on: dict[tuple[str, str], Bool[np.ndarray, "_ _"]] = {}
    for tour in tours:
        maps = [_map_of(episode, worlds, seen_on) for episode in tour]
        whole = np.logical_or.reduce(maps)
        seen = np.zeros_like(whole)
        for done, own in enumerate(maps[: limit + 1]):
            next_sums[done] += (own & seen).sum() / own.sum()
            whole_sums[done] += seen.sum() / whole.sum()
            counts[done] += 1
            seen = seen | own
        advance(1)
    reached = counts > 0
    return Coverage(
        next_sums[reached] / counts[reached], whole_sums[reached] / counts[reached], counts[reached]
    )


def _map_of(
    episode: Episode, worlds: WorldCache, known: dict[tuple[str, str], Bool[np.ndarray, "_ _"]]
) -> Bool[np.ndarray, "r c"]:
    """(R, C) cells of the scene that are seen along the described path; each path is walked once."""
    key = (episode.scene_id, require_instruction(episode).path_id)
    if key not in known:
        known[key] = see_along(worlds.get(episode.scene_id), require_instruction(episode).path)
    return known[key]


def see_along(
    world: World, path: Sequence[tuple[float, float, float]], embodiment: Embodiment = VLN_CE
) -> Bool[np.ndarray, "r c"]:
    """(R, C) bool: cells of the scene's plan of which a body sees a point from along `path` (metres)."""
    corners = world.navmesh.snap_point(np.array(path, float))
    points = world.navmesh.snap_point(resample_path(corners, SPACING))
    steps = np.diff(points, axis=0, append=points[-1:])
    steps[-1] = steps[-2] if len(steps) > 1 else steps[-1]
    yaws = np.arctan2(-steps[:, 0], -steps[:, 2])
    grid = plan_grid(world)
    seen = np.zeros((grid.rows, grid.columns), bool)
    simulator = Simulator(_with_one_camera(embodiment), TOGETHER, [Depth(0.0, FARTHEST, False)])
    for first in range(0, len(points), TOGETHER):
        chosen = slice(first, first + TOGETHER)
        slots = np.arange(len(points[chosen]))
        simulator.place(slots, [world] * len(slots), points[chosen], yaws[chosen])
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
