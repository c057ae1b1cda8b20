"""Neural maps on tensors beside their NumPy reference, and the gradients of a step."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from navarena.learning.networks.map_windows import BLOCK, INNER, write_and_read  # noqa: E402
from navarena.learning.networks.neural_maps import find_cells, project, turn_maps  # noqa: E402
from navarena.mapping.feature_map import CELL, FeatureMaps, feature_grid, project_features  # noqa: E402
from navarena.simulation.body import Camera  # noqa: E402

pytestmark = pytest.mark.learn

CAMERA = Camera(width_px=40, height_px=48, hfov=math.radians(79))
CELLS, FEATURES = 41, 5


@pytest.mark.parametrize("points", [4, 10, 40])
def test_projection_is_the_reference_s(points):
    generator = np.random.default_rng(points)
    features = generator.normal(size=(4, FEATURES, 4, 5)).astype(np.float32)
    depth = generator.uniform(0, 8, (4, 48, 40)).astype(np.float32)
    depth[generator.random(depth.shape) < 0.1] = 0.0
    depth[1, ::2], depth[2, 0] = np.nan, np.inf
    depth[3] = (0.5 + np.arange(40)) * CELL / 4  # borders of cells
    found = project(torch.from_numpy(features), torch.from_numpy(depth), CAMERA.hfov, points)
    expected = [
        project_features(one, seen, CAMERA, points=points) for one, seen in zip(features, depth, strict=True)
    ]
    assert np.array_equal(found.numpy(), np.stack(expected)) and found.any()


def walk(slots, steps, seed):
    """Poses and projections of bodies that wander over the borders of the map, and where episodes begin."""
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        gps = generator.uniform(-1.6, 1.6, (slots, 2)) * CELLS * CELL / 2
        projections = generator.normal(size=(slots, 13, 13, FEATURES)).astype(np.float32)
        yield gps, generator.uniform(-7, 7, slots), projections, generator.random(slots) < 0.2


@pytest.mark.parametrize("turns", [1, 2])
def test_registration_and_reading_are_the_reference_s(turns):
    reference = FeatureMaps(3, FEATURES, turns, cells=CELLS)
    maps = torch.zeros(3, CELLS**2, FEATURES)
    for gps, compass, projections, begins in walk(3, 60, turns):
        reference.reset(np.flatnonzero(begins))
        maps[torch.from_numpy(begins)] = 0.0
        reference.register(projections, gps, compass)
        angle = torch.from_numpy(compass)
        turned = torch.from_numpy(projections)
        for _ in range(turns):
            turned = turn_maps(turned, angle, 13)
        poses = torch.from_numpy(np.column_stack([gps, compass]))[None]
        mask = torch.ones(1, 3, dtype=torch.bool)
        windows, _ = write_and_read(maps.flatten(0, 1), turned.flatten(1, 2), poses, mask, CELLS)
        assert np.abs(maps.numpy() - reference.maps.reshape(3, -1, FEATURES)).max() < 1e-5
        assert np.abs(windows.whole().numpy() - reference.read(gps, compass)).max() < 1e-5
    assert reference.maps.any()


def test_cells_are_those_of_the_paper_s_grid():
    points = np.random.default_rng(0).uniform(-108, 108, (50, 2))
    expected = feature_grid().cells_of(np.stack([points[:, 1], np.zeros(50), -points[:, 0]], 1))
    assert np.array_equal(find_cells(torch.from_numpy(points), 275).numpy(), expected)
    borders = torch.tensor([[0.4, 0.4], [-0.4, -0.4], [0.0, 0.0]])
    assert find_cells(borders, 275).tolist() == [[137, 138], [138, 137], [138, 138]]


def test_a_turned_projection_reaches_no_further():
    ones = torch.ones(64, 13, 13, 1)
    angles = torch.linspace(0, math.pi, 64)
    wide = turn_maps(ones, angles, 51)
    first, last = (BLOCK * one for one in INNER)
    assert wide[:, first + 1, 25].any(), "nearly all of the inner blocks"
    wide[:, first:last, first:last] = 0.0
    assert not wide.any()


def test_the_gradient_goes_to_the_greatest_feature_of_a_cell():
    features = torch.zeros(1, 1, 2, 2, requires_grad=True)
    depth = torch.full((1, 4, 4), 2.0)
    with torch.no_grad():
        features += torch.tensor([[1.0, 2.0], [4.0, 3.0]])
    found = project(features, depth, math.radians(20), 2)  # narrow: all four points lie in one cell or two
    found.sum().backward()
    assert found.sum() == 4.0 and features.grad.tolist() == [[[[0, 0], [1, 0]]]]
