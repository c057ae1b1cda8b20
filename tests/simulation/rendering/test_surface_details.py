from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navarena.simulation.rendering.render_mesh import build_render_mesh
from navarena.simulation.rendering.surface_details import (
    MAX_GRADIENT,
    SLIVER,
    affine_planes,
    texel_coordinates,
)
from navarena.simulation.rendering.texel_store import pack_textures

from .images import room_scene


def affine_planes_reference(corners, values):
    """(T, K, 4) for corners (T, 3, 3) and values (T, 3, K), by NumPy."""
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    g11, g12, g22 = (e1 * e1).sum(1), (e1 * e2).sum(1), (e2 * e2).sum(1)
    determinant = g11 * g22 - g12**2
    good = determinant > SLIVER * g11 * g22
    scale = np.where(good, 1 / np.where(good, determinant, 1), 0)[:, None]
    q1 = (g22[:, None] * e1 - g12[:, None] * e2) * scale
    q2 = (g11[:, None] * e2 - g12[:, None] * e1) * scale
    d1, d2 = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    gradient = d1[:, :, None] * q1[:, None] + d2[:, :, None] * q2[:, None]
    gradient = np.clip(gradient, -MAX_GRADIENT, MAX_GRADIENT)
    constant = values.mean(1) - (gradient * corners.mean(1)[:, None]).sum(2)
    return np.concatenate([gradient, constant[:, :, None]], 2)


def dressed_scene(seed=0):
    """A room with two textures, texture coordinates over several repeats, light and vertex colours."""
    scene, generator = room_scene(), np.random.default_rng(seed)
    looks = tuple(replace(m, texture=t) for m, t in zip(scene.materials, (1, None, 0), strict=True))
    return replace(
        scene,
        materials=looks,
        textures=tuple(generator.integers(0, 256, (h, w, 3), np.uint8) for h, w in ((8, 16), (4, 4))),
        triangle_uv=generator.normal(0, 3, (len(scene.triangles), 3, 2)).astype(np.float32),
        vertex_light=generator.random(len(scene.vertices)).astype(np.float32),
        vertex_color=generator.integers(0, 256, (len(scene.vertices), 3), np.uint8),
    )


def planes_of(corners, values):
    """`affine_planes` of triangles that share no corners, as (T, K, 4)."""
    vertices = corners.reshape(-1, 3).astype(np.float32)
    triangles = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3)
    return affine_planes(vertices, triangles, values).reshape(len(corners), -1, 4)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 100_000))
def test_planes_take_the_values_at_the_corners(seed):
    generator = np.random.default_rng(seed)
    corners, values = generator.normal(size=(20, 3, 3)), generator.normal(size=(20, 3, 2))
    corners = corners.astype(np.float32).astype(float)
    planes = planes_of(corners, values)
    reference = affine_planes_reference(corners, values)
    np.testing.assert_array_equal(planes, reference.astype(np.float32))
    found = np.einsum("tkd,tcd->tck", reference[..., :3], corners) + reference[:, None, :, 3]
    assert found == pytest.approx(values, abs=1e-5)


def test_degenerate_triangles_are_constant():
    corners = np.array([[[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[1, 1, 1]] * 3], float)
    values = np.array([[[0.0], [3.0], [6.0]]] * 2)
    assert planes_of(corners, values).tolist() == [[[0, 0, 0, 3]]] * 2


def test_steep_gradients_are_bounded():
    corners = np.array([[[0, 0, 0], [1e-7, 0, 0], [0, 1, 0]]])
    planes = planes_of(corners, np.array([[[0.0], [1.0], [0.0]]]))
    assert planes[0, 0, 0] == MAX_GRADIENT


def test_texels_lie_near_zero_and_run_downwards():
    scene = dressed_scene()
    order, store = np.arange(len(scene.triangles)), pack_textures(scene.textures)
    texels = texel_coordinates(scene, order, store)
    rows = np.array([0 if m.texture is None else m.texture + 1 for m in scene.materials])
    for t in order:
        width, height = store.size[rows[scene.triangle_material[t]]]
        uv = scene.triangle_uv[t].astype(float)
        for corner, (u, v) in enumerate(uv - np.floor(uv.min(0))):
            assert texels[t, corner].tolist() == [u * width, (1 - v) * height]


@pytest.mark.parametrize("without", [(), ("vertex_color",), ("vertex_color", "vertex_light")])
def test_flat_colors_are_means_of_the_tint(without):
    scene = replace(dressed_scene(), **dict.fromkeys(without))
    tint = np.ones((len(scene.vertices), 3))
    if scene.vertex_light is not None:
        tint *= scene.vertex_light.astype(float)[:, None]
    if scene.vertex_color is not None:
        tint *= scene.vertex_color.astype(float) / 255
    expected = []
    for triangle, material in zip(scene.triangles, scene.triangle_material, strict=True):
        look = scene.materials[material]
        mean = 255.0 if look.texture is None else scene.textures[look.texture].mean((0, 1))
        color = np.round(np.array(look.color, float) * mean / 255 * tint[triangle].mean(0))
        expected.append(int(color[0]) | int(color[1]) << 8 | int(color[2]) << 16)
    found = build_render_mesh(scene).surface[:, 0].tolist()
    assert len(set(expected)) > 2
    assert sorted(found) == sorted(expected)
