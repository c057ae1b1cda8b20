import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from house_samples import sample_scene
from navarena.scenes.houses.appearance.baked_light import plan_grid, sample_directions, smooth_diagonals
from navarena.scenes.houses.appearance.baked_light_kernels import entry_distance, nearest_hit
from navarena.scenes.houses.appearance.finishes import Look
from navarena.scenes.houses.solids.mesh_builder import HouseObject, MeshBuilder


@pytest.mark.parametrize(
    ("origin", "direction", "expected"),
    [
        ((-5, 5, 5), (1, 1e-9, 1e-9), 5),
        ((5, 5, 5), (1, 1e-9, 1e-9), 0),
        ((15, 5, 5), (1, 1e-9, 1e-9), -1),
        ((-5, 15, 5), (1, 1e-9, 1e-9), -1),
        ((5, 20, 5), (1e-9, -1, 1e-9), 10),
    ],
)
def test_rays_enter_boxes_where_they_should(origin, direction, expected):
    boxes = np.array([[0, 0, 0, 10, 10, 10]], float)
    assert entry_distance(boxes, 0, *map(float, origin), *(1 / d for d in direction)) == pytest.approx(
        expected
    )


def test_directions_fill_the_sphere_evenly():
    directions, weights = sample_directions()
    np.testing.assert_allclose((directions**2).sum(1), 1)
    np.testing.assert_allclose((directions * weights[:, None]).sum(0), 0, atol=1e-12)
    assert np.abs(directions).min() > 0.05


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_the_plan_grid_misses_no_box(seed):
    generator = np.random.default_rng(seed)
    low = generator.uniform(0, 5000, (30, 3))
    boxes = np.concatenate([low, low + generator.uniform(20, 1500, (30, 3))], 1)
    starts, items, x0, z0 = plan_grid(boxes)
    for _ in range(20):
        origin = generator.uniform(boxes[:, :3].min(0), boxes[:, 3:].max(0))
        direction = generator.normal(size=3)
        direction /= np.linalg.norm(direction)
        slow = [entry_distance(boxes, k, *origin, *(1 / direction)) for k in range(len(boxes))]
        nearest = min([t for t in slow if t >= 0], default=1300.0)
        found = nearest_hit(boxes, starts, items, x0, z0, 400.0, -1, *origin, *direction, 1300.0)
        assert found == pytest.approx(min(nearest, 1300.0), abs=1e-6)


def test_a_dark_corner_does_not_become_a_streak():
    builder = MeshBuilder()
    obj = builder.add_object(HouseObject("floor", 0, {}))
    builder.add_panel(obj, Look("paint", "white"), 1, 0, 1, ([0, 10], [0, 10]))
    mesh = builder.build([0])
    light = np.ones(4, np.float32)
    dark = mesh.triangles[0, 0]
    light[dark] = 0.5
    triangles, uv = smooth_diagonals(mesh, light)
    assert (triangles == dark).any(1).sum() == 1
    corners = mesh.vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    np.testing.assert_allclose(normals[:, 1], 100)
    np.testing.assert_allclose(uv[..., 0], corners[..., 0] / 1600, atol=1e-6)
    same, _ = smooth_diagonals(mesh, np.ones(4, np.float32))
    np.testing.assert_array_equal(same, mesh.triangles)


def test_light_is_brighter_by_the_window_and_full_on_panes():
    scene = sample_scene(2)
    materials = {
        k
        for k, material in enumerate(scene.materials)
        if "garden" in material.name or "street" in material.name
    }
    panes = np.isin(scene.triangle_material, list(materials))
    assert panes.any()
    assert (scene.vertex_light[scene.triangles[panes]] == 1).all()


def test_textures_are_shared_between_houses():
    first, second = sample_scene(2), sample_scene(5)
    shared = {id(tile) for tile in first.textures} & {id(tile) for tile in second.textures}
    assert len(shared) > 5
