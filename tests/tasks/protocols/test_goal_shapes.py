"""The shapes of MultiON's variant are closed, 0.4 m wide, and look different."""

import math

import numpy as np
import pytest

from navarena.episodes.multi_on import SHAPES
from navarena.simulation.body import Camera
from navarena.simulation.rendering.engine import VisibilityRenderer
from navarena.simulation.rendering.views import Frames, Views
from navarena.tasks.protocols.goal_shapes import STAND_HEIGHT, WIDTH, make_surfaces, shape_templates

R = WIDTH / 2
VOLUMES = {
    "cone": math.pi * R**2 * WIDTH / 3,
    "cube": WIDTH**3,
    "cylinder": math.pi * R**2 * WIDTH,
    "frustum": math.pi * WIDTH * (R**2 + R * R / 2 + R**2 / 4) / 3,
    "joined_inverted_frustums": math.pi * WIDTH * (R**2 + R * R / 2 + R**2 / 4) / 3,
    "sphere": 4 / 3 * math.pi * R**3,
    "tetrahedron": WIDTH**3 / (6 * math.sqrt(2)),
    "torus": 2 * math.pi**2 * (0.7 * R) * (0.3 * R) ** 2,
}
"""Cubic metres, by the formulas of the smooth shapes."""


def test_the_order_is_that_of_the_classes():
    assert tuple(make_surfaces()) == SHAPES and len(shape_templates()) == len(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_closed_and_of_the_right_size(name):
    vertices, faces = make_surfaces()[name]
    corners = vertices[faces]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert volume == pytest.approx(VOLUMES[name], rel=0.06), "positive: faces look outwards"
    spans = vertices.max(0) - vertices.min(0)
    assert max(spans[0], spans[2]) == pytest.approx(WIDTH, abs=1e-6)
    assert vertices[:, 1].min() == pytest.approx(0, abs=1e-9) and spans[1] <= WIDTH + 1e-9


def test_silhouettes_differ():
    """From 2 m away, at the height of the shapes' middle."""
    camera = Camera(width_px=64, height_px=48, hfov=math.radians(40))
    count = len(SHAPES)
    frames = Frames.allocate(count, camera, ("depth",))
    views = Views(
        camera,
        np.arange(count, dtype=np.int32),
        np.tile([0.0, STAND_HEIGHT + R, 2.0], (count, 1)),
        np.tile(np.eye(3), (count, 1, 1)),
    )
    VisibilityRenderer(shape_templates()).render(views, frames)
    seen = [frame.tobytes() for frame in frames.depth > 0]
    assert len(set(seen)) >= 7, "cube and cylinder may agree from here"
    assert all((frame > 0).sum() > 50 for frame in frames.depth)
