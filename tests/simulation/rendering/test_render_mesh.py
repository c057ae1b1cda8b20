from dataclasses import fields

import numpy as np
import pytest

from navarena.core.errors import SceneError
from navarena.scenes.scene import SceneObject
from navarena.simulation.rendering import RenderMesh, build_render_mesh

from .images import make_scene, room_scene


def test_arrays_make_the_same_mesh_again():
    mesh = build_render_mesh(room_scene())
    arrays, meta = mesh.to_arrays()
    again = RenderMesh.from_arrays(arrays, meta)
    assert again.categories == mesh.categories == ("object 0", "object 1", "object 2")
    own = {field.name for field in fields(RenderMesh)} - {"categories", "shares_texels"}
    assert set(arrays) == own and len(mesh.record()) == len(own)
    for name in own:
        assert getattr(again, name) is arrays[name] is getattr(mesh, name) and arrays[name].size, name


def test_triangle_corners_are_those_of_the_scene():
    scene = room_scene()
    corners = scene.vertices[scene.triangles]
    drawn = build_render_mesh(scene).triangle_corners()

    def rows(array):
        return {tuple(np.roll(t, -k, 0).ravel()) for t in array.tolist() for k in range(3)}

    assert rows(drawn) == rows(corners)


def test_category_ids_follow_the_sorted_names():
    objects = (
        SceneObject(2, "sofa", (0, 0, 0), (1, 1, 1)),
        SceneObject(7, "bed", (0, 0, 0), (1, 1, 1)),
    )
    scene = make_scene(np.random.default_rng(0).normal(size=(3, 3, 3)), [2, 7, 0], objects=objects)
    mesh = build_render_mesh(scene)
    meaning = {tuple(row) for row in mesh.surface[:, 1:3].tolist()}
    assert meaning == {(2, 2), (7, 1), (0, 0)}


def test_records_of_64_bytes_start_on_cache_lines():
    mesh = build_render_mesh(room_scene())
    assert mesh.detail.ctypes.data % 64 == mesh.texel.ctypes.data % 64 == 0


def test_an_empty_scene_is_refused():
    with pytest.raises(SceneError, match="at least one triangle in scene 'test', got none"):
        build_render_mesh(make_scene(np.zeros((0, 3, 3))))


def test_nan_is_refused():
    with pytest.raises(SceneError, match="finite vertices"):
        build_render_mesh(make_scene(np.full((1, 3, 3), np.nan)))
