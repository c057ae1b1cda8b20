"""A navigation graph for any scene with a navmesh: places scattered over the floor, joined in sight lines.

So the protocols on graphs, and agents that speak them, run in generated houses too. Spacing and edge
lengths are near those of Matterport3D's graphs (mean edge 2.3 m).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from navarena.core.errors import SceneError
from navarena.core.seeding import make_generator, scene_name
from navarena.core.sources import source_fingerprint
from navarena.scenes.graphs.graph import NavGraph
from navarena.scenes.packs import content_hash, load_or_build
from navarena.simulation.navmesh.navmesh import NavMesh
from navarena.simulation.world import World

DRAWN = 2000
"""Candidates; those too near to a place that was taken before are dropped."""


@dataclass(frozen=True)
class FloorGraphSettings:
    """Settings of a floor graph: distances between its nodes.

    Attributes:
        spacing: metres, least distance along the floor between places on one level.
        reach: metres, longest edge.
        detour: an edge's walking distance may be so many times its straight length; above 1 by as
            much as slopes and steps need.
        camera_height: metres above the floor.
    """

    spacing: float = 1.5
    reach: float = 4.0
    detour: float = 1.02
    camera_height: float = 1.5


def house_graph(world: World) -> NavGraph:
    """The floor graph of a world, always the same one, its scan called as the scene; kept in the cache.

    Raises SceneError as `build_floor_graph`.
    """
    scene_id = world.scene_id

    def build() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        generator = make_generator("floor-graph", scene_name(scene_id))
        graph = build_floor_graph(world.navmesh, scene_id, generator)
        return {"positions": graph.positions, "edges": graph.edges, "heights": graph.camera_heights}, {}

    floor = [one for one in vars(world.navmesh).values() if isinstance(one, np.ndarray)]
    key = content_hash(scene_id, *map(np.ascontiguousarray, floor), source_fingerprint(Path(__file__)))
    pack = load_or_build("graphs", key, build, scene_id)
    positions, edges, heights = (pack.arrays[name] for name in ("positions", "edges", "heights"))
    return NavGraph(scene_id, _name_places(len(positions)), positions, edges, heights)


def _name_places(count: int) -> tuple[str, ...]:
    return tuple(f"place{k:03d}" for k in range(count))


def build_floor_graph(
    navmesh: NavMesh,
    scan: str,
    generator: np.random.Generator,
    settings: FloorGraphSettings | None = None,
) -> NavGraph:
    """The largest connected graph of places scattered over a navmesh.

    Args:
        navmesh: of the scene, for the body that will stand there.
        scan: id of the graph; the scene's.
        generator: of the places.
        settings: how dense.

    Raises SceneError when fewer than two places can be joined.
    """
    rules = FloorGraphSettings() if settings is None else settings
    places = _scatter(navmesh, generator, rules.spacing)
    joined = _join(navmesh, places, rules)
    from scipy.sparse import csr_array  # SciPy's graphs: slow to import, and needed for few runs
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(csr_array(joined), directed=False)
    kept = np.flatnonzero(labels == np.bincount(labels, minlength=count).argmax())
    if len(kept) < 2:
        raise SceneError(f"expected room for two joined places in {scan!r}, got none; lower the spacing")
    edges = np.argwhere(np.triu(joined[np.ix_(kept, kept)])).astype(np.int64)
    height = np.array([0.0, rules.camera_height, 0.0])
    return NavGraph(
        scan,
        _name_places(len(kept)),
        places[kept] + height,
        edges,
        np.full(len(kept), rules.camera_height),
    )


def _scatter(navmesh: NavMesh, generator: np.random.Generator, spacing: float) -> Float[np.ndarray, "k 3"]:
    """Floor points (K, 3), metres, drawn one after the other, each `spacing` from those before."""
    drawn = navmesh.random_point(generator, DRAWN)
    taken: list[int] = []
    free = np.ones(DRAWN, bool)
    while free.any():
        first = int(np.argmax(free))
        taken.append(first)
        offset = drawn - drawn[first]
        # Another storey is another place, however near it lies as seen from above.
        free &= (np.linalg.norm(offset, axis=1) >= spacing) | (np.abs(offset[:, 1]) > spacing)
        free[first] = False
    return np.asarray(drawn[taken])


def _join(
    navmesh: NavMesh, places: Float[np.ndarray, "k 3"], rules: FloorGraphSettings
) -> Bool[np.ndarray, "k k"]:
    """(K, K) bool: pairs within reach of each other whose shortest path is almost straight."""
    straight = np.linalg.norm(places[:, None] - places, axis=-1)
    near = np.argwhere(np.triu((straight <= rules.reach) & (straight > 0)))
    walked = navmesh.geodesic_distance(places[near[:, 0]], places[near[:, 1]])
    good = near[walked <= rules.detour * straight[near[:, 0], near[:, 1]]]
    joined = np.zeros(straight.shape, bool)
    joined[good[:, 0], good[:, 1]] = joined[good[:, 1], good[:, 0]] = True
    return joined
