from collections import Counter

import numpy as np
import pytest

from navarena.scenes.houses.appearance.cell_merging import TOLERANCE, merge_cells
from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.plan.floor_plan import Rect
from navarena.scenes.houses.solids.mesh_builder import HouseObject, MeshBuilder

HOLE = Rect(300, 0, 700, 500)
WIDE, DEEP = list(range(0, 2001, 100)), list(range(0, 1501, 100))


def _panel(axis, facing):
    """A grid of 20 by 15 cells with a hole, and a box beside it."""
    builder = MeshBuilder()
    owner = builder.add_object(HouseObject("wall", 0, {}))
    builder.add_panel(owner, Look("paint", "white"), axis, 7, facing, (WIDE, DEEP), [HOLE])
    return builder.build([0])


def _plan(points, axis):
    return np.delete(points, axis, axis=-1)


def _signed_areas(triangles):
    one, other = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    return (one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]) / 2


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("facing", [-1, 1])
def test_even_light_needs_few_triangles(axis, facing):
    mesh = _panel(axis, facing)
    light = np.full(len(mesh.vertices), 0.5, np.float32)
    merged, kept = merge_cells(mesh, light, np.ones(len(light), bool))
    assert len(mesh.triangles) == 2 * (300 - 20) and len(merged.triangles) < 20
    assert (kept == 0.5).all()


@pytest.mark.parametrize("seed", range(8))
def test_merged_cells_cover_the_panel_without_gaps(seed):
    generator = np.random.default_rng(seed)
    axis, facing = seed % 3, (-1, 1)[seed % 2]
    mesh = _panel(axis, facing)
    x, z = _plan(mesh.vertices, axis).T
    light = 0.7 - 0.4 * np.exp(-((x - generator.uniform(0, 2000)) ** 2 + (z - 900) ** 2) / 200**2)
    light = (np.round(light * 256) / 256).astype(np.float32)
    merged, kept = merge_cells(mesh, light, np.ones(len(light), bool))
    assert 20 < len(merged.triangles) < len(mesh.triangles)
    np.testing.assert_array_equal(kept * 256, np.round(kept * 256))
    corners = _plan(merged.vertices[merged.triangles], axis)
    areas = _signed_areas(corners)
    assert (areas * _signed_areas(_plan(mesh.vertices[mesh.triangles[:1]], axis))[0] > 0).all()
    assert np.abs(areas).sum() == pytest.approx(2000 * 1500 - 400 * 500)
    edges = Counter(
        tuple(sorted(edge)) for a, b, c in merged.triangles.tolist() for edge in ((a, b), (b, c), (c, a))
    )
    ends = _plan(merged.vertices[np.array([edge for edge, count in edges.items() if count == 1])], axis)
    rim = np.abs(ends[:, 0] - ends[:, 1]).sum()
    assert rim == pytest.approx(2 * (2000 + 1500) + 2 * 500), "edges of one triangle lie on the outline"
    assert max(edges.values()) == 2
    texture = _plan(mesh.vertices, axis)[mesh.triangles].reshape(-1, 2)
    affine = np.linalg.lstsq(np.c_[texture, np.ones(len(texture))], mesh.uv.reshape(-1, 2), rcond=None)[0]
    flat = corners.reshape(-1, 2)
    np.testing.assert_allclose(np.c_[flat, np.ones(len(flat))] @ affine, merged.uv.reshape(-1, 2), atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_light_of_merged_cells_is_that_of_the_points(seed):
    mesh = _panel(1, 1)
    points = _plan(mesh.vertices, 1)
    middle = np.random.default_rng(seed).uniform(200, 1300, 2)
    light = (0.7 - 0.4 * np.exp(-((points - middle) ** 2).sum(1) / 300**2)).astype(np.float32)
    merged, kept = merge_cells(mesh, light, np.ones(len(light), bool))
    corners = _plan(merged.vertices[merged.triangles], 1)
    for point, value in zip(points, light, strict=True):
        shares = np.stack(
            [
                _signed_areas(
                    np.stack(
                        [np.broadcast_to(point, corners[:, 0].shape), corners[:, k], corners[:, k - 2]], 1
                    )
                )
                for k in (1, 2, 0)
            ],
            1,
        )
        shares /= _signed_areas(corners)[:, None]
        (inside, *_) = np.flatnonzero((shares > -1e-9).all(1))
        shown = (shares[inside] * kept[merged.triangles[inside]]).sum()
        assert abs(shown - value) <= 2 * TOLERANCE


def test_hidden_points_have_no_say():
    mesh = _panel(1, 1)
    points = _plan(mesh.vertices, 1)
    under = ((points > 900) & (points < 1300)).all(1)
    light = np.where(under, 0.1, 0.6).astype(np.float32)
    seen, _ = merge_cells(mesh, light, np.ones(len(light), bool))
    hidden, _ = merge_cells(mesh, light, ~under)
    assert len(hidden.triangles) < len(seen.triangles)
