"""Houses and plans that several tests look at; built once per process."""

from functools import cache

import numpy as np
import pytest

from navarena.scenes.houses import HouseSettings, build_house
from navarena.scenes.houses.furnishing.free_space import Placement
from navarena.scenes.houses.generator import draw_house
from navarena.scenes.houses.plan.house_plan import HousePlan
from navarena.scenes.scene import Scene

SEEDS = tuple(range(9))
USUAL = HouseSettings()


@cache
def sample_scene(seed: int) -> Scene:
    return build_house(seed)


@cache
def sample_plan(seed: int) -> HousePlan:
    return draw_house(seed, USUAL)


def placements_of(house: HousePlan) -> list[Placement]:
    """Of all storeys."""
    return [placed for storey in house.storeys for placed in storey.placements]


def require_closed(scene, pieces):
    """No ray from inside the room leaves it or meets a back face."""
    rtcore = pytest.importorskip("embreex.rtcore_scene")
    from embreex.mesh_construction import TriangleMesh

    corners = scene.vertices[scene.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    engine = rtcore.EmbreeScene()
    TriangleMesh(engine, corners)
    generator = np.random.default_rng(1)
    starts = []
    for piece in pieces:
        low, high = np.array([piece.x0, piece.z0]) / 1000 + 0.05, np.array([piece.x1, piece.z1]) / 1000 - 0.05
        x, z = (low + generator.random((10, 2)) * (high - low)).T
        starts.append(np.stack([x, np.full(10, 2.4), z], 1))
    origins = np.repeat(np.concatenate(starts), 400, 0)
    directions = generator.normal(size=origins.shape)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    hit = engine.run(origins.astype(np.float32), directions.astype(np.float32))
    assert (hit >= 0).all(), "a ray left the house"
    facing = (normals[hit] * directions).sum(1)
    assert (facing < 1e-7).mean() > 0.999, "a back face was seen"
