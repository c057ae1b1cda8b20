import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from house_samples import sample_scene
from navarena.scenes.houses.appearance.baked_light import plan_grid, sample_directions
from navarena.scenes.houses.appearance.baked_light_kernels import entry_distance, limit_slopes, nearest_hit


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
        cell = int((origin[0] - x0) // 400), int((origin[2] - z0) // 400)
        found = nearest_hit(boxes, starts, items, x0, z0, 400.0, -1, *cell, *origin, *(1 / direction), 1300.0)
        assert found == pytest.approx(min(nearest, 1300.0), abs=1e-6)


def test_uneven_light_is_made_even_by_hand():
    lines, row = np.array([0.0, 100.0]), np.array([0.0])
    seen = np.ones((2, 1), bool)
    # least light above: 1, 0.9; greatest below: 0.1, 0; three quarters of the way up
    limited = limit_slopes(np.array([[1.0], [0.0]]), seen, lines, row, 0.001)
    np.testing.assert_allclose(limited[:, 0], [0.775, 0.675])
    np.testing.assert_allclose(
        limit_slopes(np.array([[0.5], [0.45]]), seen, lines, row, 0.001)[:, 0], [0.5, 0.45]
    )
    hidden = limit_slopes(np.array([[0.5], [0.0]]), np.array([[True], [False]]), lines, row, 0.001)
    np.testing.assert_allclose(hidden[:, 0], [0.5, 0.45])


@pytest.mark.parametrize("seed", range(5))
def test_light_is_nowhere_steeper_than_asked_for(seed):
    generator = np.random.default_rng(seed)
    first, second = np.cumsum(generator.uniform(50, 200, 9)), np.cumsum(generator.uniform(50, 200, 7))
    light, seen = generator.uniform(0, 1, (9, 7)), generator.random((9, 7)) < 0.8
    limited = limit_slopes(light, seen, first, second, 0.0002)
    assert (np.abs(np.diff(limited, axis=0)) <= 0.0002 * np.diff(first)[:, None] + 1e-8).all()
    assert (np.abs(np.diff(limited, axis=1)) <= 0.0002 * np.diff(second)[None] + 1e-8).all()
    assert light[seen].min() - 1e-8 <= limited.min() and limited.max() <= light[seen].max() + 1e-8


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
