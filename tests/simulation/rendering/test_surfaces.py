import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.simulation.rendering.surfaces import affine_planes


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 100_000))
def test_planes_take_the_values_at_the_corners(seed):
    generator = np.random.default_rng(seed)
    corners, values = generator.normal(size=(20, 3, 3)), generator.normal(size=(20, 3, 2))
    planes = affine_planes(corners, values)
    found = np.einsum("tkd,tcd->tck", planes[..., :3], corners) + planes[:, None, :, 3]
    assert found == pytest.approx(values, abs=1e-5)


def test_degenerate_triangles_are_constant():
    corners = np.array([[[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[1, 1, 1]] * 3], float)
    values = np.array([[[0.0], [3.0], [6.0]]] * 2)
    assert affine_planes(corners, values).tolist() == [[[0, 0, 0, 3]]] * 2
